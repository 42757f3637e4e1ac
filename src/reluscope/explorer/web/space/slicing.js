// The plane that cuts the box: three points of it are what the explorer's plane goes through.
import { along, cross, dot, unit } from "./orbit.js";

const FILLS = 0.75; // of the reach of the box: the window has a border of its own

/** Return the directions of a plane, right and up, so that up is up where that can be. */
export function axesOf(normal) {
  const isLevel = Math.hypot(normal[0], normal[1]) < 1e-6;
  const right = isLevel ? [1, 0, 0] : unit([-normal[1], normal[0], 0]);
  return [right, cross(normal, right)];
}

/**
 * Return three points of a plane as anchors.
 * @param {{normal: number[], offset: number}} plane in places of the box
 * @param {{center: number[], reach: number[]}} room
 * @param {string} kind "point" of the inputs, or "inside" of a solid
 */
export function anchorsOf({ normal, offset }, { center, reach }, kind = "point") {
  const scale = Math.max(...reach);
  const [right, up] = axesOf(normal);
  const [wide, high] = [right, up].map((axis) => FILLS * axis.reduce((sum, one, k) => sum + (Math.abs(one) * reach[k]) / scale, 0));
  const middle = normal.map((one) => one * offset);
  const points = [[-1, -1], [1, -1], [0, 1]].map(([x, y]) => along(along(middle, right, x * wide), up, y * high));
  return points.map((point) => ({ kind, at: point.map((one, k) => tidy(center[k] + scale * one)) }));
}

/**
 * Return the plane that a picture shows, in places of the box.
 * @param {{origin: number[], basis: number[][]}} frame
 */
export function planeOf({ origin, basis }, { center, reach }) {
  const scale = Math.max(...reach);
  const start = origin.map((one, k) => (one - center[k]) / scale);
  const normal = unit(cross(...basis));
  return { normal, offset: dot(normal, start), start, basis, scale };
}

/** Return a place of the box as coordinates of a plane. */
export function onPlane({ start, basis, scale }, place) {
  const away = along(place, start, -1);
  return basis.map((axis) => scale * dot(axis, away));
}

/** Return a point of a plane as a place of the box. */
export function inBox({ start, basis, scale }, [x, y]) {
  return along(along(start, basis[0], x / scale), basis[1], y / scale);
}

/** Return how far along a ray a plane is; null where it is not met. */
export function meetPlane(eye, direction, { normal, offset }) {
  const speed = dot(normal, direction);
  const away = speed === 0 ? -1 : (offset - dot(normal, eye)) / speed;
  return away > 0 ? away : null;
}

/** Return a number without the digits that nobody chose. */
export const tidy = (value) => Number(value.toPrecision(7));
