// What is drawn in space, as meshes: the polygons of an answer, the plane's own picture, and the edges of the box.
import { inBox } from "./slicing.js";
import { along, dot } from "./orbit.js";

/** Return entries of three numbers as entries of four. */
export function widened(values, last = () => 0) {
  const wide = new Float32Array((4 * values.length) / 3);
  for (let entry = 0; entry < wide.length / 4; entry++) {
    wide.set(values.subarray(3 * entry, 3 * entry + 3), 4 * entry);
    wide[4 * entry + 3] = last(entry);
  }
  return wide;
}

/** Return the polygons of an answer as a layer. */
export function solidLayer(mesh, numClasses) {
  const { points: vertices, normals, piece_region: regions, region_middle: middles, scores } = mesh.arrays;
  const blocks = scores ? Math.ceil(numClasses / 4) : 0;
  let table;
  if (blocks) {
    table = new Float32Array((4 * blocks * vertices.length) / 3);
    for (let vertex = 0; vertex < vertices.length / 3; vertex++) {
      table.set(scores.subarray(vertex * numClasses, (vertex + 1) * numClasses), 4 * blocks * vertex);
    }
  }
  return {
    triangles: mesh.triangles, edges: mesh.edges, vertices: widened(vertices),
    pieces: widened(normals, (piece) => regions?.[piece] ?? -1),
    middles: middles ? widened(middles) : undefined, scores: table, blocks,
  };
}

/** Return the picture of a plane as a layer: its polygons where they are in the box. */
export function sectionLayer({ header, arrays }, plane) {
  const { corners, piece_offsets: offsets } = arrays;
  const { center, reach } = header.window;
  const number = corners.length / 2;
  const vertices = new Float32Array(4 * number);
  for (let corner = 0; corner < number; corner++) {
    const on = [0, 1].map((axis) => center[axis] + reach[1] * corners[2 * corner + axis]);
    vertices.set(inBox(plane, on), 4 * corner);
  }
  const pieces = new Float32Array(4 * (offsets.length - 1));
  const triangles = [];
  const edges = [];
  for (let piece = 0; piece + 1 < offsets.length; piece++) {
    pieces.set([...plane.normal, -1], 4 * piece);
    for (let corner = offsets[piece]; corner < offsets[piece + 1]; corner++) {
      edges.push(corner, piece, corner + 1 < offsets[piece + 1] ? corner + 1 : offsets[piece], piece);
      if (corner >= offsets[piece] + 2) triangles.push(offsets[piece], piece, corner - 1, piece, corner, piece);
    }
  }
  return { triangles: Uint32Array.from(triangles), edges: Uint32Array.from(edges), vertices, pieces };
}

/** Return the twelve edges of a box. */
export function boxLines([x, y, z]) {
  const corners = Array.from({ length: 8 }, (_, k) => [k & 1 ? x : -x, k & 2 ? y : -y, k & 4 ? z : -z]);
  const pairs = [];
  for (let one = 0; one < 8; one++) for (const bit of [1, 2, 4]) if (!(one & bit)) pairs.push([one, one | bit]);
  return { corners, pairs };
}

/** Return the corners of the part of a plane that is in a box, in order around it. */
export function sectionOf({ normal, offset }, reach) {
  const { corners, pairs } = boxLines(reach);
  const found = [];
  for (const [one, other] of pairs) {
    const [before, after] = [corners[one], corners[other]].map((corner) => dot(normal, corner) - offset);
    if (before * after <= 0 && before !== after) found.push(along(corners[one], along(corners[other], corners[one], -1), before / (before - after)));
  }
  if (found.length < 3) return [];
  const middle = found.reduce((sum, one) => along(sum, one, 1 / found.length), [0, 0, 0]);
  const first = along(found[0], middle, -1);
  const second = [normal[1] * first[2] - normal[2] * first[1], normal[2] * first[0] - normal[0] * first[2], normal[0] * first[1] - normal[1] * first[0]];
  const angle = (one) => Math.atan2(dot(along(one, middle, -1), second), dot(along(one, middle, -1), first));
  return found.sort((one, other) => angle(one) - angle(other));
}

/** Return lines as a layer. */
export function lineLayer(lines) {
  const vertices = new Float32Array(8 * lines.length);
  const edges = new Uint32Array(4 * lines.length);
  lines.forEach(([one, other], at) => {
    vertices.set([...one, 0, ...other, 0], 8 * at);
    edges.set([2 * at, 0, 2 * at + 1, 0], 4 * at);
  });
  return { triangles: new Uint32Array(0), edges, vertices, pieces: new Float32Array([0, 0, 1, -1]) };
}
