// The settings of a lesson, each from a list: those of the optimiser hold at once, the others begin anew.

import { make } from "../elements.js";
import { number } from "../words.js";

const NAMES = {
  hidden: "Hidden layers", width: "Units in each", activation: "Activation", batch_norm: "Batch norm", dropout: "Dropout",
  optimiser: "Optimiser", rate: "Rate", weight_decay: "Weight decay", batch_size: "Batch", seed: "Seed",
};
const OFFERED = {
  hidden: [1, 2, 3, 4, 5, 6],
  width: [2, 4, 8, 16, 24, 32, 48, 64],
  dropout: [0, 0.1, 0.2, 0.3, 0.5],
  rate: [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1],
  weight_decay: [0, 0.0001, 0.001, 0.01, 0.1],
  batch_size: [1, 4, 8, 16, 32, 64, 128, 256],
};
const WORDS = { relu: "ReLU", leaky_relu: "leaky ReLU", hardtanh: "hard tanh", relu6: "ReLU6", adam: "Adam", sgd: "SGD with momentum" };

/** Return what a list offers: the usual values, and the one that is set. */
export function offered(name, value) {
  const usual = OFFERED[name] ?? [];
  return usual.includes(value) ? usual : [...usual, value].sort((a, b) => a - b);
}

/** Return the form; `change` is called with settings, or with a problem. */
export function settingsForm({ lesson, change }) {
  const { names, settings, choices, at_once: atOnce, problems } = lesson;
  const fields = new Map();

  function choice(name, options, value, read) {
    const select = make("select", { name, onchange: () => change({ settings: { [name]: read(select.value) } }) },
      options.map(([key, label]) => make("option", { value: key }, label)));
    select.value = String(value);
    fields.set(name, (next) => {
      select.value = String(next);
    });
    return make("label", NAMES[name], select);
  }
  function field(name) {
    const value = settings[name];
    if (typeof value === "boolean") {
      const box = make("input", { type: "checkbox", name, checked: value, onchange: () => change({ settings: { [name]: box.checked } }) });
      fields.set(name, (next) => {
        box.checked = next;
      });
      return make("label", NAMES[name], box);
    }
    if (choices[name]) return choice(name, choices[name].map((word) => [word, WORDS[word] ?? word]), value, String);
    if (name === "seed") {
      const box = make("input", { type: "number", name, min: 0, step: 1, value, onchange: () => change({ settings: { seed: Math.max(0, Math.round(Number(box.value)) || 0) } }) });
      fields.set(name, (next) => {
        box.value = String(next);
      });
      return make("label", NAMES.seed, box);
    }
    return choice(name, offered(name, value).map((one) => [one, number(one)]), value, Number);
  }
  const problem = make("select", { name: "problem", onchange: () => change({ problem: problem.value }) },
    problems.map(({ key, name }) => make("option", { value: key }, name)));
  problem.value = lesson.problem;

  return {
    element: make("div.settings",
      make("fieldset", make("legend", "From the next step on"), names.filter((name) => atOnce.includes(name)).map(field)),
      make("fieldset", make("legend", "A change here begins anew"),
        problems.length > 1 && make("label", "Data", problem), names.filter((name) => !atOnce.includes(name)).map(field))),
    /** Show settings as they are. */
    show(now) {
      problem.value = now.problem;
      for (const [name, put] of fields) put(now.settings[name]);
    },
  };
}
