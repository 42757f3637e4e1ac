// What pointers, wheel and keys do over an element, as pans, zooms, clicks and stretches in pixels of the page.

const NEAR = 4; // pixels that a click may move
const PER_WHEEL = 0.0018;
const PER_PINCH = 0.01; // trackpads send pinches as wheels with Ctrl, in smaller steps
const LINE = 24;
const LATEST = 80; // milliseconds before the end that decide how fast a view is thrown

/**
 * Listen to gestures on an element.
 * @param {HTMLElement} element
 * @param {object} tell functions: onbegin(), onpan([right, down]), onzoom(factor, [x, y]), onend([right, down] per
 *   second), onclick([x, y], event), onhover([x, y] or null, event), onstretch(from, to, isDone), onkey(key, isLarge) which
 *   says whether it knew the key; stretches(event) and wheels() say what drags and the wheel do
 * @returns {() => void} stops listening
 */
export function listen(element, tell) {
  const pointers = new Map();
  let begun = null;
  let trail = [];

  function down(event) {
    if (event.button > 0) return;
    element.setPointerCapture?.(event.pointerId);
    pointers.set(event.pointerId, at(event));
    tell.onbegin();
    if (pointers.size === 1) {
      begun = { at: at(event), isMoved: false, isFresh: true, isStretch: tell.stretches(event) };
      trail = [];
    } else if (begun) {
      begun = { ...begun, isMoved: true, isFresh: false, isStretch: false };
      trail = [];
    }
  }

  function move(event) {
    if (!pointers.has(event.pointerId)) {
      if (event.pointerType !== "touch") tell.onhover(at(event), event);
      return;
    }
    const before = [...pointers.values()];
    const last = pointers.get(event.pointerId);
    pointers.set(event.pointerId, at(event));
    if (!begun) return;
    const now = [...pointers.values()];
    if (now.length === 1) dragged(event, last, now[0]);
    else pinched(before, now);
  }

  function dragged(event, last, now) {
    begun.isMoved ||= distance(now, begun.at) > NEAR;
    if (!begun.isMoved) return;
    tell.onhover(null, event);
    if (begun.isStretch) return tell.onstretch(begun.at, now, false);
    // The first move makes up for the pixels that could have been a click.
    const from = begun.isFresh ? begun.at : last;
    begun.isFresh = false;
    trail.push({ at: now, time: event.timeStamp });
    tell.onpan([now[0] - from[0], now[1] - from[1]]);
  }

  function pinched(before, now) {
    const [first, second] = [middle(before), middle(now)];
    tell.onpan([second[0] - first[0], second[1] - first[1]]);
    const apart = distance(before[0], before[1]);
    if (apart > 0) tell.onzoom(Math.max(0.2, Math.min(5, distance(now[0], now[1]) / apart)), second);
  }

  function up(event) {
    if (!pointers.delete(event.pointerId) || pointers.size || !begun) return;
    const { isMoved, isStretch, at: from } = begun;
    begun = null;
    if (event.type === "pointercancel") tell.onend([0, 0]);
    else if (!isMoved) tell.onclick(at(event), event);
    else if (isStretch) tell.onstretch(from, at(event), true);
    else tell.onend(velocityAt(event.timeStamp));
  }

  /** Return pixels per second to the right and down, of the last moment of a drag. */
  function velocityAt(now) {
    const recent = trail.filter(({ time }) => now - time < LATEST);
    trail = [];
    if (recent.length < 2) return [0, 0];
    const [first, last] = [recent[0], recent[recent.length - 1]];
    const seconds = Math.max(0.016, (last.time - first.time) / 1000);
    return [0, 1].map((axis) => (last.at[axis] - first.at[axis]) / seconds);
  }

  function wheel(event) {
    if (!event.ctrlKey && !tell.wheels()) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? element.clientHeight : 1;
    const turned = Math.max(-400, Math.min(400, event.deltaY * unit));
    tell.onzoom(Math.exp(-turned * (event.ctrlKey ? PER_PINCH : PER_WHEEL)), at(event));
  }

  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== element) return;
    if (tell.onkey(event.key, event.shiftKey)) event.preventDefault();
  }

  const leave = (event) => {
    if (!pointers.size) tell.onhover(null, event);
  };
  const listeners = { pointerdown: down, pointermove: move, pointerup: up, pointercancel: up, pointerleave: leave, wheel, keydown: key };
  for (const [name, act] of Object.entries(listeners)) element.addEventListener(name, act, { passive: false });
  element.style.touchAction = "none";
  return () => {
    for (const [name, act] of Object.entries(listeners)) element.removeEventListener(name, act);
  };
}

/** Return a function that says which drag is going on within an element, by number; null while no pointer is down. */
export function watchDrags(element) {
  let [number, isDown] = [0, false];
  const set = (isNow) => () => {
    number += isNow ? 1 : 0;
    isDown = isNow;
  };
  element.addEventListener("pointerdown", set(true), true);
  for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, set(false), true);
  return () => (isDown ? number : null);
}

function at(event) {
  return [event.clientX, event.clientY];
}

function middle(points) {
  return [0, 1].map((axis) => (points[0][axis] + points[1][axis]) / 2);
}

function distance(one, other) {
  return Math.hypot(one[0] - other[0], one[1] - other[1]);
}
