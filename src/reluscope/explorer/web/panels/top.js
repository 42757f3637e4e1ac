// The first line: what one sees, in one sentence for someone who never heard of linear regions; and what acts on all.

import { make, refill } from "../elements.js";
import { shortened } from "../words.js";

/** Return the sentence that explains the picture. */
export function firstSentence(hello) {
  const what = hello.plane === "inputs" ? "Each tile (region) of the inputs" : "Each tile (region) of this flat cut through the inputs";
  const colour = hello.is_classifier ? "colour is its answer" : "colour tells how many units are on";
  return `${what} is one linear function of the network; ${colour}. Point, click, zoom: all is exact.`;
}

/** Return the head of the explorer. */
export function topPanel({ hello, store, history, saving, keys }) {
  const undo = make("button", { class: "icon", title: "Undo (Ctrl Z)", "aria-label": "undo", onclick: history.undo }, "↶");
  const redo = make("button", { class: "icon", title: "Redo (Ctrl Shift Z)", "aria-label": "redo", onclick: history.redo }, "↷");
  const show = () => {
    undo.disabled = !history.canUndo();
    redo.disabled = !history.canRedo();
  };
  store.subscribe(() => queueMicrotask(show));
  show();
  const { name, num_inputs: inputs, num_units: units } = hello.model;
  return refill(make("header", { class: "top" }),
    make("div", { class: "what" },
      make("h1", {}, make("span", { class: "brand" }, "reluscope"), " ", shortened(name, 40),
        make("span", { class: "soft" }, `${inputs} inputs, ${units} units${hello.data && hello.data.name !== "data" ? `, on ${hello.data.name}` : ""}`)),
      make("p", { class: "first" }, firstSentence(hello))),
    make("div", { class: "actions" }, undo, redo, saving, make("button", { class: "quiet", onclick: keys.open }, "Keys")));
}
