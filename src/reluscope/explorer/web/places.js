// Places on the plane: its own coordinates (float64), and those of a partition, relative to its window.
//
// A partition's corners are relative to the centre of its window, in units of half its height; so float32 is enough for
// them at any zoom.

import { outlines } from "./outline.js";

/** Return a point of the plane in the coordinates of a partition. */
export function toRelative({ header: { window } }, [x, y]) {
  return [(x - window.center[0]) / window.reach[1], (y - window.center[1]) / window.reach[1]];
}

/** Return a point in the coordinates of a partition as a point of the plane. */
export function toPlane({ header: { window } }, [x, y]) {
  return [window.center[0] + x * window.reach[1], window.center[1] + y * window.reach[1]];
}

/** Return a point within a region, in the coordinates of the partition: the middle of its corners. */
export function insideRegion(plane, row) {
  const corners = outlines(plane)(row);
  return [0, 1].map((axis) => corners.reduce((sum, corner) => sum + corner[axis], 0) / corners.length);
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
