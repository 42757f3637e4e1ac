// The data of a network of two inputs, drawn over its own plane.

const MOST = 1000;
const AT_ONCE = 500;

/** Return marks of samples on the plane; none unless the plane is the input space. */
export function createSampleMarks({ hello, asker }) {
  let marks = [];
  return {
    async load() {
      if (hello.plane !== "inputs" || hello.data === null) return;
      const wanted = Math.min(MOST, hello.data.num_samples);
      for (let offset = 0; offset < wanted; offset += AT_ONCE) {
        try {
          const { arrays } = await asker.ask({ ask: "samples", of: "all", offset, count: Math.min(AT_ONCE, wanted - offset) });
          const { rows, values, labels, predicted } = arrays;
          marks = marks.concat(Array.from(rows, (row, at) => ({
            row, x: values[2 * at], y: values[2 * at + 1], kind: "sample", group: labels[at] >= 0 ? labels[at] : predicted[at],
          })));
        } catch {
          // The plane is worth seeing without them.
          return;
        }
      }
    },
    /** Where a sample lies on the plane, or null. */
    placeOf(row) {
      const mark = marks.find((one) => one.row === row);
      return mark ? [mark.x, mark.y] : null;
    },
    /** The marks, those of some rows larger. */
    on(rows = []) {
      const inside = new Set(rows);
      return marks.map((mark) => (inside.has(mark.row) ? { ...mark, kind: "linked" } : mark));
    },
  };
}
