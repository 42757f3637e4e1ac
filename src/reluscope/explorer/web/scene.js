// The picture of a plane on a canvas: what is shown, in which colours, seen from where; and what lies over it.
//
// A plane replaces the one before when its colours have come, so that there is always a picture. Wider planes of the
// same kind stay behind it, for the time between a move and the next answer.
import { createPrograms, uploadPlane } from "./drawn_plane.js";
import { createFrames } from "./frames.js";
import { openContext } from "./gl.js";
import { outlines } from "./outline.js";
import { createOverlay, overlayShapes } from "./overlay.js";

export { NoWebGL } from "./gl.js";

const MOST_PIXELS = 9e6;
const MOST_BEHIND = 3;
const MOST_PIECES_BEHIND = 300_000;
const FINEST_BEHIND = 1e-4; // beyond this share of its window float32 corners would be seen

/**
 * Own a canvas and the picture over it. The canvas is sized by its style; its parent has to be positioned.
 * @param {HTMLCanvasElement} canvas
 * @throws {NoWebGL}
 */
export function createScene(canvas) {
  const gl = openContext(canvas);
  const overlay = createOverlay(canvas);
  const listeners = new Set();
  let programs = createPrograms(gl);
  let frames = createFrames(gl);
  let [current, pending, behind] = [null, null, []];
  let style = { edges: "thin", boundary: true, dark: false, gateShown: null };
  let over = { rings: [], marks: [], stretch: null, selected: {} };
  let [view, frame, isLost, content] = [null, 0, false, {}];

  function show(plane) {
    pending?.drawn?.dispose();
    pending = { plane, drawn: isLost ? null : uploadPlane(gl, programs, plane), colours: null, outline: outlines(plane) };
  }

  function colour(colours) {
    if (pending) {
      promote();
    } else {
      behind.forEach(release);
      behind = [];
    }
    if (!current) return;
    current.colours = colours.piece;
    current.drawn?.colour(colours.piece);
    change();
  }

  function promote() {
    const next = pending;
    const candidates = current ? [...behind, current] : [];
    behind = candidates.filter((one) => canLieBehind(one.plane, next.plane)).slice(-MOST_BEHIND);
    while (behind.reduce((sum, one) => sum + one.plane.arrays.piece_region.length, 0) > MOST_PIECES_BEHIND) behind.pop();
    for (const one of candidates) if (!behind.includes(one)) release(one);
    [current, pending] = [next, null];
    select({});
  }

  function release(one) {
    one.drawn?.dispose();
    one.drawn = null;
  }

  function schedule() {
    if (view && !frame) frame = requestAnimationFrame(tick);
  }

  /** Mean another picture by the next frame: not the last one moved. */
  function change() {
    content = {};
    schedule();
  }

  function draw(next) {
    view = { center: [...next.center], reach: [...next.reach] };
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
    if (canvas.width !== size[0]) canvas.width = size[0];
    if (canvas.height !== size[1]) canvas.height = size[1];
    overlay.draw(overlayShapes(view, page, over.rings, over.marks, over.stretch), page);
    if (isLost || gl.isContextLost() || !current) return null;
    return { view, size, content, passes: (from, pixels) => passes(from, { size: pixels, ratio }) };
  }

  function passes(from, target) {
    const isCovered = covers(current.plane.header.window, from);
    const seen = isCovered ? [] : behind.filter(({ plane }) => from.reach[1] > FINEST_BEHIND * plane.header.window.reach[1]);
    return [...seen, current].flatMap(({ drawn }) => drawn.passes(from, style, target));
  }

  function select(selected) {
    over.selected = selected;
    over.rings = [];
    for (const kind of ["hover", "neighbor", "region"]) {
      const row = selected[kind];
      if (row === null || row === undefined || row < 0 || !current) continue;
      const { center, reach } = current.plane.header.window;
      const points = current.outline(row).map(([x, y]) => [center[0] + reach[1] * x, center[1] + reach[1] * y]);
      over.rings.push({ kind, points });
    }
    schedule();
  }

  function onContextLost(event) {
    event.preventDefault();
    isLost = true;
    for (const one of [...behind, current, pending]) if (one) one.drawn = null;
    behind = [];
    for (const listener of listeners) listener({ lost: true });
  }

  function onContextRestored() {
    isLost = false;
    programs = createPrograms(gl);
    frames = createFrames(gl);
    for (const one of [current, pending]) {
      if (!one) continue;
      one.drawn = uploadPlane(gl, programs, one.plane);
      if (one.colours) one.drawn.colour(one.colours);
    }
    for (const listener of listeners) listener({ lost: false });
    drawNow();
  }

  canvas.addEventListener("webglcontextlost", onContextLost);
  canvas.addEventListener("webglcontextrestored", onContextRestored);

  return {
    /** Upload a plane, shown when its colours come. @param {{header: object, arrays: object}} plane */
    show,
    /** Give the newest plane its colours. @param {{piece: Uint8Array}} colours four bytes per piece */
    colour,
    /** Change parts of the style: edges "thin", "gates" or "none"; boundary; dark; gateShown. */
    style(changes) {
      style = { ...style, ...changes };
      change();
    },
    /** Draw in the next frame. @param {{center: number[], reach: number[]}} view in plane coordinates */
    draw,
    /** Draw at once, for pictures that are read back. */
    drawNow,
    /** Outline regions by row. @param {{region?: number, neighbor?: number, hover?: number}} selected */
    select,
    /** Mark points in plane coordinates. @param {{x, y, label?, kind?, group?, off?}[]} marks */
    marks(marks) {
      over.marks = marks;
      schedule();
    },
    /** Draw a line between two points in plane coordinates, or none. @param {number[][] | null} ends */
    stretch(ends) {
      over.stretch = ends ? { ends } : null;
      schedule();
    },
    /** Tell a function when the drawing surface is taken away and given back. */
    onlost: (listener) => listeners.add(listener),
    /** What is on the screen, for saved pictures. */
    shown: () => ({ plane: current?.plane ?? null, colours: current?.colours ?? null, view, style, ...over }),
    /** Return the picture without what lies over it. @returns {Promise<Blob>} */
    toBlob(type = "image/png") {
      drawNow();
      return new Promise((resolve) => canvas.toBlob(resolve, type));
    },
    dispose() {
      cancelAnimationFrame(frame);
      canvas.removeEventListener("webglcontextlost", onContextLost);
      canvas.removeEventListener("webglcontextrestored", onContextRestored);
      overlay.dispose();
      listeners.clear();
      gl.getExtension("WEBGL_lose_context")?.loseContext();
    },
  };
}

/** Whether a plane, wider than the next and of the same kind, can be seen behind it. */
function canLieBehind(plane, next) {
  const isSame = plane.header.plane_id === next.header.plane_id;
  return isSame && plane.header.window.reach[1] > 1.01 * next.header.window.reach[1] && covers(plane.header.window, next.header.window);
}

function covers(window, view) {
  return [0, 1].every((axis) => Math.abs(window.center[axis] - view.center[axis]) + view.reach[axis] <= window.reach[axis] * (1 + 1e-9));
}
