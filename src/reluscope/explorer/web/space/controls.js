// What one can do to space besides turning it: what is shown, how far apart, how the plane lies, in one line.
import { capital, make, refill, write } from "../elements.js";
import { count, several } from "../words.js";
import { claimBadge } from "../panels/claims.js";

const NOUNS = { cells: "region", decision: "polygon", level: "polygon" };
const WHERE = { cells: " in the box ", decision: " of the decision boundary ", level: " at this level " };
const NAMES = { cells: "Cells", decision: "Decision boundary", level: "Level set" };
/** What each is called in questions. */
export const QUESTIONS = { cells: "regions", decision: "decision", level: "level" };
const AXES = [["x", [1, 0, 0]], ["y", [0, 1, 0]], ["z", [0, 0, 1]]];

/** Whether something can be shown: a snapshot holds some of it. */
export function isThere(show, { space, is_classifier: isClassifier }) {
  return (show !== "decision" || isClassifier) && (space?.held?.includes(QUESTIONS[show]) ?? true);
}

/**
 * Return the controls: their element, and `show(settings)`.
 * @param {{hello: object, change: (patch: object) => void, face: (normal: number[] | null) => void, step: (by: number) => void,
 *   slices: boolean}} parts
 */
export function controlsOf({ hello, change, face, step, slices }) {
  // Of a surface the whole is seen first, and of a solid what is within.
  const choose = () => change({ show: show.value, cut: show.value === "cells" ? 1 : 0 });
  const show = make("select", { "aria-label": "what space shows", onchange: choose },
    Object.entries(NAMES).filter(([key]) => isThere(key, hello)).map(([value, label]) => make("option", { value }, label)));
  const explode = make("input", { type: "range", min: 0, max: 1, step: 0.01, "aria-label": "pull regions apart",
    oninput: () => change({ explode: Number(explode.value) }) });
  const apart = make("label", "Apart ", explode);
  const cut = make("input", { type: "checkbox", onchange: () => change({ cut: cut.checked ? 1 : 0 }) });
  const cutting = make("label", { title: "Cut away what lies before the plane" }, cut, "Cut");
  const output = make("select", { "aria-label": "output", onchange: () => change({ output: Number(output.value) }) },
    Array.from({ length: hello.model.num_outputs }, (_, one) => make("option", { value: one }, `output ${one}`)));
  const level = make("input", { type: "number", step: "any", "aria-label": "level",
    onchange: () => Number.isFinite(level.valueAsNumber) && change({ level: level.valueAsNumber }) });
  const leveling = make("span", output, " at ", level);
  const planes = !slices ? null : make("span", { role: "group", "aria-label": "the plane" }, "Plane ",
    AXES.map(([name, normal]) => make("button", { title: hello.space ? `across input ${"xyz".indexOf(name)}` : "across this direction: x leads from A to B, y to C, z to D", onclick: () => face(normal) }, name)),
    make("button", { title: "as you look at it", onclick: () => face(null) }, "⊙"),
    make("button", { title: "move the plane away", onclick: () => step(-1) }, "−"),
    make("button", { title: "move the plane nearer", onclick: () => step(1) }, "+"));
  return {
    element: make("div.steer", make("span", show), apart, cutting, leveling, planes),
    show(settings) {
      show.value = settings.show;
      explode.value = String(settings.explode);
      cut.checked = settings.cut === 1;
      cut.disabled = settings.explode > 0;
      apart.hidden = settings.show !== "cells";
      leveling.hidden = settings.show !== "level";
      output.value = String(settings.output);
      if (level.valueAsNumber !== settings.level) level.value = String(settings.level);
    },
  };
}

/** Return the words about what is seen: how much, what is claimed of it, what went wrong. */
export function countsOf() {
  const number = make("p");
  const note = make("p.soft");
  return {
    element: make("div.counts", { role: "status" }, number, note),
    show({ found, note: why, num_open: open }, show) {
      const some = { LOWER: "at least ", UPPER: "at most " }[found.claim] ?? "";
      refill(number, make("strong", some, several(found.value, NOUNS[show])), WHERE[show], claimBadge(found.claim, found.definition));
      write(note, capital([why, open > 0 && `${count(open)} cells were left`].filter(Boolean).join("; ")));
    },
    busy: (text) => write(note, text),
  };
}
