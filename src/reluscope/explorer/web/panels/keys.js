// The keys, in a dialog.

import { make } from "../elements.js";

const KEYS = {
  "← ↑ → ↓": "move; with Shift further",
  "+ −": "zoom",
  "0 ": "home",
  Enter: "open the region in the middle, or walk over the chosen side",
  "N, P": "next, previous side of the region",
  L: "line: Enter sets its ends",
  Esc: "close the card",
  C: "to the colours",
  "[ ]": "fewer, more layers",
  "Ctrl (Shift) Z": "undo, redo",
  "?": "these keys",
};

/** Return the dialog of keys. */
export function keysDialog() {
  const element = make("dialog", { "aria-label": "keys" },
    make("h2", "Keys"),
    make("p.soft", "With the picture in focus."),
    make("dl", Object.entries(KEYS).map(([key, meaning]) => [make("dt", key), make("dd", meaning)])),
    make("p.soft", "Wheel or pinch zooms, drag moves, click or tap opens, Shift and drag draws a line."),
    make("p", make("button", { onclick: () => element.close() }, "Close")));
  return { element, open: () => element.showModal() };
}
