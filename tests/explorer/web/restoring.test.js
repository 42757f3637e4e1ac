// Condensed answers, restored: written here by hand, byte for byte, as condensing.py writes them.

import assert from "node:assert/strict";
import test from "node:test";

import { restored } from "../../../src/reluscope/explorer/web/restoring.js";
import { namedArrays } from "../../../src/reluscope/explorer/web/unpack.js";

/** The bytes of numbers, those of equal weight together, at an odd place within a larger buffer. */
function byWeight(numbers) {
  const bytes = new Uint8Array(numbers.buffer);
  const size = numbers.BYTES_PER_ELEMENT;
  const held = new Uint8Array(bytes.length + 3);
  bytes.forEach((byte, place) => {
    held[3 + (place % size) * numbers.length + Math.floor(place / size)] = byte;
  });
  return new DataView(held.buffer, 3);
}

test("a whole answer stays as it is", () => {
  const answer = { header: { answer: "values", arrays: [] }, buffers: [] };
  assert.deepEqual(restored(answer), answer);
});

test("numbers of every size come back", () => {
  const arrays = {
    a: new Int32Array([1, -2, 70000]),
    b: new Int16Array([-1, 300]),
    c: new Uint8Array([7, 8, 9, 10]),
    d: new Float64Array([0.1, -1e300, NaN]),
    e: new Float32Array(0),
  };
  const kinds = { a: "int32", b: "int16", c: "uint8", d: "float64", e: "float32" };
  const condensed = Object.entries(arrays).map(([name, { length }]) => ({ name, dtype: kinds[name], shape: [length] }));
  const { header, buffers } = restored({
    header: { answer: "x", condensed, arrays: ["to be", "ignored"] },
    buffers: Object.values(arrays).map(byWeight),
  });
  assert.equal(header.answer, "x");
  assert.equal(header.condensed, undefined);
  assert.deepEqual(namedArrays(header, buffers), arrays);
});

test("places stand where their numbers stood", () => {
  const vertices = new Float32Array([0.5, -0, 1, 2, 3, 4]);
  const condensed = [
    { name: "vertices", dtype: "float32", shape: [3, 2] },
    { name: "corner_vertices", dtype: "int32", shape: [4] },
    { name: "edge_vertices", dtype: "int32", shape: [1, 2] },
  ];
  const buffers = [vertices, new Int32Array([2, 0, 0, 1]), new Int32Array([1, 2])].map(byWeight);
  const whole = restored({ header: { condensed }, buffers });
  assert.deepEqual(whole.header.arrays, [
    { name: "corners", dtype: "float32", shape: [4, 2] },
    { name: "edge_ends", dtype: "float32", shape: [1, 2, 2] },
  ]);
  const { corners, edge_ends: ends } = namedArrays(whole.header, whole.buffers);
  assert.deepEqual([...corners], [3, 4, 0.5, -0, 0.5, -0, 1, 2]);
  assert.deepEqual([...ends], [1, 2, 3, 4]);
});
