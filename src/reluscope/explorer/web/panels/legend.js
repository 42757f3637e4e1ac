// The legend: groups that can be hidden, largest first, or a scale with its ends.

import { draw, make, quiet, refill } from "../elements.js";
import { markOf, markPath } from "../marks.js";
import { number } from "../words.js";

const SHOWN = 12;

/** Return the legend; `colours()` is what `colourPieces` gave last. */
export function legendPanel({ store }) {
  const element = make("div.legend");
  let entries = [];

  function toggle(value, alone) {
    const { hidden } = store.get();
    if (alone) {
      const others = entries.map((entry) => entry.kind).filter((other) => other !== value);
      store.set({ hidden: hidden.length === others.length && !hidden.includes(value) ? [] : others });
    } else store.set({ hidden: hidden.includes(value) ? hidden.filter((one) => one !== value) : [...hidden, value] });
  }

  return {
    element,
    show({ legend, scale }, hasMarks, title) {
      entries = legend;
      if (scale !== null) refill(element, scaleOf(scale));
      else if (legend.length) {
        refill(element,
          legend.slice(0, SHOWN).map((entry) => {
            const swatch = make("span.swatch");
            swatch.style.background = entry.colour;
            return make("button.entry", { "aria-pressed": String(!entry.hidden),
              title: "Shift and click: all others",
              onclick: (event) => toggle(entry.kind, event.shiftKey),
            }, swatch, hasMarks && markView(entry.kind), entry.label);
          }),
          legend.length > SHOWN && make("span.soft", `and ${legend.length - SHOWN} more`),
          store.get().hidden.length > 0 && quiet("show all", () => store.set({ hidden: [] })));
      } else refill(element, make("span.soft", title));
    },
  };
}

/** Return the mark that samples of a class have. */
function markView(one) {
  const { shape, face } = markOf(one);
  return draw("svg", { viewBox: "0 0 12 12", class: "mark", "aria-hidden": "true" },
    draw("path", { d: markPath(shape, 6, 6, 4.5), fill: face === "light" ? "#ffffff" : "#14181d", stroke: face === "light" ? "#14181d" : "#ffffff" }));
}

/** Return a scale: a ramp of colours with its ends and its name. */
function scaleOf({ low, high, logarithmic, label, ramp }) {
  const width = 160;
  const steps = ramp.map((colour, index) =>
    draw("rect", { x: (width * index) / ramp.length, y: 0, width: width / ramp.length + 0.5, height: 10, fill: colour }));
  return make("span.scale",
    make("span", number(low)),
    draw("svg", { viewBox: `0 0 ${width} 10`, width, height: 10, role: "img", "aria-label": `from ${number(low)} to ${number(high)}` }, steps),
    make("span", number(high)),
    make("span.soft", label, logarithmic ? ", on a logarithmic scale" : ""));
}
