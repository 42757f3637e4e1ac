// Training: the same plane at every record of a training, and what was counted over the epochs beside it.

import { make, quiet, refill, write } from "../elements.js";
import { number } from "../words.js";
import { curveChart } from "./charts.js";
import { createPlayer } from "./player.js";

/** Return the panel of epochs; a state's epoch is the place of a record. */
export function trainingPanel({ hello, store, looking }) {
  const { epochs, has_weights: hasWeights, quantities } = hello.training;
  const places = [...epochs.keys()].filter((place) => !hello.still && hasWeights[place]);
  const last = places.length - 1;
  const slider = make("input", { type: "range", min: 0, max: last, "aria-label": "epoch", oninput: () => go(Number(slider.value)) });
  const said = make("b");
  const player = createPlayer({
    label: "▶ Play",
    begin: () => choose(at() === last ? 0 : at()),
    // A picture that is not there yet is waited for.
    step: () => looking.isAsking() || choose(at() + 1),
    isDone: () => at() === last,
  });
  const now = quiet("the model itself", () => go(null));
  const plots = make("div");
  const element = make("div.panel.training",
    make("p.soft", places.length
      ? "The same plane with the weights of each epoch of the training."
      : "Counted in the training. Its weights are not here: the plane is that of the model as it is."),
    places.length > 0 && [make("p", "Epoch ", said), slider, make("p", player.element, now)], plots);

  const at = () => (store.get().epoch === null ? last : Math.max(0, places.indexOf(store.get().epoch)));
  function choose(index) {
    store.set({ epoch: index === null ? null : places[index] });
  }
  function go(index) {
    player.stop();
    choose(index);
  }
  function show() {
    const { epoch } = store.get();
    const name = epoch === null ? "as it is now" : String(epochs[epoch]);
    slider.value = String(at());
    slider.setAttribute("aria-valuetext", name);
    write(said, name);
    now.hidden = epoch === null;
    refill(plots, quantities.map((quantity) => curve(quantity, epoch)));
  }
  function curve({ title, findings }, epoch) {
    const points = findings.flatMap((finding, place) => (finding?.value == null ? [] : [[place / Math.max(1, epochs.length - 1), finding.value]]));
    if (points.length < 2) return null;
    const { element: picture, point } = curveChart({
      label: `${title} over epochs`, height: 110, low: Math.min(0, ...points.map(([, value]) => value)), high: Math.max(...points.map(([, value]) => value)),
      ends: [`epoch ${epochs[0]}`, String(epochs.at(-1))], curves: [{ points }],
    });
    if (epoch !== null) point(epoch / (epochs.length - 1));
    const here = epoch === null ? null : findings[epoch];
    return make("figure", make("figcaption", title, here && [": ", make("b", number(here.value, 4))]), picture);
  }
  store.subscribe((_, changed) => changed.has("epoch") && show());
  show();
  return { element };
}
