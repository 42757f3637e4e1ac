// The state as text of a link's fragment, short and readable: `#a=s12,m3,v0&at=0.5,1&zoom=0.001&by=area`.
//
// Anchors: p1_0.5_2 point, i1_0.5_2 place of the solid, s12 sample, m3 mean of class 3, v0 adversary of the first anchor, r5 random of seed 5, s1:s2@0.3 between two.

import { BEGINNING } from "./state.js";

const FIELDS = { sample: "row", mean: "class", adversary: "of", random: "seed" };
const PLACES = { p: "point", i: "inside" };
const LETTERS = { s: "sample", m: "mean", v: "adversary", r: "random" };
const WORDS = {
  by: ["class", "rate", "area", "norm", "depth", "random", "unit", "inradius"],
  edges: ["thin", "none", "gates"],
  tab: ["region", "learn", "samples", "line", "codes", "training"],
};

/** Return an anchor as text. */
export function anchorText({ kind, from, to, share, ...rest }) {
  if (kind === "between") return `${anchorText(from)}:${anchorText(to)}@${Number(share.toFixed(4))}`;
  if (rest.at) return `${kind[0]}${rest.at.join("_")}`;
  return Object.keys(LETTERS).find((letter) => LETTERS[letter] === kind) + rest[FIELDS[kind]];
}

/** Return the anchor that a text stands for, or null. */
export function readAnchor(text) {
  const [, first, second, part] = /^([^:]+):([^:]+)@([\d.]+)$/.exec(text) ?? [];
  if (first) {
    const [from, to, share] = [readAnchor(first), readAnchor(second), Number(part)];
    return from && to && share >= 0 && share <= 1 ? { kind: "between", from, to, share } : null;
  }
  if (/^[pi][-+.\de_]+$/.test(text)) {
    const at = text.slice(1).split("_").map(Number);
    return at.every(Number.isFinite) ? { kind: PLACES[text[0]], at } : null;
  }
  const [, letter, number] = /^([smvr])(\d{1,9})$/.exec(text) ?? [];
  const kind = LETTERS[letter];
  return kind ? { kind, [FIELDS[kind]]: Number(number) } : null;
}

/**
 * Return what differs from the beginning as text of a fragment.
 * @param {typeof BEGINNING} state
 */
export function stateText({ anchors, window, unit, layers, boundary, hidden, selected, line, epoch, solid, space, ...rest }) {
  const parts = {
    a: anchors?.map(anchorText).join(),
    at: window?.center.join(),
    zoom: window?.height,
    unit: unit && `${unit.gate}.${unit.unit}`,
    layers,
    boundary: boundary ? null : 0,
    hidden: hidden.join(".") || null,
    on: selected?.join(),
    line: line?.flat().join(),
    epoch,
    solid: solid?.map(anchorText).join(),
    space,
  };
  for (const key of Object.keys(WORDS)) if (rest[key] !== BEGINNING[key]) parts[key] = rest[key];
  const kept = Object.entries(parts).filter(([, value]) => value !== null && value !== undefined);
  return kept.map(([key, value]) => `${key}=${value}`).join("&");
}

/**
 * Return the entries of the state that a fragment holds; what is malformed is left out.
 * @param {string} text
 */
export function readStateText(text) {
  const parts = new URLSearchParams(text.replace(/^#/, ""));
  const get = (key) => parts.get(key) ?? "";
  const found = {};
  const keep = (key, value) => {
    if (value !== null) found[key] = value;
  };
  const numbers = (key, count) => {
    const read = get(key).split(",").map((part) => (part === "" ? NaN : Number(part)));
    return read.length === count && read.every(Number.isFinite) ? read : null;
  };
  const whole = (key, apart, count, form = /^\d{1,9}$/) => {
    const read = get(key).split(apart);
    return read.every((part) => form.test(part)) && (count === undefined || read.length === count) ? read.map(Number) : null;
  };
  for (const [key, name, size] of [["a", "anchors", 3], ["solid", "solid", 4]]) {
    const anchors = get(key).split(",").map(readAnchor);
    keep(name, anchors.length === size && anchors.every(Boolean) ? anchors : null);
  }
  const [center, [height]] = [numbers("at", 2), numbers("zoom", 1) ?? [0]];
  keep("window", center && height > 0 ? { center, height } : null);
  const unit = whole("unit", ".", 2);
  keep("unit", unit && { gate: unit[0], unit: unit[1] });
  for (const key of ["layers", "epoch"]) keep(key, whole(key, ".", 1)?.[0] ?? null);
  keep("boundary", get("boundary") === "0" ? false : null);
  keep("space", parts.get("space"));
  keep("hidden", whole("hidden", ".", undefined, /^-?\d{1,9}$/));
  keep("selected", numbers("on", 2));
  const line = numbers("line", 4);
  keep("line", line && [line.slice(0, 2), line.slice(2)]);
  for (const [key, known] of Object.entries(WORDS)) keep(key, known.includes(get(key)) ? get(key) : null);
  if (found.by === "unit" && !found.unit) delete found.by;
  return found;
}
