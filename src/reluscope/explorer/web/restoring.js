// Answers as snapshots keep them, made whole again: what condensing.py does, undone to the last bit.

const SIZES = { float64: 8, float32: 4, int32: 4, uint32: 4, int16: 2, uint8: 1 };
const PLACES = { corner_vertices: "corners", edge_vertices: "edge_ends" };

/**
 * Return an answer with its arrays as the header of a fresh one lists them; one that is whole already as it is.
 * @param {{header: object, buffers: DataView[]}} answer
 * @returns {{header: object, buffers: DataView[]}}
 */
export function restored({ header, buffers }) {
  const { condensed, ...rest } = header;
  if (condensed === undefined) return { header, buffers };
  const held = condensed.map((listed, index) => ({ ...listed, bytes: inPlace(buffers[index], SIZES[listed.dtype]) }));
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
function inPlace(view, size) {
  const given = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const bytes = new Uint8Array(given.length);
  const count = given.length / size;
  for (let weight = 0; weight < size; weight += 1) {
    for (let number = 0; number < count; number += 1) bytes[number * size + weight] = given[weight * count + number];
  }
  return bytes;
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
