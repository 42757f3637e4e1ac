// What the reader chose, in one object that is replaced and never changed: everything that a link keeps.

/** The choices that an explorer begins with. */
export const BEGINNING = Object.freeze({
  anchors: null, // three anchors; null for those that the network's home has
  window: null, // {center: [x, y], height}: half the height in units of the plane; null for the home window
  by: "class",
  unit: null, // {gate, unit} where colours are the sign of one unit
  layers: null, // how many gates cut the plane; null for all
  edges: "thin",
  boundary: true,
  hidden: [], // groups of the legend that are not shown
  selected: null, // a point [x, y] of the plane, whose region has its card open
  line: null, // [[x, y], [x, y]]
  tool: "move",
  tab: "region",
  epoch: null,
  solid: null, // four anchors, of the slice that is seen in space beside the plane
  space: null, // how space is looked at, as text
});

/**
 * Keep a value that listeners are told about.
 * @template {object} T
 * @param {T} value
 * @param {(a: unknown, b: unknown) => boolean} [same] whether an entry has not changed
 */
export function createStore(value, same = isEqual) {
  const listeners = new Set();
  let current = value;
  return {
    get: () => current,
    /** Replace entries; listeners are told which ones differ. */
    set(patch) {
      const changed = new Set(Object.keys(patch).filter((key) => !same(patch[key], current[key])));
      if (changed.size === 0) return;
      const before = current;
      current = Object.freeze({ ...current, ...patch });
      for (const listener of [...listeners]) listener(current, changed, before);
    },
    /** Listen, and return a function that ends it. */
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const LONGEST = 200;
const TOGETHER = 700; // milliseconds within which changes of the same entries are one step
const NOT_A_STEP = new Set(["tab", "tool"]);

/**
 * Remember the values of a store, so that they can be undone.
 * @param {ReturnType<typeof createStore>} store
 * @param {() => number} [now] milliseconds
 * @param {() => number | null} [gesture] what is being dragged, by number: all of one drag is one step, however slow
 */
export function createHistory(store, now = () => performance.now(), gesture = () => null) {
  const past = [];
  let future = [];
  let travelling = false;
  let last = { at: -Infinity, keys: "", gesture: null };
  store.subscribe((current, changed, before) => {
    // To go home is a step of its own, however soon after a move.
    const named = (key) => key + (current[key] === null);
    const keys = [...changed].filter((key) => !NOT_A_STEP.has(key)).map(named).sort().join();
    if (travelling || keys === "") return;
    const isDrag = last.gesture !== null && gesture() === last.gesture;
    if (keys !== last.keys || (now() - last.at > TOGETHER && !isDrag)) past.push(before);
    if (past.length > LONGEST) past.shift();
    future = [];
    last = { at: now(), keys, gesture: gesture() };
  });
  const travel = (from, to) => {
    if (from.length === 0) return;
    to.push(store.get());
    travelling = true;
    const { tab, tool } = store.get();
    store.set({ ...from.pop(), tab, tool });
    travelling = false;
    last = { at: -Infinity, keys: "", gesture: null };
  };
  return {
    undo: () => travel(past, future),
    redo: () => travel(future, past),
    canUndo: () => past.length > 0,
    canRedo: () => future.length > 0,
  };
}

/** Whether two plain values are the same. */
export function isEqual(a, b) {
  return a === b || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}
