// Training: the same plane at every record of a training, and what was counted over the epochs beside it.

import { make, quiet, refill } from "../elements.js";
import { number } from "../words.js";
import { curveChart } from "./charts.js";
import { createEpochSlider } from "./epoch_slider.js";
import { createPlayer } from "./player.js";

/** Return the panel of epochs; a state's epoch is the place of a record. */
export function trainingPanel({ hello, store, looking }) {
  const { epochs, has_weights: hasWeights, quantities } = hello.training;
  const places = [...epochs.keys()].filter((place) => !hello.still && hasWeights[place]);
  const slider = createEpochSlider({
    store, label: "epoch", onmove: () => player.stop(),
    places: () => ({ count: places.length, at: (place) => places[place], of: (epoch) => places.indexOf(epoch) }),
    name: (epoch) => (epoch === null ? "as it is now" : String(epochs[epoch])),
  });
  const isDone = () => slider.at() === slider.last();
  const player = createPlayer({
    label: "▶ Play",
    begin: () => slider.choose(isDone() ? 0 : slider.at()),
    // A picture that is not there yet is waited for.
    step: () => looking.isAsking() || slider.choose(slider.at() + 1),
    isDone,
  });
  const now = quiet("the model itself", () => slider.go(null));
  const plots = make("div");
  const element = make("div.panel.training",
    make("p.soft", places.length
      ? "The same plane with the weights of each epoch of the training."
      : "Counted in the training. Its weights are not here: the plane is that of the model as it is."),
    places.length > 0 && [make("p", "Epoch ", slider.said), slider.element, make("p", player.element, now)], plots);

  function show() {
    const { epoch } = store.get();
    slider.show();
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
