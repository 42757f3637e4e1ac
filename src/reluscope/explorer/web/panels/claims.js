// A finding as it is written everywhere: the number, and what it claims.

import { make } from "../elements.js";
import { number } from "../words.js";

const MEANINGS = {
  EXACT: "exact: no region is missed, none counted twice",
  LOWER: "at least this: some may be missing",
  UPPER: "at most this",
  ESTIMATE: "an estimate",
};

/** Return the badge of a claim. */
export function claimBadge(claim, meaning = MEANINGS[claim]) {
  return make("span", { class: `claim ${claim.toLowerCase()}`, title: meaning ?? null }, claim);
}

/** Return a finding as it is written: of an end it is said which one, and the claim stands beside it. */
export function findingView({ value, claim, definition }) {
  const some = { LOWER: "at least ", UPPER: "at most " }[claim] ?? "";
  return [`${some}${number(value)} `, claim && claimBadge(claim, definition)];
}
