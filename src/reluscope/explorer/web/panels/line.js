// Along a line: all outputs, exactly, with the points where they bend.

import { draw, make, refill } from "../elements.js";
import { className, number, several } from "../words.js";
import { claimBadge } from "./claims.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [320, 190, 34, 20];

/** Return the profile of the line that was drawn on the plane. */
export function linePanel({ hello, store, looking, hover }) {
  const element = make("div", { class: "panel line" });

  function show() {
    const { line, lineTrouble } = looking.shown.get();
    if (line === null) {
      const drawn = store.get().line !== null;
      refill(element, make("p", { class: lineTrouble ? "warned" : "soft" }, lineTrouble
        ?? (drawn ? "Looking …" : "Draw a line: choose Line above the picture and drag between two points (or hold Shift and drag). "
          + "Here you then see every output along it, exactly: straight pieces between bends.")));
      return;
    }
    const { header, arrays } = line;
    const counted = header.num_regions;
    refill(element,
      make("div", { class: "head" }, make("h2", {}, "Along the line"),
        make("button", { class: "quiet", onclick: () => store.set({ line: null }) }, "Remove")),
      make("p", {}, [make("b", {}, several(counted.value, "region")), " ", claimBadge(counted.claim, counted.definition), ", "],
        several(Math.max(0, arrays.breakpoints.length - 2), "bend"),
        header.length !== undefined && `, length ${number(header.length)}`),
      profile(header, arrays));
  }

  function profile(header, { breakpoints, outputs }) {
    const width = outputs.length / breakpoints.length;
    const [low, high] = ends(outputs);
    const x = (share) => LEFT + share * (WIDTH - LEFT - 6);
    const y = (value) => 6 + (1 - (value - low) / (high - low || 1)) * (HEIGHT - BOTTOM - 6);
    const names = namesOf(header, width);
    const lines = names.map((_, one) => draw("polyline", {
      class: "output", stroke: hello.palettes.categories[(header.outputs[one]?.index ?? one) % hello.palettes.categories.length],
      points: Array.from(breakpoints, (share, at) => `${x(share).toFixed(1)},${y(outputs[at * width + one]).toFixed(1)}`).join(" "),
    }));
    const cursor = draw("line", { class: "cursor", y1: 6, y2: HEIGHT - BOTTOM, visibility: "hidden" });
    const ticks = breakpoints.length < 400 && Array.from(breakpoints.slice(1, -1), (share) =>
      draw("line", { class: "tick", x1: x(share), x2: x(share), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4 }));
    const said = make("p", { class: "soft values" });
    const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "profile", role: "img",
      "aria-label": `outputs along the line, from ${number(low)} to ${number(high)}`,
      onpointermove: (event) => {
        const { left, width: shown } = picture.getBoundingClientRect();
        const share = (((event.clientX - left) / shown) * WIDTH - LEFT) / (WIDTH - LEFT - 6);
        if (share < 0 || share > 1) return;
        cursor.setAttribute("x1", x(share));
        cursor.setAttribute("x2", x(share));
        cursor.setAttribute("visibility", "visible");
        refill(said, valuesAt(share, breakpoints, outputs, names));
        hover(share);
      },
      onpointerleave: () => {
        cursor.setAttribute("visibility", "hidden");
        refill(said);
        hover(null);
      } },
    draw("line", { class: "axis", x1: LEFT, x2: WIDTH - 6, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }), ticks || [], lines, cursor,
    draw("text", { x: LEFT - 4, y: y(high) + 4, class: "number" }, number(high, 2)),
    draw("text", { x: LEFT - 4, y: y(low), class: "number" }, number(low, 2)),
    draw("text", { x: LEFT, y: HEIGHT - 3 }, "start"), draw("text", { x: WIDTH - 6, y: HEIGHT - 3, class: "number" }, "end"));
    const keys = make("p", { class: "keys" }, names.map((name, one) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = hello.palettes.categories[(header.outputs[one]?.index ?? one) % hello.palettes.categories.length];
      return make("span", { class: "entry" }, swatch, name);
    }));
    return [picture, keys, said];
  }

  function namesOf(header, width) {
    const given = header.outputs;
    return Array.from({ length: width }, (_, one) => {
      const output = given[one];
      if (output === undefined) return `output ${one}`;
      return hello.is_classifier ? className(hello, output.index) : output.name;
    });
  }

  looking.shown.subscribe((_, changed) => (changed.has("line") || changed.has("lineTrouble")) && show());
  show();
  return element;
}

/** Return outputs at a point of the line: affine between the bends on both sides. */
function valuesAt(share, breakpoints, outputs, names) {
  const width = names.length;
  let after = 1;
  while (after < breakpoints.length - 1 && breakpoints[after] < share) after++;
  const [from, to] = [breakpoints[after - 1], breakpoints[after]];
  const part = to > from ? (share - from) / (to - from) : 0;
  return names.map((name, one) => [name, outputs[(after - 1) * width + one] * (1 - part) + outputs[after * width + one] * part])
    .sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, value]) => `${name} ${number(value)}`).join(", ");
}

function ends(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}
