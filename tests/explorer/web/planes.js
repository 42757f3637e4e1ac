// Small planes for tests: a square cut by random lines, so that all pieces are convex and cover it once.

/** Random numbers in [0, 1) that are the same in every run. */
export function randomly(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Return the polygons, counter-clockwise, into which random lines cut the square of half side 1. */
export function cutSquare(numLines, seed) {
  const random = randomly(seed);
  let polygons = [[[-1, -1], [1, -1], [1, 1], [-1, 1]]];
  for (let line = 0; line < numLines; line++) {
    const angle = 2 * Math.PI * random();
    const normal = [Math.cos(angle), Math.sin(angle)];
    const offset = 1.2 * (random() - 0.5);
    const height = ([x, y]) => normal[0] * x + normal[1] * y - offset;
    polygons = polygons.flatMap((polygon) => [clipped(polygon, height), clipped(polygon, (point) => -height(point))]).filter((one) => one.length > 2);
  }
  return polygons;
}

function clipped(polygon, height) {
  const kept = [];
  polygon.forEach((point, index) => {
    const next = polygon[(index + 1) % polygon.length];
    const [here, there] = [height(point), height(next)];
    if (here >= 0) kept.push(point);
    if (here * there < 0) kept.push([0, 1].map((axis) => point[axis] + ((next[axis] - point[axis]) * here) / (here - there)));
  });
  return kept;
}

/** Return a plane as an answer has it, of given polygons; `regions` and `classes` are of the polygons. */
export function planeOf(polygons, { regions = polygons.map((_, index) => index), classes = polygons.map(() => 0), more = {} } = {}) {
  const offsets = new Int32Array(polygons.length + 1);
  polygons.forEach((polygon, index) => {
    offsets[index + 1] = offsets[index] + polygon.length;
  });
  const numRegions = Math.max(-1, ...regions) + 1;
  return {
    header: { plane_id: "p", num_open: 0, window: { center: [0, 0], reach: [1, 1] } },
    arrays: {
      corners: new Float32Array(polygons.flat(2)),
      piece_offsets: offsets,
      piece_region: Int32Array.from(regions),
      piece_class: Int16Array.from(classes),
      region_area: new Float32Array(numRegions).fill(1),
      region_rate: new Float32Array(numRegions).fill(0.5),
      region_depth: new Int16Array(numRegions),
      region_random: new Uint8Array(numRegions),
      edge_ends: new Float32Array(0),
      edge_regions: new Int32Array(0),
      edge_gate: new Int16Array(0),
      boundary_ends: new Float32Array(0),
      ...more,
    },
  };
}

/** The palettes that pictures of the library have. */
export const PALETTES = {
  categories: ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#9D4F28", "#7642EB", "#90C483", "#AAAA4F"],
  neutral: "#e3e5e8",
  dark: "#14181d",
  light: "#ffffff",
};
