// What is said over the stage while nothing, something slow or something wrong is there.

import { make, refill } from "../elements.js";
import { setAnchors } from "./anchors.js";
import { percent, several } from "../words.js";

/** Return the overlay of messages. */
export function messagesPanel({ looking, store }) {
  const bar = make("progress", { max: 1 });
  const said = make("span", {});
  const busy = make("div", { class: "busy", role: "status" }, bar, said,
    make("button", { class: "quiet", onclick: looking.stop }, "Stop here"));
  const trouble = make("div", { class: "trouble", role: "alert" });
  const empty = make("div", { class: "empty" }, "Looking …");
  const element = make("div", { class: "messages" }, empty, busy, trouble);

  function show({ plane, busy: progress, trouble: wrong }) {
    empty.hidden = plane !== null || wrong !== null || progress !== null;
    busy.hidden = progress === null || wrong !== null;
    if (progress !== null) {
      if (progress.share > 0) bar.value = progress.share;
      else bar.removeAttribute("value");
      refill(said, progress.share > 0 ? `${percent(progress.share)}, ` : "", several(progress.regions ?? 0, "region"),
        ` so far, ${progress.seconds.toFixed(1)} s`);
    }
    trouble.hidden = wrong === null;
    if (wrong !== null) {
      refill(trouble, make("p", {}, capital(wrong.message)),
        make("p", {},
          wrong.retry && after("Try again", wrong.retry),
          plane === null && store.get().anchors !== null
            && after("Show the first plane", () => setAnchors(store, null)),
          wrong.kind !== "graphics" && plane !== null && make("button", { class: "quiet", onclick: looking.dismiss }, "Keep the picture")));
    }
  }
  /** Return a button that does something about what is wrong. */
  function after(label, act) {
    return make("button", { onclick: () => {
      looking.dismiss();
      act();
    } }, label);
  }
  looking.shown.subscribe(show);
  show(looking.shown.get());
  return element;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
