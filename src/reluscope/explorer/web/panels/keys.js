// The keys, in a dialog.

import { make } from "../elements.js";

const KEYS = [
  ["← ↑ → ↓", "move; with Shift further"],
  ["+ −", "zoom"],
  ["0", "home"],
  ["Enter", "open the region in the middle, or walk over the chosen side"],
  ["N, P", "next, previous side of the region"],
  ["L", "line: Enter sets its ends"],
  ["Esc", "close the card"],
  ["C", "to the colours"],
  ["[ ]", "fewer, more layers"],
  ["Ctrl Z, Ctrl Shift Z", "undo, redo"],
  ["?", "these keys"],
];

/** Return the dialog of keys. */
export function keysDialog() {
  const element = make("dialog.keys-dialog", { "aria-label": "keys" },
    make("h2", "Keys"),
    make("p.soft", "With the picture in focus (click it, or Tab)."),
    make("dl", KEYS.map(([key, meaning]) => make("div", make("dt", make("kbd", key)), make("dd", meaning)))),
    make("p.soft", "Mouse: wheel zooms, drag moves, click opens, Shift and drag draws a line. Touch: pinch, drag, tap."),
    make("p", make("button", { onclick: () => element.close() }, "Close")));
  return { element, open: () => element.showModal() };
}
