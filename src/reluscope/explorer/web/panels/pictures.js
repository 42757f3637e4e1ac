// Small pictures of inputs and of affine maps, drawn on a canvas of as many pixels.

import { make } from "../elements.js";

const SIGNED = ["#00283f", "#0072b2", "#9cc9e6", "#ffffff", "#f3bf9b", "#d55e00", "#4d1d00"].map(rgb);

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
    const place = (sums[at] / most + 1) * 0.5 * (SIGNED.length - 1);
    const [low, part] = [Math.min(SIGNED.length - 2, Math.floor(place)), place - Math.min(SIGNED.length - 2, Math.floor(place))];
    for (let one = 0; one < 3; one++) out[one] = SIGNED[low][one] + part * (SIGNED[low + 1][one] - SIGNED[low][one]);
  });
}

/** Return channels, height and width of inputs that are pictures; null for others. */
export function pictureShape(shape) {
  if (shape.length === 3 && shape[1] > 2 && shape[2] > 2) return shape;
  return shape.length === 2 && shape[0] > 2 && shape[1] > 2 ? [1, ...shape] : null;
}

function pixels(width, height, label, fill) {
  const canvas = make("canvas", { class: "picture", width, height, role: "img", "aria-label": label });
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

function rgb(hex) {
  return [1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16));
}
