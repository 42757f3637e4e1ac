// The first line: what one sees, in one sentence for someone who never heard of linear regions; and what acts on all.

import { make, quiet, refill, sign, write } from "../elements.js";
import { shortened } from "../words.js";

/** Return the sentence that explains the picture: of a plane, perhaps with the solid that it slices. */
export function firstSentence(hello, isSolid = Boolean(hello.space)) {
  const cut = isSolid ? "Each cell (region) of the solid, each tile of the flat cut beside it," : "Each tile (region) of this flat cut through the inputs";
  const what = hello.plane === "inputs" ? "Each tile (region) of the inputs" : cut;
  const colour = hello.is_classifier ? "colour is its answer" : "colour tells how many units are on";
  return `${what} is one linear function of the network; ${colour}. ${isSolid ? "Turn, point" : "Point"}, click, zoom: all is exact.`;
}

/** Return the head of the explorer. */
export function topPanel({ hello, store, history, saving, keys }) {
  const undo = sign("↶", "undo", history.undo);
  const redo = sign("↷", "redo", history.redo);
  const show = () => {
    undo.disabled = !history.canUndo();
    redo.disabled = !history.canRedo();
  };
  const sentence = make("p", firstSentence(hello, Boolean(hello.space ?? store.get().solid)));
  store.subscribe(({ solid }, changed) => {
    queueMicrotask(show);
    if (changed.has("solid")) write(sentence, firstSentence(hello, solid !== null));
  });
  show();
  const { name, num_inputs: inputs, num_units: units } = hello.model;
  return refill(make("header.top"),
    make("div.what",
      make("h1", make("span", "reluscope"), " ", shortened(name, 40),
        make("span", `${inputs} inputs, ${units} units${hello.data && hello.data.name !== "data" ? `, on ${hello.data.name}` : ""}`)),
      sentence),
    make("div.actions", undo, redo, saving, quiet("Keys", keys.open)));
}
