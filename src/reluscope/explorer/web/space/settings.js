// How space is looked at, as one short text of the explorer's state: `-0.9_0.5_1_cells_0_1_0_0`.

/** What is seen at first. */
export const FIRST = Object.freeze({
  azimuth: -0.9, // of the camera, in radians
  elevation: 0.5,
  zoom: 1,
  show: "cells", // or "decision", "level"
  explode: 0, // how far regions are moved apart, from 0 to 1
  cut: 1, // whether what lies before the plane is cut away
  output: 0, // whose level is shown
  level: 0,
});

const KEYS = Object.keys(FIRST);
export const SHOWS = ["cells", "decision", "level"];
const LIMITS = { elevation: [-1.6, 1.6], zoom: [0.01, 1000], explode: [0, 1], cut: [0, 1], output: [0, 1e6], level: [-1e12, 1e12], azimuth: [-7, 7] };

/** Return settings as text; null for those of the beginning. */
export function settingsText(settings) {
  const text = KEYS.map((key) => (key === "show" ? settings.show : Number(settings[key].toPrecision(6)))).join("_");
  return text === KEYS.map((key) => FIRST[key]).join("_") ? null : text;
}

/** Return the settings that a text stands for, whatever it is: what makes no sense is as in the beginning. */
export function readSettings(text) {
  const parts = typeof text === "string" ? text.split("_") : [];
  if (parts.length !== KEYS.length) return { ...FIRST };
  const read = (key, part) => {
    if (key === "show") return SHOWS.includes(part) ? part : FIRST.show;
    const value = part === "" ? NaN : Number(part);
    const [low, high] = LIMITS[key];
    const isFit = value >= low && value <= high && (key !== "output" || Number.isInteger(value));
    return isFit ? value : FIRST[key];
  };
  return Object.fromEntries(KEYS.map((key, at) => [key, read(key, parts[at])]));
}
