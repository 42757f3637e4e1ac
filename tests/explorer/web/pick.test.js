// Picking: the grid against a look at every polygon.
import assert from "node:assert/strict";
import test from "node:test";

import { createPicker } from "../../../src/reluscope/explorer/web/pick.js";
import { cutSquare, planeOf, randomly } from "./planes.js";

/** The first polygon that contains a point, in float64 and without a grid. */
function found(polygons, x, y) {
  return polygons.findIndex((polygon) =>
    polygon.every(([ax, ay], index) => {
      const [bx, by] = polygon[(index + 1) % polygon.length];
      return (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0;
    }),
  );
}

for (const [numLines, seed] of [[0, 1], [1, 2], [12, 3], [60, 4]]) {
  test(`the grid finds what a look at all polygons finds: ${numLines} lines`, () => {
    const polygons = cutSquare(numLines, seed);
    const picker = createPicker(planeOf(polygons));
    const random = randomly(seed + 100);
    for (let point = 0; point < 1000; point++) {
      const [x, y] = [2 * random() - 1, 2 * random() - 1];
      assert.deepEqual(picker.at(x, y), { piece: found(polygons, x, y), region: found(polygons, x, y) });
    }
  });
}

test("slivers across the window are found along all of their length", () => {
  const polygons = [[[-1, -1], [1, 0.999], [1, 1]], [[-1, -1], [1, -1], [1, 0.999]], [[-1, -1], [1, 1], [-1, 1]]];
  // Many more pieces, far from the sliver, so that the grid is fine.
  for (let step = 0; step < 400; step++) {
    const low = -1 + step * 1e-4;
    polygons.push([[2, low], [2.1, low], [2.1, low + 1e-4]]);
  }
  const picker = createPicker(planeOf(polygons));
  for (let share = 0.01; share < 1; share += 0.01) {
    const [x, y] = [-1 + 2 * share, -1 + 1.9995 * share];
    assert.equal(picker.at(x, y).piece, 0, `at ${share}`);
  }
});

test("on a common side the lowest region is taken, whatever the order of pieces", () => {
  const [left, right] = [[[-1, -1], [0, -1], [0, 1], [-1, 1]], [[0, -1], [1, -1], [1, 1], [0, 1]]];
  assert.deepEqual(createPicker(planeOf([left, right])).at(0, 0.3), { piece: 0, region: 0 });
  assert.deepEqual(createPicker(planeOf([right, left], { regions: [1, 0] })).at(0, 0.3), { piece: 1, region: 0 });
});

test("outside of the window, and where nothing was found, there is nothing", () => {
  const picker = createPicker(planeOf([[[-1, -1], [0, -1], [0, 1], [-1, 1]], [[0.5, -1], [1, -1], [1, 1], [0.5, 1]]]));
  for (const [x, y] of [[1.01, 0], [0, -1.01], [0.25, 0], [NaN, 0]]) assert.equal(picker.at(x, y), null);
  assert.equal(picker.at(-0.5, 0).region, 0);
});

test("a gap of a rounding belongs to the nearest", () => {
  const gap = 2e-7;
  const picker = createPicker(planeOf([[[-1, -1], [0, -1], [0, 1], [-1, 1]], [[gap, -1], [1, -1], [1, 1], [gap, 1]]]));
  assert.equal(picker.at(0.3 * gap, 0).region, 0);
  assert.equal(picker.at(0.7 * gap, 0).region, 1);
});

test("a plane without regions has nothing to pick", () => {
  assert.equal(createPicker(planeOf([])).at(0, 0), null);
});
