// Watch it learn: steps are taken, and the plane is cut again after each; any step can be looked at, any unit be moved.

import { capital, make, quiet, refill, write } from "../elements.js";
import { createEpochSlider } from "../panels/epoch_slider.js";
import { curveChart } from "../panels/charts.js";
import { toRelative } from "../places.js";
import { count, number, percent } from "../words.js";
import { keptPlaces } from "./kept_places.js";
import style from "./learning.css";
import { curveOf, joined, measuredAt } from "./measured.js";
import { unitNear } from "./near_line.js";
import { createPace } from "./pace.js";
import { settingsForm } from "./settings_form.js";
import { unitKnobs } from "./unit_knobs.js";

const PACES = [1, 2, 5, 10, 20, 50, 100];
const NEAR = 7; // pixels from a line that a click means
const [SEEN, UNSEEN] = ["var(--less)", "var(--more)"];

/**
 * Return the panel of a lesson.
 * @param {{body: HTMLElement, hello: object, asker: object, store: object, looking: object, reopen: (focused: string | null) => void,
 *   hush: (isPlaying: boolean) => void}} app
 */
export function lessonPanel({ body, hello, asker, store, looking, reopen, hush }) {
  const root = body.getRootNode();
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  let lesson = hello.lesson;
  let rows = lesson.curve;
  const ask = (question) => asker.ask({ lesson: lesson.lesson, ...question });

  const pace = createPace({ frame: () => frame(Number(speed.value)), onchange });
  const play = make("button.main", { onclick: () => (pace.isPlaying() ? pace.pause() : begin()) }, "▶ Play");
  const speed = make("select", { name: "pace" }, PACES.map((steps) => make("option", { value: steps }, count(steps))));
  const rate = make("span.soft");
  const slider = createEpochSlider({
    store, label: "step", isLive: true, onmove: pace.pause, places: () => keptPlaces(lesson),
    name: (epoch) => `${count(epoch ?? lesson.step)}${epoch === null ? "" : ` of ${count(lesson.step)}`}`,
  });
  const back = make("span", quiet("To the newest", () => slider.go(null)), quiet("Go on from here", goOnFromHere));
  const charts = make("div.charts");
  const trouble = make("p.warned", { role: "alert" });
  const form = settingsForm({ lesson, change: (fields) => void teach(fields) });
  const knobs = lesson.movable.includes(true) && unitKnobs({
    hello, store, move,
    ask: (question) => asker.latest("unit", { lesson: lesson.lesson, ...question }),
  });
  const transport = make("div.transport", { role: "group", "aria-label": "training" },
    play, make("button", { onclick: () => void one() }, "Step"), make("button", { onclick: () => void teach({ anew: true }) }, "↺ Restart"),
    slider.element, make("span", "step ", slider.said), back, make("label.soft", "steps a frame ", speed), rate, trouble);
  const element = make("div.panel.lesson", charts,
    make("h3", "Settings"), form.element,
    knobs && [make("h3", "Move a unit"), make("p.soft", "Choose one, or click its line; the training can go on from there."), knobs.element]);

  /** Take in how far the lesson is. */
  function take({ header }) {
    lesson = { ...lesson, ...header };
    rows = joined(rows, header.curve);
    show();
  }
  const since = () => (rows.at(-1)?.[0] ?? 0) - 1;

  async function frame(steps) {
    try {
      take(await ask({ ask: "learn", steps, since: since() }));
      await look();
      // A pause that came in between has shown weights of the step before.
      if (!pace.isPlaying()) refresh();
      return looking.shown.get().trouble === null;
    } catch (error) {
      fail(error);
      return false;
    }
  }
  /** Show the newest step. */
  async function look() {
    // Who looks back at an epoch is brought to the newest by the change.
    if (store.get().epoch === null) await looking.lookAtPlane();
    else store.set({ epoch: null });
  }
  function begin() {
    write(trouble, "");
    store.set({ epoch: null });
    void pace.play();
  }
  async function one() {
    pace.pause();
    write(trouble, "");
    await frame(1);
  }
  async function teach(fields) {
    pace.pause();
    const before = lesson;
    try {
      const { header } = await ask({ ask: "teach", ...fields });
      write(trouble, "");
      const isAnother = header.lesson !== before.lesson;
      if (isAnother && !fields.anew && Object.keys(fields.settings ?? {})[0] !== "optimiser") {
        reopen(root.activeElement?.name || null);
        return;
      }
      lesson = hello.lesson = header;
      rows = header.curve;
      form.show(lesson);
      show();
      if (isAnother) await look();
      refresh();
    } catch (error) {
      form.show(before);
      fail(error);
    }
  }
  /** Move a unit, from how it is in the picture; the newest of the moves that wait is made. */
  async function move(question) {
    pace.pause();
    const { epoch } = store.get();
    const whence = epoch === null ? {} : { epoch };
    try {
      const answer = await asker.latest("move", { ask: "move_unit", lesson: lesson.lesson, ...question, ...whence, since: since() });
      if (answer === null) return;
      write(trouble, "");
      take(answer);
      await look();
    } catch (error) {
      fail(error);
    }
  }
  function goOnFromHere() {
    void move({}).then(refresh);
  }
  function refresh() {
    if (knobs) void knobs.refresh();
  }
  function fail(error) {
    refill(trouble, capital(error.message), error.kind === "gone" && quiet("Show it", () => reopen(null)));
  }

  function onchange(isPlaying) {
    write(play, isPlaying ? "❚❚ Pause" : "▶ Play");
    hush(isPlaying);
    if (!isPlaying) refresh();
    show();
  }
  function show() {
    slider.show();
    back.hidden = store.get().epoch === null;
    const frames = pace.rate();
    write(rate, pace.isPlaying() && frames !== null ? `${number(frames, 2)} frames a second` : "");
    drawCharts();
  }
  function drawCharts() {
    const step = store.get().epoch ?? lesson.step;
    const here = measuredAt(rows, step);
    const losses = rows.flatMap(([, seen, unseen]) => [seen, unseen ?? 0]);
    const share = step / (lesson.step || 1);
    refill(charts,
      chart("Loss", 1, here, { low: 0, high: Math.max(...losses), share, said: (value) => number(value) }),
      lesson.is_classification && chart("Accuracy", 3, here, { low: 0, high: 1, share, said: percent }));
  }
  function chart(title, column, here, { low, high, share, said }) {
    const curves = [
      { points: curveOf(rows, column), colour: SEEN },
      { points: curveOf(rows, column + 1), colour: UNSEEN, isDashed: true },
    ].filter(({ points }) => points.length > 0);
    const names = ["learnt", "held out"].map((name, at) => [name, here[column + at]]).filter(([, value]) => value !== null);
    const { element: picture, point } = curveChart({ label: `${title} over steps`, height: 96, low, high, ends: ["step 0", count(lesson.step)], curves });
    if (store.get().epoch !== null) point(share);
    return make("figure",
      make("figcaption.keys", title, names.map(([name, value], at) => make("span.entry", make(at ? "span.stroke.dashed" : "span.stroke"), `${name} `, make("b", said(value))))),
      picture);
  }

  store.subscribe((_, changed) => {
    if (changed.has("epoch")) {
      show();
      if (!pace.isPlaying()) refresh();
    }
    if (changed.has("unit")) refresh();
  });
  show();
  refresh();

  return {
    element,
    /** What moves the training, to stand below the plane. */
    transport,
    /** Whether a click at a place of the plane chooses a unit to move: its line is there, and the panel in front. */
    takes(place, pixel) {
      const { plane } = looking.shown.get();
      if (store.get().tab !== "learn" || plane === null) return false;
      const unit = unitNear(plane, toRelative(plane, place), (NEAR * pixel) / plane.header.window.reach[1]);
      if (unit === null || !lesson.movable[unit.gate]) return false;
      store.set({ unit, by: "unit" });
      // Where the panel scrolls by itself, and not the page, which would take the plane away.
      element.closest(".side").scrollTo({ top: knobs.element.offsetTop });
      return true;
    },
    dispose() {
      pace.pause();
      root.adoptedStyleSheets = root.adoptedStyleSheets.filter((one) => one !== sheet);
    },
  };
}
