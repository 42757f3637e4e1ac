// Code space: samples by how alike their activation codes are, linked with the plane.
//
// One dot is in the order of tabs; arrows go from it to the next one in their direction, Page Up and Page Down through
// all of them, and Enter does what a click does.

import { nextDot } from "../dots.js";
import { draw, make, refill } from "../elements.js";
import { categoryOf, className, count, number, several, shortened } from "../words.js";
import { claimBadge } from "./claims.js";

const SIZE = 320;
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Return the map of code space; `use(row)` is told of a sample that was chosen. */
export function codesPanel({ hello, asker, store, looking, use }) {
  const gate = make("select", { "aria-label": "layer", onchange: () => load() },
    make("option", { value: "" }, "all layers"),
    hello.model.gates.map((one, index) => make("option", { value: index }, shortened(one.name, 20))));
  const plot = draw("svg.codes", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": "samples by activation code: arrows go from one to the next, Enter chooses", onkeydown: key, onfocusin: told, onpointerover: told, onpointerleave: () => refill(named, "\u00a0") });
  const named = make("p", { "aria-hidden": "true" }, "\u00a0");
  const said = make("p.soft", { role: "status" });
  const element = make("div.panel",
    make("p.soft", "Each dot is a sample; near ones have nearly the same units on. ", hello.plane === "inputs" ? "Click one to see its region." : "Click one: it becomes C, and the plane goes through it.", " Ringed: those in the chosen region, and A, B and C."),
    make("label", "Codes of ", gate), plot, named, said);
  let loaded = false;
  let dots = new Map(); // by row
  let drawn = []; // in order
  let places = []; // where each of these lies

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
    const { places: found, rows, predicted, labels } = arrays;
    const [xs, ys] = [0, 1].map((axis) => Array.from(rows, (_, at) => found[2 * at + axis]));
    const scale = (values) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return (value) => 8 + ((value - low) / (high - low || 1)) * (SIZE - 16);
    };
    const [x, y] = [scale(xs), scale(ys)];
    dots = new Map();
    places = Array.from(rows, (_, at) => [x(xs[at]), SIZE - y(ys[at])]);
    drawn = Array.from(rows, (row, at) => {
      const one = labels[at] >= 0 ? labels[at] : predicted[at];
      const isWrong = one !== predicted[at];
      const name = `sample ${row}: ${className(hello, one)}${isWrong ? `, taken for ${className(hello, predicted[at])}` : ""}`;
      const dot = draw(isWrong ? "circle.dot.wrong" : "circle.dot", { cx: places[at][0], cy: places[at][1], r: 3.2,
        fill: hello.palettes.areas[one] ?? categoryOf(hello, one), stroke: categoryOf(hello, one), role: "button", tabindex: at === 0 ? 0 : -1, "aria-label": name, onclick: () => use(row) });
      dots.set(row, dot);
      return dot;
    });
    refill(plot, drawn);
    const { trust } = header;
    refill(said, rows.length < header.of ? `${count(rows.length)} of ${several(header.of, "sample")}` : several(rows.length, "sample"),
      `, ${several(header.num_codes, "code")}; trustworthiness ${number(trust.value)} `, claimBadge(trust.claim, trust.definition));
    link();
  }

  /** Say which sample is pointed at. */
  function told({ target }) {
    const name = target.getAttribute("aria-label");
    if (target !== plot && name) refill(named, name);
  }

  function key(event) {
    const at = drawn.indexOf(event.target);
    if (at < 0) return;
    const way = WAYS[event.key];
    const to = way ? nextDot(places, at, way) : { Home: 0, End: drawn.length - 1, PageUp: at - 1, PageDown: at + 1 }[event.key];
    if (event.key === "Enter" || event.key === " ") event.target.dispatchEvent(new MouseEvent("click"));
    else if (to === undefined) return;
    else if (drawn[to]) {
      drawn[at].setAttribute("tabindex", "-1");
      drawn[to].setAttribute("tabindex", "0");
      drawn[to].focus();
    }
    event.preventDefault();
  }

  /** Mark the samples in the chosen region and those that the plane goes through. */
  function link() {
    const { solid, anchors = null } = store.get();
    const through = solid ?? anchors ?? hello.home.anchors ?? [];
    const inside = new Set([...(looking.shown.get().region?.header.samples_inside ?? []), ...through.map((anchor) => anchor.row)]);
    for (const [row, dot] of dots) {
      dot.classList.toggle("inside", inside.has(row));
    }
  }
  looking.shown.subscribe((_, changed) => changed.has("region") && link());
  store.subscribe((_, changed) => (changed.has("anchors") || changed.has("solid")) && link());
  return { element, open: () => loaded || load() };
}
