// Samples to choose from: thumbnails of images, rows of a table for vectors; by class, by search, or made.

import { make, refill, write } from "../elements.js";
import { className, count, number } from "../words.js";
import { thumbnail } from "./pictures.js";

const AT_ONCE = 60;
const SEARCHES = [
  ["", "in order"],
  ["misclassified", "misclassified"],
  ["nearest_to_boundary", "nearest to the decision boundary"],
  ["farthest_codes", "farthest in activation codes"],
];

/** Return the panel of samples, and what others ask of it. */
export function samplesPanel({ hello, store, asker, put, show: open, can }) {
  const listeners = new Set();
  const pictures = new Map();
  let target = 0;
  let offset = 0;
  const data = hello.data;

  const classes = make("select", { "aria-label": "class of the samples", onchange: again },
    make("option", { value: "" }, "all classes"),
    Array.from({ length: data?.num_classes ?? 0 }, (_, one) => make("option", { value: one }, className(hello, one))));
  const search = make("select", { "aria-label": "order of the samples", onchange: again },
    SEARCHES.filter(([key]) => key !== "misclassified" || data?.has_labels).map(([key, label]) => make("option", { value: key }, label)));
  const list = make("div", { class: "samples" });
  const status = make("p", { class: "soft", role: "status" });
  const previous = make("button", { class: "quiet", onclick: () => turnPage(-1) }, "‹ before");
  const next = make("button", { class: "quiet", onclick: () => turnPage(1) }, "more ›");
  const heading = make("p", { class: "target" });
  const targets = ["A", "B", "C"].map((letter, place) =>
    make("button", { class: "quiet", "aria-pressed": "false", onclick: () => choose(place) }, letter));
  const mean = make("select", { "aria-label": "mean of a class", onchange: () => {
    if (mean.value !== "") use({ kind: "mean", class: Number(mean.value) });
    mean.value = "";
  } }, make("option", { value: "" }, "mean of …"),
    Array.from({ length: data?.num_classes ?? 0 }, (_, one) => make("option", { value: one }, className(hello, one))));
  const made = make("div", { class: "made" },
    data && hello.is_classifier && mean,
    make("button", { class: "adversary", onclick: () => use({ kind: "adversary", of: target === 0 ? 1 : 0 }) }),
    make("button", { onclick: () => use({ kind: "random", seed: Math.floor(Math.random() * 10_000) }) }, "random"));
  const element = make("div", { class: "panel samples-panel" }, heading, made,
    data && make("div", { class: "filters" }, data.num_classes > 0 && classes, search), status, list, make("p", { class: "pages" }, previous, next));

  async function load() {
    if (data === null || !can("samples")) {
      refill(list);
      write(status, hello.still ? "A snapshot holds no samples to choose from." : "The explorer was opened without data: take random points.");
      previous.hidden = next.hidden = true;
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
    offset = 0;
    void load();
  }
  function turnPage(step) {
    offset = Math.max(0, offset + step * AT_ONCE);
    void load();
  }
  function fill({ header, arrays }) {
    const { rows, labels, predicted } = arrays;
    const last = Math.min(header.total, offset + rows.length);
    write(status, header.total === 0 ? "None." : `${count(offset + 1)} to ${count(last)} of ${count(header.total)}`);
    previous.hidden = offset === 0;
    next.hidden = last >= header.total;
    list.classList.toggle("table", !arrays.thumbnails);
    refill(list, Array.from(rows, (row, at) => {
      const wrong = labels[at] >= 0 && labels[at] !== predicted[at];
      const said = hello.is_classifier ? className(hello, predicted[at]) : "";
      const truth = wrong ? `, labelled ${className(hello, labels[at])}` : "";
      return make("button", {
        class: wrong ? "sample wrong" : "sample", draggable: "true",
        title: `Sample ${row}: ${said}${truth}`, "aria-label": `sample ${row}, ${said}${truth}`,
        onclick: () => use({ kind: "sample", row }),
        ondragstart: (event) => event.dataTransfer.setData("text/plain", `sample ${row}`),
      }, picture(arrays, at), arrays.thumbnails ? null : [
        make("b", {}, row), valuesOf(arrays, at, rows.length), make("span", { class: "soft" }, said, truth)]);
    }));
  }
  function picture(arrays, at) {
    if (!arrays.thumbnails) return null;
    const size = data.thumbnail.reduce((product, one) => product * one, 1);
    return thumbnail(arrays.thumbnails.subarray(at * size, (at + 1) * size), data.thumbnail, "");
  }
  function valuesOf(arrays, at, rows) {
    const width = arrays.values.length / rows;
    const values = [...arrays.values.subarray(at * width, (at + 1) * width)];
    return make("span", { class: "values" }, values.map((one) => make("span", {}, number(one, 3))));
  }

  function choose(place) {
    target = place;
    open();
    tell();
    list.querySelector("button")?.focus({ preventScroll: true });
  }
  function use(anchor) {
    const to = target === "towards" ? 2 : target;
    if (target === "towards") {
      const third = (store.get().anchors ?? hello.home.anchors)[2];
      const from = third.kind === "between" ? third.from : third;
      put(to, { kind: "between", from, to: anchor, share: third.kind === "between" ? third.share : 0.5 });
    } else put(to, anchor);
  }
  function tell() {
    const towards = target === "towards";
    refill(heading, towards ? "Turn C towards a sample: " : "Choose a sample for ", targets);
    targets.forEach((button, place) => button.setAttribute("aria-pressed", String(place === target)));
    write(made.querySelector(".adversary"), `adversary of ${target === 0 ? "B" : "A"}`);
    made.hidden = towards;
    for (const listener of listeners) listener();
  }
  tell();

  return {
    element,
    load,
    choose,
    target: () => target,
    ontarget: (listener) => listeners.add(listener),
    /** A sample that is none of the anchors. */
    another(anchors) {
      const used = new Set(anchors.map((anchor) => anchor.row));
      for (let row = 0; row < (data?.num_samples ?? 0); row++) if (!used.has(row)) return { kind: "sample", row };
      return null;
    },
    /** The pixels of a sample, or null. */
    async pictureOf(row) {
      if (row === null || !data?.is_image) return null;
      if (!pictures.has(row)) {
        const asked = asker.ask({ ask: "samples", of: "all", offset: row, count: 1 });
        pictures.set(row, asked.then(({ arrays }) => arrays.thumbnails ?? null, () => null));
      }
      return pictures.get(row);
    },
  };
}
