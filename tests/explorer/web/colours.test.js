// Colours of pieces and the legend, with the colours that pictures of the library have.
import assert from "node:assert/strict";
import test from "node:test";

import { colourPieces } from "../../../src/reluscope/explorer/web/colours.js";
import { CIVIDIS, channels, tint } from "../../../src/reluscope/explorer/web/ramps.js";
import { cutSquare, PALETTES, planeOf } from "./planes.js";

const palettes = PALETTES;
const square = (left, right) => [[left, 0], [right, 0], [right, 1], [left, 1]];
const of = ({ piece }, index) => [...piece.subarray(4 * index, 4 * index + 4)];
const opaque = (colour) => [...channels(colour), 255];

test("classes have their tints, the largest first in the legend", () => {
  const plane = planeOf([square(0, 1), square(1, 4), square(4, 5)], { classes: [3, 0, 3] });
  const coloured = colourPieces(plane, { by: "class", palettes, classNames: ["cat", "dog", "cow"] });
  assert.deepEqual(of(coloured, 0), opaque(tint("#CC79A7", 0.62)));
  assert.deepEqual(of(coloured, 1), opaque("#61a8cf"));
  assert.deepEqual(coloured.legend.map(({ label }) => label), ["cat", "class 3"]);
  assert.ok(Math.abs(coloured.legend[0].share - 0.6) < 1e-6);
});

test("hidden classes are not filled and stay in the legend", () => {
  const plane = planeOf([square(0, 1), square(1, 2)], { classes: [0, 1] });
  const coloured = colourPieces(plane, { by: "class", palettes, hidden: new Set([1]) });
  assert.deepEqual(of(coloured, 1), [0, 0, 0, 0]);
  assert.deepEqual(coloured.legend.map((entry) => entry.hidden), [false, true]);
});

test("of many classes the ten largest have colours, which they keep when the view moves", () => {
  const number = 14;
  const wide = planeOf(Array.from({ length: number }, (_, index) => square(0, number - index)), { classes: Array.from({ length: number }, (_, index) => index + 5) });
  const memory = new Map();
  const first = colourPieces(wide, { by: "class", palettes, numClasses: 100, memory });
  assert.deepEqual(of(first, 1), opaque(tint("#E69F00", 0.62)));
  assert.deepEqual(of(first, 12), opaque(palettes.neutral));
  const closer = planeOf([square(0, 1), square(0, 2)], { classes: [6, 17] });
  const second = colourPieces(closer, { by: "class", palettes, numClasses: 100, memory });
  assert.deepEqual(of(second, 0), opaque(tint("#E69F00", 0.62)));
  assert.deepEqual(of(second, 1), opaque(palettes.neutral));
});

test("a class keeps its colour while others come", () => {
  const memory = new Map();
  const colour = (classes) => of(colourPieces(planeOf(classes.map((_, at) => square(at, at + 1)), { classes }), { by: "class", palettes, numClasses: 50, memory }), 0);
  const first = colour([30]);
  colour([40, 41]);
  assert.deepEqual(colour([30, 40]), first);
  assert.notDeepEqual(colour([40, 30]), first);
});

test("a rate is a scale of 32 colours, grey where there is none", () => {
  const plane = planeOf([square(0, 1), square(1, 2), square(2, 3), square(3, 4)], { more: { region_rate: new Float32Array([0.25, 0.75, NaN, 0.5]) } });
  const { piece, legend, scale } = colourPieces(plane, { by: "rate", palettes });
  assert.deepEqual(of({ piece }, 0), opaque(CIVIDIS[0]));
  assert.deepEqual(of({ piece }, 1), opaque(CIVIDIS[31]));
  assert.deepEqual(of({ piece }, 2), opaque(palettes.neutral));
  assert.deepEqual(of({ piece }, 3), opaque(CIVIDIS[16]));
  assert.deepEqual(legend.map(({ label }) => label), ["no value"]);
  assert.deepEqual([scale.low, scale.high, scale.logarithmic, scale.extends], [0.25, 0.75, false, false]);
});

test("areas are on a logarithmic scale from their lowest percentile on", () => {
  const areas = Float32Array.from({ length: 301 }, (_, index) => (index === 0 ? 1e-20 : 10 ** (-4 + index / 100)));
  const plane = planeOf(Array.from(areas, (_, index) => square(index, index + 1)), { more: { region_area: areas } });
  const { scale, piece } = colourPieces(plane, { by: "area", palettes });
  assert.ok(scale.logarithmic && scale.extends);
  assert.equal(scale.low, areas[3]);
  assert.deepEqual(of({ piece }, 0), opaque(CIVIDIS[0]));
  assert.deepEqual(of({ piece }, 152), opaque(CIVIDIS[16]));
});

test("one value everywhere is said", () => {
  const { scale } = colourPieces(planeOf([square(0, 1), square(1, 2)]), { by: "rate", palettes });
  assert.equal(scale.only, 0.5);
  assert.ok(scale.high > scale.low);
});

test("the colours of depth are tints of those of the gates' lines", () => {
  const plane = planeOf([square(0, 1), square(1, 3), square(3, 4)], { more: { region_depth: new Int16Array([1, 0, -1]) } });
  const coloured = colourPieces(plane, { by: "depth", palettes, gateNames: ["relu1", "relu2"] });
  assert.deepEqual(of(coloured, 0), opaque(tint("#D55E00", 0.62)));
  assert.deepEqual(of(coloured, 2), opaque(palettes.neutral));
  assert.deepEqual(coloured.legend.map(({ label }) => label), ["no bend in view", "relu1", "relu2"]);
});

test("the sign of a unit has two colours, in the order of its pieces", () => {
  const plane = planeOf([square(0, 1), square(1, 2), square(2, 4)]);
  const coloured = colourPieces(plane, { by: "unit", values: new Int32Array([1, 0, 1]), palettes });
  assert.deepEqual(coloured.legend.map(({ label }) => label), ["off", "on"]);
  assert.deepEqual(of(coloured, 0), of(coloured, 2));
  assert.notDeepEqual(of(coloured, 0), of(coloured, 1));
});

test("groups beside each other have different colours, and a group has one", () => {
  const polygons = cutSquare(14, 11);
  const pairs = [];
  const key = (point) => point.map((value) => value.toFixed(6)).join();
  const sides = new Map();
  polygons.forEach((polygon, index) => {
    polygon.forEach((point, corner) => {
      const side = [key(point), key(polygon[(corner + 1) % polygon.length])].sort().join(" ");
      if (sides.has(side)) pairs.push(sides.get(side), index);
      sides.set(side, index);
    });
  });
  const groups = Int32Array.from(polygons, (_, index) => 7 * Math.floor(index / 2));
  const plane = planeOf(polygons, { more: { edge_regions: Int32Array.from(pairs) } });
  const coloured = colourPieces(plane, { by: "prefix", values: groups, palettes });
  assert.ok(pairs.length > 100);
  for (let edge = 0; edge < pairs.length; edge += 2) {
    const isSame = groups[pairs[edge]] === groups[pairs[edge + 1]];
    assert.equal(of(coloured, pairs[edge]).join() === of(coloured, pairs[edge + 1]).join(), isSame);
  }
  assert.deepEqual(coloured.legend, []);
});

test("a plane without regions has no colours", () => {
  for (const by of ["class", "rate", "area", "depth", "random"]) {
    const coloured = colourPieces(planeOf([]), { by, palettes });
    assert.equal(coloured.piece.length, 0);
    assert.deepEqual(coloured.legend, []);
  }
});
