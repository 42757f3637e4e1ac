// Places on the plane at any magnification, and numbers as a reader sees them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { insideRegion, isSameWindow, toPlane, toRelative, within } from "../../../src/reluscope/explorer/web/places.js";
import { valuesQuestion } from "../../../src/reluscope/explorer/web/looking.js";
import { anchorName, className, column, count, gateName, number, several, shortened, zoomText } from "../../../src/reluscope/explorer/web/words.js";

const at = (center, reach) => ({ header: { window: { center, reach } }, arrays: {} });

test("a point comes back from a window of any size", () => {
  for (const zoom of [1, 1e-6, 1e-12]) {
    const plane = at([1.9028957546299228, -0.7], [3 * zoom, 2 * zoom]);
    const back = toRelative(plane, toPlane(plane, [0.31, -0.84]));
    assert.ok(Math.hypot(back[0] - 0.31, back[1] + 0.84) < 1e-3, `${zoom}: ${back}`);
  }
});

test("a point inside a region is the middle of its corners, whatever pieces it is cut into", () => {
  const arrays = {
    corners: new Float32Array([1, 1, 3, 1, 3, 3, 1, 1, 3, 3, 1, 3]),
    piece_offsets: new Int32Array([0, 3, 6]),
    piece_region: new Int32Array([1, 1]),
    region_area: new Float32Array(2),
  };
  assert.deepEqual(insideRegion({ arrays }, 1), [2, 2]);
});

test("windows are the same up to less than a pixel of theirs", () => {
  const window = { center: [1, 1], reach: [2e-9, 1e-9] };
  assert.ok(isSameWindow(window, { center: [1, 1 + 1e-16], reach: [2e-9, 1e-9] }));
  assert.ok(!isSameWindow(window, { center: [1 + 1e-12, 1], reach: [2e-9, 1e-9] }));
  assert.ok(!isSameWindow(window, { center: [1, 1], reach: [2.01e-9, 1e-9] }));
});

test("a view within a window has the asked shape and leaves it nowhere", () => {
  for (const aspect of [0.4, 1, 1.5, 4]) {
    const { reach } = within({ center: [0, 0], reach: [3, 2] }, aspect);
    assert.ok(reach[0] <= 3 + 1e-12 && reach[1] <= 2 + 1e-12);
    assert.ok(Math.abs(reach[0] / reach[1] - aspect) < 1e-12);
    assert.ok(reach[0] > 3 - 1e-12 || reach[1] > 2 - 1e-12);
  }
});

test("numbers have the digits that matter", () => {
  const pairs = [[0, "0"], [0.25, "0.25"], [-2.34567, "−2.35"], [12345.6, "12346"], [1234567, "1.23·10⁶"], [-4.5e-7, "−4.50·10⁻⁷"], [NaN, "–"], [null, "–"], [Infinity, "∞"]];
  for (const [value, text] of pairs) assert.equal(number(value), text);
  assert.deepEqual(column([9.06, -0.5, 0]), ["9.06", "−0.50", "0.00"]);
  assert.deepEqual(column([512.3, 1]), ["512", "1"]);
  assert.equal(count(1234567), "1,234,567");
  assert.deepEqual([several(1, "region"), several(0, "region"), several(2, "class", "classes")], ["1 region", "0 regions", "2 classes"]);
});

test("zooms are small numbers and powers of ten", () => {
  assert.deepEqual([1.23, 40.2, 999.4, 1000, 2.5e6, 1e12].map(zoomText), ["1.2×", "40×", "999×", "1,000×", "2.5·10⁶×", "1.0·10¹²×"]);
});

test("names of classes and anchors", () => {
  const hello = { class_names: ["cat", "1"] };
  assert.deepEqual([0, 1, 2, -1, null].map((one) => className(hello, one)), ["cat", "class 1", "class 2", "no class", "no class"]);
  const sample = (row) => ({ kind: "sample", row });
  assert.equal(anchorName({ kind: "between", from: sample(3), to: sample(9), share: 0.25 }, hello), "sample 3 → 9, 25 %");
  assert.equal(anchorName({ kind: "mean", class: 0 }, hello), "mean of cat");
  assert.equal(anchorName({ kind: "adversary", of: 1 }, hello), "adversary of B");
  assert.equal(shortened("encoder.blocks.0.mlp.activation", 16), "encoder…tivation");
});

test("only colours that need numbers ask for them", () => {
  const hello = { model: { gates: [{}, {}, {}] } };
  const of = (state) => valuesQuestion({ by: "class", unit: null, layers: null, ...state }, hello);
  assert.equal(of({}), null);
  assert.deepEqual(of({ by: "norm" }), { ask: "values", of: "norm" });
  assert.deepEqual(of({ by: "unit", unit: { gate: 1, unit: 3 } }), { ask: "values", of: "unit", gate: 1, unit: 3 });
  assert.deepEqual(of({ by: "norm", layers: 2 }), { ask: "values", of: "prefix", gates: 2 });
  assert.equal(of({ layers: 3 }), null, "all layers are no layers");
});

test("a gate that its place in a list names alone has its kind beside it", () => {
  assert.equal(gateName({ name: "1", kind: "relu" }), "relu 1");
  assert.equal(gateName({ name: "0.3", kind: "max" }), "max 0.3");
  assert.equal(gateName({ name: "layer1.relu", kind: "relu" }), "layer1.relu");
});
