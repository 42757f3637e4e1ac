// The three points that the plane goes through, and the slider that turns C towards another sample.

import { make, refill, write } from "../elements.js";
import { anchorName, shortened } from "../words.js";
import { thumbnail } from "./pictures.js";

const LETTERS = "ABC";

/**
 * Return the dock of anchors.
 * @param {{hello: object, store: object, samples: object, announce: (text: string) => void}} app
 */
export function anchorsPanel({ hello, store, samples, announce }) {
  if (hello.plane === "inputs" || hello.home.anchors === null) return null;
  const slots = [...LETTERS].map((letter, place) => makeSlot(letter, place));
  const slider = make("input", { type: "range", min: 0, max: 1, step: 0.01, "aria-label": "how far C is turned towards another sample",
    oninput: () => turn(Number(slider.value)) });
  const pick = make("button", { class: "quiet", onclick: () => samples.choose("towards") }, "towards …");
  const turning = make("div", { class: "turning", title: "A and B stay, C moves: the plane turns about the line through A and B" },
    make("span", {}, "Turn C"), slider, pick);
  const reset = make("button", { class: "icon", title: "Back to the first plane", "aria-label": "back to the first plane", onclick: () => setAnchors(store, null) }, "↺");
  const element = make("div", { class: "dock", role: "group", "aria-label": "the three points of the plane" },
    make("span", { class: "soft heading" }, "Plane through"), slots.map((slot) => slot.element), !hello.still && turning, reset);

  function makeSlot(letter, place) {
    const picture = make("span", { class: "thumb" });
    const name = make("span", { class: "name" });
    const button = make("button", {
      class: "slot", disabled: hello.still, onclick: () => samples.choose(place),
      title: `Choose another point for ${letter}: click, or drop a sample here`,
      ondragover: (event) => {
        event.preventDefault();
        button.classList.add("over");
      },
      ondragleave: () => button.classList.remove("over"),
      ondrop: (event) => {
        event.preventDefault();
        button.classList.remove("over");
        const row = Number.parseInt(event.dataTransfer.getData("text/plain").replace("sample ", ""), 10);
        if (row >= 0) put(place, { kind: "sample", row });
      },
    }, make("b", { class: `letter ${letter}` }, letter), picture, name);
    return { element: button, picture, name };
  }

  function current() {
    return store.get().anchors ?? hello.home.anchors;
  }
  function put(place, anchor) {
    const anchors = current().map((one, at) => (at === place ? anchor : one));
    setAnchors(store, anchors);
    announce(`${LETTERS[place]} is ${anchorName(anchor, hello)}.`);
  }
  /** Turn C: the frame of the plane stays, and so does the window. */
  function turn(share) {
    const third = current()[2];
    const from = third.kind === "between" ? third.from : third;
    const to = third.kind === "between" ? third.to : samples.another(current());
    if (to === null || from.kind === "adversary") return;
    store.set({ anchors: [...current().slice(0, 2), { kind: "between", from, to, share }], selected: null, line: null });
  }
  function show() {
    const anchors = current();
    anchors.forEach((anchor, place) => {
      const { picture, name, element: button } = slots[place];
      write(name, shortened(anchorName(anchor, hello), 26));
      button.setAttribute("aria-label", `${LETTERS[place]}: ${anchorName(anchor, hello)}. Choose another.`);
      const row = anchor.kind === "sample" ? anchor.row : null;
      void samples.pictureOf(row).then((values) => {
        const drawn = values && hello.data?.thumbnail && thumbnail(values, hello.data.thumbnail, "");
        refill(picture, drawn);
        picture.hidden = !drawn;
      });
    });
    const third = anchors[2];
    const between = third.kind === "between";
    slider.value = String(between ? third.share : 0);
    slider.disabled = third.kind === "adversary" || (hello.data?.num_samples ?? 0) < 4;
    slots.forEach(({ element: button }, place) => button.classList.toggle("chosen", samples.target() === place));
    reset.disabled = store.get().anchors === null;
  }
  store.subscribe((_, changed) => changed.has("anchors") && show());
  samples.ontarget(show);
  show();
  return { element, put };
}

/** Choose anchors, and begin to look at their plane from its home. */
export function setAnchors(store, anchors) {
  store.set({ anchors, window: null, selected: null, line: null });
}
