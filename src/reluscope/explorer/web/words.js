// Numbers and names as a reader sees them.

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Return a whole number with its thousands apart. */
export const count = (value) => GROUPED.format(value);

/** Return a number of three or four digits that matter. */
export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    return `${minus(mantissa)}·10${raised(Number(exponent))}`;
  }
  return minus(String(Number(value.toPrecision(size >= 1000 ? Math.ceil(Math.log10(size)) : digits))));
}

/** Return numbers with as many decimals each as the largest needs for three digits. */
export function column(values) {
  const most = Math.max(0, ...values.map(Math.abs));
  if (most === 0 || most >= 1e5 || most < 1e-3) return values.map((value) => number(value));
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(most)));
  return values.map((value) => minus(value.toFixed(decimals)));
}

/** Return a share of one as a percentage. */
export const percent = (share) => `${Math.round(100 * share)} %`;

/** Return a number and the noun that goes with it. */
export const several = (value, noun, plural = `${noun}s`) => `${count(value)} ${value === 1 ? noun : plural}`;

/** Return how often a picture is enlarged. */
export const zoomText = (factor) => `${factor < 9.95 || factor >= 1e6 ? number(factor, 2) : count(factor)}×`;

/** Return the colour of a class or an output; of none it is neutral. */
export function categoryOf({ palettes: { categories, neutral } }, one) {
  return categories[one % categories.length] ?? neutral;
}

/** Return what a class is called. */
export function className(hello, one) {
  if (one === null || one === undefined || one < 0) return "no class";
  const name = hello.class_names?.[one];
  return name === undefined || name === null || name === String(one) ? `class ${one}` : String(name);
}

/** Return what to call a gate: one that its place in a list names alone has its kind beside it. */
export function gateName({ name, kind }) {
  return /^[\d.]+$/.test(name) ? `${kind} ${name}` : name;
}

/** Return a name of bearable length, its middle left out. */
export function shortened(name, most = 28) {
  if (name.length <= most) return name;
  const before = Math.floor((most - 1) / 2);
  return `${name.slice(0, before)}…${name.slice(name.length - (most - 1 - before))}`;
}

/** Return how a reader names an anchor. */
export function anchorName(anchor, hello) {
  switch (anchor.kind) {
    case "sample":
      return `sample ${anchor.row}`;
    case "mean":
      return `mean of ${className(hello, anchor.class)}`;
    case "adversary":
      return `adversary of ${"ABCD"[anchor.of]}`;
    case "random":
      return `random ${anchor.seed}`;
    case "point":
    case "inside":
      return `(${anchor.at.map((one) => number(one, 2)).join(", ")})`;
    default:
      return `${anchorName(anchor.from, hello)} → ${anchorName(anchor.to, hello).replace("sample ", "")}, ${percent(anchor.share)}`;
  }
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function raised(exponent) {
  return `${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[digit]).join("")}`;
}

const minus = (text) => text.replace("-", "−");
