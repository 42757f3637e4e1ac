// The polygons of an answer as triangles, and which of them a ray meets: with regions pulled apart, or a part cut away.
import { along, cross, dot } from "./orbit.js";

const ON_BORDER = 1e-5;

/**
 * Return the polygons of an answer, ready to draw: those on the border of the box first, which are all that is seen of
 * a solid in one piece.
 * @param {{header: object, arrays: Object<string, ArrayLike<number>>}} answer
 */
export function meshOf({ header, arrays }) {
  const { points: vertices, offsets, polygons: corners, normals } = arrays;
  const regions = arrays.piece_region ?? null;
  const reach = header.room.reach.map((one) => one / header.scale);
  const number = Math.max(0, offsets.length - 1);
  const place = (vertex) => [...vertices.subarray(3 * vertex, 3 * vertex + 3)];
  const isOuter = (piece) => {
    const own = corners.subarray(offsets[piece], offsets[piece + 1]);
    return [0, 1, 2].some((axis) => [-1, 1].some((side) =>
      own.every((vertex) => Math.abs(side * vertices[3 * vertex + axis] - reach[axis]) < ON_BORDER)));
  };
  const pieces = Array.from({ length: number }, (_, piece) => piece);
  const outer = regions === null ? pieces : pieces.filter(isOuter);
  const known = new Set(outer);
  const order = regions === null ? pieces : [...outer, ...pieces.filter((piece) => !known.has(piece))];
  let [numTriangles, numEdges] = [0, 0];
  for (const piece of order) {
    numTriangles += offsets[piece + 1] - offsets[piece] - 2;
    numEdges += offsets[piece + 1] - offsets[piece];
  }
  const triangles = new Uint32Array(6 * numTriangles); // vertex and piece of each corner
  const edges = new Uint32Array(4 * numEdges);
  const ends = { triangles: 0, edges: 0 };
  let [corner, end] = [0, 0];
  order.forEach((piece, at) => {
    const [start, stop] = [offsets[piece], offsets[piece + 1]];
    for (let next = start; next < stop; next++) {
      edges.set([corners[next], piece, corners[next + 1 < stop ? next + 1 : start], piece], end);
      end += 4;
      if (next < start + 2) continue;
      triangles.set([corners[start], piece, corners[next - 1], piece, corners[next], piece], corner);
      corner += 6;
    }
    if (at === outer.length - 1) Object.assign(ends, { triangles: corner / 2, edges: end / 2 });
  });
  const middles = arrays.region_middle;
  let heights = null; // of the planes of pieces above the middle of the box
  const shift = (piece, explode) => {
    if (!explode || regions === null) return [0, 0, 0];
    const region = regions[piece];
    return [...middles.subarray(3 * region, 3 * region + 3)].map((one) => explode * one);
  };

  return {
    header, arrays, reach, triangles, edges,
    /** How many corners of triangles, and of edges, are on the border of the box. */
    outer: ends,

    /**
     * Return what a ray meets first.
     * @param {number[]} eye
     * @param {number[]} direction
     * @param {{explode?: number, kept?: (place: number[]) => boolean}} [how] regions are moved away from the middle by so
     *   many times their distance; what is not kept is not there
     * @returns {{piece: number, region: number, away: number, place: number[], shares: [number, number][]} | null}
     *   the place is that before regions were moved; `shares` are vertices and their weights
     */
    pick(eye, direction, { explode = 0, kept = () => true } = {}) {
      let best = null;
      const last = explode > 0 ? triangles.length / 2 : ends.triangles;
      let [piece, from] = [-1, eye];
      for (let one = 0; one < last; one += 3) {
        if (triangles[2 * one + 1] !== piece) {
          piece = triangles[2 * one + 1];
          from = along(eye, shift(piece, explode), -1);
        }
        const [a, b, c] = [triangles[2 * one], triangles[2 * one + 2], triangles[2 * one + 4]];
        const away = meet(from, direction, vertices, a, b, c);
        if (away <= 0 || (best !== null && away >= best.away)) continue;
        const at = along(from, direction, away);
        if (kept(at)) best = { piece, region: regions?.[piece] ?? -1, away, place: at, ids: [a, b, c] };
      }
      return best && { ...best, shares: sharesAt(best.place, best.ids.map(place), best.ids) };
    },

    /** Return the region that contains a place, or -1. */
    regionAt(at) {
      if (regions === null) return -1;
      heights ??= Float64Array.from(pieces, (piece) => dot(normals.subarray(3 * piece, 3 * piece + 3), place(corners[offsets[piece]])));
      const depths = new Float64Array(middles.length / 3).fill(Infinity);
      for (let piece = 0; piece < number; piece++) {
        const depth = heights[piece] - normals[3 * piece] * at[0] - normals[3 * piece + 1] * at[1] - normals[3 * piece + 2] * at[2];
        if (depth < depths[regions[piece]]) depths[regions[piece]] = depth;
      }
      let [found, deepest] = [-1, -1e-4];
      depths.forEach((depth, region) => {
        if (depth > deepest && depth < Infinity) [found, deepest] = [region, depth];
      });
      return found;
    },
  };
}

/** Return how far along a ray the triangle of three vertices is; -1 where it is missed. */
export function meet([ex, ey, ez], [dx, dy, dz], vertices, a, b, c) {
  const [ax, ay, az] = [vertices[3 * a], vertices[3 * a + 1], vertices[3 * a + 2]];
  const [px, py, pz] = [vertices[3 * b] - ax, vertices[3 * b + 1] - ay, vertices[3 * b + 2] - az];
  const [qx, qy, qz] = [vertices[3 * c] - ax, vertices[3 * c + 1] - ay, vertices[3 * c + 2] - az];
  const [nx, ny, nz] = [dy * qz - dz * qy, dz * qx - dx * qz, dx * qy - dy * qx];
  const size = px * nx + py * ny + pz * nz;
  if (Math.abs(size) < 1e-14) return -1;
  const [fx, fy, fz] = [ex - ax, ey - ay, ez - az];
  const u = (fx * nx + fy * ny + fz * nz) / size;
  if (u < 0 || u > 1) return -1;
  const [mx, my, mz] = [fy * pz - fz * py, fz * px - fx * pz, fx * py - fy * px];
  const v = (dx * mx + dy * my + dz * mz) / size;
  return v < 0 || u + v > 1 ? -1 : (qx * mx + qy * my + qz * mz) / size;
}

/** Return the vertices of a triangle, and their weights at a place in it. */
function sharesAt(at, [a, b, c], ids) {
  const normal = cross(along(b, a, -1), along(c, a, -1));
  const whole = dot(normal, normal);
  const part = (one, other) => dot(normal, cross(along(one, at, -1), along(other, at, -1))) / whole;
  return [[ids[0], part(b, c)], [ids[1], part(c, a)], [ids[2], part(a, b)]];
}

/** Return the class of the largest of the outputs at a place within a triangle, the lowest at a tie. */
export function classAt(scores, numClasses, shares) {
  let [winner, most] = [-1, -Infinity];
  for (let one = 0; one < numClasses; one++) {
    const score = shares.reduce((sum, [vertex, weight]) => sum + weight * scores[vertex * numClasses + one], 0);
    if (score > most) [winner, most] = [one, score];
  }
  return winner;
}
