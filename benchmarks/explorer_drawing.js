// Planes made of nothing but numbers, shown by the explorer's own modules; times of what a reader waits for.
import { colourPieces } from "./colours.js";
import { createPicker } from "./pick.js";
import { createScene } from "./scene.js";

const canvas = document.querySelector("canvas");
const palettes = JSON.parse(document.querySelector("#palettes").textContent);
const scene = createScene(canvas);
const gl = canvas.getContext("webgl2");
const HOME = { center: [0, 0], reach: [1.6, 1] };

/** Return a plane of about so many quadrilaterals, the corners of a grid moved at random. */
function madePlane(number) {
  const aspect = HOME.reach[0];
  const [columns, rows] = [Math.round(Math.sqrt(number * aspect)), Math.round(Math.sqrt(number / aspect))];
  const total = columns * rows;
  let state = 12345;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const grid = new Float32Array(2 * (columns + 1) * (rows + 1));
  for (let row = 0, at = 0; row <= rows; row++) {
    for (let column = 0; column <= columns; column++, at += 2) {
      const isInside = row % rows && column % columns;
      grid[at] = aspect * ((2 * (column + (isInside ? 0.7 * (random() - 0.5) : 0))) / columns - 1);
      grid[at + 1] = (2 * (row + (isInside ? 0.7 * (random() - 0.5) : 0))) / rows - 1;
    }
  }
  const corners = new Float32Array(8 * total);
  const classes = new Int16Array(total);
  const [ends, pairs, gates, bold] = [[], [], [], []];
  for (let row = 0, region = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, region++) {
      const first = row * (columns + 1) + column;
      const around = [first, first + 1, first + columns + 2, first + columns + 1];
      around.forEach((point, corner) => {
        corners.set(grid.subarray(2 * point, 2 * point + 2), 8 * region + 2 * corner);
      });
      classes[region] = Math.floor(5 + 4 * Math.sin(3 * grid[2 * first]) * Math.cos(2 * grid[2 * first + 1]));
    }
  }
  for (let row = 0, region = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, region++) {
      const first = row * (columns + 1) + column;
      const sides = [
        [column + 1 < columns ? region + 1 : -1, first + 1],
        [row + 1 < rows ? region + columns : -1, first + columns + 1],
      ];
      for (const [other, point] of sides) {
        if (other < 0) continue;
        const side = [...grid.subarray(2 * point, 2 * point + 2), ...grid.subarray(2 * (first + columns + 2), 2 * (first + columns + 2) + 2)];
        ends.push(...side);
        pairs.push(region, other);
        gates.push(Math.floor(4 * random()));
        if (classes[region] !== classes[other]) bold.push(...side);
      }
    }
  }
  return {
    header: { plane_id: "made", num_open: 0, window: HOME },
    arrays: {
      corners,
      piece_offsets: Int32Array.from({ length: total + 1 }, (_, region) => 4 * region),
      piece_region: Int32Array.from({ length: total }, (_, region) => region),
      piece_class: classes,
      region_area: new Float32Array(total).fill(1),
      region_rate: Float32Array.from({ length: total }, random),
      edge_ends: Float32Array.from(ends),
      edge_regions: Int32Array.from(pairs),
      edge_gate: Int16Array.from(gates),
      boundary_ends: Float32Array.from(bold),
    },
  };
}

/** Wait until the GPU, or what plays its part, has done all that it was asked for. */
function finish() {
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
}

let plane = null;

/** Make the next plane, which is no part of what is timed; return its number of regions. */
function prepare(number) {
  plane = madePlane(number);
  return plane.arrays.piece_region.length;
}

let numDraws = 0;
for (const name of ["drawArrays", "drawElements"]) {
  const draw = gl[name].bind(gl);
  gl[name] = (...given) => {
    numDraws++;
    draw(...given);
  };
}

/** From an answer to its picture, all of it: large planes are drawn over several frames. Return milliseconds. */
async function picture() {
  const began = performance.now();
  scene.show(plane);
  scene.colour(colourPieces(plane, { by: "class", palettes }));
  scene.draw(HOME);
  let [before, ended] = [-1, began];
  while (numDraws !== before) {
    before = numDraws;
    await nextFrame();
    if (numDraws !== before) ended = performance.now();
  }
  return ended - began;
}

/** Wait until what a frame asks for is drawn. */
async function nextFrame() {
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  finish();
}

/** Draw all of the plane again; return milliseconds. */
function whole() {
  const began = performance.now();
  scene.drawNow();
  finish();
  return performance.now() - began;
}

/** Move the view, as a drag does it; return the milliseconds between its pictures. */
async function moves(number) {
  const times = [];
  let last = performance.now();
  for (let step = 0; step < number; step++) {
    scene.draw({ center: [0.002 * step, 0], reach: HOME.reach });
    await nextFrame();
    times.push(performance.now() - last);
    last = performance.now();
  }
  return times.slice(2);
}

/** Wait until what was begun is drawn. */
async function rest(milliseconds) {
  scene.draw(HOME);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Make the grid for picking, and pick; return milliseconds of each. */
function picking() {
  const began = performance.now();
  const picker = createPicker(plane);
  picker.at(0, 0);
  const made = performance.now();
  for (let point = 0; point < 1000; point++) picker.at(HOME.reach[0] * (2 * Math.random() - 1), 2 * Math.random() - 1);
  return [made - began, (performance.now() - made) / 1000];
}

window.bench = { prepare, picture, whole, moves, rest, picking };
