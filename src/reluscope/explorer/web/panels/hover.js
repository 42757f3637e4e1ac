// What lies under the pointer, in a few words beside it.

import { capital, make, refill } from "../elements.js";
import { toRelative } from "../places.js";
import { className, count, number, several } from "../words.js";

const NAMES = { norm: "norm of the map", inradius: "inradius", unit: "piece of the unit" };
const SIDE = 16; // pixels between the pointer and the words

/** Return the words beside the pointer. */
export function hoverPanel({ hello, looking, stage }) {
  const element = make("div.hover", { "aria-hidden": "true", hidden: true });
  const units = hello.model.gates.filter((gate) => gate.pieces === 2).reduce((sum, gate) => sum + gate.units, 0);
  const others = hello.model.num_units - units;
  let outlined = -1;

  function point(at) {
    const { plane, picker, region } = looking.shown.get();
    const found = at && plane && picker.at(...toRelative(plane, [at.x, at.y]));
    outline(found ? found.region : -1, region);
    element.hidden = !found || at.event.pointerType === "touch";
    if (element.hidden) return;
    refill(element, words(plane, found));
    const { left, top, width, height } = stage.element.getBoundingClientRect();
    const [x, y] = [at.event.clientX - left, at.event.clientY - top];
    const [wide, high] = [element.offsetWidth, element.offsetHeight];
    element.style.left = `${x + SIDE + wide > width ? x - SIDE - wide : x + SIDE}px`;
    element.style.top = `${Math.min(y + SIDE, height - high - 4)}px`;
  }

  function words({ arrays }, { piece, region }) {
    const lines = [];
    if (hello.is_classifier) lines.push(make("b", capital(className(hello, arrays.piece_class[piece]))));
    const rate = arrays.region_rate?.[region];
    if (units > 0 && Number.isFinite(rate)) lines.push(`${count(Math.round(rate * units))} of ${count(units)} units on`);
    if (units > 0 && others > 0) lines.push(`${several(others, "other")} have more than two pieces`);
    lines.push(`area in view ${number(arrays.region_area[region])}`);
    const { values } = looking.shown.get();
    const asked = NAMES[values?.question.of];
    if (asked) lines.push(`${asked} ${number(values.values[region])}`);
    return lines.map((line) => make("div", line));
  }

  function outline(row, region) {
    if (row === outlined) return;
    outlined = row;
    stage.scene.select({ hover: row, region: region?.header.row ?? -1 });
  }

  return {
    element,
    point,
    hide: () => {
      element.hidden = true;
      outlined = -1;
    },
  };
}
