// The affine map of a region: an image of weights, or signed bars for few inputs.

import { make } from "../elements.js";
import { className, number } from "../words.js";
import { barTable } from "./charts.js";
import { pictureShape, weightPicture } from "./pictures.js";

const FEW = 24;

/** Return the view of the winner's weights, the second's, and what tells them apart; null without weights. */
export function mapView(hello, header, arrays) {
  if (!arrays?.weight_winner) return null;
  const [first, second] = header.outputs_at_point.map((output) => (hello.is_classifier ? className(hello, output.index) : output.name));
  const shape = pictureShape(hello.model.input_shape);
  const shown = [["weight_winner", first], ...(second ? [["weight_second", second], ["weight_margin", "difference"]] : [])];
  return make("section",
    make("h3", "The function here"),
    make("p.soft", shape !== null
      ? "Each output is a sum of pixels times these weights (blue below zero, orange above) plus a number."
      : formulaOf(arrays.weight_winner, header.bias_winner, first)),
    shape !== null
      ? make("div.weights", shown.map(([key, label]) => make("figure", weightPicture(arrays[key], shape, `weights of ${label}`), make("figcaption", label))))
      : largestOf(arrays.weight_winner));
}

function formulaOf(weights, bias, label) {
  if (weights.length > 4) return `Weights of ${label}, the largest first`;
  const terms = [...weights].map((weight, input) => `${weight < 0 ? "−" : input ? "+" : ""} ${number(Math.abs(weight))}·x${"₀₁₂₃"[input]}`);
  return `${label} = ${terms.join(" ").trim()} ${bias < 0 ? "−" : "+"} ${number(Math.abs(bias))}`;
}

function largestOf(weights) {
  const order = [...weights.keys()].sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a])).slice(0, FEW);
  return barTable("", order.map((input) => `input ${input}`), order.map((input) => weights[input]));
}
