// Places on the plane: its own coordinates (float64), and those of a partition, relative to its window.
//
// A partition's corners are relative to the centre of its window, in units of half its height; so float32 is enough for
// them at any zoom.

/** Return a point of the plane in the coordinates of a partition. */
export function toRelative({ header: { window } }, [x, y]) {
  return [(x - window.center[0]) / window.reach[1], (y - window.center[1]) / window.reach[1]];
}

/** Return a point in the coordinates of a partition as a point of the plane. */
export function toPlane({ header: { window } }, [x, y]) {
  return [window.center[0] + x * window.reach[1], window.center[1] + y * window.reach[1]];
}

/** Return a point within a region, in the coordinates of the partition: the middle of its largest piece. */
export function insideRegion({ arrays: { corners, piece_offsets: offsets, piece_region: regions } }, row) {
  let best = null;
  let largest = -1;
  for (let piece = 0; piece < regions.length; piece++) {
    if (regions[piece] !== row) continue;
    const size = doubleArea(corners, offsets[piece], offsets[piece + 1]);
    if (size > largest) {
      largest = size;
      best = middle(corners, offsets[piece], offsets[piece + 1]);
    }
  }
  return best;
}

function doubleArea(corners, from, to) {
  let sum = 0;
  for (let at = from + 1; at + 1 < to; at++) {
    const [ax, ay] = [corners[2 * at] - corners[2 * from], corners[2 * at + 1] - corners[2 * from + 1]];
    const [bx, by] = [corners[2 * at + 2] - corners[2 * from], corners[2 * at + 3] - corners[2 * from + 1]];
    sum += ax * by - ay * bx;
  }
  return sum;
}

function middle(corners, from, to) {
  let [x, y] = [0, 0];
  for (let at = from; at < to; at++) {
    x += corners[2 * at];
    y += corners[2 * at + 1];
  }
  return [x / (to - from), y / (to - from)];
}

const SAME = 1e-6; // of a window: less than a thousandth of a pixel

/** Whether two windows show the same. */
export function isSameWindow(one, other) {
  const scale = SAME * Math.min(one.reach[1], other.reach[1]);
  return [0, 1].every(
    (axis) => Math.abs(one.center[axis] - other.center[axis]) <= scale && Math.abs(one.reach[axis] - other.reach[axis]) <= scale,
  );
}

/** Return the largest view of a shape within a window. */
export function within({ center, reach }, aspect) {
  const height = Math.min(reach[1], reach[0] / aspect);
  return { center: [...center], reach: [height * aspect, height] };
}
