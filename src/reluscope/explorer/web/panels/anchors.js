// The three points that the plane goes through, and the slider that turns C towards another sample; or the four of the
// solid that the plane is moved through.

import { make, quiet, refill, sign, write } from "../elements.js";
import { anchorName, shortened } from "../words.js";
import { thumbnail } from "./pictures.js";

const LETTERS = "ABCD";

/** Return the dock of anchors, and `put(place, anchor)`; `current()` gives the three or four that are looked at. */
export function anchorsPanel({ hello, store, samples, pictureOf, current, announce, hasSolids }) {
  const slots = [...LETTERS].map(makeSlot);
  const slider = make("input", { type: "range", max: 1, step: 0.01, "aria-label": "turn C",
    oninput: () => turn(Number(slider.value)) });
  const turning = make("div.turning", { title: "The plane turns about the line through A and B" },
    make("span.soft", "Turn C"), slider, quiet("towards …", () => samples.choose("towards")));
  const reset = sign("↺", "back to the first plane", () => setAnchors(store, store.get().solid?.slice(0, 3) ?? null));
  const leave = sign("×", "leave space", () => setSolid(null));
  const enter = make("button", { title: "A fourth point, D: the network in the space through A, B, C and D, which the plane slices",
    onclick: () => setSolid([...current(), hello.fourth]) }, "+ D: space");
  const heading = make("span.soft.heading");
  const element = make("div.dock", { role: "group", "aria-label": "the points that are looked at" },
    heading, slots.map((slot) => slot.element), hasSolids && [enter, leave], !hello.still && [hello.data && turning, reset]);

  function makeSlot(letter, place) {
    const picture = make("span.thumb");
    const name = make("span");
    const button = make("button.slot", {
      disabled: hello.still, onclick: () => samples.choose(place),
      title: `Click, or drop a sample here, for another ${letter}`,
      ondragover(event) {
        event.preventDefault();
        button.classList.add("over");
      },
      ondragleave: () => button.classList.remove("over"),
      ondrop(event) {
        event.preventDefault();
        button.classList.remove("over");
        const [, row] = /^sample (\d+)$/.exec(event.dataTransfer.getData("text/plain")) ?? [];
        if (row) put(place, { kind: "sample", row: Number(row) });
      },
    }, make(`b.letter.${letter}`, letter), picture, name);
    return { element: button, picture, name };
  }

  /** See the plane in the solid through four anchors, or alone. */
  function setSolid(solid) {
    setAnchors(store, (solid ?? current()).slice(0, 3), { solid });
  }
  function put(place, anchor) {
    const next = current().map((one, at) => (at === place ? anchor : one));
    if (next.length > 3) setSolid(next);
    else setAnchors(store, next);
    announce(`${LETTERS[place]} is ${anchorName(anchor, hello)}.`);
  }
  /** Turn C: the frame of the plane stays, and so does the window. */
  function turn(share) {
    const [first, second, third] = current();
    const from = third.from ?? third;
    const to = third.to ?? { kind: "sample", row: [0, 1, 2, 3].find((row) => current().every((one) => one.row !== row)) };
    store.set({ anchors: [first, second, { kind: "between", from, to, share }], selected: null, line: null });
  }
  function show() {
    const isSolid = store.get().solid !== null;
    slots[3].element.hidden = leave.hidden = !isSolid;
    enter.hidden = turning.hidden = isSolid;
    enter.hidden ||= current().some((anchor) => anchor.kind === "inside");
    write(heading, isSolid ? "Space through" : "Plane through");
    current().forEach((anchor, place) => {
      const { picture, name } = slots[place];
      write(name, shortened(anchorName(anchor, hello), 26));
      void pictureOf(anchor.row).then((pixels) => refill(picture, pixels && thumbnail(pixels, hello.data.thumbnail, "")));
    });
    const third = current()[2];
    slider.value = String(third.share ?? 0);
    slider.disabled = third.kind === "adversary" || hello.data?.num_samples < 4;
    reset.disabled = isSolid ? !store.get().anchors?.some((anchor) => anchor.kind === "inside") : store.get().anchors === null;
    samples?.tell();
  }
  store.subscribe((_, changed) => (changed.has("anchors") || changed.has("solid")) && show());
  show();
  return { element, put, enterSpace: hasSolids && (() => enter.click()) };
}

/** Choose anchors, and begin to look at their plane from its home. */
export function setAnchors(store, anchors, more = {}) {
  store.set({ anchors, window: null, selected: null, line: null, ...more });
}
