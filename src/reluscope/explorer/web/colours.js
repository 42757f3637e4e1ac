// Which colour every piece of a plane has, and what the legend says of it: as `reluscope.plots.partition` draws them.
import { CIVIDIS, channels, gateColours, tint } from "./ramps.js";
import { kindsOf, scaleOf } from "./quantities.js";

const OF_CLASSES = 0.62;
const OF_KINDS = 0.6;

/**
 * Colour the pieces of a plane.
 * @param {{header: object, arrays: Object<string, ArrayLike<number>>}} plane
 * @param {object} choice
 * @param {"class" | "rate" | "area" | "norm" | "depth" | "random" | "unit" | "prefix" | "inradius"} choice.by
 * @param {ArrayLike<number>} [choice.values] one per region, for "norm", "unit", "prefix", "inradius"
 * @param {{categories: string[], neutral: string}} choice.palettes
 * @param {Set<number>} [choice.hidden] kinds that are not filled
 * @param {string[]} [choice.classNames]
 * @param {string[]} [choice.gateNames]
 * @param {number} [choice.numClasses] of the network; more than there are colours leave a grey for smaller ones
 * @param {Map<number, string>} [choice.memory] colours of classes given before, which they keep; grows
 * @returns {{piece: Uint8Array, legend: object[], scale: object | null}} four bytes per piece; entries of the legend have
 *   kind, label, colour, hidden, share of the area; a scale has low, high, logarithmic, label, ramp, extends
 */
export function colourPieces(plane, choice) {
  const { arrays } = plane;
  const { by, palettes, hidden = new Set() } = choice;
  if (by === "class") return classColours(arrays, choice, palettes, hidden);
  const found = quantityOf(arrays, choice, palettes);
  return found.kinds ? kindColours(arrays, found, hidden) : scaleColours(arrays, found, palettes);
}

function classColours(arrays, { classNames, numClasses, memory = new Map() }, palettes, hidden) {
  const areas = areasOf(arrays.piece_class, pieceAreas(arrays));
  const present = [...areas.keys()].sort((one, other) => areas.get(other) - areas.get(one) || one - other);
  const most = Math.max(numClasses ?? 0, ...present.map((one) => one + 1));
  for (const one of present) {
    const number = most <= palettes.categories.length ? one : memory.size;
    if (one >= 0 && !memory.has(one) && number < palettes.categories.length) {
      memory.set(one, tint(palettes.categories[number], OF_CLASSES));
    }
  }
  const name = (one) => (one < 0 ? "no class" : (classNames?.[one] ?? `class ${one}`));
  const colourOf = (one) => memory.get(one) ?? palettes.neutral;
  const legend = entries(present, areas, name, colourOf, hidden);
  return { piece: paint(arrays.piece_class, null, colourOf, hidden), legend, scale: null };
}

function quantityOf(arrays, { by, values, gateNames }, palettes) {
  if (by === "rate") return { values: arrays.region_rate, label: "share of active units" };
  if (by === "area") return { values: arrays.region_area, label: "area", logarithmic: true };
  if (by === "norm") return { values, label: "norm of the map", logarithmic: true };
  if (by === "inradius") return { values, label: "inradius", logarithmic: true };
  if (by === "depth") {
    const number = gateNames?.length ?? Math.max(0, ...arrays.region_depth) + 1;
    const shades = gateColours(number).map((colour) => tint(colour, OF_CLASSES));
    const name = (kind) => (kind < 0 ? "no bend in view" : (gateNames?.[kind] ?? `gate ${kind}`));
    return { kinds: arrays.region_depth, name, colourOf: (kind) => shades[kind] ?? palettes.neutral, ordered: true };
  }
  const category = (kind) => tint(palettes.categories[kind % palettes.categories.length], OF_KINDS);
  if (by === "random") return { kinds: arrays.region_random, colourOf: category };
  if (by === "prefix") return { kinds: kindsOf(values, arrays), colourOf: category };
  const pieces = ["off", "on"];
  const isSign = values.every((value) => value === 0 || value === 1);
  return { kinds: values, name: (kind) => (isSign ? pieces[kind] : `piece ${kind}`), colourOf: category, ordered: true };
}

function kindColours(arrays, { kinds, name, colourOf, ordered }, hidden) {
  const piece = paint(kinds, arrays.piece_region, colourOf, hidden);
  if (!name) return { piece, legend: [], scale: null };
  const areas = areasOf(kinds, arrays.region_area);
  const present = [...areas.keys()].sort((one, other) => (ordered ? one - other : areas.get(other) - areas.get(one)));
  return { piece, legend: entries(present, areas, name, colourOf, hidden), scale: null };
}

function scaleColours(arrays, { values, label, logarithmic = false }, palettes) {
  const scale = scaleOf(values, logarithmic, CIVIDIS.length);
  const piece = paint(scale.levels, arrays.piece_region, (level) => CIVIDIS[level] ?? palettes.neutral, new Set());
  const legend = [];
  if (scale.levels.includes(-1)) legend.push({ kind: -1, label: "no value", colour: palettes.neutral, hidden: false });
  const { low, high, extends: extended, only } = scale;
  return { piece, legend, scale: { low, high, logarithmic: scale.logarithmic, label, ramp: CIVIDIS, extends: extended, only } };
}

function entries(present, areas, name, colourOf, hidden) {
  const whole = [...areas.values()].reduce((sum, area) => sum + area, 0) || 1;
  return present.map((kind) => {
    return { kind, label: name(kind), colour: colourOf(kind), hidden: hidden.has(kind), share: areas.get(kind) / whole };
  });
}

/** Return four bytes per piece; what is hidden is transparent. Kinds are whole numbers from -1. */
function paint(kinds, pieceRegion, colourOf, hidden) {
  const number = pieceRegion ? pieceRegion.length : kinds.length;
  const words = new Uint32Array(number);
  const known = new Map();
  let [last, word] = [NaN, 0];
  for (let piece = 0; piece < number; piece++) {
    const kind = kinds[pieceRegion ? pieceRegion[piece] : piece];
    if (kind !== last) {
      if (!known.has(kind)) known.set(kind, hidden.has(kind) ? 0 : wordOf(colourOf(kind)));
      [last, word] = [kind, known.get(kind)];
    }
    words[piece] = word;
  }
  return new Uint8Array(words.buffer);
}

/** Return the bytes of a colour in the order of memory: little-endian, as everywhere that browsers run. */
function wordOf(colour) {
  const [red, green, blue] = channels(colour);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function areasOf(kinds, areas) {
  const sums = new Map();
  for (let index = 0; index < kinds.length; index++) sums.set(kinds[index], (sums.get(kinds[index]) ?? 0) + areas[index]);
  return sums;
}

/** Return the area of every piece, in units of the window. */
export function pieceAreas({ corners, piece_offsets: offsets }) {
  const areas = new Float64Array(Math.max(0, offsets.length - 1));
  for (let piece = 0; piece < areas.length; piece++) {
    const start = offsets[piece];
    for (let corner = start + 2; corner < offsets[piece + 1]; corner++) {
      const [bx, by] = [corners[2 * corner - 2] - corners[2 * start], corners[2 * corner - 1] - corners[2 * start + 1]];
      const [cx, cy] = [corners[2 * corner] - corners[2 * start], corners[2 * corner + 1] - corners[2 * start + 1]];
      areas[piece] += (bx * cy - by * cx) / 2;
    }
  }
  return areas;
}
