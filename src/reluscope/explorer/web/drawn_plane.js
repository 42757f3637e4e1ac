// One plane on the GPU: fills, lines, decision boundary. Corners are float32 relative to the middle of the window; where
// that lies in the view is computed in float64, so that pictures are right at every zoom.
import { hatching, hatchProgram } from "./hatching.js";
import { linePrograms, uploadLines } from "./lines.js";
import { channels, gateColours } from "./ramps.js";
import { fillProgram, uploadFills } from "./triangles.js";

const DARK = unit("#14181d");
const LIGHT = unit("#ffffff");
const INK = { light: unit("#1b1f24"), dark: unit("#e6e9ed") };
const SHORTEST = 0.5; // pixels: shorter lines are not seen
const QUADS_FROM = 6; // pixels: shorter lines need no smooth sides,
const CROWDED = 80; // pixels of a region in the mean, where there are so many that none stands out
const LEAST_AREA = 3; // pixels of a region in the mean: lines between smaller ones would be no more than a haze

/** Compile all programs of a context. */
export function createPrograms(gl) {
  return { fill: fillProgram(gl), line: linePrograms(gl), hatch: hatchProgram(gl) };
}

/**
 * Upload a plane.
 * @param {{header: object, arrays: Object<string, ArrayLike<number>>}} plane
 */
export function uploadPlane(gl, programs, plane) {
  const { header, arrays } = plane;
  const { center, reach } = header.window;
  const fills = uploadFills(gl, programs.fill, arrays.corners, arrays.piece_offsets);
  const edges = uploadLines(gl, programs.line, arrays.edge_ends, arrays.edge_gate);
  const boundary = uploadLines(gl, programs.line, arrays.boundary_ends, null);
  const gates = gateColours(Math.max(1, edges.numGroups - 1)).map(unit);

  function place(view) {
    return {
      shift: [0, 1].map((axis) => (center[axis] - view.center[axis]) / view.reach[axis]),
      scale: [0, 1].map((axis) => reach[1] / view.reach[axis]),
    };
  }

  /**
   * Return what draws the plane, in order.
   * @param {{center: number[], reach: number[]}} view
   * @param {object} style
   * @param {{size: number[], ratio: number}} target pixels of the canvas, and how many make one of the page
   */
  function passes(view, { edges: lines, boundary: isBold, dark, gateShown }, { size, ratio }) {
    const at = place(view);
    const all = [];
    if (header.num_open > 0) {
      const ink = [...INK[dark ? "dark" : "light"], 0.5];
      all.push(...hatching(gl, programs.hatch, at, { aspect: reach[0] / reach[1], period: 9 * ratio, ink }));
    }
    all.push(...fills.passes(at));
    if (lines !== "none") all.push(...edgePasses(at, { lines, gateShown, size, ratio }));
    if (isBold) {
      all.push(...boundary.passes(at, { size, width: 4.4 * ratio, ink: [...LIGHT, 1], rounded: true }));
      all.push(...boundary.passes(at, { size, width: 2.3 * ratio, ink: [...DARK, 1], rounded: true }));
    }
    return all;
  }

  function edgePasses(at, { lines, gateShown, size, ratio }) {
    // The window is 2 high in its own coordinates.
    const windowArea = at.scale[0] * (reach[0] / reach[1]) * size[0] * at.scale[1] * size[1];
    const area = windowArea / ratio ** 2 / Math.max(1, arrays.region_area.length);
    if (area < LEAST_AREA) return [];
    const width = lineWidth(area) * ratio;
    const pixel = 2 / (at.scale[1] * size[1]);
    const lengths = { shortest: SHORTEST * pixel, quadsFrom: area < CROWDED ? QUADS_FROM * ratio * pixel : 0 };
    const last = Math.min(edges.numGroups - 1, gateShown ?? edges.numGroups - 1);
    const all = [];
    // Later gates first: folds of the first gates run through all that follows and stay whole.
    for (let gate = last - 1; gate >= -1; gate--) {
      const coloured = { width: Math.max(1.5 * width, 0.7 * ratio), ink: [...gates[Math.max(0, gate)], 0.9] };
      const look = lines === "gates" ? coloured : { width, ink: [...DARK, 0.5] };
      all.push(...edges.passes(at, { size, group: gate, ...lengths, ...look }));
    }
    return all;
  }

  function dispose() {
    for (const part of [fills, edges, boundary]) part.dispose();
  }

  return { colour: fills.colour, passes, dispose };
}

/**
 * Return how wide lines are: thin enough to leave most of the picture to the regions.
 * @param {number} area of a region in the mean, in pixels of the page
 */
export function lineWidth(area) {
  return Math.min(1.2, 0.06 * Math.sqrt(area));
}

function unit(colour) {
  return channels(colour).map((part) => part / 255);
}
