// What is said over the stage while nothing, something slow or something wrong is there.

import { capital, make, quiet, refill, write } from "../elements.js";
import { setAnchors } from "./anchors.js";
import { several } from "../words.js";

/** Return the overlay of messages. */
export function messagesPanel({ looking, store }) {
  const bar = make("progress", { max: 1 });
  const said = make("span");
  const busy = make("div.busy", { role: "status" }, bar, said, quiet("Stop here", looking.stop));
  const trouble = make("div.trouble", { role: "alert" });
  const empty = make("div.empty", "Looking …");
  const element = make("div.messages", empty, busy, trouble);

  function show({ plane, busy: progress, trouble: wrong }) {
    element.classList.toggle("alone", plane === null);
    empty.hidden = plane !== null || wrong !== null || progress !== null;
    busy.hidden = progress === null || wrong !== null;
    if (progress !== null) {
      if (progress.share > 0) bar.value = progress.share;
      else bar.removeAttribute("value");
      write(said, `${several(progress.regions ?? 0, "region")} so far, ${progress.seconds.toFixed(1)} s`);
    }
    trouble.hidden = wrong === null;
    if (wrong !== null) {
      refill(trouble, make("p", capital(wrong.message)),
        make("p",
          wrong.retry && wrong.kind !== "input" && after("Try again", wrong.retry),
          plane === null && isElsewhere(store.get()) && after("Show the first plane", goHome),
          wrong.kind !== "graphics" && plane !== null && quiet("Keep the picture", looking.dismiss)));
    }
  }
  const isElsewhere = ({ anchors, window, epoch, solid }) => [anchors, window, epoch, solid].some((one) => one !== null);
  function goHome() {
    store.set({ epoch: null, solid: null });
    setAnchors(store, null);
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
