// Outlines of regions: a region is convex, so its outline is the convex hull of the pieces that it was cut into.

/**
 * Return which pieces every region has.
 * @param {Int32Array} pieceRegion (p)
 * @param {number} numRegions
 * @returns {{starts: Uint32Array, pieces: Uint32Array}} pieces of region r between starts[r] and starts[r + 1]
 */
export function piecesOfRegions(pieceRegion, numRegions) {
  const starts = new Uint32Array(numRegions + 1);
  for (const region of pieceRegion) starts[region + 1]++;
  for (let region = 0; region < numRegions; region++) starts[region + 1] += starts[region];
  const next = starts.slice();
  const pieces = new Uint32Array(pieceRegion.length);
  for (let piece = 0; piece < pieceRegion.length; piece++) pieces[next[pieceRegion[piece]]++] = piece;
  return { starts, pieces };
}

/**
 * Return a function from a region to its corners, counter-clockwise, relative to the window of the plane.
 * @param {{arrays: Object<string, ArrayLike<number>>}} plane
 * @returns {(region: number) => number[][]}
 */
export function outlines({ arrays }) {
  const { corners, piece_offsets: offsets, piece_region: pieceRegion } = arrays;
  let index = null;
  return (region) => {
    index ??= piecesOfRegions(pieceRegion, arrays.region_area.length);
    if (!(region >= 0 && region < index.starts.length - 1)) return [];
    const own = index.pieces.subarray(index.starts[region], index.starts[region + 1]);
    const points = [];
    for (const piece of own) {
      for (let corner = offsets[piece]; corner < offsets[piece + 1]; corner++) {
        points.push([corners[2 * corner], corners[2 * corner + 1]]);
      }
    }
    return own.length > 1 ? hull(points) : points;
  };
}

/** Return the corners of the convex hull of points, counter-clockwise. */
export function hull(points) {
  const sorted = [...points].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  if (sorted.length < 3) return sorted;
  return [...chain(sorted), ...chain(sorted.reverse())];
}

function chain(points) {
  const kept = [];
  for (const point of points) {
    while (kept.length > 1 && turn(kept[kept.length - 2], kept[kept.length - 1], point) <= 0) kept.pop();
    kept.push(point);
  }
  kept.pop();
  return kept;
}

function turn(a, b, c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}
