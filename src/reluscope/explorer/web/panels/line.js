// Along a line: all outputs, exactly, with the points where they bend.

import { make, quiet, refill } from "../elements.js";
import { categoryOf, className, number, several } from "../words.js";
import { curveChart } from "./charts.js";
import { claimBadge } from "./claims.js";

const EXPLAINED = "Choose Line, or hold Shift, and drag between two points: here are then all outputs along it, exactly.";

/** Return the profile of the line that was drawn on the plane. */
export function linePanel({ hello, store, looking, hover }) {
  const element = make("div.panel");
  const name = (output) => (hello.is_classifier ? className(hello, output.index) : output.name);

  function show() {
    const { line, lineTrouble } = looking.shown.get();
    if (line === null) {
      refill(element, make(lineTrouble ? "p.warned" : "p.soft", lineTrouble ?? EXPLAINED));
      return;
    }
    const { header: { num_regions: counted, length, outputs: named }, arrays: { breakpoints, outputs } } = line;
    const said = make("p.soft");
    const { element: picture, point } = curveChart({
      label: "outputs along the line", height: 190, ends: ["start", "end"],
      low: outputs.reduce((a, b) => Math.min(a, b), Infinity), high: outputs.reduce((a, b) => Math.max(a, b), -Infinity),
      curves: named.map((output, one) => ({
        colour: categoryOf(hello, output.index), points: Array.from(breakpoints, (share, at) => [share, outputs[at * named.length + one]]),
      })),
      ticks: breakpoints.length < 400 ? [...breakpoints.slice(1, -1)] : [],
      onpoint(share) {
        point(share);
        hover(share);
        refill(said, share === null ? "" : largest(share, line.arrays, named.map(name)));
      },
    });
    refill(element,
      make("div.head", make("h2", "Along the line"), quiet("Remove", () => store.set({ line: null }))),
      make("p", make("b", several(counted.value, "region")), " ", claimBadge(counted.claim, counted.definition),
        ` ${several(Math.max(0, breakpoints.length - 2), "bend")}, length ${number(length)}`),
      picture,
      make("p.keys", named.map((output) => {
        const swatch = make("span.swatch");
        swatch.style.background = categoryOf(hello, output.index);
        return make("span.entry", swatch, name(output));
      })),
      said);
  }
  looking.shown.subscribe((_, changed) => (changed.has("line") || changed.has("lineTrouble")) && show());
  show();
  return element;
}

/** Return the three largest outputs at a point of the line: affine between the bends on both sides. */
function largest(share, { breakpoints, outputs }, names) {
  let after = 1;
  while (after < breakpoints.length - 1 && breakpoints[after] < share) after++;
  const [from, to] = [breakpoints[after - 1], breakpoints[after]];
  const part = to > from ? (share - from) / (to - from) : 0;
  const value = (one) => outputs[(after - 1) * names.length + one] * (1 - part) + outputs[after * names.length + one] * part;
  return names.map((name, one) => [name, value(one)]).sort((a, b) => b[1] - a[1]).slice(0, 3)
    .map(([name, found]) => `${name} ${number(found)}`).join(", ");
}
