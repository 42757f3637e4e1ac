// Triangles, lines in order, outlines: geometry that needs no browser.
import assert from "node:assert/strict";
import test from "node:test";

import { pieceAreas } from "../../../src/reluscope/explorer/web/colours.js";
import { sortPieces, stepOf } from "../../../src/reluscope/explorer/web/lines.js";
import { hull, outlines } from "../../../src/reluscope/explorer/web/outline.js";
import { fans } from "../../../src/reluscope/explorer/web/triangles.js";
import { cutSquare, planeOf, randomly } from "./planes.js";

test("fans fill every polygon once", () => {
  const { arrays } = planeOf(cutSquare(9, 5));
  const { corners, pieces } = fans(arrays.piece_offsets);
  const areas = new Float64Array(arrays.piece_region.length);
  const at = (corner) => [arrays.corners[2 * corner], arrays.corners[2 * corner + 1]];
  for (let index = 0; index < corners.length; index += 3) {
    const [[ax, ay], [bx, by], [cx, cy]] = [0, 1, 2].map((step) => at(corners[index + step]));
    const area = ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / 2;
    assert.ok(area > -1e-9);
    areas[pieces[corners[index]]] += area;
    assert.equal(pieces[corners[index]], pieces[corners[index + 2]]);
  }
  const expected = pieceAreas(arrays);
  areas.forEach((area, piece) => {
    assert.ok(Math.abs(area - expected[piece]) < 1e-12);
  });
  assert.ok(Math.abs(areas.reduce((sum, area) => sum + area, 0) - 4) < 1e-5);
});

test("polygons of fewer than three corners have no triangles", () => {
  assert.deepEqual([...fans(new Int32Array([0, 2, 5, 5])).corners], [2, 3, 4]);
  assert.equal(fans(new Int32Array([0])).corners.length, 0);
});

test("pieces of lines are sorted by gate and then from long to short, and none is lost", () => {
  const random = randomly(7);
  const number = 500;
  const ends = Float32Array.from({ length: 4 * number }, () => random() ** 4);
  const gates = Int16Array.from({ length: number }, () => Math.floor(4 * random()) - 1);
  const sorted = sortPieces(ends, gates);
  assert.equal(sorted.numGroups, 4);
  const keys = (values) => Array.from({ length: values.length / 4 }, (_, piece) => values.slice(4 * piece, 4 * piece + 4).join(" "));
  assert.deepEqual(keys(sorted.ends).sort(), keys(ends).sort());
  const steps = (sorted.starts.length - 1) / 4;
  const lengthOf = (piece) => Math.hypot(sorted.ends[4 * piece + 2] - sorted.ends[4 * piece], sorted.ends[4 * piece + 3] - sorted.ends[4 * piece + 1]);
  for (let gate = -1; gate < 3; gate++) {
    const [from, to] = [sorted.starts[steps * (gate + 1)], sorted.starts[steps * (gate + 2)]];
    assert.equal(to - from, gates.filter((one) => one === gate).length);
    for (let piece = from; piece + 1 < to; piece++) assert.ok(stepOf(lengthOf(piece)) <= stepOf(lengthOf(piece + 1)));
    // All that are at least as long as a length lie before the end of its step.
    const end = sorted.starts[steps * (gate + 1) + stepOf(0.01) + 1];
    for (let piece = end; piece < to; piece++) assert.ok(lengthOf(piece) < 0.01);
  }
});

test("steps of length fall with the length and take anything", () => {
  const lengths = [100, 2, 1, 0.5, 1e-3, 1e-6, 1e-30, 0];
  const steps = lengths.map(stepOf);
  assert.deepEqual(steps, [...steps].sort((one, other) => one - other));
  assert.equal(steps[0], 0);
  assert.equal(stepOf(NaN), stepOf(0));
});

test("the outline of a region goes around all of its pieces", () => {
  const polygons = cutSquare(5, 8);
  const outline = outlines(planeOf(polygons, { regions: polygons.map(() => 0) }));
  assert.deepEqual(outline(0), [[-1, -1], [1, -1], [1, 1], [-1, 1]]);
  assert.deepEqual(outline(1), []);
  assert.deepEqual(outline(-1), []);
  assert.equal(outlines(planeOf(polygons))(2).length, polygons[2].length);
});

test("hulls leave out what lies inside or on a side", () => {
  assert.deepEqual(hull([[0, 0], [1, 0], [2, 0], [2, 2], [1, 1], [0, 2]]), [[0, 0], [2, 0], [2, 2], [0, 2]]);
});
