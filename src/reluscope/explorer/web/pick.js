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
 * across the window fill one cell per row and not their bounding box.
 */
export function buildGrid(corners, offsets) {
  const number = offsets.length - 1;
  const [low, high] = limits(corners);
  const side = Math.max(1, Math.min(MOST_CELLS, Math.ceil(Math.sqrt(number))));
  const perCell = [0, 1].map((axis) => side / Math.max(1e-30, high[axis] - low[axis]));
  const along = (value, axis) => Math.max(0, Math.min(side - 1, Math.floor((value - low[axis]) * perCell[axis])));
  const left = new Float64Array(side);
  const right = new Float64Array(side);

  function reach(piece) {
    let [first, last] = [side, -1];
    for (let corner = offsets[piece]; corner < offsets[piece + 1]; corner++) {
      const row = along(corners[2 * corner + 1], 1);
      if (row < first) first = row;
      if (row > last) last = row;
    }
    left.fill(Infinity, first, last + 1);
    right.fill(-Infinity, first, last + 1);
    for (let corner = offsets[piece]; corner < offsets[piece + 1]; corner++) {
      const next = corner + 1 < offsets[piece + 1] ? corner + 1 : offsets[piece];
      sweep(corners[2 * corner], corners[2 * corner + 1], corners[2 * next], corners[2 * next + 1]);
    }
    return [first, last];
  }

  function sweep(ax, ay, bx, by) {
    if (ay > by) [ax, ay, bx, by] = [bx, by, ax, ay];
    const [first, last] = [along(ay, 1), along(by, 1)];
    const slope = by > ay ? (bx - ax) / (by - ay) : 0;
    for (let row = first; row <= last; row++) {
      const from = row === first ? ax : ax + slope * (low[1] + row / perCell[1] - ay);
      const to = row === last ? bx : ax + slope * (low[1] + (row + 1) / perCell[1] - ay);
      left[row] = Math.min(left[row], from, to);
      right[row] = Math.max(right[row], from, to);
    }
  }

  // Corners are known to a rounding, and so is where sides cross rows: a cell more on either side of it.
  const slack = ROUNDING * Math.max(1, high[0] - low[0]);
  const starts = new Uint32Array(side * side + 1);
  const visit = (act) => {
    for (let piece = 0; piece < number; piece++) {
      const [first, last] = reach(piece);
      for (let row = first; row <= last; row++) {
        const end = along(right[row] + slack, 0);
        for (let column = along(left[row] - slack, 0); column <= end; column++) act(row * side + column, piece);
      }
    }
  };
  visit((cell) => starts[cell + 1]++);
  for (let cell = 0; cell < side * side; cell++) starts[cell + 1] += starts[cell];
  const next = starts.slice();
  const pieces = new Uint32Array(starts[side * side]);
  visit((cell, piece) => {
    pieces[next[cell]++] = piece;
  });

  function cellOf(x, y) {
    const isInside = x >= low[0] - slack && x <= high[0] + slack && y >= low[1] - slack && y <= high[1] + slack;
    return isInside ? along(y, 1) * side + along(x, 0) : -1;
  }

  return { starts, pieces, cellOf, side };
}

function limits(corners) {
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (let index = 0; index < corners.length; index += 2) {
    for (let axis = 0; axis < 2; axis++) {
      const value = corners[index + axis];
      if (value < low[axis]) low[axis] = value;
      if (value > high[axis]) high[axis] = value;
    }
  }
  return [low, high];
}
