// The four points that a solid goes through, by their letters, over the picture of it.

import { make } from "../elements.js";

/** Return letters: their element, and `place(view, places, reach)`, which hides those outside the box. */
export function createCorners() {
  const letters = [..."ABCD"].map((letter) => make(`b.letter.${letter}`, letter));
  return {
    element: make("div.corners", { "aria-hidden": "true" }, letters),
    place(view, places, reach) {
      letters.forEach((letter, at) => {
        const place = places?.[at];
        letter.hidden = !place?.every((one, axis) => Math.abs(one) <= reach[axis]);
        if (letter.hidden) return;
        const [x, y] = view.project(place);
        letter.style.left = `${50 + 50 * x}%`;
        letter.style.top = `${50 - 50 * y}%`;
      });
    },
  };
}
