// The picture of a plane on a canvas: what is shown, in which colours, seen from where; and what lies over it.
//
// A plane replaces the one before when its colours have come, so that there is always a picture.
import { createPrograms, uploadPlane } from "./drawn_plane.js";
import { createFrames } from "./frames.js";
import { openContext } from "./gl.js";
import { createOverlay, overlayShapes } from "./overlay.js";
import { pictureAsPng, pictureAsSvg } from "./pictures.js";
import { createStack } from "./stack.js";
import { watchVisibility } from "./visibility.js";

export { NoWebGL } from "./gl.js";

const MOST_PIXELS = 9e6;
const LETTERS = 16; // pixels of letters from which on everything grows

/**
 * Own a canvas and the picture over it. The canvas is sized by its style; its parent has to be positioned.
 * @param {HTMLCanvasElement} canvas
 * @throws {NoWebGL}
 */
export function createScene(canvas) {
  const gl = openContext(canvas);
  const surface = gl.getExtension("WEBGL_lose_context");
  const overlay = createOverlay(canvas);
  const listeners = new Set();
  const stack = createStack((plane) => (isLost ? null : uploadPlane(gl, programs, plane)));
  let programs = createPrograms(gl);
  let frames = createFrames(gl);
  let style = { edges: "thin", boundary: true, dark: false, gateShown: null };
  const over = { rings: [], marks: [], stretch: null };
  let view = null;
  let frame = 0;
  let content = {};
  let [isLost, isGivenBack, isOverStale] = [false, false, true];
  let grown = 1; // of lines and marks, where letters are large

  function colour(colours) {
    const before = stack.front()?.plane.header.plane_id;
    const isNew = stack.colour(colours);
    // Of the same plane a region stays where it is, seen finer or in another window.
    const isSame = before === stack.front()?.plane.header.plane_id;
    if (isNew) lay({ rings: isSame ? over.rings.filter(({ kind }) => kind !== "hover") : [] });
    change();
  }

  /** Change what lies over the plane. */
  function lay(changes) {
    Object.assign(over, changes);
    isOverStale = true;
    schedule();
  }

  function schedule() {
    if (view && !frame) frame = requestAnimationFrame(tick);
  }

  /** Mean another picture by the next frame: not the last one moved. */
  function change() {
    content = {};
    schedule();
  }

  function tick() {
    frame = 0;
    const wish = prepare();
    if (wish && frames.draw(wish)) schedule();
  }

  function drawNow() {
    const wish = prepare();
    if (wish) frames.drawNow(wish);
  }

  /** Fit the canvas to its place on the page, draw what lies over it, and return what is to be drawn on it. */
  function prepare() {
    const page = [canvas.clientWidth, canvas.clientHeight];
    if (!view || !page[0] || !page[1]) return null;
    const ratio = Math.min(globalThis.devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / (page[0] * page[1])));
    const size = page.map((length) => Math.max(1, Math.round(length * ratio)));
    if (canvas.width !== size[0] || canvas.height !== size[1]) {
      [canvas.width, canvas.height] = size;
      grown = Math.max(1, parseFloat(getComputedStyle(canvas).fontSize) / LETTERS);
      isOverStale = true;
    }
    const paper = page.map((length) => length / grown);
    if (isOverStale) overlay.draw(overlayShapes(view, paper, over), paper);
    isOverStale = false;
    if (isLost || gl.isContextLost() || !stack.front()) return null;
    return { view, size, content, passes: (from, pixels) => stack.passes(from, style, { size: pixels, ratio: ratio * grown }) };
  }

  function select(selected) {
    const front = stack.front();
    const rings = [];
    for (const kind of front ? ["hover", "neighbor", "region"] : []) {
      if (!(selected[kind] >= 0)) continue;
      const { center, reach } = front.plane.header.window;
      const points = front.outline(selected[kind]).map(([x, y]) => [center[0] + reach[1] * x, center[1] + reach[1] * y]);
      rings.push({ kind, points });
    }
    lay({ rings });
  }

  function onContextLost(event) {
    event.preventDefault();
    isLost = true;
    stack.forget();
    if (!isGivenBack) for (const listener of listeners) listener({ lost: true });
  }

  function onContextRestored() {
    const wasLost = !isGivenBack;
    [isLost, isGivenBack] = [false, false];
    programs = createPrograms(gl);
    frames = createFrames(gl);
    stack.restore();
    if (wasLost) for (const listener of listeners) listener({ lost: false });
    change();
  }

  canvas.addEventListener("webglcontextlost", onContextLost);
  canvas.addEventListener("webglcontextrestored", onContextRestored);
  const unwatch = watchVisibility(canvas, {
    onhide() {
      if (isLost || !surface) return;
      isGivenBack = true;
      surface.loseContext();
    },
    onshow() {
      // Also one that the browser took because there were too many.
      if (isLost) surface?.restoreContext();
    },
  });

  function shown() {
    const { plane = null, colours = null } = stack.front() ?? {};
    return { plane, colours, view, style, over, size: [canvas.clientWidth, canvas.clientHeight] };
  }

  return {
    /** Upload a plane, shown when its colours come. @param {{header: object, arrays: object}} plane */
    show: stack.add,
    /** Give the newest plane its colours. @param {{piece: Uint8Array}} colours four bytes per piece */
    colour,
    /** Change parts of the style: edges "thin", "gates" or "none"; boundary; dark; gateShown. */
    style(changes) {
      style = { ...style, ...changes };
      change();
    },
    /** Draw in the next frame. @param {{center: number[], reach: number[]}} next in plane coordinates */
    draw(next) {
      view = { center: [...next.center], reach: [...next.reach] };
      isOverStale = true;
      schedule();
    },
    /** Draw at once, for pictures that are read back. */
    drawNow,
    /** Outline regions by row. @param {{region?: number, neighbor?: number, hover?: number}} selected */
    select,
    /** Mark points in plane coordinates. @param {{x, y, label?, kind?, group?, off?}[]} marks */
    marks: (marks) => lay({ marks }),
    /** Draw a line between two points in plane coordinates, or none. @param {number[][] | null} ends */
    stretch: (ends) => lay({ stretch: ends }),
    /** Tell a function when the drawing surface is taken away and given back. */
    onlost: (listener) => listeners.add(listener),
    /** Return what is on the screen as a PNG. @param {{paper?: string}} look @returns {Promise<Blob>} */
    toBlob({ paper } = {}) {
      drawNow();
      return pictureAsPng(canvas, shown(), { paper });
    },
    /** Return what is on the screen as SVG. @param {{paper?: string, title?: string}} look @returns {string} */
    toSvg: (look = {}) => pictureAsSvg(shown(), look),
    dispose() {
      cancelAnimationFrame(frame);
      unwatch();
      canvas.removeEventListener("webglcontextlost", onContextLost);
      canvas.removeEventListener("webglcontextrestored", onContextRestored);
      overlay.dispose();
      listeners.clear();
      if (!gl.isContextLost()) surface?.loseContext();
    },
  };
}
