// What is on the screen as a file: PNG from the canvas, SVG from the polygons themselves, both with what lies over them.
import { lineWidth } from "./drawn_plane.js";
import { overlayShapes } from "./overlay.js";
import { gateColours } from "./ramps.js";

const DARK = "#14181d";
const LIGHT = "#ffffff";
const SEAM = 0.4; // pixels that cover what would show between two smoothed polygons

/**
 * Return a picture of a canvas and what lies over it.
 * @param {HTMLCanvasElement} canvas as drawn just now
 * @param {object} shown of the scene
 * @param {{paper?: string}} look colour behind the picture
 * @returns {Promise<Blob>}
 */
export function pictureAsPng(canvas, { view, size, over }, { paper = LIGHT } = {}) {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const pen = copy.getContext("2d");
  pen.fillStyle = paper;
  pen.fillRect(0, 0, copy.width, copy.height);
  pen.drawImage(canvas, 0, 0);
  pen.scale(copy.width / size[0], copy.height / size[1]);
  for (const { name, attributes, text } of overlayShapes(view, size, over)) {
    pen.lineWidth = attributes["stroke-width"];
    pen.lineJoin = attributes["stroke-linejoin"] ?? "miter";
    pen.lineCap = attributes["stroke-linecap"] ?? "butt";
    pen.setLineDash((attributes["stroke-dasharray"] ?? "").split(" ").filter(Boolean).map(Number));
    pen.strokeStyle = attributes.stroke;
    pen.fillStyle = attributes.fill;
    if (name === "text") write(pen, attributes, text);
    else outline(pen, new Path2D(attributes.d), attributes);
  }
  return new Promise((resolve) => copy.toBlob(resolve, "image/png"));
}

function outline(pen, path, { fill, "fill-opacity": share = 1 }) {
  pen.globalAlpha = share;
  if (fill !== "none") pen.fill(path);
  pen.globalAlpha = 1;
  pen.stroke(path);
}

function write(pen, attributes, text) {
  pen.font = `${attributes["font-weight"]} ${attributes["font-size"]}px ${attributes["font-family"]}`;
  pen.textAlign = attributes["text-anchor"];
  pen.strokeText(text, attributes.x, attributes.y);
  pen.fillText(text, attributes.x, attributes.y);
}

/**
 * Return what is on the screen as SVG: every polygon and line in view, of one path per colour.
 * @param {object} shown of the scene
 * @param {{paper?: string, title?: string}} look
 * @returns {string}
 */
export function pictureAsSvg({ plane, colours, view, style, size, over }, { paper = LIGHT, title = "" } = {}) {
  const [width, height] = size.map((length) => Math.round(length));
  const place = plane && placing(plane.header.window, view, size);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    title && `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="${paper}"/>`,
    ...(plane?.header.num_open > 0 ? hatching(plane.header.window, place) : []),
    ...(plane ? fillPaths(plane.arrays, colours.piece, place, size) : []),
    ...(plane && style.edges !== "none" ? edgePaths(plane, style, place, view, size) : []),
    ...(plane && style.boundary ? boundaryPaths(plane.arrays.boundary_ends, place, size) : []),
    ...overlayShapes(view, size, over).map(element),
    "</svg>",
  ];
  return parts.filter(Boolean).join("\n");
}

/** Return the way from coordinates relative to a window to pixels. */
function placing({ center, reach }, view, size) {
  const [right, up] = [0, 1].map((axis) => (reach[1] / view.reach[axis]) * (size[axis] / 2));
  const [left, top] = [0, 1].map((axis) => ((center[axis] - view.center[axis]) / view.reach[axis]) * (size[axis] / 2));
  return (x, y) => [size[0] / 2 + left + right * x, size[1] / 2 - top - up * y];
}

/** Return what shows where work stopped early: fills cover the rest. */
function hatching({ reach }, place) {
  const aspect = reach[0] / reach[1];
  const corners = [[-aspect, -1], [aspect, -1], [aspect, 1], [-aspect, 1]].map((corner) => written(place(...corner)));
  return [
    '<pattern id="unreached" width="6.4" height="6.4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">',
    `<path d="M0 0V6.4" stroke="${DARK}" stroke-opacity="0.5" stroke-width="1.4"/></pattern>`,
    `<path fill="url(#unreached)" d="M${corners.join("L")}z"/>`,
  ];
}

function fillPaths({ corners, piece_offsets: offsets }, rgba, place, size) {
  const byColour = new Map();
  for (let piece = 0; piece + 1 < offsets.length; piece++) {
    if (!rgba[4 * piece + 3]) continue;
    const points = [];
    for (let corner = offsets[piece]; corner < offsets[piece + 1]; corner++) points.push(place(corners[2 * corner], corners[2 * corner + 1]));
    if (!isSeen(points, size)) continue;
    const colour = `#${[0, 1, 2].map((channel) => rgba[4 * piece + channel].toString(16).padStart(2, "0")).join("")}`;
    if (!byColour.has(colour)) byColour.set(colour, []);
    byColour.get(colour).push(`M${points.map(written).join("L")}z`);
  }
  return [...byColour].map(([colour, paths]) => {
    return `<path fill="${colour}" stroke="${colour}" stroke-width="${SEAM}" stroke-linejoin="round" d="${paths.join("")}"/>`;
  });
}

function edgePaths({ header, arrays }, { edges, gateShown }, place, view, size) {
  const { edge_ends: ends, edge_gate: gate } = arrays;
  const byGate = new Map();
  for (let edge = 0; edge < gate.length; edge++) {
    const points = [place(ends[4 * edge], ends[4 * edge + 1]), place(ends[4 * edge + 2], ends[4 * edge + 3])];
    if ((gateShown !== null && gate[edge] >= gateShown) || !isSeen(points, size)) continue;
    if (!byGate.has(gate[edge])) byGate.set(gate[edge], []);
    byGate.get(gate[edge]).push(`M${points.map(written).join("L")}`);
  }
  const gates = gateColours(Math.max(1, maximum(gate) + 1));
  const { reach } = header.window;
  const windowArea = ((reach[0] * reach[1]) / (view.reach[0] * view.reach[1])) * size[0] * size[1];
  const width = lineWidth(windowArea / Math.max(1, arrays.region_area.length));
  return [...byGate].sort(([one], [other]) => other - one).map(([one, paths]) => {
    const look = edges === "gates" ? [gates[Math.max(0, one)], Math.max(1.5 * width, 0.7), 0.9] : [DARK, width, 0.5];
    return `<path fill="none" stroke="${look[0]}" stroke-width="${look[1].toFixed(2)}" stroke-opacity="${look[2]}" d="${paths.join("")}"/>`;
  });
}

function boundaryPaths(ends, place, size) {
  const paths = [];
  for (let at = 0; at < ends.length; at += 4) {
    const points = [place(ends[at], ends[at + 1]), place(ends[at + 2], ends[at + 3])];
    if (isSeen(points, size)) paths.push(`M${points.map(written).join("L")}`);
  }
  return [[LIGHT, 4.4], [DARK, 2.3]].map(([colour, width]) => {
    return `<path fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" d="${paths.join("")}"/>`;
  });
}

function element({ name, attributes, text }) {
  const said = Object.entries(attributes).map(([key, value]) => `${key}="${escaped(String(value))}"`).join(" ");
  return `<${name} ${said}>${escaped(text)}</${name}>`;
}

/** Whether the box around points meets the picture. */
function isSeen(points, [width, height]) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return right >= 0 && left <= width && bottom >= 0 && top <= height;
}

function maximum(values) {
  let most = -1;
  for (const value of values) if (value > most) most = value;
  return most;
}

function written([x, y]) {
  return `${Math.round(100 * x) / 100} ${Math.round(100 * y) / 100}`;
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
}
