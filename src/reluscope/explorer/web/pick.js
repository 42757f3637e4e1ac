// Which region a point lies in, on the CPU: a grid of cells, and in each the pieces that reach into it.
//
// As `Partition.locate` has it: the lowest row whose closure contains the point. Corners are float32, so that of two
// neighbours neither may contain a point by a rounding; it is then given to the one that it is nearest to.

const MOST_CELLS = 1024; // along each side
const ROUNDING = 1e-6;

/**
 * Make a picker for a plane. The grid is made when the first point is asked for.
 * @param {{arrays: Object<string, ArrayLike<number>>}} plane
 * @returns {{at(x: number, y: number): {piece: number, region: number} | null}} x and y relative to the plane's window
 */
export function createPicker({ arrays }) {
  const { corners, piece_offsets: offsets, piece_region: pieceRegion } = arrays;
  let grid = null;

  function at(x, y) {
    grid ??= buildGrid(corners, offsets);
    const cell = grid.cellOf(x, y);
    if (cell < 0) return null;
    let [best, nearest, deepest] = [-1, -1, -ROUNDING];
    for (let index = grid.starts[cell]; index < grid.starts[cell + 1]; index++) {
      const piece = grid.pieces[index];
      const depth = depthIn(corners, offsets[piece], offsets[piece + 1], x, y);
      if (depth >= 0 && (best < 0 || pieceRegion[piece] < pieceRegion[best])) best = piece;
      if (depth > deepest) [nearest, deepest] = [piece, depth];
    }
    const piece = best >= 0 ? best : nearest;
    return piece < 0 ? null : { piece, region: pieceRegion[piece] };
  }

  return { at };
}

/** Return how deep a point lies in a convex polygon: the distance to its nearest side, negative outside. */
function depthIn(corners, start, end, x, y) {
  let depth = Infinity;
  for (let corner = start; corner < end; corner++) {
    const next = corner + 1 < end ? corner + 1 : start;
    const [ax, ay] = [corners[2 * corner], corners[2 * corner + 1]];
    const [dx, dy] = [corners[2 * next] - ax, corners[2 * next + 1] - ay];
    const length = Math.sqrt(dx * dx + dy * dy);
    if (length > 0) depth = Math.min(depth, (dx * (y - ay) - dy * (x - ax)) / length);
  }
  return depth;
}

/**
 * Return the cells of a grid over all polygons, and which polygons reach into each.
 *
 * Of every row of cells a polygon takes those between its leftmost and rightmost point within the row, so that slivers
 * across the window fill a few cells per row and not their bounding box.
 * @returns {{starts: Uint32Array, pieces: Uint32Array, cellOf(x: number, y: number): number}}
 */
export function buildGrid(corners, offsets) {
  const number = offsets.length - 1;
  const [left, bottom, right, top] = limits(corners);
  const side = Math.max(1, Math.min(MOST_CELLS, Math.ceil(Math.sqrt(number))));
  const perColumn = side / Math.max(1e-30, right - left);
  const perRow = side / Math.max(1e-30, top - bottom);
  // Corners are known to a rounding, and so is where sides cross rows.
  const slack = ROUNDING * Math.max(1, right - left, top - bottom);
  const most = side - 1;
  const column = (x) => Math.max(0, Math.min(most, (x - left) * perColumn)) | 0;
  const row = (y) => Math.max(0, Math.min(most, (y - bottom) * perRow)) | 0;

  const starts = new Uint32Array(side * side + 1);
  for (let piece = 0; piece < number; piece++) reach(piece, count);
  for (let cell = 0; cell < side * side; cell++) starts[cell + 1] += starts[cell];
  const next = starts.slice();
  const pieces = new Uint32Array(starts[side * side]);
  for (let piece = 0; piece < number; piece++) reach(piece, put);

  function count(from, to) {
    for (let cell = from; cell <= to; cell++) starts[cell + 1]++;
  }

  function put(from, to, piece) {
    for (let cell = from; cell <= to; cell++) pieces[next[cell]++] = piece;
  }

  /** Call a function with the first and last cell in every row that a polygon reaches into. */
  function reach(piece, act) {
    const start = offsets[piece];
    const end = offsets[piece + 1];
    let west = Infinity;
    let south = Infinity;
    let east = -Infinity;
    let north = -Infinity;
    for (let corner = 2 * start; corner < 2 * end; corner += 2) {
      const x = corners[corner];
      const y = corners[corner + 1];
      if (x < west) west = x;
      if (x > east) east = x;
      if (y < south) south = y;
      if (y > north) north = y;
    }
    const first = row(south - slack);
    const last = row(north + slack);
    const from = column(west - slack);
    const to = column(east + slack);
    const isSmall = last - first < 2 || to - from < 2;
    for (let line = first; line <= last; line++) {
      if (isSmall) act(line * side + from, line * side + to, piece);
      else {
        const span = within(start, end, bottom + line / perRow - slack, bottom + (line + 1) / perRow + slack);
        act(line * side + column(span[0] - slack), line * side + column(span[1] + slack), piece);
      }
    }
  }

  /** Return the leftmost and rightmost point of a polygon between two heights. */
  function within(start, end, low, high) {
    let [from, to] = [Infinity, -Infinity];
    for (let corner = start; corner < end; corner++) {
      const next = corner + 1 < end ? corner + 1 : start;
      const [ax, ay, bx, by] = [corners[2 * corner], corners[2 * corner + 1], corners[2 * next], corners[2 * next + 1]];
      if (Math.max(ay, by) < low || Math.min(ay, by) > high) continue;
      const slope = ay === by ? 0 : (bx - ax) / (by - ay);
      for (const [x, y] of [[ax, ay], [bx, by]]) {
        const there = y < low ? x + slope * (low - y) : y > high ? x + slope * (high - y) : x;
        if (there < from) from = there;
        if (there > to) to = there;
      }
    }
    return [from, to];
  }

  function cellOf(x, y) {
    const isInside = x >= left - slack && x <= right + slack && y >= bottom - slack && y <= top + slack;
    return isInside ? row(y) * side + column(x) : -1;
  }

  return { starts, pieces, cellOf };
}

/** Return left, bottom, right and top of points. */
function limits(corners) {
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = 0; index < corners.length; index += 2) {
    const [x, y] = [corners[index], corners[index + 1]];
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < bottom) bottom = y;
    if (y > top) top = y;
  }
  return [left, bottom, right, top];
}
