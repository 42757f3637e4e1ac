// Where to look next: against a plain look at all corners, and on the way from one to the next.
import assert from "node:assert/strict";
import test from "node:test";

import { bordersOf, cornersOf, createTravel, densestOf } from "../../../src/reluscope/explorer/web/goals.js";
import { createStore } from "../../../src/reluscope/explorer/web/state.js";
import { cutSquare, planeOf } from "./planes.js";

/** A square in four, twice as wide a window around it: its middle is the one corner. */
const QUARTERS = [[0, 0], [-1, 0], [-1, -1], [0, -1]].map(([x, y]) => [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]]);

function camera(center, height = 1) {
  let view = { center, reach: [height, height] };
  return {
    view: () => view,
    set(next) {
      view = next;
    },
  };
}

function travelOver(plane, center, height) {
  const [shown, said, eye] = [createStore({ plane }, Object.is), [], camera(center, height)];
  return { shown, said, eye, go: createTravel({ camera: () => eye, shown, announce: (text) => said.push(text) }) };
}

test("corners of the window are none", () => {
  assert.deepEqual(cornersOf(planeOf(QUARTERS)), [[0, 0]]);
  assert.deepEqual(cornersOf(planeOf(cutSquare(0, 1))), []);
});

test("every corner comes once, the nearest first, and then from the beginning", () => {
  const plane = planeOf(cutSquare(6, 3));
  const { go, eye } = travelOver(plane, [0.1, 0.2]);
  const all = cornersOf(plane).map(([x, y]) => [x, y]).sort((a, b) => Math.hypot(a[0] - 0.1, a[1] - 0.2) - Math.hypot(b[0] - 0.1, b[1] - 0.2));
  assert.ok(all.length > 5);
  for (const corner of all) {
    go("corner");
    assert.deepEqual(eye.view().center, corner);
  }
  go("corner");
  assert.deepEqual(eye.view().center, all.at(-1)); // nearest to where one is now
});

test("deep in a region the goals of the plane before are taken, as finely as they are known", () => {
  const { go, eye, shown } = travelOver(planeOf(QUARTERS), [0.5, 0.5], 1e-9);
  go("corner");
  assert.deepEqual(eye.view(), { center: [0, 0], reach: [1e-5, 1e-5] });
  const { header, arrays } = planeOf(cutSquare(0, 1));
  shown.set({ plane: { header: { ...header, window: { center: [0.5, 0.5], reach: [1e-9, 1e-9] } }, arrays } });
  eye.set({ center: [0.5, 0.5], reach: [1e-9, 1e-9] });
  go("corner");
  assert.deepEqual(eye.view().center, [0, 0]);
});

test("the boundary is looked at by its segments, or by sides of regions where there is none", () => {
  const ends = { boundary_ends: new Float32Array([0, 0, 0, 0.5]), edge_ends: new Float32Array([0.5, 0, 0.25, 0]) };
  assert.deepEqual(bordersOf(planeOf(QUARTERS, { more: ends })), [[0, 0.25]]);
  assert.deepEqual(bordersOf(planeOf(QUARTERS, { more: { ...ends, boundary_ends: new Float32Array(0) } })), [[0.375, 0]]);
});

test("the densest square is where most corners are, and going there zooms", () => {
  const small = QUARTERS.flatMap((one) => QUARTERS.map((other) => other.map(([x, y]) => [0.55 + 0.02 * (x + one[0][0]), 0.3 + 0.02 * (y + one[0][1])])));
  const plane = planeOf([...QUARTERS, ...small]);
  assert.deepEqual(densestOf(plane), [[0.625, 0.375]]);
  const { go, eye } = travelOver(plane, [0, 0]);
  go("densest");
  assert.deepEqual(eye.view(), { center: [0.625, 0.375], reach: [0.125, 0.125] });
});

test("where nothing is to be seen, that is said", () => {
  const { go, said, eye } = travelOver(planeOf(cutSquare(0, 1)), [0, 0]);
  for (const kind of ["corner", "boundary", "densest"]) go(kind);
  assert.equal(said.length, 3);
  assert.deepEqual(eye.view().center, [0, 0]);
});
