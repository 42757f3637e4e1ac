// Training: the same plane at every record of a training, and what was counted over the epochs beside it.

import { draw, make, refill, write } from "../elements.js";
import { number } from "../words.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [320, 120, 34, 18];
const STEP = 900; // milliseconds of a record while playing

/** Return the panel of epochs; a state's epoch is the place of a record. */
export function trainingPanel({ hello, store, looking }) {
  const { epochs, has_weights: hasWeights, quantities } = hello.training;
  const places = epochs.map((_, place) => place).filter((place) => !hello.still && hasWeights[place]);
  const slider = make("input", { type: "range", min: 0, max: Math.max(0, places.length - 1), step: 1, "aria-label": "epoch",
    oninput: () => go(Number(slider.value)) });
  const said = make("b", {});
  const button = make("button", { onclick: () => (timer === null ? play() : stop()) });
  const now = make("button", { class: "quiet", onclick: () => go(null) }, "the model itself");
  const plots = make("div", {});
  const element = make("div", { class: "panel training" },
    make("p", { class: "soft" }, places.length
      ? "The same plane with the weights that the network had in each epoch of its training."
      : "What was counted in the epochs of the training; its weights are not here, so that the plane cannot be shown as it was."),
    places.length > 0 && [make("p", {}, "Epoch ", said), slider, make("p", {}, button, now)], plots);
  let timer = null;

  const at = () => {
    const { epoch } = store.get();
    return epoch === null ? places.length - 1 : Math.max(0, places.indexOf(epoch));
  };
  function go(index) {
    stop();
    store.set({ epoch: index === null ? null : places[index] });
  }
  function choose(index) {
    store.set({ epoch: places[index] });
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    show();
  }
  function play() {
    choose(at() === places.length - 1 ? 0 : at());
    timer = setInterval(() => {
      // A picture that is not there yet is waited for.
      if (looking.isAsking()) return;
      if (at() === places.length - 1) stop();
      else choose(at() + 1);
    }, STEP);
    show();
  }
  function show() {
    slider.value = String(at());
    const name = store.get().epoch === null ? "as it is now" : String(epochs[places[at()]]);
    write(said, name);
    slider.setAttribute("aria-valuetext", `epoch ${name}`);
    write(button, timer === null ? "▶ Play" : "■ Stop");
    now.hidden = store.get().epoch === null;
    refill(plots, quantities.map(curve));
  }

  function curve({ title, findings }) {
    const known = findings.flatMap((finding, place) => (finding === null || finding.value === null ? [] : [[place, finding.value]]));
    if (known.length < 2) return null;
    const high = Math.max(...known.map(([, value]) => value));
    const x = (place) => LEFT + (place / Math.max(1, epochs.length - 1)) * (WIDTH - LEFT - 6);
    const y = (value) => HEIGHT - BOTTOM - (value / (high || 1)) * (HEIGHT - BOTTOM - 10);
    const place = store.get().epoch;
    const here = place === null ? null : findings[place];
    return make("figure", {},
      make("figcaption", {}, title, here ? [": ", make("b", {}, number(here.value, 4))] : ""),
      draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "profile", role: "img", "aria-label": `${title} over epochs, up to ${number(high)}` },
        draw("line", { class: "axis", x1: LEFT, x2: WIDTH - 6, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
        draw("polyline", { class: "output ink", points: known.map(([at, value]) => `${x(at)},${y(value)}`).join(" ") }),
        place !== null && draw("line", { class: "cursor", x1: x(place), x2: x(place), y1: 6, y2: HEIGHT - BOTTOM }),
        draw("text", { x: LEFT - 4, y: y(high) + 4, class: "number" }, number(high)),
        draw("text", { x: LEFT, y: HEIGHT - 4 }, `epoch ${epochs[0]}`),
        draw("text", { x: WIDTH - 6, y: HEIGHT - 4, class: "number" }, String(epochs.at(-1)))));
  }
  store.subscribe((_, changed) => changed.has("epoch") && show());
  show();
  return { element };
}
