// What is in view, and what is claimed of it: always in sight, in a corner of the stage.

import { capital, make, quiet, refill } from "../elements.js";
import { count, several, zoomText } from "../words.js";
import { claimBadge } from "./claims.js";

const DEEP = 1e11;

/** Return the element that says how many regions are in view. */
export function countsPanel({ hello, looking, homeWindow }) {
  const number = make("strong");
  const rest = make("span.soft");
  const note = make("p");
  const element = make("div.counts", { role: "status" }, make("p", number, rest), note);

  function show({ plane }) {
    if (plane === null) return;
    const { header } = plane;
    const { values } = looking.shown.get();
    const groups = values?.question.of === "prefix" ? values.header.num_groups : null;
    const finding = groups ?? header.num_regions;
    const some = { LOWER: "at least ", UPPER: "at most " }[finding.claim] ?? "";
    const where = groups ? ` by layers up to ${values.question.gates} ` : hello.still ? " in the snapshot " : " in view ";
    refill(number, some, several(finding.value, "region"), where, claimBadge(finding.claim, finding.definition));
    const factor = homeWindow().reach[1] / header.window.reach[1];
    refill(rest, factor > 1.05 ? ` ${zoomText(factor)}` : null);
    const doubts = groups ? [`${several(header.num_regions.value, "region")} by all layers. `] : [];
    if (header.num_open > 0) doubts.push(`${several(header.num_open, "cell")} not finished within ${hello.budget.seconds} s. `);
    if (header.num_undecided > 0) doubts.push(`${several(header.num_undecided, "sign")} within rounding. `);
    if (header.note) doubts.push(sentence(header.note));
    if (header.coarse_gates) doubts.push(`Where it is not finished, lines are those of the first ${several(header.coarse_gates, "layer")}. `);
    const offer = (label, how) => !hello.still && quiet(label, () => looking.lookAtPlane(how));
    const offers = [
      header.num_open > 0 && offer("Take a minute", { patient: true }),
      !header.certified && (header.num_undecided > 0 || factor > DEEP || (factor > 1.05 && header.certifiable)) && offer("Certify this view", { certify: true }),
    ].filter(Boolean);
    if (factor > DEEP) doubts.push("About as deep as double precision goes. ");
    if (header.certified) doubts.push("Certified in exact arithmetic. ");
    refill(note, doubts, offers);
    note.hidden = doubts.length + offers.length === 0;
  }
  looking.shown.subscribe((shown, changed) => (changed.has("plane") || changed.has("values")) && show(shown));
  return element;
}

const sentence = (text) => `${capital(text).replace(/[.!?]$/, "")}. `;

/** Return the words of a screen reader for a picture. */
export function spoken(plane) {
  const { value, claim } = plane.header.num_regions;
  return `${count(value)} regions in view, ${claim.toLowerCase()}.`;
}
