// Code space: samples by how alike their activation codes are, linked with the plane.

import { draw, make, refill } from "../elements.js";
import { categoryOf, className, count, number, several, shortened } from "../words.js";
import { claimBadge } from "./claims.js";

const SIZE = 320;

/** Return the map of code space; `use(row)` is told of a sample that was chosen. */
export function codesPanel({ hello, asker, store, looking, use }) {
  const gate = make("select", { "aria-label": "layer", onchange: () => load() },
    make("option", { value: "" }, "all layers"),
    hello.model.gates.map((one, index) => make("option", { value: index }, shortened(one.name, 20))));
  const plot = draw("svg.codes", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": "samples by activation code" });
  const said = make("p.soft", { role: "status" });
  const element = make("div.panel",
    make("p.soft", "Each dot is a sample; near ones have nearly the same units on. ", hello.plane === "inputs" ? "Click one to see its region." : "Click one: the plane then goes through it."),
    make("label", "Codes of ", gate), plot, said);
  let loaded = false;
  let dots = new Map();

  async function load() {
    loaded = true;
    refill(said, "Looking …");
    try {
      const question = { ask: "code_space", ...(gate.value === "" ? {} : { gate: Number(gate.value) }) };
      const answer = await asker.latest("codes", question);
      if (answer !== null) fill(answer);
    } catch (error) {
      refill(plot);
      refill(said, error.message);
    }
  }

  function fill({ header, arrays }) {
    const { places, rows, predicted, labels } = arrays;
    const [xs, ys] = [0, 1].map((axis) => Array.from(rows, (_, at) => places[2 * at + axis]));
    const scale = (values) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return (value) => 8 + ((value - low) / (high - low || 1)) * (SIZE - 16);
    };
    const [x, y] = [scale(xs), scale(ys)];
    dots = new Map();
    const drawn = Array.from(rows, (row, at) => {
      const one = labels[at] >= 0 ? labels[at] : predicted[at];
      const dot = draw(one === predicted[at] ? "circle.dot" : "circle.dot.wrong", { cx: x(xs[at]), cy: SIZE - y(ys[at]), r: 3.2,
        fill: categoryOf(hello, one),
        onclick: () => use(row) },
      draw("title", `sample ${row}: ${className(hello, one)}`));
      dots.set(row, dot);
      return dot;
    });
    refill(plot, drawn);
    const { trust } = header;
    refill(said, rows.length < header.of ? `${count(rows.length)} of ${several(header.of, "sample")}` : several(rows.length, "sample"),
      `, ${several(header.num_codes, "code")}; trustworthiness ${number(trust.value)} `, claimBadge(trust.claim, trust.definition));
    link();
  }

  /** Mark the samples in the chosen region and those that the plane goes through. */
  function link() {
    const anchors = store.get().anchors ?? hello.home.anchors ?? [];
    const inside = new Set([...(looking.shown.get().region?.header.samples_inside ?? []), ...anchors.map((anchor) => anchor.row)]);
    for (const [row, dot] of dots) {
      dot.classList.toggle("inside", inside.has(row));
    }
  }
  looking.shown.subscribe((_, changed) => changed.has("region") && link());
  store.subscribe((_, changed) => changed.has("anchors") && link());
  return { element, open: () => loaded || load() };
}
