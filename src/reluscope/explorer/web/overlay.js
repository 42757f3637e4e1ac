// What lies over the plane and moves with it: outlines of regions, samples, anchors. A few shapes, drawn as SVG, so that
// pointing at a region costs no picture of all of them.
import { markOf, markPath } from "./marks.js";

const NAMESPACE = "http://www.w3.org/2000/svg";
const DARK = "#14181d";
const LIGHT = "#ffffff";
const FAR = 40; // pixels beyond the edge at which marks are left out

/**
 * Lay an empty picture over a canvas, whose parent has to be positioned.
 * @param {HTMLCanvasElement} canvas
 */
export function createOverlay(canvas) {
  const svg = make("svg", { "aria-hidden": "true", focusable: "false" });
  svg.style.cssText = "position:absolute;inset:0;width:100%;height:100%;pointer-events:none;overflow:hidden";
  canvas.after(svg);
  return {
    /** Draw shapes made by `overlayShapes`. */
    draw(shapes, [width, height]) {
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.replaceChildren(...shapes.map(elementOf));
    },
    dispose: () => svg.remove(),
  };
}

/**
 * Return shapes to draw, in pixels, as names of SVG elements and their attributes: what the overlay and the saved
 * picture have in common.
 * @param {{center: number[], reach: number[]}} view in plane coordinates
 * @param {number[]} size width and height in pixels
 * @param {object} over
 * @param {{kind: string, points: number[][]}[]} over.rings outlines in plane coordinates; "hover", "region", "neighbor"
 * @param {{x: number, y: number, label?: string, kind?: string, group?: number, off?: boolean}[]} over.marks
 * @param {number[][] | null} over.stretch the ends of a line
 */
export function overlayShapes(view, size, { rings, marks, stretch }) {
  const place = ([x, y]) => [
    (((x - view.center[0]) / view.reach[0] + 1) / 2) * size[0],
    ((1 - (y - view.center[1]) / view.reach[1]) / 2) * size[1],
  ];
  return [
    ...rings.flatMap(({ kind, points }) => ringShapes(kind, points.map(place))),
    ...(stretch ? stretchShapes(stretch.map(place)) : []),
    ...markShapes(marks, place, size),
  ];
}

function ringShapes(kind, points) {
  if (points.length < 2) return [];
  const d = `M${points.map(written).join("L")}z`;
  const common = { "stroke-linejoin": "round" };
  if (kind === "hover") {
    return [shape("path", { d, fill: DARK, "fill-opacity": 0.12, stroke: DARK, "stroke-width": 1.2, ...common })];
  }
  const dashes = kind === "neighbor" ? { "stroke-dasharray": "5 4" } : {};
  return [
    shape("path", { d, fill: "none", stroke: LIGHT, "stroke-width": 5, ...common }),
    shape("path", { d, fill: "none", stroke: DARK, "stroke-width": 2.4, ...common, ...dashes }),
  ];
}

function stretchShapes(points) {
  const d = `M${points.map(written).join("L")}`;
  const dots = points.map(([x, y]) => markPath("circle", x, y, 4)).join("");
  return [
    shape("path", { d, fill: "none", stroke: LIGHT, "stroke-width": 5, "stroke-linecap": "round" }),
    shape("path", { d, fill: "none", stroke: DARK, "stroke-width": 2, "stroke-linecap": "round" }),
    shape("path", { d: dots, fill: LIGHT, stroke: DARK, "stroke-width": 1.6 }),
  ];
}

function markShapes(marks, place, size) {
  const many = new Map();
  const single = [];
  for (const mark of marks) {
    const [x, y] = place([mark.x, mark.y]);
    if (!(x > -FAR && x < size[0] + FAR && y > -FAR && y < size[1] + FAR)) continue;
    if (mark.kind === "sample" || mark.kind === "linked") {
      const { shape: form, face } = markOf(mark.group);
      const key = `${mark.kind} ${face}`;
      many.set(key, (many.get(key) ?? "") + markPath(form, x, y, mark.kind === "linked" ? 5.5 : 3.4));
    } else single.push([mark, x, y]);
  }
  const shapes = [...many].map(([key, d]) => {
    const [kind, face] = key.split(" ");
    const [fill, stroke] = face === "light" ? [LIGHT, DARK] : [DARK, LIGHT];
    return shape("path", { d, fill, stroke, "stroke-width": kind === "linked" ? 2 : 0.9, "stroke-linejoin": "round" });
  });
  for (const [mark, x, y] of single) {
    const fill = mark.off ? "none" : LIGHT;
    if (mark.off) shapes.push(shape("path", { d: markPath("circle", x, y, 5.5), fill: "none", stroke: LIGHT, "stroke-width": 4 }));
    shapes.push(shape("path", { d: markPath("circle", x, y, 5.5), fill, stroke: DARK, "stroke-width": 2 }));
    if (mark.label) shapes.push(label(mark.label, x, y, size));
  }
  return shapes;
}

function label(text, x, y, size) {
  // Towards the inside, so that no label leaves the picture.
  const isRight = x > 0.8 * size[0];
  return shape(
    "text",
    {
      x: Math.round(x + (isRight ? -10 : 10)),
      y: Math.round(y + (y < 0.08 * size[1] ? 16 : -8)),
      "text-anchor": isRight ? "end" : "start",
      fill: DARK,
      stroke: LIGHT,
      "stroke-width": 3.5,
      "stroke-linejoin": "round",
      "paint-order": "stroke",
      "font-size": 13,
      "font-weight": 600,
      "font-family": "system-ui, sans-serif",
    },
    text,
  );
}

function shape(name, attributes, text = "") {
  return { name, attributes, text };
}

function elementOf({ name, attributes, text }) {
  const element = make(name, attributes);
  if (text) element.textContent = text;
  return element;
}

function make(name, attributes) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

function written([x, y]) {
  return `${Math.round(10 * x) / 10} ${Math.round(10 * y) / 10}`;
}
