// The card of a region: what the network is there, what bounds it, who else lives there.

import { capital, make, quiet, refill, write } from "../elements.js";
import { className, count, number, several, shortened } from "../words.js";
import { barTable } from "./charts.js";
import { findingView } from "./claims.js";
import { mapView } from "./map.js";
import { sidesView } from "./sides.js";

/**
 * Return the card of the chosen region; while none is chosen it offers what to try.
 * @param {{tries: [string, () => void][]}} app
 */
export function regionPanel({ hello, store, looking, walk, look, announce, tries }) {
  const element = make("div.panel.region");
  const sides = sidesView({ hello, walk, look });
  let spoken = null;

  function show() {
    const { region, regionTrouble, radius } = looking.shown.get();
    if (region === null) {
      refill(element, regionTrouble && make("p.warned", regionTrouble), beginning());
      return;
    }
    const { header, arrays } = region;
    refill(element,
      make("div.head",
        make("h2", title(header)),
        quiet("Close", () => store.set({ selected: null }))),
      hello.is_classifier && header.margin >= 0
        && make("p", "ahead of ", nameOf(header.outputs_at_point[1]), " by ", make("b", number(header.margin)), " at this point"),
      outputsView(header),
      mapView(hello, header, arrays),
      make("dl.facts", facts(header)),
      make("p.radius", radiusView(radius)),
      samplesView(header),
      sides.show(header),
      hello.still && make("p.soft", "A snapshot holds no weights: reluscope explore shows the function here."),
      header.python && copyButton(header.python, announce));
    const said = `${title(header)}. ${several(header.sides.length, "side")}.`;
    if (said !== spoken) announce(said);
    spoken = said;
  }

  function beginning() {
    return [make("h2", "What is a region?"),
      make("p", "The units of a network switch on and off. Where none switches, the network is a plain weighted sum of its inputs: "
        + "a region, one tile here. Each line is where a unit switches."),
      make("p.soft", "Click a tile to see its sum, or try:"),
      make("div.tries", tries.map(([label, act]) => make("button", { onclick: act }, label)))];
  }

  function title(header) {
    return hello.is_classifier && header.class !== null ? capital(className(hello, header.class)) : `Region ${count(header.row)}`;
  }
  const nameOf = (output) => (hello.is_classifier ? className(hello, output.index) : output.name);

  function outputsView({ outputs_at_point: outputs }) {
    return outputs && barTable("Outputs at this point", outputs.map((output) => shortened(nameOf(output), 18)), outputs.map((output) => output.value));
  }

  function facts({ area, inradius, code = [], code_hex: hex, is_cut: isCut, sides: all }) {
    const binary = code.filter((gate) => gate.pieces === 2);
    const [active, units] = ["active", "units"].map((key) => binary.reduce((sum, gate) => sum + gate[key], 0));
    const byGate = binary.slice(0, 6).map((gate) => `${gate.active}/${gate.units}`).join(", ");
    return [
      ["area in this plane", findingView(area)],
      inradius && ["inradius in this plane", findingView(inradius)],
      ["sides", count(all.length), isCut && ", cut by the view"],
      units > 0 && ["units on", `${count(active)} of ${count(units)} `, make("span.soft", `(${byGate}${binary.length > 6 ? ", …" : ""})`)],
      hex && ["code", make("code", { title: hex }, shortened(hex, 20))],
    ].filter(Boolean).map(([name, ...values]) => make("div", make("dt", name), make("dd", values)));
  }

  function radiusView(radius) {
    if (!looking.can("radius")) return null;
    if (radius === null) return make("button", { onclick: looking.measureRadius }, "Inradius in the full input space");
    if (radius.busy) return "Measuring …";
    if (radius.message) return make("span.warned", radius.message);
    return ["inradius in the full input space ", make("b", findingView(radius.is_unbounded ? { ...radius.radius, value: Infinity } : radius.radius))];
  }

  function samplesView({ samples_inside: rows, num_samples_inside: total }) {
    if (total === undefined) return null;
    if (total === 0) return make("p.soft", "No sample lies in this region.");
    return make("p", `Same region as sample ${rows.slice(0, 8).join(", ")}${total > 8 ? ` and ${count(total - 8)} more` : ""}.`);
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
      button.replaceWith(make("textarea", { readonly: true, rows: 6, "aria-label": "Python" }, text));
    }
    setTimeout(() => write(button, "Copy as Python"), 1500);
  } }, "Copy as Python");
  return make("p", button);
}
