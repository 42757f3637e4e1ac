// What is asked when: choices of the reader become questions, and answers become what is shown.

import { createPicker } from "./pick.js";
import { isSameWindow, toRelative } from "./places.js";
import { createStore } from "./state.js";

const NEEDS_VALUES = new Set(["norm", "unit", "inradius"]);
const PATIENT = { regions: 2_000_000, seconds: 60 };

/**
 * Return the store of what is shown, kept up to date with the reader's choices.
 * @param {{asker: object, hello: object, store: object, aspect: () => number}} parts
 */
export function createLooking({ asker, hello, store, aspect }) {
  const shown = createStore({
    plane: null, // {header, arrays}
    picker: null,
    goTo: null, // a window to look at, where the answer chose it
    values: null, // {question, header, values}: numbers of regions that were asked for
    busy: null, // {share, regions, seconds} of a slow plane
    trouble: null, // {kind, message, retry}
    region: null, // {header, arrays}
    regionTrouble: null,
    radius: null,
    line: null,
    lineTrouble: null,
  }, Object.is); // planes are not compared number by number
  let wanted = null; // the window of the newest question
  let held = null; // {selected, point}: of a region whose chosen point has left the view, one that has not
  const can = (feature) => hello.features?.includes(feature) ?? true;
  const fail = (error, retry) => shown.set({ busy: null, trouble: { kind: error.kind, message: error.message, retry } });

  async function lookAtPlane({ certify = false, patient = false } = {}) {
    const { anchors, epoch, solid, window } = store.get();
    const ratio = aspect();
    const question = { ask: "partition", anchors: hello.plane === "inputs" ? null : (anchors ?? hello.home.anchors) };
    if (window === null) Object.assign(question, { window: null, aspect: ratio });
    else question.window = { center: window.center, reach: [window.height * ratio, window.height] };
    if (epoch !== null) question.epoch = epoch;
    if (hello.lesson) question.lesson = hello.lesson.lesson;
    if (solid !== null) question.solid = solid;
    if (certify) question.certify = true;
    if (patient) question.budget = PATIENT;
    wanted = question.window;
    try {
      const answer = await asker.latest("plane", question, (progress) => shown.set({ busy: progress }));
      if (answer === null) return;
      // The old picture stays until the new one has its colours.
      const values = await askValues(answer);
      // Where home is the answer says, unless the reader has moved on meanwhile.
      const isHome = window === null && store.get().window === null && !hello.still;
      if (isHome) wanted = answer.header.window;
      hold(answer);
      const busy = asker.isBusy("plane") ? shown.get().busy : null;
      shown.set({ plane: answer, picker: createPicker(answer), values: values ?? null, goTo: isHome ? answer.header.window : null, busy, trouble: null });
      void lookAtRegion();
      void lookAlongLine();
    } catch (error) {
      // What is gone does not come back by asking again.
      fail(error, error.kind === "gone" ? null : () => lookAtPlane({ certify, patient }));
    }
  }

  /** Return the numbers that the chosen colours need; null if none are needed or can be had, undefined if others are. */
  async function askValues(plane) {
    const question = valuesQuestion(store.get(), hello);
    if (question === null || plane === null) return null;
    try {
      const answer = await asker.latest("values", { ...question, version: plane.header.version });
      return answer ? { question, header: answer.header, values: answer.arrays.values } : undefined;
    } catch (error) {
      if (error.kind === "gone") void lookAtPlane();
      else fail(error, null);
      return null;
    }
  }

  async function lookAtValues() {
    const { plane } = shown.get();
    const values = await askValues(plane);
    if (values !== undefined && plane === shown.get().plane) shown.set({ values });
  }

  /** Return the chosen point, or the one that stands for it. */
  function chosen() {
    const { selected } = store.get();
    return held !== null && held.selected === selected ? held.point : selected;
  }

  /** Stay with the region that is open when one looks closer at a part of it in which its chosen point is not. */
  function hold({ header: { window, plane_id: id } }) {
    const { plane, picker } = shown.get();
    const { selected } = store.get();
    if (selected === null || plane?.header.plane_id !== id) {
      held = null;
      return;
    }
    const isInView = ([x, y]) => Math.abs(x - window.center[0]) <= window.reach[0] && Math.abs(y - window.center[1]) <= window.reach[1];
    const rowAt = (point) => picker.at(...toRelative(plane, point))?.region ?? -1;
    const row = rowAt(chosen());
    if (isInView(selected)) held = null;
    else if (row >= 0 && rowAt(window.center) === row) held = { selected, point: window.center };
  }

  async function lookAtRegion() {
    const { plane, picker } = shown.get();
    const selected = chosen();
    if (plane === null || selected === null) {
      shown.set({ region: null, regionTrouble: null, radius: null });
      return;
    }
    const point = toRelative(plane, selected);
    const row = picker.at(...point)?.region ?? -1;
    if (row < 0) {
      shown.set({ region: null, radius: null, regionTrouble: "The region that was chosen is not in view." });
      return;
    }
    try {
      const answer = await asker.latest("region", { ask: "region", version: plane.header.version, row, point });
      if (answer !== null && plane === shown.get().plane) shown.set({ region: answer, regionTrouble: null, radius: null });
    } catch (error) {
      if (error.kind === "gone") void lookAtPlane();
      else shown.set({ region: null, regionTrouble: error.message });
    }
  }

  async function lookAlongLine() {
    const { plane } = shown.get();
    const { line } = store.get();
    if (plane === null || line === null || !can("segment")) {
      shown.set({ line: null, lineTrouble: line !== null && plane !== null ? "A snapshot does not hold this." : null });
      return;
    }
    try {
      const ends = line.map((end) => toRelative(plane, end));
      const answer = await asker.latest("segment", { ask: "segment", version: plane.header.version, ends });
      if (answer !== null) shown.set({ line: answer, lineTrouble: null });
    } catch (error) {
      shown.set({ line: null, lineTrouble: error.message });
    }
  }

  async function measureRadius() {
    const { plane, region } = shown.get();
    if (region === null) return;
    const still = () => region === shown.get().region;
    shown.set({ radius: { busy: true } });
    try {
      const { header } = await asker.ask({ ask: "radius", version: plane.header.version, row: region.header.row });
      if (still()) shown.set({ radius: header });
    } catch (error) {
      if (still()) shown.set({ radius: { message: error.message } });
    }
  }

  store.subscribe((_, changed) => {
    const any = (...keys) => keys.some((key) => changed.has(key));
    // A snapshot has one plane, whatever part of it is in view.
    if (any("anchors", "epoch", "solid") || (any("window") && !hello.still)) void lookAtPlane();
    else if (any("by", "unit", "layers")) void lookAtValues();
    if (any("selected")) void lookAtRegion();
    if (any("line")) void lookAlongLine();
  });

  return {
    shown,
    can,
    lookAtPlane,
    measureRadius,
    /** Whether a view is the one that was asked for last. */
    isWanted: (view) => wanted !== null && isSameWindow(view, wanted),
    /** Whether a plane is on its way. */
    isAsking: () => asker.isBusy("plane"),
    stop: () => asker.cancel("plane"),
    dismiss: () => shown.set({ trouble: null }),
  };
}

/** Return the question for the numbers behind the chosen colours, without a version; null if they need none. */
export function valuesQuestion({ by, unit, layers }, hello) {
  if (layers !== null && layers < hello.model.gates.length) return { ask: "values", of: "prefix", gates: layers };
  if (!NEEDS_VALUES.has(by)) return null;
  return by === "unit" ? { ask: "values", of: "unit", gate: unit.gate, unit: unit.unit } : { ask: "values", of: by };
}
