// What colours mean, and which lines are drawn.

import { make } from "../elements.js";
import { gateName, shortened } from "../words.js";

const CHOICES = {
  class: ["Class", "the predicted class"],
  rate: ["Activity", "the share of units that are on"],
  area: ["Area", "how large each region is in this plane"],
  norm: ["Steepness", "how fast outputs change: the norm of the map in this plane"],
  inradius: ["Inradius", "the radius of the largest disc in each region"],
  depth: ["Last bend", "the last layer that bends around the region, within sight"],
  random: ["Random", "no meaning: neighbours differ"],
  unit: ["One unit", "where one unit is on"],
};

/** Return the choices for the colours of regions and lines, and the one of the unit. */
export function colouringPanel({ hello, store, name, can }) {
  const { gates } = hello.model;
  const isHeld = (of) => can("values") && (!hello.held || hello.held.some((question) => question.of === of));
  const isThere = (key) => (key === "class" ? hello.is_classifier : !["norm", "unit", "inradius"].includes(key) || isHeld(key));
  const radios = Object.entries(CHOICES).filter(([key]) => isThere(key)).map(([key, [label, title]]) =>
    make("label", { title }, make("input", { type: "radio", name: `${name}-by`, value: key, onchange: () => choose(key) }), make("span", label)));

  const chooseUnit = () => {
    const chosen = Number(gate.value);
    const index = Math.round(Number(unit.value)) || 0;
    store.set({ unit: { gate: chosen, unit: Math.max(0, Math.min(gates[chosen].units - 1, index)) } });
  };
  const gate = make("select", { "aria-label": "layer", onchange: chooseUnit },
    gates.map((one, index) => make("option", { value: index }, shortened(gateName(one), 20))));
  const unit = make("input", { type: "number", min: 0, "aria-label": "unit", onchange: chooseUnit });
  const which = make("span.which", "unit ", unit, " of ", gate);
  const edges = make("select", { onchange: () => store.set({ edges: edges.value }) },
    [["thin", "thin"], ["gates", "by layer"], ["none", "none"]].map(([value, label]) => make("option", { value }, label)));
  const boundary = make("input", { type: "checkbox", onchange: () => store.set({ boundary: boundary.checked }) });

  function choose(by) {
    store.set({ by, hidden: [], unit: store.get().unit ?? (by === "unit" ? { gate: 0, unit: 0 } : null) });
  }
  function show(state) {
    for (const { firstChild: radio } of radios) radio.checked = radio.value === state.by;
    which.hidden = state.by !== "unit";
    gate.value = String(state.unit?.gate ?? 0);
    unit.value = String(state.unit?.unit ?? 0);
    edges.value = state.edges;
    boundary.checked = state.boundary;
  }
  store.subscribe(show);
  show(store.get());

  return {
    element: make("div.choices",
      make("fieldset.colouring", make("legend", "Colour"), radios),
      make("div.lines", make("label", "Borders ", edges),
        hello.is_classifier && make("label", { title: "where the predicted class changes, exactly" }, boundary, " decision boundary"))),
    unit: which,
  };
}
