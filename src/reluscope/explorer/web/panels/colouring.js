// What colours mean, and which lines are drawn.

import { make } from "../elements.js";
import { shortened } from "../words.js";

const CHOICES = [
  ["class", "Class", "the class that the network predicts there"],
  ["rate", "Activity", "the share of units that are active there"],
  ["area", "Area", "how large each region is in this plane"],
  ["norm", "Steepness", "the norm of the affine map along the plane: how fast outputs change"],
  ["inradius", "Inradius", "the radius of the largest disc in each region"],
  ["depth", "Last bend", "the last layer that bends within sight around the region"],
  ["random", "Random", "colours without a meaning, which tell neighbours apart"],
  ["unit", "One unit", "where one unit is on"],
];

/** Return the choices for the colours of regions and lines, and the one of the unit. */
export function colouringPanel({ hello, store, name, can }) {
  const isHeld = (of) => can("values") && (!hello.held || hello.held.some((question) => question.of === of));
  const choices = CHOICES.filter(
    ([key]) => (key !== "class" || hello.is_classifier) && (!["norm", "unit", "inradius"].includes(key) || isHeld(key)),
  );
  const radios = choices.map(([key, label, meaning]) => {
    const input = make("input", { type: "radio", name: `${name}-by`, value: key, onchange: () => choose(key) });
    return make("label", { title: meaning, "data-key": key }, input, make("span", {}, label));
  });
  const gate = make("select", { "aria-label": "gate of the unit", onchange: () => chooseUnit(Number(gate.value), 0) },
    hello.model.gates.map((one, index) => make("option", { value: index }, shortened(one.name, 20))));
  const unit = make("input", { type: "number", min: 0, step: 1, "aria-label": "number of the unit",
    onchange: () => chooseUnit(Number(gate.value), Number(unit.value)) });
  const which = make("span", { class: "which" }, "unit ", unit, " of ", gate);

  const edges = make("select", { onchange: () => store.set({ edges: edges.value }) },
    make("option", { value: "thin" }, "thin"), make("option", { value: "gates" }, "by layer"), make("option", { value: "none" }, "none"));
  const boundary = make("input", { type: "checkbox", onchange: () => store.set({ boundary: boundary.checked }) });

  function choose(by) {
    store.set({ by, hidden: [], ...(by === "unit" && store.get().unit === null ? { unit: { gate: 0, unit: 0 } } : {}) });
  }
  function chooseUnit(chosen, index) {
    const most = hello.model.gates[chosen].units - 1;
    store.set({ unit: { gate: chosen, unit: Math.max(0, Math.min(most, Math.round(index) || 0)) } });
  }
  function show(state) {
    for (const label of radios) label.firstChild.checked = label.dataset.key === state.by;
    which.hidden = state.by !== "unit";
    if (state.unit !== null) {
      gate.value = String(state.unit.gate);
      unit.value = String(state.unit.unit);
      unit.max = String(hello.model.gates[state.unit.gate].units - 1);
    }
    edges.value = state.edges;
    boundary.checked = state.boundary;
  }
  store.subscribe(show);
  show(store.get());

  const group = make("fieldset", { class: "colouring" }, make("legend", {}, "Colour"), radios);
  const lines = make("div", { class: "lines" },
    make("label", {}, "Borders ", edges),
    hello.is_classifier && make("label", { title: "where the predicted class changes, exactly" }, boundary, " decision boundary"));
  return { element: make("div", { class: "choices" }, group, lines), unit: which };
}
