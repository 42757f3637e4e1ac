// Which colour polygons in space have: that of the plane, as far as space knows it.
import { channels, CIVIDIS, tint } from "../ramps.js";
import { className } from "../words.js";

const OF_CLASSES = 0.62;
const SIDES = ["#0072B2", "#D55E00"]; // where an output is below its level, and above

/** Return what colours mean in space: "class" and "random" as on the plane, else the share of units that are on, lowest to highest. */
export function kindOf(by, hello) {
  if (by === "class" && hello.is_classifier) return "class";
  return by === "random" ? "random" : "rate";
}

/** Return the colour of a class: on the plane the same. */
export function colourOfClass(one, { palettes: { categories, neutral } }, memory) {
  if (one < 0) return neutral;
  return memory.get(one) ?? (one < categories.length ? tint(categories[one], OF_CLASSES) : neutral);
}

/**
 * Return four bytes for every piece.
 * @param {string} kind
 * @param {{classes?: ArrayLike<number>, regions: ArrayLike<number>, rate?: ArrayLike<number>, random?: ArrayLike<number>,
 *   range?: number[]}} of rates from the lowest to the highest in sight
 */
export function shadesOf(kind, { classes, regions, rate, random, range = [0, 1] }, hello, memory) {
  const { categories, neutral } = hello.palettes;
  const [low, high] = range;
  const levelOf = (value) => Math.round(((value - low) / (high - low || 1)) * (CIVIDIS.length - 1));
  // What a piece is, as a number, and the colour of that.
  const [numberOf, colourOf] = {
    class: [(piece) => classes[piece], (one) => colourOfClass(one, hello, memory)],
    random: [(piece) => random[regions[piece]], (one) => tint(categories[one % categories.length], OF_CLASSES)],
    rate: [(piece) => levelOf(rate[regions[piece]]), (level) => CIVIDIS[level] ?? neutral],
  }[kind];
  return bytesOf(regions.length, numberOf, colourOf);
}

/** Return the colours of both sides of the pieces of a surface: from behind, and from before. */
export function sidesOf(number, classes, hello, memory) {
  return [0, 1].map((side) => classes
    ? bytesOf(number, (piece) => classes[2 * piece + side], (one) => colourOfClass(one, hello, memory))
    : bytesOf(number, () => side, () => tint(SIDES[side], OF_CLASSES)));
}

/** Return the colours of classes as numbers from 0 to 1, four for each of at most seventeen. */
export function paletteOf(numClasses, hello, memory) {
  const palette = new Float32Array(4 * 17);
  for (let one = 0; one < Math.min(17, numClasses); one++) {
    palette.set([...channels(colourOfClass(one, hello, memory)).map((part) => part / 255), 1], 4 * one);
  }
  return palette;
}

/** Return what the two sides of a piece of a surface are. */
export function sideNames(classes, piece, hello) {
  return [0, 1].map((side) => className(hello, classes[2 * piece + side]));
}

function bytesOf(number, numberOf, colourOf) {
  const bytes = new Uint8Array(4 * number);
  const known = new Map();
  for (let piece = 0; piece < number; piece++) {
    const one = numberOf(piece);
    if (!known.has(one)) known.set(one, [...channels(colourOf(one)), 255]);
    bytes.set(known.get(one), 4 * piece);
  }
  return bytes;
}
