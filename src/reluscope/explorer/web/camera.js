// Where one looks from: the middle of the view and its half sides, in float64, and how gestures change them.
import { listen } from "./gestures.js";
import { createMotion } from "./motion.js";

const REST = 160; // milliseconds without a move after which the view rests
const DEEPEST = 1e-12; // of home
const WIDEST = 64;
const STEP = 0.12; // of the view per press of an arrow
const FACTOR = 1.35;
const THROWN = 250; // pixels per second at the end of a drag from which the view coasts

/**
 * Move a view by wheel, drag, pinch and keys over an element, whose shape the view takes.
 * @param {object} options
 * @param {HTMLElement} options.element
 * @param {{center: number[], reach: number[]}} options.home
 * @param {(view: object) => void} options.onchange
 * @param {(view: object) => void} options.onrest when nothing has moved for a moment
 * @param {boolean | (() => boolean)} [options.reducedMotion]
 * @param {(at: {x: number, y: number, event: Event}) => void} [options.onclick] in plane coordinates
 * @param {(at: {x: number, y: number, event: Event} | null) => void} [options.onhover] null when the pointer leaves
 * @param {(stretch: {ends: number[][], isDone: boolean}) => void} [options.onstretch] drags with Shift or `stretching`
 * @param {() => boolean} [options.stretching] whether drags draw a line and do not move
 * @param {() => boolean} [options.wheels] whether the wheel zooms at this moment; Ctrl and the wheel always does
 */
export function createCamera(options) {
  const { element, onchange, onrest, reducedMotion = false } = options;
  const isStill = () => (typeof reducedMotion === "function" ? reducedMotion() : reducedMotion);
  const motion = createMotion();
  let home = options.home;
  let aspect = aspectOf(element) ?? 1;
  let view = fitted(home, aspect);
  let timer = 0;

  function move(next) {
    view = limited(next, home, aspect, view);
    clearTimeout(timer);
    timer = setTimeout(settle, REST);
    onchange(view);
  }

  /** Rest at once, if the view has moved. */
  function settle() {
    if (!timer) return;
    clearTimeout(timer);
    timer = 0;
    onrest(view);
  }

  function panBy(dx, dy) {
    move({ center: [view.center[0] + dx, view.center[1] + dy], reach: view.reach });
  }

  function zoomBy(factor, at = view.center) {
    const deepest = DEEPEST * home.reach[1];
    const height = Math.min(WIDEST * home.reach[1], Math.max(deepest, view.reach[1] / factor));
    const share = height / view.reach[1];
    move({ center: [0, 1].map((axis) => at[axis] + (view.center[axis] - at[axis]) * share), reach: [height * aspect, height] });
  }

  /** From pixels of the page, relative to the element, to the plane. */
  function pointAt([x, y]) {
    const box = element.getBoundingClientRect();
    return [
      view.center[0] + ((2 * (x - box.left)) / box.width - 1) * view.reach[0],
      view.center[1] - ((2 * (y - box.top)) / box.height - 1) * view.reach[1],
    ];
  }

  function panByPixels([right, down]) {
    const box = element.getBoundingClientRect();
    panBy((-2 * right * view.reach[0]) / box.width, (2 * down * view.reach[1]) / box.height);
  }

  const silence = listen(element, {
    onbegin: () => motion.stop(),
    onpan: panByPixels,
    onzoom: (factor, at) => {
      motion.stop();
      zoomBy(factor, pointAt(at));
    },
    onend: (velocity) => {
      if (isStill() || Math.hypot(...velocity) < THROWN) settle();
      else motion.coast(velocity, panByPixels, settle);
    },
    onstretch: (from, to, isDone) => options.onstretch?.({ ends: [pointAt(from), pointAt(to)], isDone }),
    stretches: (event) => Boolean(options.onstretch) && (event.shiftKey || Boolean(options.stretching?.())),
    wheels: () => options.wheels?.() ?? true,
    onclick: (at, event) => {
      const [x, y] = pointAt(at);
      options.onclick?.({ x, y, event });
    },
    onhover: (at, event) => {
      const [x, y] = at ? pointAt(at) : [0, 0];
      options.onhover?.(at ? { x, y, event } : null);
    },
    onkey: (key, isLarge) => {
      motion.stop();
      const step = (isLarge ? 4 : 1) * STEP * 2;
      const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      if (arrows[key]) panBy(arrows[key][0] * step * view.reach[0], arrows[key][1] * step * view.reach[1]);
      else if (key === "+" || key === "=") zoomBy(FACTOR);
      else if (key === "-" || key === "_") zoomBy(1 / FACTOR);
      else if (key === "0") goHome();
      else return false;
      return true;
    },
  });

  function goHome() {
    motion.stop();
    move(fitted(home, aspect));
  }

  const observer = new ResizeObserver(() => {
    const next = aspectOf(element) ?? aspect;
    const isOther = Math.abs(next / aspect - 1) > 1e-3;
    aspect = next;
    if (isOther) move({ center: view.center, reach: [view.reach[1] * aspect, view.reach[1]] });
    else onchange(view);
  });
  observer.observe(element);

  return {
    /** Where one looks from now. */
    view: () => view,
    /** Look at a window: at all of it, in the shape of the element. */
    set(next) {
      motion.stop();
      move(fitted(next, aspect));
    },
    /** Take another window as home, and do not move. */
    setHome(next) {
      home = next;
    },
    home: goHome,
    zoomBy,
    panBy,
    pointAt,
    /** Whether the view is as deep as numbers of double precision let it be. */
    isDeepest: () => view.reach[1] <= DEEPEST * home.reach[1] * (1 + 1e-9),
    dispose() {
      clearTimeout(timer);
      motion.stop();
      observer.disconnect();
      silence();
    },
  };
}

/** Return the smallest view of an aspect that holds a window. */
export function fitted({ center, reach }, aspect) {
  const height = Math.max(reach[1], reach[0] / aspect);
  return { center: [...center], reach: [height * aspect, height] };
}

/** Keep the middle of the view near home and its size between the deepest and the widest. */
function limited({ center, reach }, home, aspect, last) {
  const height = Math.min(WIDEST * home.reach[1], Math.max(DEEPEST * home.reach[1], reach[1]));
  if (!center.every(Number.isFinite) || !Number.isFinite(height)) return last;
  return { center: [...center], reach: [height * aspect, height] };
}

function aspectOf(element) {
  const { clientWidth, clientHeight } = element;
  return clientWidth && clientHeight ? clientWidth / clientHeight : null;
}
