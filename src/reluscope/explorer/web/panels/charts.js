// Small charts: bars of signed numbers in a table, and curves over a stretch.

import { draw, make } from "../elements.js";
import { column, number } from "../words.js";

const [WIDTH, LEFT, RIGHT, TOP, BOTTOM] = [320, 34, 314, 8, 18];

/** Return a table of names with their numbers as bars to both sides of zero. */
export function barTable(caption, names, values) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const share = (value) => `${(100 * value) / (high - low || 1)}%`;
  const written = column(values);
  return make("table.outputs", make("caption", caption), values.map((value, at) => {
    const bar = make(value < 0 ? "span.bar.below" : "span.bar");
    bar.style.marginLeft = share(Math.min(value, 0) - low);
    bar.style.width = share(Math.abs(value));
    return make("tr", make("th", { scope: "row" }, names[at]), make("td.bars", bar), make("td.figure", written[at]));
  }));
}

/**
 * Return curves over a stretch from 0 to 1, and a cursor on it.
 * @param {{label: string, height: number, low: number, high: number, ends: string[], curves: {points: number[][],
 *   colour?: string, isDashed?: boolean}[], ticks?: number[], onpoint?: (share: number | null) => void}} what
 * @returns {{element: SVGElement, point: (share: number | null) => void}}
 */
export function curveChart({ label, height, low, high, ends, curves, ticks = [], onpoint }) {
  const floor = height - BOTTOM;
  const x = (share) => LEFT + share * (RIGHT - LEFT);
  const y = (value) => TOP + ((high - value) / (high - low || 1)) * (floor - TOP);
  const text = (name, [across, down], words) => draw(name, { x: across, y: down }, words);
  const cursor = draw("line.cursor", { y1: TOP, y2: floor, visibility: "hidden" });
  const element = draw("svg.profile", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `${label}, from ${number(low)} to ${number(high)}` },
    draw("path", { d: `M${LEFT} ${floor}H${RIGHT}${ticks.map((share) => `M${x(share)} ${floor}v4`).join("")}` }),
    curves.map(({ points, colour, isDashed }) => {
      const line = draw("polyline.output", { points: points.map(([share, value]) => `${x(share).toFixed(1)},${y(value).toFixed(1)}`).join(" ") });
      line.style.stroke = colour ?? "";
      if (isDashed) line.style.strokeDasharray = "5 3";
      return line;
    }),
    cursor,
    text("text.number", [LEFT - 4, TOP + 4], number(high, 2)), text("text.number", [LEFT - 4, floor], number(low, 2)),
    text("text", [LEFT, height - 4], ends[0]), text("text.number", [RIGHT, height - 4], ends[1]));

  function point(share) {
    cursor.setAttribute("visibility", share === null ? "hidden" : "visible");
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, x(share ?? 0));
  }
  if (onpoint) {
    element.addEventListener("pointermove", (event) => {
      const { left, width } = element.getBoundingClientRect();
      onpoint(Math.min(1, Math.max(0, (((event.clientX - left) / width) * WIDTH - LEFT) / (RIGHT - LEFT))));
    });
    element.addEventListener("pointerleave", () => onpoint(null));
  }
  return { element, point };
}
