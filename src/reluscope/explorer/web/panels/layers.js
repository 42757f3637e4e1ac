// The slider of layers: the plane as cut by the first gates alone, so that one sees folds being folded.

import { make, refill, write } from "../elements.js";
import { shortened } from "../words.js";

const STEP = 1100; // milliseconds of a layer while playing

/** Return the slider of layers, or null for a network with less than two gates. */
export function layersPanel({ hello, store, can }) {
  const { gates } = hello.model;
  const held = hello.held?.filter((question) => question.of === "prefix").length ?? Infinity;
  if (gates.length < 2 || !can("values") || held < gates.length) return null;
  const slider = make("input", {
    type: "range", min: 0, max: gates.length, step: 1, "aria-label": "layers that cut the plane",
    oninput: () => {
      stop();
      choose(Number(slider.value));
    },
  });
  const said = make("span", { class: "said" });
  const button = make("button", { class: "quiet", onclick: () => (timer === null ? play() : stop()) });
  let timer = null;

  function choose(layers) {
    store.set({ layers: layers === gates.length ? null : layers, hidden: [] });
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    show(store.get());
  }
  function play() {
    const shown = store.get().layers;
    choose(shown === null ? 0 : shown);
    timer = setInterval(() => {
      const now = store.get().layers;
      if (now === null || now + 1 >= gates.length) stop();
      if (now !== null) choose(now + 1);
    }, STEP);
    show(store.get());
  }
  function show({ layers }) {
    const all = layers === null || layers >= gates.length;
    slider.value = String(all ? gates.length : layers);
    const name = all ? "all" : layers === 0 ? "none: one flat piece" : `up to ${shortened(gates[layers - 1].name, 18)}`;
    write(said, name);
    slider.setAttribute("aria-valuetext", name);
    refill(button, timer === null ? "▶ fold" : "■ stop");
    button.setAttribute("aria-label", timer === null ? "play the layers one after the other" : "stop");
  }
  store.subscribe(show);
  show(store.get());
  const element = make("div", { class: "layers", title: "regions as cut by the first layers alone" }, make("span", {}, "Layers"), slider, said, button);
  return { element, play };
}
