// A page that draws planes alone, with the explorer's own modules, so that tests can look at every pixel.
import { colourPieces } from "./colours.js";
import { createPicker } from "./pick.js";
import * as ramps from "./ramps.js";
import { createScene } from "./scene.js";
import { namedArrays, unpack } from "./unpack.js";

const canvas = document.querySelector("canvas");
const scene = createScene(canvas);
const gl = canvas.getContext("webgl2");

async function planeOf(name) {
  const { header, buffers } = unpack(await (await fetch(name)).arrayBuffer());
  return { header, arrays: namedArrays(header, buffers) };
}

/** Show a plane by its name; it is what everything below looks at. */
async function open(name, by, more = {}) {
  const plane = await planeOf(name);
  const colours = colourPieces(plane, { by, palettes: window.drawing.palettes, ...more });
  scene.show(plane);
  scene.colour(colours);
  Object.assign(window.drawing, { plane, colours, view: plane.header.window });
}

/** Return the pixels of the canvas at points relative to the window, read in the moment in which they are drawn. */
function pixelsAt(points) {
  scene.draw(window.drawing.view);
  scene.drawNow();
  const { width, height } = canvas;
  const read = new Uint8Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, read);
  const { reach } = window.drawing.view;
  return points.map(([x, y]) => {
    const column = Math.floor((((x * reach[1]) / reach[0] + 1) / 2) * width);
    const row = Math.floor(((y + 1) / 2) * height);
    return [...read.subarray(4 * (row * width + column), 4 * (row * width + column) + 4)];
  });
}

/** Return the pixel at the middle of every piece that is far from its sides, and the piece's colour. */
function pixelsInPieces(far) {
  const { corners, piece_offsets: offsets } = window.drawing.plane.arrays;
  const [middles, expected] = [[], []];
  for (let piece = 0; piece + 1 < offsets.length; piece++) {
    const points = [];
    for (let corner = offsets[piece]; corner < offsets[piece + 1]; corner++) {
      points.push([corners[2 * corner], corners[2 * corner + 1]]);
    }
    const middle = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
    const heights = points.map(([ax, ay], index) => {
      const [bx, by] = points[(index + 1) % points.length];
      const length = Math.hypot(bx - ax, by - ay) || 1;
      return ((bx - ax) * (middle[1] - ay) - (by - ay) * (middle[0] - ax)) / length;
    });
    if ((Math.min(...heights) * canvas.height) / 2 < far) continue;
    middles.push(middle);
    expected.push([...window.drawing.colours.piece.subarray(4 * piece, 4 * piece + 4)]);
  }
  return { found: pixelsAt(middles), expected };
}

/** Return the pixels at the middles of long pieces of lines. */
function pixelsOnLines(style, name) {
  scene.style(style);
  const ends = window.drawing.plane.arrays[name];
  const middles = [];
  for (let at = 0; at < ends.length; at += 4) {
    const [ax, ay, bx, by] = ends.subarray(at, at + 4);
    if (Math.hypot(bx - ax, by - ay) > 0.1) middles.push([(ax + bx) / 2, (ay + by) / 2]);
  }
  return pixelsAt(middles).map((pixel) => pixel.slice(0, 3));
}

/** Return the regions that are picked at the plane's points, and those that the library finds there. */
function picks() {
  const picker = createPicker(window.drawing.plane);
  const { points, rows, piece_region: regions } = window.drawing.plane.arrays;
  const picked = Array.from(rows, (_, point) => picker.at(points[2 * point], points[2 * point + 1]));
  const isOwn = picked.every((one) => one === null || regions[one.piece] === one.region);
  return { rows: [...rows], picked: picked.map((one) => one?.region ?? -1), isOwn };
}

/** Take the drawing surface away and give it back; return what was told, and the pixels before and after. */
async function loseAndRestore(points) {
  const told = [];
  scene.onlost(({ lost }) => told.push(lost));
  const before = pixelsAt(points);
  const surface = gl.getExtension("WEBGL_lose_context");
  for (const [name, act] of [["lost", "loseContext"], ["restored", "restoreContext"]]) {
    const happened = new Promise((resolve) => {
      canvas.addEventListener(`webglcontext${name}`, () => setTimeout(resolve), { once: true });
    });
    surface[act]();
    await happened;
    scene.draw(window.drawing.view);
    scene.drawNow();
  }
  return { told, before, after: pixelsAt(points) };
}

/** Return how much two pictures differ: in the mean, and the share of channels that are far apart. */
async function difference(...sources) {
  const [one, other] = await Promise.all(
    sources.map(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const copy = new OffscreenCanvas(canvas.width, canvas.height);
      const pen = copy.getContext("2d");
      pen.drawImage(image, 0, 0, canvas.width, canvas.height);
      return pen.getImageData(0, 0, canvas.width, canvas.height).data;
    }),
  );
  let [sum, far] = [0, 0];
  one.forEach((value, index) => {
    sum += Math.abs(value - other[index]);
    if (Math.abs(value - other[index]) > 90) far++;
  });
  return { mean: sum / one.length, far: far / one.length };
}

async function asAddress(blob) {
  const reader = new FileReader();
  await new Promise((resolve) => {
    reader.onload = resolve;
    reader.readAsDataURL(blob);
  });
  return reader.result;
}

/** Make scenes on canvases of their own, draw, and dispose of them if told to. */
function makeScenes(number, isDisposed) {
  for (let round = 0; round < number; round++) {
    const holder = document.createElement("div");
    holder.style.cssText = "position:relative;width:90px;height:60px";
    const own = document.createElement("canvas");
    own.style.cssText = "width:100%;height:100%";
    holder.append(own);
    document.body.append(holder);
    const other = createScene(own);
    other.show(window.drawing.plane);
    other.colour(window.drawing.colours);
    other.draw(window.drawing.view);
    other.drawNow();
    if (!isDisposed) continue;
    other.dispose();
    holder.remove();
  }
}

/** Make it seem that everything takes a second. */
function makeSlow() {
  let now = performance.now();
  performance.now = () => {
    now += 1000;
    return now;
  };
}

/** Wait until nothing is drawn any more; return in how many frames something was. The view moves in the first ones. */
async function settle(numMoves = 0) {
  let [last, frames] = [window.drawing.numDraws, 0];
  for (let quiet = 0; quiet < 5; ) {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    quiet = window.drawing.numDraws === last ? quiet + 1 : 0;
    if (!quiet) frames++;
    if (frames < numMoves) scene.draw(window.drawing.view);
    last = window.drawing.numDraws;
  }
  return frames;
}

for (const name of ["drawArrays", "drawElements"]) {
  const draw = gl[name].bind(gl);
  gl[name] = (...given) => {
    window.drawing.numDraws++;
    draw(...given);
  };
}

const palettes = JSON.parse(document.querySelector("#palettes").textContent);
window.drawing = {
  palettes, canvas, scene, gl, ramps, open, pixelsAt, pixelsInPieces, pixelsOnLines, picks, loseAndRestore, difference, asAddress,
  makeScenes, makeSlow, settle, numDraws: 0,
};
