// The slider of layers: the plane as cut by the first gates alone, so that one sees folds being folded.

import { make, write } from "../elements.js";
import { gateName, shortened } from "../words.js";
import { createPlayer } from "./player.js";

/** Return the slider of layers, to `play` and to `step`, or null for a network with less than two gates. */
export function layersPanel({ hello, store, can }) {
  const { gates } = hello.model;
  const held = hello.held?.filter((question) => question.of === "prefix").length ?? Infinity;
  if (gates.length < 2 || !can("values") || held < gates.length) return null;
  const slider = make("input", { type: "range", min: 0, max: gates.length, "aria-label": "layers", oninput: () => {
    player.stop();
    choose(Number(slider.value));
  } });
  const said = make("span.soft");
  const number = () => store.get().layers ?? gates.length;
  const player = createPlayer({
    label: "▶ fold",
    begin: () => choose(number() === gates.length ? 0 : number()),
    step: () => step(1),
    isDone: () => number() === gates.length,
  });

  function choose(layers) {
    store.set({ layers: layers === gates.length ? null : layers, hidden: [] });
  }
  function step(by) {
    choose(Math.min(gates.length, Math.max(0, number() + by)));
  }
  function show() {
    const name = number() === gates.length ? "all" : number() === 0 ? "none" : `to ${shortened(gateName(gates[number() - 1]), 18)}`;
    slider.value = String(number());
    slider.setAttribute("aria-valuetext", name);
    write(said, name);
  }
  store.subscribe(show);
  show();
  return { element: make("div.layers", make("span.soft", "Layers"), slider, said, player.element), play: player.play, step };
}
