// Small pictures of inputs and of affine maps, drawn on a canvas of as many pixels.

import { make } from "../elements.js";
import { channels as bytesOf } from "../ramps.js";

// From blue over white to vermilion, darker towards both ends: as reluscope.plots.style has it.
const RAMP = ["#00283f", "#0072B2", "#9cc9e6", "#ffffff", "#f3bf9b", "#D55E00", "#4d1d00"].map(bytesOf);

/** Return the picture of an input: uint8 of shape (height, width, channels). */
export function thumbnail(values, [height, width, channels], label) {
  return pixels(width, height, label, (at, out) => {
    const from = at * channels;
    for (let one = 0; one < 3; one++) out[one] = values[from + (channels >= 3 ? one : 0)];
  });
}

/**
 * Return the picture of weights: blue below zero, vermilion above, white at zero.
 * @param {ArrayLike<number>} weights
 * @param {number[]} shape channels, height, width
 */
export function weightPicture(weights, [channels, height, width], label) {
  const plane = height * width;
  const sums = new Float64Array(plane);
  for (let at = 0; at < channels * plane; at++) sums[at % plane] += weights[at] / channels;
  const most = sums.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
  return pixels(width, height, label, (at, out) => {
    const place = (sums[at] / most + 1) * 0.5 * (RAMP.length - 1);
    const low = Math.min(RAMP.length - 2, Math.floor(place));
    for (let one = 0; one < 3; one++) out[one] = RAMP[low][one] + (place - low) * (RAMP[low + 1][one] - RAMP[low][one]);
  });
}

/** Return channels, height and width of inputs that are pictures; null for others. */
export function pictureShape(shape) {
  if (shape.length === 3 && shape[1] > 2 && shape[2] > 2) return shape;
  return shape.length === 2 && shape[0] > 2 && shape[1] > 2 ? [1, ...shape] : null;
}

function pixels(width, height, label, fill) {
  const canvas = make("canvas.picture", { width, height, role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const out = [0, 0, 0];
  for (let at = 0; at < width * height; at++) {
    fill(at, out);
    image.data.set([out[0], out[1], out[2], 255], 4 * at);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
