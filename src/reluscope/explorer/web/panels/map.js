// The affine map of a region: an image of weights, or signed bars for few inputs.

import { make, refill } from "../elements.js";
import { className, column, number } from "../words.js";
import { pictureShape, weightPicture } from "./pictures.js";

const FEW = 24;

/** Return the view of the winner's weights, the second's, and what tells them apart; null without weights. */
export function mapView(hello, header, arrays) {
  if (!arrays?.weight_winner) return null;
  const [first, second] = header.outputs_at_point ?? [];
  const name = (output) => (hello.is_classifier ? className(hello, output.index) : (output?.name ?? "output"));
  const shape = pictureShape(hello.model.input_shape);
  const shown = [["weight_winner", first ? name(first) : "output"]];
  if (second && arrays.weight_second) {
    shown.push(["weight_second", name(second)], ["weight_margin", "difference"]);
  }
  const bias = header.bias_winner;
  const view = shape !== null
    ? make("div", { class: "weights" }, shown.filter(([key]) => arrays[key]).map(([key, label]) =>
      make("figure", {}, weightPicture(arrays[key], shape, `weights of ${label}`), make("figcaption", {}, label))))
    : barsOf(arrays.weight_winner, shown[0][1]);
  return make("section", { class: "map" },
    make("h3", {}, "The function here"),
    make("p", { class: "soft" }, shape !== null
      ? "Each output is a sum of pixels times these weights (blue below zero, orange above) plus a number."
      : formulaOf(arrays.weight_winner, bias, shown[0][1])),
    view);
}

function formulaOf(weights, bias, label) {
  if (weights.length > 4) return `Weights of ${label}, the largest first`;
  const terms = [...weights].map((weight, input) => `${weight < 0 ? "−" : input ? "+" : ""} ${number(Math.abs(weight))}·x${"₀₁₂₃"[input]}`);
  const end = bias === undefined ? "" : ` ${bias < 0 ? "−" : "+"} ${number(Math.abs(bias))}`;
  return `${label} = ${terms.join(" ").trim()}${end}`;
}

function barsOf(weights, label) {
  const order = [...weights.keys()].sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a])).slice(0, FEW);
  const most = Math.abs(weights[order[0]] ?? 1) || 1;
  const written = column(order.map((input) => weights[input]));
  return refill(make("table", { class: "outputs" }),
    make("caption", {}, weights.length > FEW ? `the ${FEW} largest weights of ${label}` : ""),
    order.map((input, at) => {
      const bar = make("span", { class: weights[input] < 0 ? "bar below" : "bar" });
      const share = (50 * Math.abs(weights[input])) / most;
      bar.style.marginLeft = `${weights[input] < 0 ? 50 - share : 50}%`;
      bar.style.width = `${share}%`;
      return make("tr", {}, make("th", { scope: "row" }, `input ${input}`), make("td", { class: "bars" }, bar),
        make("td", { class: "figure" }, written[at]));
    }));
}
