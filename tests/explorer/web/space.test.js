// Space without a browser: the camera against its own rays, picking against half-spaces, planes against their anchors.
import assert from "node:assert/strict";
import test from "node:test";

import { readStateText, stateText } from "../../../src/reluscope/explorer/web/link.js";
import { sectionOf } from "../../../src/reluscope/explorer/web/space/layers.js";
import { classAt, meshOf } from "../../../src/reluscope/explorer/web/space/mesh.js";
import { along, cross, dot, turned, unit, viewOf } from "../../../src/reluscope/explorer/web/space/orbit.js";
import { FIRST, readSettings, settingsText } from "../../../src/reluscope/explorer/web/space/settings.js";
import { anchorsOf, axesOf, inBox, meetPlane, onPlane, planeOf } from "../../../src/reluscope/explorer/web/space/slicing.js";
import { BEGINNING } from "../../../src/reluscope/explorer/web/state.js";

/** Numbers that look random, and are the same every time. */
function drawer(seed) {
  let state = seed;
  return (low = -1, high = 1) => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return low + ((high - low) * state) / 2 ** 32;
  };
}
const close = (one, other, within = 1e-9) => assert.ok(Math.abs(one - other) <= within, `${one} and ${other}`);

/** The eight octants of a box as an answer has them: every cell a box of six sides, of corners of its own. */
function octants(reach = [1, 0.8, 0.6]) {
  const [vertices, offsets, corners, normals, regions, middles] = [[], [0], [], [], [], []];
  for (let cell = 0; cell < 8; cell++) {
    const range = reach.map((most, axis) => ((cell >> axis) & 1 ? [0, most] : [-most, 0]));
    middles.push(...range.map(([low, high]) => (low + high) / 2));
    for (const axis of [0, 1, 2]) {
      for (const side of [0, 1]) {
        const [one, other] = [(axis + 1) % 3, (axis + 2) % 3];
        for (const [u, v] of [[0, 0], [1, 0], [1, 1], [0, 1]]) {
          const corner = [0, 0, 0];
          corner[axis] = range[axis][side];
          corner[one] = range[one][u];
          corner[other] = range[other][v];
          corners.push(vertices.length / 3);
          vertices.push(...corner);
        }
        offsets.push(corners.length);
        normals.push(...[0, 1, 2].map((k) => (k === axis ? 2 * side - 1 : 0)));
        regions.push(cell);
      }
    }
  }
  return meshOf({
    header: { room: { center: [0, 0, 0], reach }, scale: 1 },
    arrays: {
      points: Float32Array.from(vertices), offsets: Int32Array.from(offsets), polygons: Int32Array.from(corners),
      normals: Float32Array.from(normals), piece_region: Int32Array.from(regions), region_middle: Float32Array.from(middles),
    },
  });
}

test("a ray through a place of the screen meets what is seen there", () => {
  const draw = drawer(1);
  for (let trial = 0; trial < 50; trial++) {
    const view = viewOf({ azimuth: draw(-3, 3), elevation: draw(-1.5, 1.5), zoom: draw(0.5, 20) }, draw(0.4, 2.5));
    const place = [draw(), draw(), draw()];
    const at = view.project(place);
    const ray = view.ray(at);
    const away = dot(along(place, view.eye, -1), view.toEye) / dot(ray, view.toEye);
    along(view.eye, ray, away).forEach((one, axis) => close(one, place[axis]));
    // The matrix of shaders says the same.
    const homogeneous = [0, 1, 2, 3].map((row) => [...place, 1].reduce((sum, one, column) => sum + view.matrix[4 * column + row] * one, 0));
    [0, 1].forEach((axis) => close(homogeneous[axis] / homogeneous[3], at[axis], 1e-4 * (1 + Math.abs(at[axis]))));
    assert.ok(Math.abs(homogeneous[2] / homogeneous[3]) < 1);
  }
});

test("turning comes round, and never over the top", () => {
  let orbit = { azimuth: 3, elevation: 1.4, zoom: 1 };
  for (let step = 0; step < 100; step++) orbit = turned(orbit, [0.3, 0.3], 1.5);
  assert.ok(Math.abs(orbit.azimuth) <= Math.PI);
  assert.ok(orbit.elevation < Math.PI / 2);
  assert.ok(orbit.zoom <= 60);
});

test("what a ray meets first is the cell on whose side it enters", () => {
  const mesh = octants();
  const draw = drawer(2);
  let met = 0;
  for (let trial = 0; trial < 400; trial++) {
    const view = viewOf({ azimuth: draw(-3, 3), elevation: draw(-1.5, 1.5), zoom: 1 }, 1.3);
    const ray = view.ray([draw(-0.6, 0.6), draw(-0.6, 0.6)]);
    const hit = mesh.pick(view.eye, ray);
    // Slabs: where the ray enters the box, coordinate by coordinate.
    const ends = mesh.reach.map((most, axis) => [-most, most].map((wall) => (wall - view.eye[axis]) / ray[axis]).sort((a, b) => a - b));
    const [enter, leave] = [Math.max(...ends.map(([low]) => low)), Math.min(...ends.map(([, high]) => high))];
    assert.equal(hit === null, enter >= leave);
    if (hit === null) continue;
    met += 1;
    close(hit.away, enter, 1e-5);
    const expected = along(view.eye, ray, enter).reduce((sum, one, axis) => sum + (one > 0 ? 1 << axis : 0), 0);
    if (hit.place.every((one) => Math.abs(one) > 1e-4)) assert.equal(hit.region, expected);
    close(hit.shares.reduce((sum, [, weight]) => sum + weight, 0), 1, 1e-6);
    [0, 1, 2].forEach((axis) => close(hit.shares.reduce((sum, [id, weight]) => sum + weight * mesh.arrays.points[3 * id + axis], 0), hit.place[axis], 1e-5));
  }
  assert.ok(met > 200);
});

test("what is cut away is not there, and regions pulled apart are met where they are", () => {
  const mesh = octants([1, 1, 1]);
  const eye = [0.4, 0.3, 7];
  assert.equal(mesh.pick(eye, [0, 0, -1]).place[2], 1);
  // Without its upper half a solid is open, and its floor is seen: the section is drawn by the plane.
  close(mesh.pick(eye, [0, 0, -1], { kept: (place) => place[2] <= 0.5 }).place[2], -1);
  // Apart by 1: the octant from 0 to 1 lies from 0.5 to 1.5, and between the octants there is a gap.
  const hit = mesh.pick([0.9, 0.7, 7], [0, 0, -1], { explode: 1 });
  close(hit.away, 7 - 1.5, 1e-6);
  assert.equal(hit.region, 7);
  close(hit.place[0], 0.4, 1e-6);
  assert.equal(mesh.pick(eye, [0, 0, -1], { explode: 1 }), null);
});

test("the border of the box comes first", () => {
  const mesh = octants();
  assert.equal(mesh.outer.triangles, 3 * 2 * 24);
  assert.equal(mesh.triangles.length / 2, 3 * 2 * 48);
  assert.equal(mesh.outer.edges, 2 * 4 * 24);
});

test("a place lies in the region whose sides are all beyond it", () => {
  const mesh = octants();
  const draw = drawer(3);
  for (let trial = 0; trial < 200; trial++) {
    const place = mesh.reach.map((most) => most * draw());
    const expected = place.reduce((sum, one, axis) => sum + (one > 0 ? 1 << axis : 0), 0);
    assert.equal(mesh.regionAt(place), expected);
  }
  assert.equal(mesh.regionAt([2, 0, 0]), -1);
});

test("a plane is the one through its anchors", () => {
  const draw = drawer(4);
  const room = { center: [10, -3, 0.5], reach: [2, 1, 4] };
  for (let trial = 0; trial < 50; trial++) {
    const normal = unit([draw(), draw(), draw()]);
    const offset = draw(-0.3, 0.3);
    const [a, b, c] = anchorsOf({ normal, offset }, room).map((anchor) => anchor.at);
    // As the server has it: A is the origin, B on the first axis, C above it.
    const first = unit(along(b, a, -1));
    const rest = along(c, a, -1);
    const second = unit(along(rest, first, -dot(rest, first)));
    const plane = planeOf({ origin: a, basis: [first, second] }, room);
    plane.normal.forEach((one, axis) => close(one, normal[axis], 1e-5));
    close(plane.offset, offset, 1e-5);
    const [right, up] = axesOf(normal);
    [first, second].forEach((axis, at) => axis.forEach((one, k) => close(one, [right, up][at][k], 1e-5)));
    const on = [draw(-5, 5), draw(-5, 5)];
    onPlane(plane, inBox(plane, on)).forEach((one, axis) => close(one, on[axis], 1e-9));
    const ray = unit([draw(), draw(), draw()]);
    const away = meetPlane([5, 5, 5], ray, plane);
    if (away !== null) close(dot(plane.normal, along([5, 5, 5], ray, away)), plane.offset);
  }
  axesOf([0, 0, 1]).forEach((axis, at) => assert.deepEqual(axis, [[1, 0, 0], [0, 1, 0]][at]));
});

test("the section of a box is in the plane and in the box, and goes around", () => {
  const reach = [1, 0.7, 0.4];
  const draw = drawer(5);
  for (let trial = 0; trial < 60; trial++) {
    const plane = { normal: unit([draw(), draw(), draw()]), offset: draw(-0.2, 0.2) };
    const ring = sectionOf(plane, reach);
    assert.ok(ring.length >= 3 && ring.length <= 6);
    for (const corner of ring) {
      close(dot(plane.normal, corner), plane.offset, 1e-9);
      corner.forEach((one, axis) => assert.ok(Math.abs(one) <= reach[axis] + 1e-9));
    }
    const turns = ring.map((one, at) => {
      const [next, after] = [ring[(at + 1) % ring.length], ring[(at + 2) % ring.length]];
      return dot(plane.normal, cross(along(next, one, -1), along(after, next, -1)));
    });
    assert.ok(turns.every((turn) => turn >= -1e-9) || turns.every((turn) => turn <= 1e-9));
  }
  assert.deepEqual(sectionOf({ normal: [1, 0, 0], offset: 3 }, reach), []);
});

test("the class at a place is that of the largest output there, the lowest at a tie", () => {
  const scores = Float32Array.from([1, 0, 0, 0, 1, 0, 0, 0, 1]);
  assert.equal(classAt(scores, 3, [[0, 0.2], [1, 0.5], [2, 0.3]]), 1);
  assert.equal(classAt(scores, 3, [[0, 0.5], [1, 0], [2, 0.5]]), 0);
});

test("what space shows is in a link, and a malformed one is the beginning", () => {
  assert.equal(settingsText({ ...FIRST }), null);
  const settings = { azimuth: 1.25, elevation: -0.5, zoom: 2, show: "level", explode: 0.3, cut: 0, output: 2, level: -1.5 };
  assert.deepEqual(readSettings(settingsText(settings)), settings);
  for (const text of [null, 7, "", "1_2", "x_0_1_cells_0_1_0_0_0", "1_2_3_cells_0_1_0_0_9"]) assert.deepEqual(readSettings(text), { ...FIRST });
  assert.deepEqual(readSettings("1e99_9_0_nothing_2_5_0.5_x"), { ...FIRST });
  const anchors = [[1, -2.5, 3e-7], [0, 1, 2], [-1, 0, 0.125]].map((at) => ({ kind: "point", at }));
  const state = { ...BEGINNING, anchors, space: settingsText(settings) };
  const read = readStateText(`#${stateText(state)}`);
  assert.deepEqual(read.anchors, anchors);
  assert.equal(read.space, state.space);
  assert.equal(readStateText("#a=p1_2_x,p1,p2").anchors, undefined);
  assert.equal(readStateText("#a=p1__3,p1_e_2,p2_1_1").anchors, undefined);
});
