// What lies over the plane, and the picture as SVG.
import assert from "node:assert/strict";
import test from "node:test";

import { colourPieces } from "../../../src/reluscope/explorer/web/colours.js";
import { overlayShapes } from "../../../src/reluscope/explorer/web/overlay.js";
import { pictureAsSvg } from "../../../src/reluscope/explorer/web/pictures.js";
import { cutSquare, PALETTES, planeOf } from "./planes.js";

const NOTHING = { rings: [], marks: [], stretch: null };
const VIEW = { center: [5, 5], reach: [2, 1] };
const SIZE = [400, 200];
const STYLE = { edges: "thin", boundary: true, dark: false, gateShown: null };

test("marks are where their points are, and those far away are left out", () => {
  const marks = [
    { x: 5, y: 5, label: "A", kind: "anchor" },
    { x: 6, y: 5.5, kind: "sample", group: 0 },
    { x: 6, y: 4.5, kind: "sample", group: 2 },
    ...[[5, 9], [5, 1], [9, 5], [1, 5], [NaN, 5]].map(([x, y]) => ({ x, y, label: "far", kind: "anchor" })),
  ];
  const shapes = overlayShapes(VIEW, SIZE, { ...NOTHING, marks });
  assert.deepEqual(shapes.map(({ name }) => name), ["path", "path", "text"]);
  assert.match(shapes[0].attributes.d, /^M296.6 50a3.4/);
  assert.match(shapes[0].attributes.d, /M30[\d.]+ 15/);
  assert.match(shapes[1].attributes.d, /^M194.5 100a/);
  assert.equal(shapes[2].text, "A");
});

test("labels at the right edge stand to the left of their mark", () => {
  const shapes = overlayShapes(VIEW, SIZE, { ...NOTHING, marks: [{ x: 6.9, y: 5, label: "B", kind: "anchor" }] });
  assert.equal(shapes[1].attributes["text-anchor"], "end");
});

test("outlines of regions and lines go through their points", () => {
  const over = { rings: [{ kind: "region", points: [[5, 5], [6, 5], [6, 6]] }], marks: [], stretch: [[4, 5], [5, 5]] };
  const shapes = overlayShapes(VIEW, SIZE, over);
  assert.equal(shapes[0].attributes.d, "M200 100L300 100L300 0z");
  assert.equal(shapes[2].attributes.d, "M100 100L200 100");
});

test("the SVG has every colour once, all lines in view, and escapes its title", () => {
  const polygons = cutSquare(6, 2);
  const more = {
    edge_ends: new Float32Array([-0.5, -0.5, 0.5, 0.5, 0, 0, 0.1, 0.1, 5, 5, 6, 6]),
    edge_gate: new Int16Array([0, 1, 1]),
    edge_regions: new Int32Array(6),
    boundary_ends: new Float32Array([0, -1, 0, 1]),
  };
  const plane = planeOf(polygons, { classes: polygons.map((_, index) => index % 3), more });
  const colours = colourPieces(plane, { by: "class", palettes: PALETTES, hidden: new Set([2]) });
  const shown = { plane, colours, view: { center: [0, 0], reach: [1, 1] }, style: STYLE, size: [100, 100], over: NOTHING };
  const svg = pictureAsSvg(shown, { title: "2 < 3 & more" });
  assert.match(svg, /<title>2 &lt; 3 &amp; more<\/title>/);
  const fills = svg.match(/<path fill="#[^>]*>/g);
  assert.equal(fills.length, 2);
  assert.equal(fills.join("").match(/z/g).length, polygons.filter((_, index) => index % 3 !== 2).length);
  const strokes = svg.match(/<path fill="none"[^>]*>/g);
  assert.equal(strokes.length, 4);
  assert.match(strokes[0], /d="M50 50L55 45"/);
  assert.match(strokes[1], /d="M25 75L75 25"/);
  const first = pictureAsSvg({ ...shown, style: { ...STYLE, gateShown: 1, boundary: false } });
  assert.equal(first.match(/<path fill="none"/g).length, 1);
  assert.doesNotMatch(pictureAsSvg({ ...shown, style: { ...STYLE, edges: "none", boundary: false } }), /fill="none"/);
});

test("polygons out of view are not in the SVG", () => {
  const square = (x, y) => [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]];
  const plane = planeOf([square(0, 0), square(3, 0), square(-3, 0), square(0, 3), square(0, -3)]);
  const colours = colourPieces(plane, { by: "rate", palettes: PALETTES });
  const svg = pictureAsSvg({ plane, colours, view: { center: [0.5, 0.5], reach: [1, 1] }, style: STYLE, size: [100, 100], over: NOTHING });
  assert.deepEqual(svg.match(/M[^z]*z/g), ["M25 75L75 75L75 25L25 25z"]);
});

test("before anything is shown a picture is paper", () => {
  const svg = pictureAsSvg({ plane: null, colours: null, view: VIEW, style: STYLE, size: SIZE, over: NOTHING }, { paper: "#123456" });
  assert.match(svg, /<rect width="400" height="200" fill="#123456"\/>/);
});

test("where work stopped early a picture is hatched", () => {
  const plane = planeOf([[[0, 0], [1, 0], [1, 1]]]);
  plane.header.num_open = 3;
  const colours = colourPieces(plane, { by: "rate", palettes: PALETTES });
  assert.match(pictureAsSvg({ plane, colours, view: VIEW, style: STYLE, size: SIZE, over: NOTHING }), /fill="url\(#unreached\)"/);
});
