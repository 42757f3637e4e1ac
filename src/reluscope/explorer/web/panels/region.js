// The card of a region: what the network is there, what bounds it, who else lives there.

import { make, refill, write } from "../elements.js";
import { className, column, count, number, several, shortened } from "../words.js";
import { claimBadge, findingText } from "./claims.js";
import { mapView } from "./map.js";
import { sidesView } from "./sides.js";

/**
 * Return the card of the chosen region; while none is chosen it offers what to try.
 * @param {{tries: [string, () => void][]}} app
 */
export function regionPanel({ hello, store, looking, walk, look, announce, tries }) {
  const element = make("div", { class: "panel region" });
  const sides = sidesView({ hello, walk, look });
  let spoken = null;

  function show() {
    const { region, regionTrouble, radius } = looking.shown.get();
    if (region === null) {
      refill(element, regionTrouble && make("p", { class: "warned" }, regionTrouble), beginning());
      return;
    }
    const { header, arrays } = region;
    refill(element,
      make("div", { class: "head" },
        make("h2", {}, title(header)),
        make("button", { class: "quiet", "aria-label": "close the card", onclick: () => store.set({ selected: null }) }, "Close")),
      header.margin !== null && header.margin !== undefined && make("p", {}, marginText(header)),
      outputsView(header),
      mapView(hello, header, arrays),
      make("dl", { class: "facts" }, facts(header)),
      make("p", { class: "radius" }, radiusView(radius)),
      samplesView(header),
      sides.show(header),
      hello.still && make("p", { class: "soft" }, "A snapshot holds no weights: reluscope explore shows the function here."),
      header.python && copyButton(header.python, announce));
    const said = `${title(header)}. ${several(header.sides.length, "side")}.`;
    if (said !== spoken) announce(said);
    spoken = said;
  }

  function beginning() {
    return [make("h2", {}, "What is a region?"),
      make("p", {}, "Units of this network switch on and off. Where none of them switches, the network is a plain weighted sum "
        + "of its inputs: that is a region, a tile of this picture. Each line is where one unit switches."),
      make("p", { class: "soft" }, "Click a tile to see its sum, or try:"),
      make("div", { class: "tries" }, tries.map(([label, act]) => make("button", { onclick: act }, label)))];
  }

  function title(header) {
    return hello.is_classifier && header.class !== null ? capital(className(hello, header.class)) : `Region ${count(header.row)}`;
  }
  function marginText(header) {
    const second = header.outputs_at_point?.[1];
    return ["ahead of ", second ? nameOf(second) : "the next class", " by ", make("b", {}, number(header.margin)), " at this point"];
  }
  const nameOf = (output) => (hello.is_classifier ? className(hello, output.index) : output.name);

  function outputsView({ outputs_at_point: outputs }) {
    if (!outputs?.length) return null;
    const values = outputs.map((output) => output.value);
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const written = column(values);
    const share = (value) => (100 * value) / (high - low || 1);
    return make("table", { class: "outputs" }, make("caption", {}, "Outputs at this point"),
      outputs.map((output, at) => {
        const bar = make("span", { class: output.value < 0 ? "bar below" : "bar" });
        bar.style.marginLeft = `${share(Math.min(output.value, 0) - low)}%`;
        bar.style.width = `${share(Math.abs(output.value))}%`;
        return make("tr", {}, make("th", { scope: "row" }, shortened(nameOf(output), 18)),
          make("td", { class: "bars" }, bar), make("td", { class: "figure" }, written[at]));
      }));
  }

  function facts({ area, inradius, code, code_hex: hex, is_cut: isCut, num_sides: numSides, sides: all }) {
    const rows = [];
    const fact = (name, ...values) => rows.push(make("div", {}, make("dt", {}, name), make("dd", {}, values)));
    fact("area in this plane", findingText(area), " ", area?.claim && claimBadge(area.claim, area.definition));
    if (inradius !== undefined && inradius !== null) fact("inradius in this plane", findingText(inradius), " ", inradius.claim && claimBadge(inradius.claim, inradius.definition));
    fact("sides", count(numSides ?? all.length), isCut ? ", cut by the view" : "");
    if (code?.length) {
      const on = code.filter((gate) => gate.pieces === undefined || gate.pieces === 2);
      const [active, units] = on.reduce(([a, u], gate) => [a + gate.active, u + gate.units], [0, 0]);
      if (units) {
        fact("units on", `${count(active)} of ${count(units)}`,
          make("span", { class: "soft" }, on.length > 1 ? ` (${on.map((gate) => `${gate.active}/${gate.units}`).slice(0, 6).join(", ")}${on.length > 6 ? ", …" : ""})` : ""));
      }
    }
    if (hex) fact("code", make("code", { title: hex }, shortened(hex, 20)));
    return rows;
  }

  function radiusView(radius) {
    if (!looking.can("radius")) return null;
    if (radius === null) return make("button", { onclick: looking.measureRadius }, "Inradius in the full input space");
    if (radius.busy) return "Measuring the inradius in the full space …";
    if (radius.message) return make("span", { class: "warned" }, radius.message);
    const found = radius.radius;
    return ["inradius in the full input space ", make("b", {}, radius.is_unbounded ? "unbounded" : findingText(found)), " ", found.claim && claimBadge(found.claim, found.definition)];
  }

  function samplesView({ samples_inside: rows, num_samples_inside: total }) {
    if (total === undefined) return null;
    if (total === 0) return make("p", { class: "soft" }, "No sample lies in this region.");
    const named = rows.slice(0, 8).map((row) => `sample ${row}`).join(", ");
    return make("p", {}, total === 1 ? `Same region as ${named}.` : `Same region as ${named}${total > 8 ? ` and ${count(total - 8)} more` : ""}.`);
  }

  looking.shown.subscribe((_, changed) => {
    if (["region", "regionTrouble", "radius"].some((key) => changed.has(key))) show();
  });
  show();
  return { element, sides };
}

function copyButton(text, announce) {
  const button = make("button", { onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      write(button, "Copied");
      announce("Copied.");
    } catch {
      button.replaceWith(make("textarea", { class: "code", readonly: true, rows: 6, "aria-label": "Python" }, text));
    }
    setTimeout(() => write(button, "Copy as Python"), 1500);
  } }, "Copy as Python");
  return make("p", {}, button);
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
