// A button that goes on by itself, step by step, until the end or until it is pressed again.

import { quiet, write } from "../elements.js";

const STEP = 1000; // milliseconds

/** Return the button of a player, and `play` and `stop`. */
export function createPlayer({ label, begin, step, isDone }) {
  const element = quiet(label, () => (timer === null ? play() : stop()));
  let timer = null;

  function stop() {
    clearInterval(timer);
    timer = null;
    write(element, label);
  }
  function play() {
    stop();
    begin();
    timer = setInterval(() => (isDone() ? stop() : step()), STEP);
    write(element, "■ stop");
  }
  return { element, play, stop };
}
