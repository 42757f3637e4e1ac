// Samples to choose from: thumbnails of images, rows of a table for vectors; by class, by search, or made.

import { make, quiet, refill, write } from "../elements.js";
import { className, count, number } from "../words.js";
import { thumbnail } from "./pictures.js";

const AT_ONCE = 60;
const SEARCHES = {
  "": "in order",
  misclassified: "misclassified",
  nearest_to_boundary: "nearest to the decision boundary",
  farthest_codes: "farthest in activation codes",
};

/** Return the panel of samples, and what others ask of it. */
export function samplesPanel({ hello, asker, anchors, put, show }) {
  const { data } = hello;
  let target = 0;
  let offset = 0;

  const choice = (label, options, onchange) =>
    make("select", { "aria-label": label, onchange }, options.map(([value, text]) => make("option", { value }, text)));
  const allClasses = Array.from({ length: data?.num_classes ?? 0 }, (_, one) => [one, className(hello, one)]);
  const classes = choice("class", [["", "all classes"], ...allClasses], again);
  const search = choice("order", Object.entries(SEARCHES).filter(([key]) => key !== "misclassified" || data?.has_labels), again);
  const mean = choice("mean of a class", [["", "mean …"], ...allClasses], () => {
    if (mean.value !== "") use({ kind: "mean", class: Number(mean.value) });
    mean.value = "";
  });
  const adversary = make("button", { onclick: () => use({ kind: "adversary", of: target === 0 ? 1 : 0 }) });
  const made = make("div.made", allClasses.length > 0 && mean, hello.is_classifier && adversary,
    make("button", { onclick: () => use({ kind: "random", seed: Math.floor(Math.random() * 10_000) }) }, "random"));
  const heading = make("p.target");
  const targets = [..."ABCD"].map((letter, place) => quiet(letter, () => choose(place)));
  const list = make("div.samples");
  const status = make("p.soft", { role: "status" });
  const previous = quiet("‹ before", () => load(offset - AT_ONCE));
  const next = quiet("more ›", () => load(offset + AT_ONCE));
  const element = make("div.panel.samples-panel", heading, made,
    data && make("div.filters", allClasses.length > 0 && classes, search), status, list, make("p", previous, next));

  async function load(from = 0) {
    offset = Math.max(0, from);
    previous.hidden = next.hidden = true;
    if (data === null) {
      write(status, "There are no data: take random points.");
      return;
    }
    const question = { ask: "samples", of: classes.value === "" ? "all" : "class", offset, count: AT_ONCE };
    if (classes.value !== "") question.class = Number(classes.value);
    if (search.value !== "") question.search = search.value;
    write(status, "Looking …");
    try {
      const answer = await asker.latest("samples", question);
      if (answer !== null) fill(answer);
    } catch (error) {
      refill(list);
      write(status, error.message);
    }
  }
  function again() {
    void load();
  }
  function fill({ header: { total }, arrays }) {
    const { rows, labels, predicted, thumbnails, values } = arrays;
    const last = Math.min(total, offset + rows.length);
    write(status, total === 0 ? "None." : `${count(offset + 1)} to ${count(last)} of ${count(total)}`);
    previous.hidden = offset === 0;
    next.hidden = last >= total;
    list.classList.toggle("table", !thumbnails);
    const width = (thumbnails ?? values).length / rows.length;
    refill(list, Array.from(rows, (row, at) => {
      const wrong = labels[at] >= 0 && labels[at] !== predicted[at];
      const said = (hello.is_classifier ? className(hello, predicted[at]) : "") + (wrong ? `, labelled ${className(hello, labels[at])}` : "");
      return make(wrong ? "button.sample.wrong" : "button.sample", {
        draggable: "true", title: `sample ${row}: ${said}`, "aria-label": `sample ${row}: ${said}`,
        onclick: () => use({ kind: "sample", row }),
        ondragstart: (event) => event.dataTransfer.setData("text/plain", `sample ${row}`),
      }, thumbnails
        ? thumbnail(thumbnails.subarray(at * width, (at + 1) * width), data.thumbnail, "")
        : [make("b", row), make("span.values", [...values.subarray(at * width, (at + 1) * width)].map((one) => make("span", number(one)))), said]);
    }));
  }

  function choose(place) {
    target = place;
    show();
    tell();
    list.querySelector("button")?.focus({ preventScroll: true });
  }
  function use(anchor) {
    if (target !== "towards") {
      put(target, anchor);
      return;
    }
    const third = anchors()[2];
    put(2, { kind: "between", from: third.from ?? third, to: anchor, share: third.share ?? 0.5 });
  }
  function tell() {
    made.hidden = target === "towards";
    refill(heading, made.hidden ? "Turn C towards a sample: " : "Choose a sample for ", targets.slice(0, anchors().length));
    targets.forEach((button, place) => button.setAttribute("aria-pressed", place === target));
    write(adversary, `adversary of ${target === 0 ? "B" : "A"}`);
  }
  tell();

  return { element, load, choose, tell };
}
