// An answer as bytes: uint32 length of the header, four bytes of zero, the header as JSON, then arrays at multiples of 8.

const KINDS = {
  float64: Float64Array,
  float32: Float32Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int16: Int16Array,
  uint8: Uint8Array,
};
const BEFORE_HEADER = 8;

/**
 * Return the header and one view of the bytes for each of its arrays.
 * @param {ArrayBuffer} bytes
 * @param {number} [from] where the answer begins
 * @returns {{header: object, buffers: DataView[]}}
 */
export function unpack(bytes, from = 0) {
  const length = new DataView(bytes, from, 4).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, from + BEFORE_HEADER, length)));
  const start = from + BEFORE_HEADER + length;
  const buffers = (header.arrays ?? []).map(
    (array) => new DataView(bytes, start + array.offset, numberOfEntries(array.shape) * KINDS[array.dtype].BYTES_PER_ELEMENT),
  );
  return { header, buffers };
}

/**
 * Return the arrays of an answer by name, as typed arrays over the bytes that came.
 * @param {{arrays?: {name: string, dtype: string, shape: number[]}[]}} header
 * @param {DataView[]} buffers
 */
export function namedArrays(header, buffers) {
  return Object.fromEntries((header.arrays ?? []).map((array, index) => [array.name, typed(array, buffers[index])]));
}

function typed({ name, dtype, shape }, view) {
  const Kind = KINDS[dtype];
  const entries = numberOfEntries(shape);
  if (Kind === undefined || view === undefined || view.byteLength < entries * Kind.BYTES_PER_ELEMENT) {
    throw new RangeError(`the array ${name} of an answer is not whole: reload the page`);
  }
  if (view.byteOffset % Kind.BYTES_PER_ELEMENT === 0) return new Kind(view.buffer, view.byteOffset, entries);
  // Messages of a notebook lie where they came to lie.
  return new Kind(view.buffer.slice(view.byteOffset, view.byteOffset + entries * Kind.BYTES_PER_ELEMENT));
}

function numberOfEntries(shape) {
  return shape.reduce((product, length) => product * length, 1);
}
