// The round handle that drags the plane through the solid.

import { make } from "../elements.js";
import { number } from "../words.js";
import { along } from "./orbit.js";

const STEEP = 400; // square pixels for a unit: below, the plane is seen along its normal
const STEPS = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 };

/**
 * Return the handle: its element, and `place()`, which puts it in the middle of the plane's border.
 * @param {object} parts
 * @param {HTMLElement} parts.surface
 * @param {() => {view: object, plane: object, ring: number[][]}} parts.border where the plane is at this moment
 * @param {(by: number) => void} parts.slide
 * @param {number} parts.step by which keys slide it
 */
export function createKnob({ surface, border, slide, step }) {
  let held = null; // where it was taken, beside its middle
  const element = make("button.knob", {
    role: "slider", "aria-label": "move the plane", title: "Drag: the plane moves through the solid", hidden: true,
    onpointerdown(event) {
      element.setPointerCapture(event.pointerId);
      held = beside(event);
    },
    onpointermove(event) {
      if (held === null) return;
      const now = beside(event);
      const [dx, dy] = [now.right - held.right, now.up - held.up];
      const [right, up] = now.unit;
      const size = right * right + up * up;
      if (size > STEEP) slide((dx * right + dy * up) / size);
      else {
        // Seen along its normal a plane moves with the height of the pointer.
        slide(dy / surface.clientHeight);
        held = now;
      }
    },
    onpointerup() {
      held = null;
    },
    onkeydown(event) {
      const by = STEPS[event.key];
      if (!by) return;
      event.preventDefault();
      slide(by * step);
    },
  }, "⇕");

  /** Return the middle of the border on the screen, from -1 to 1, and where one unit of its normal leads, in pixels. */
  function middleOf({ view, plane: { normal }, ring }) {
    const middle = ring.reduce((sum, one) => along(sum, one, 1 / ring.length), [0, 0, 0]);
    const [from, to] = [middle, along(middle, normal, 1e-3)].map(view.project);
    const unit = [((to[0] - from[0]) * surface.clientWidth) / 2e-3, ((to[1] - from[1]) * surface.clientHeight) / 2e-3];
    return { from, unit };
  }
  function beside(event) {
    const { from: [x, y], unit } = middleOf(border());
    const { left, top, width, height } = surface.getBoundingClientRect();
    return { right: event.clientX - left - (width * (1 + x)) / 2, up: top + (height * (1 - y)) / 2 - event.clientY, unit };
  }

  return {
    element,
    place() {
      const now = border();
      element.hidden = now.ring.length === 0;
      if (element.hidden) return;
      const { from: [x, y], unit: [right, up] } = middleOf(now);
      element.style.left = `${50 + 50 * x}%`;
      element.style.top = `${50 - 50 * y}%`;
      element.style.rotate = `${Math.atan2(right, up)}rad`;
      element.setAttribute("aria-valuenow", number(now.plane.offset));
    },
  };
}
