// The keys, in a dialog.

import { make } from "../elements.js";

const KEYS = {
  "← ↑ → ↓": "move; with Shift further",
  "+ −": "zoom",
  "0 ": "home",
  Enter: "open the region in the middle, or walk over the chosen side",
  "N, P": "next, previous side of the region",
  "X, B, D": "next corner, next boundary, densest place",
  L: "line: Enter sets its ends",
  Esc: "close the card",
  C: "to the colours",
  "[ ]": "fewer, more layers",
  "Ctrl (Shift) Z": "undo, redo",
  "?": "these keys",
};

const IN_SPACE = {
  "← ↑ → ↓": "turn it",
  "+ −": "nearer, further",
  "0 ": "as at first",
  "[ ]": "move the plane through it",
  Enter: "bring the plane to the region in the middle",
};

/** Return the dialog of keys. */
export function keysDialog({ space, fourth }) {
  const listed = (keys) => make("dl", Object.entries(keys).map(([key, meaning]) => [make("dt", key), make("dd", meaning)]));
  const element = make("dialog", { "aria-label": "keys" },
    make("h2", "Keys"),
    make("p.soft", "With the picture in focus."),
    listed(KEYS),
    (space || fourth) && [make("p.soft", "With the solid in focus."), listed(IN_SPACE)],
    make("p.soft", "Wheel or pinch zooms, drag moves, click or tap opens, Shift and drag draws a line."),
    make("p", make("button", { onclick: () => element.close() }, "Close")));
  return { element, open: () => element.showModal() };
}
