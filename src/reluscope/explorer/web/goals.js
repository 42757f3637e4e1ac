// Where to look next: the corners of a plane, its decision boundary, its densest place.
//
// Deep in one region there is nothing to see; goals then come from the last plane that had some. They are relative to its
// window, as its corners are, so that a goal is known to a float32 of that window: the view that shows it is no smaller.

import { toPlane, toRelative } from "./places.js";

const AT_BORDER = 1e-3; // of the half height: nearer to the border of the window are corners of the window
const SAME = 1e6; // corners by so much finer than the half height are one
const CELLS = 8; // across the height, of which the densest is looked for
const FINEST = 1e-5; // of the window that a goal is from

/** Return the corners at which three pieces or more meet, within the window. */
export function cornersOf({ header, arrays: { corners } }) {
  const isInside = insideOf(header.window);
  const met = new Map();
  for (let at = 0; at < corners.length; at += 2) {
    const [x, y] = [corners[at], corners[at + 1]];
    if (!isInside(x, y)) continue;
    const key = `${Math.round(x * SAME)} ${Math.round(y * SAME)}`;
    const one = met.get(key);
    if (one) one.count++;
    else met.set(key, { place: [x, y], count: 1 });
  }
  return [...met.values()].filter(({ count }) => count > 2).map(({ place }) => place);
}

/** Return the middles of the segments of the decision boundary, of a plane without one those between regions. */
export function bordersOf({ header, arrays }) {
  const ends = arrays.boundary_ends?.length ? arrays.boundary_ends : arrays.edge_ends;
  const isInside = insideOf(header.window);
  const places = [];
  for (let at = 0; at < ends.length; at += 4) {
    const [x, y] = [(ends[at] + ends[at + 2]) / 2, (ends[at + 1] + ends[at + 3]) / 2];
    if (isInside(x, y)) places.push([x, y]);
  }
  return places;
}

/** Return the middle of the square with the most corners, of those that the window is divided into. */
export function densestOf(plane) {
  const width = plane.header.window.reach[0] / plane.header.window.reach[1];
  const columns = Math.ceil(CELLS * width);
  const counts = new Map();
  for (const [x, y] of cornersOf(plane)) {
    const cell = Math.floor(((x / width + 1) / 2) * columns) + columns * Math.floor(((y + 1) / 2) * CELLS);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  const [cell] = [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [-1, 0]);
  if (cell < 0) return [];
  const [column, row] = [cell % columns, Math.floor(cell / columns)];
  return [[width * ((2 * column + 1) / columns - 1), (2 * row + 1) / CELLS - 1]];
}

const GOALS = { corner: cornersOf, boundary: bordersOf, densest: densestOf };

/**
 * Return a function that looks at the next goal of a kind: the nearest first, and on, until the view is moved otherwise.
 * @param {{camera: () => object, shown: object, announce: (text: string) => void}} parts
 */
export function createTravel({ camera, shown, announce }) {
  let known = null; // the last plane in which there is more than one region
  let route = null; // {kind, places, height}: what is left of a way
  let arrived = null;

  function begin(kind) {
    if (known === null) return null;
    const from = toRelative(known, camera().view().center);
    const distance = ([x, y]) => Math.hypot(x - from[0], y - from[1]);
    const places = GOALS[kind](known).sort((one, other) => distance(one) - distance(other));
    const { reach } = known.header.window;
    const [least, most] = kind === "densest" ? [0, reach[1] / CELLS] : [FINEST * reach[1], Infinity];
    return { kind, places: places.map((place) => toPlane(known, place)), least, most };
  }

  function keep({ plane }) {
    if (plane !== null && plane.arrays.piece_offsets.length > 2) known = plane;
  }
  keep(shown.get());
  shown.subscribe((now, changed) => changed.has("plane") && keep(now));

  return (kind) => {
    const { center } = camera().view();
    const goesOn = route?.kind === kind && kind !== "densest" && arrived?.every((part, axis) => part === center[axis]);
    if (!goesOn || route.places.length === 0) route = begin(kind);
    const next = route?.places.shift();
    if (next === undefined) {
      announce("Nothing of that kind is in view: zoom out.");
      return;
    }
    const [width, height] = camera().view().reach;
    const size = Math.min(route.most, Math.max(route.least, height));
    camera().set({ center: next, reach: [(size * width) / height, size] });
    arrived = camera().view().center;
  };
}

function insideOf({ reach }) {
  const right = reach[0] / reach[1] - AT_BORDER;
  return (x, y) => Math.abs(x) < right && Math.abs(y) < 1 - AT_BORDER;
}
