// The sides of a region, to walk over: which unit flips there, and where one comes to.

import { make, refill } from "../elements.js";
import { number, several } from "../words.js";

const SHOWN = 40;

/** Return the list of sides; `walk(side)` goes over one, `look(side)` outlines what is beyond. */
export function sidesView({ walk, look }) {
  let sides = [];
  let at = -1;
  const list = make("ol.sides");

  function mark(index) {
    at = index;
    [...list.children].forEach((item, place) => item.classList.toggle("chosen", place === index));
    look(index < 0 ? null : sides[index]);
  }

  return {
    show(header) {
      sides = header.sides;
      at = -1;
      refill(list, sides.slice(0, SHOWN).map((side, index) =>
        make("li", make("button", {
          disabled: side.neighbor < 0,
          onclick: () => walk(side), onfocus: () => mark(index), onpointerenter: () => mark(index), onpointerleave: () => mark(-1),
        }, make("span", side.neighbor < 0 ? "the view ends here" : side.flips), make("span.soft", number(side.length, 2))))));
      return make("section",
        make("h3", "Beyond each side"),
        make("p.soft", "Crossing a side flips one unit. Walk over: click, or N and Enter."),
        list, sides.length > SHOWN && make("p.soft", `and ${several(sides.length - SHOWN, "side")} more`));
    },
    /** Go to the next side that leads somewhere, or the one before. */
    step(direction) {
      for (let tried = 1; tried <= sides.length; tried++) {
        const index = (((at < 0 && direction < 0 ? 0 : at) + direction * tried) % sides.length + sides.length) % sides.length;
        if (sides[index].neighbor >= 0) {
          mark(index);
          list.children[index]?.scrollIntoView({ block: "nearest" });
          return sides[index];
        }
      }
      return null;
    },
    chosen: () => sides[at] ?? null,
  };
}
