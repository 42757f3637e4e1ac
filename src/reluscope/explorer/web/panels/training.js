// Training: the same plane at every record of a training, and the count of regions over epochs beside it.

import { draw, make, refill, write } from "../elements.js";
import { count, number } from "../words.js";

const [WIDTH, HEIGHT] = [320, 130];
const STEP = 900; // milliseconds of a record while playing

/** Return the panel of epochs. */
export function trainingPanel({ hello, store, looking, asker }) {
  const { epochs } = hello.training;
  const slider = make("input", { type: "range", min: 0, max: epochs.length - 1, step: 1, "aria-label": "epoch",
    oninput: () => (stop(), choose(Number(slider.value))) });
  const said = make("b", {});
  const button = make("button", { onclick: () => (timer === null ? play() : stop()) });
  const plot = make("div", {});
  const element = make("div", { class: "panel training" },
    make("p", { class: "soft" }, "The same plane with the weights of each record of the training."),
    make("p", {}, "Epoch ", said), slider, make("p", {}, button), plot);
  let timer = null;
  let counts = null;

  const at = () => (store.get().epoch === null ? epochs.length - 1 : Math.max(0, epochs.indexOf(store.get().epoch)));
  function choose(index) {
    store.set({ epoch: epochs[index] });
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    show();
  }
  function play() {
    choose(at() === epochs.length - 1 ? 0 : at());
    timer = setInterval(() => {
      // A picture that is not there yet is waited for.
      if (looking.shown.get().busy !== null) return;
      if (at() === epochs.length - 1) stop();
      else choose(at() + 1);
    }, STEP);
    show();
  }
  function show() {
    slider.value = String(at());
    write(said, String(epochs[at()]));
    slider.setAttribute("aria-valuetext", `epoch ${epochs[at()]}`);
    write(button, timer === null ? "▶ Play" : "■ Stop");
    refill(plot, counts && curve());
  }
  function curve() {
    const values = counts.map((one) => (typeof one === "object" && one !== null ? one.value : one));
    const known = values.filter((value) => value !== null && value !== undefined);
    if (known.length === 0) return null;
    const high = Math.max(...known);
    const x = (index) => 30 + (index / Math.max(1, epochs.length - 1)) * (WIDTH - 40);
    const y = (value) => HEIGHT - 20 - (value / (high || 1)) * (HEIGHT - 32);
    const points = values.flatMap((value, index) => (value === null || value === undefined ? [] : [`${x(index)},${y(value)}`]));
    return make("figure", {},
      draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "profile", role: "img", "aria-label": `regions over epochs, up to ${count(high)}` },
        draw("line", { class: "axis", x1: 30, x2: WIDTH - 10, y1: HEIGHT - 20, y2: HEIGHT - 20 }),
        draw("polyline", { class: "output ink", points: points.join(" ") }),
        draw("line", { class: "cursor", x1: x(at()), x2: x(at()), y1: 8, y2: HEIGHT - 20 }),
        draw("text", { x: 27, y: y(high) + 4, class: "number" }, number(high)),
        draw("text", { x: 30, y: HEIGHT - 5 }, String(epochs[0])),
        draw("text", { x: WIDTH - 10, y: HEIGHT - 5, class: "number" }, String(epochs.at(-1)))),
      make("figcaption", {}, "regions that were counted over the epochs"));
  }

  async function open() {
    if (counts !== null) return;
    counts = hello.training.counts ?? [];
    if (looking.can("epochs")) {
      try {
        const { header } = await asker.ask({ ask: "epochs" });
        counts = header.counts ?? counts;
      } catch {
        // The counts that came with the first answer stay.
      }
    }
    show();
  }
  store.subscribe((_, changed) => changed.has("epoch") && show());
  show();
  return { element, open };
}
