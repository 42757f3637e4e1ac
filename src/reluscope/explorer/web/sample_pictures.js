// The pixels of samples, each asked for once.

/** Return a function that gives the pixels of a sample; null where it is no image. */
export function createSamplePictures({ hello, asker }) {
  const pictures = new Map();
  return async (row) => {
    if (row === undefined || !hello.data?.is_image) return null;
    if (!pictures.has(row)) {
      const asked = asker.ask({ ask: "samples", of: "all", offset: row, count: 1 });
      pictures.set(row, asked.then(({ arrays }) => arrays.thumbnails ?? null, () => null));
    }
    return pictures.get(row);
  };
}
