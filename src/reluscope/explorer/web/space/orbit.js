// A camera that goes around the middle of a box: from where it looks, and what lies behind a place of the screen.
//
// Places are those of the box: it reaches from -1 to 1 along its longest side. The camera keeps its distance; to come
// nearer is to see a smaller angle, so that it never stands within what it looks at.

const DISTANCE = 7;
const STEEPEST = 1.55; // radians: from right above, left and right would turn
const SEEN = 1.9; // half of what is seen at the middle of the box, without zoom
const ZOOMS = [0.3, 60];

/**
 * Return the view of a camera.
 * @param {{azimuth: number, elevation: number, zoom: number}} orbit angles in radians
 * @param {number} aspect width over height
 * @param {number} [radius] within which everything lies
 */
export function viewOf({ azimuth, elevation, zoom }, aspect, radius = 3) {
  const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
  const toEye = [ce * ca, ce * sa, se];
  const right = [-sa, ca, 0];
  const up = [-se * ca, -se * sa, ce];
  const focal = (zoom * DISTANCE) / SEEN;
  const [fx, fy] = [focal / Math.max(1, aspect), focal * Math.min(1, aspect)];
  const [near, far] = [Math.max(0.05, DISTANCE - radius), DISTANCE + radius];
  const depth = [(far + near) / (far - near), (-2 * far * near) / (far - near)];
  return {
    toEye, right, up,
    eye: toEye.map((one) => DISTANCE * one),
    /** The matrix from places to the screen, column by column. */
    matrix: new Float32Array([
      ...[0, 1, 2].flatMap((axis) => [fx * right[axis], fy * up[axis], -depth[0] * toEye[axis], -toEye[axis]]),
      0, 0, depth[0] * DISTANCE + depth[1], DISTANCE,
    ]),
    /** Return where a place is seen, from -1 to 1 to the right and up. */
    project(place) {
      const away = DISTANCE - dot(place, toEye);
      return [(fx * dot(place, right)) / away, (fy * dot(place, up)) / away];
    },
    /** Return the direction from the eye into which a place of the screen looks. */
    ray: ([x, y]) => [0, 1, 2].map((axis) => (x / fx) * right[axis] + (y / fy) * up[axis] - toEye[axis]),
  };
}

/** Return a camera that was turned by angles and came nearer by a factor. */
export function turned({ azimuth, elevation, zoom }, [right, up], factor = 1) {
  const around = Math.PI;
  return {
    azimuth: azimuth - right - 2 * around * Math.floor((azimuth - right + around) / (2 * around)),
    elevation: clamp(elevation + up, -STEEPEST, STEEPEST),
    zoom: clamp(zoom * factor, ...ZOOMS),
  };
}

/** Return the sum of products. */
export const dot = (one, other) => one[0] * other[0] + one[1] * other[1] + one[2] * other[2];

/** Return what is perpendicular to two directions. */
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** Return a place, and so many times a direction. */
export const along = (place, direction, times = 1) => place.map((one, axis) => one + times * direction[axis]);

/** Return a direction of length one. */
export const unit = (direction) => direction.map((one) => one / Math.hypot(...direction));

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
