// One unit by hand: its bias, the norm of its weights, and each of its weights.

import { make, refill, write } from "../elements.js";
import { gateName, number, shortened } from "../words.js";

const FEW = 4; // weights that have a slider each
const STEPS = 200; // of a slider

/** Return the range of a slider about a value: symmetric for signed ones, wide enough to turn a line round. */
export function rangeAbout(value, isSigned) {
  const reach = Math.max(1, 2 * Math.abs(value));
  return isSigned ? [-reach, reach] : [0, reach];
}

/**
 * Return the knobs of the unit that is chosen in the store.
 * @param {{hello: object, store: object, ask: (question: object) => Promise<object>, move: (question: object) => void}} app
 */
export function unitKnobs({ hello, store, ask, move }) {
  const { gates } = hello.model;
  const { movable } = hello.lesson;
  const gate = make("select", { "aria-label": "layer of the unit", onchange: choose },
    gates.map((one, at) => make("option", { value: at, disabled: !movable[at] }, shortened(gateName(one), 20))));
  const unit = make("input", { type: "number", min: 0, "aria-label": "unit", onchange: choose });
  const from = make("input", { type: "number", min: 0, value: 0, "aria-label": "weight", onchange: show });
  const which = make("p.which", "number of the weight ", from);
  const knobs = make("div.knobs");
  const said = make("p.warned", { role: "alert" });
  let read = null; // {gate, unit, bias, scale, weights}
  let shown = []; // [key, knob] of those that stand there
  let standing = ""; // what they are about

  function chosen() {
    return store.get().unit ?? { gate: Math.max(0, movable.indexOf(true)), unit: 0 };
  }
  function choose() {
    const layer = Number(gate.value);
    const wanted = Math.round(Number(unit.value)) || 0;
    store.set({ unit: { gate: layer, unit: Math.min(Math.max(0, wanted), gates[layer].units - 1) }, by: "unit" });
  }
  /** Ask for the weights as they are in the picture. */
  async function refresh() {
    const now = chosen();
    gate.value = String(now.gate);
    unit.value = String(now.unit);
    unit.max = String(gates[now.gate].units - 1);
    try {
      const answer = await ask({ ask: "unit_weights", ...now, ...(store.get().epoch === null ? {} : { epoch: store.get().epoch }) });
      if (answer === null) return;
      read = { ...now, ...answer.header, weights: [...answer.arrays.weights] };
      write(said, "");
      show();
    } catch (error) {
      [read, standing] = [null, ""];
      write(said, error.message);
      refill(knobs);
    }
  }
  /** Put the values into knobs that stand there; other ones are made for another unit only, or the focus would be lost. */
  function show() {
    if (read === null) return;
    const { weights, bias, scale } = read;
    const place = Math.min(weights.length - 1, Math.max(0, Math.round(Number(from.value)) || 0));
    from.value = String(place);
    from.max = String(weights.length - 1);
    which.hidden = weights.length <= FEW;
    const each = weights.length <= FEW ? weights.map((_, at) => at) : [place];
    const wanted = [
      bias !== null && ["bias", bias, true, (value) => ({ bias: value })],
      scale > 0 && ["all weights", scale, false, (value) => ({ scale: value })],
      ...each.map((at) => [`weight ${at}`, weights[at], true, (value) => ({ weight: { from: at, value } })]),
    ].filter(Boolean);
    const about = [read.gate, read.unit, ...wanted.map(([label]) => label)].join();
    if (about !== standing) {
      shown = wanted.map((one) => knob(...one));
      refill(knobs, shown.map(({ element }) => element));
      standing = about;
    }
    wanted.forEach(([, value], at) => shown[at].put(value));
  }
  function knob(label, first, isSigned, change) {
    const figure = make("output");
    const slider = make("input", {
      type: "range", step: "any", "aria-label": label, oninput: () => {
        write(figure, number(Number(slider.value)));
        move({ gate: read.gate, unit: read.unit, ...change(Number(slider.value)) });
      },
      // What depends on it is read again when it is let go.
      onchange: () => void refresh(),
    });
    function range(value) {
      const [low, high] = rangeAbout(value, isSigned);
      Object.assign(slider, { min: String(low), max: String(high), step: String((high - low) / STEPS) });
    }
    range(first);
    return {
      element: make("label.dial", make("span", label), slider, figure),
      put(value) {
        if (value < Number(slider.min) || value > Number(slider.max)) range(value);
        slider.value = String(value);
        write(figure, number(value));
      },
    };
  }

  return {
    element: make("div.unit", make("p.which", "unit ", unit, " of ", gate), said, knobs, which),
    refresh,
  };
}
