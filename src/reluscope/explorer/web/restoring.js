// Answers as snapshots keep them, made whole again: what condensing.py does, undone to the last bit.

const PLACES = { corner_vertices: "corners", edge_vertices: "edge_ends" };

/**
 * Return an answer with its arrays as the header of a fresh one lists them; one that is whole already as it is.
 * @param {{header: object, buffers: DataView[]}} answer
 * @returns {{header: object, buffers: DataView[]}}
 */
export function restored({ header, buffers }) {
  const { condensed, ...rest } = header;
  if (condensed === undefined) return { header, buffers };
  const held = condensed.map((listed, index) => ({ ...listed, bytes: inPlace(buffers[index], listed.shape) }));
  const vertices = held.find(({ name }) => name === "vertices")?.bytes;
  const whole = held
    .filter(({ name }) => name !== "vertices")
    .map((array) => (array.name in PLACES ? withPlaces(array, vertices) : array));
  return {
    header: { ...rest, arrays: whole.map(({ name, dtype, shape }) => ({ name, dtype, shape })) },
    buffers: whole.map(({ bytes }) => new DataView(bytes.buffer)),
  };
}

/** Return the bytes of every number side by side, from those of equal weight side by side. */
function inPlace(view, shape) {
  const count = shape.reduce((product, length) => product * length, 1);
  const size = view.byteLength / count;
  return new Uint8Array(view.byteLength).map((_, at) => view.getUint8((at % size) * count + Math.floor(at / size)));
}

/** Return places for their numbers; a place is two numbers of four bytes, taken as they are. */
function withPlaces({ name, shape, bytes }, vertices) {
  const numbers = new Int32Array(bytes.buffer);
  const from = new Uint32Array(vertices.buffer);
  const places = new Uint32Array(2 * numbers.length);
  numbers.forEach((vertex, index) => {
    places[2 * index] = from[2 * vertex];
    places[2 * index + 1] = from[2 * vertex + 1];
  });
  return { name: PLACES[name], dtype: "float32", shape: [...shape, 2], bytes: new Uint8Array(places.buffer) };
}
