// The state as text of a link's fragment, short and readable: `#a=s12,m3,v0&at=0.5,1&zoom=0.001&by=area`.
//
// Anchors: s12 sample, m3 mean of class 3, v0 adversary of the first anchor, r5 random of seed 5, s1:s2@0.3 between two.

import { BEGINNING } from "./state.js";

const LETTERS = { s: ["sample", "row"], m: ["mean", "class"], v: ["adversary", "of"], r: ["random", "seed"] };
const KIND_TO_LETTER = Object.fromEntries(Object.entries(LETTERS).map(([letter, [kind, field]]) => [kind, [letter, field]]));

/** Return an anchor as text. */
export function anchorText(anchor) {
  if (anchor.kind === "between") {
    return `${anchorText(anchor.from)}:${anchorText(anchor.to)}@${Number(anchor.share.toFixed(4))}`;
  }
  const [letter, field] = KIND_TO_LETTER[anchor.kind];
  return `${letter}${anchor[field]}`;
}

/** Return the anchor that a text stands for, or null. */
export function readAnchor(text) {
  const between = /^([^:]+):([^:]+)@([\d.]+)$/.exec(text);
  if (between !== null) {
    const [from, to, share] = [readAnchor(between[1]), readAnchor(between[2]), Number(between[3])];
    return from && to && share >= 0 && share <= 1 ? { kind: "between", from, to, share } : null;
  }
  const single = /^([smvr])(\d{1,9})$/.exec(text);
  if (single === null) return null;
  const [kind, field] = LETTERS[single[1]];
  return { kind, [field]: Number(single[2]) };
}

/**
 * Return what differs from the beginning as text of a fragment.
 * @param {typeof BEGINNING} state
 */
export function stateText(state) {
  const parts = new URLSearchParams();
  if (state.anchors) parts.set("a", state.anchors.map(anchorText).join());
  if (state.window) {
    parts.set("at", state.window.center.join());
    parts.set("zoom", String(state.window.height));
  }
  if (state.unit) parts.set("unit", `${state.unit.gate}.${state.unit.unit}`);
  if (state.layers !== null) parts.set("layers", String(state.layers));
  if (!state.boundary) parts.set("boundary", "0");
  if (state.hidden.length) parts.set("hidden", state.hidden.join("."));
  if (state.selected) parts.set("on", state.selected.join());
  if (state.line) parts.set("line", state.line.flat().join());
  if (state.epoch !== null) parts.set("epoch", String(state.epoch));
  for (const key of ["by", "edges", "tab"]) if (state[key] !== BEGINNING[key]) parts.set(key, state[key]);
  return parts.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%40", "@");
}

const COLOURS = ["class", "rate", "area", "norm", "depth", "random", "unit", "inradius"];
const EDGES = ["thin", "none", "gates"];
const TABS = ["region", "samples", "line", "codes", "training"];

/**
 * Return the entries of the state that a fragment holds; what is malformed is left out.
 * @param {string} text
 */
export function readStateText(text) {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  const found = {};
  const numbers = (key, count) => {
    const read = (parts.get(key) ?? "").split(",").map((part) => (part === "" ? NaN : Number(part)));
    return read.length === count && read.every(Number.isFinite) ? read : null;
  };
  const whole = (key) => (/^\d{1,9}$/.test(parts.get(key) ?? "") ? Number(parts.get(key)) : null);
  const anchors = (parts.get("a") ?? "").split(",").map(readAnchor);
  if (anchors.length === 3 && anchors.every(Boolean)) found.anchors = anchors;
  const [center, height] = [numbers("at", 2), numbers("zoom", 1)?.[0]];
  if (center && height > 0) found.window = { center, height };
  const unit = /^(\d{1,6})\.(\d{1,9})$/.exec(parts.get("unit") ?? "");
  if (unit) found.unit = { gate: Number(unit[1]), unit: Number(unit[2]) };
  if (whole("layers") !== null) found.layers = whole("layers");
  if (whole("epoch") !== null) found.epoch = whole("epoch");
  if (parts.get("boundary") === "0") found.boundary = false;
  if (/^\d+(\.\d+)*$/.test(parts.get("hidden") ?? "")) found.hidden = parts.get("hidden").split(".").map(Number);
  const [selected, line] = [numbers("on", 2), numbers("line", 4)];
  if (selected) found.selected = selected;
  if (line) found.line = [line.slice(0, 2), line.slice(2)];
  for (const [key, known] of [["by", COLOURS], ["edges", EDGES], ["tab", TABS]]) {
    if (known.includes(parts.get(key))) found[key] = parts.get(key);
  }
  if (found.by === "unit" && !found.unit) delete found.by;
  return found;
}
