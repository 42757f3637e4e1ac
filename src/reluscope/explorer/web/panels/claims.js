// A finding as it is written everywhere: the number, and what it claims.

import { make } from "../elements.js";
import { number } from "../words.js";

/** Return the badge of a claim, with the definition of what is claimed. */
export function claimBadge(claim, meaning) {
  return make(`span.claim.${claim.toLowerCase()}`, { title: meaning }, claim);
}

/** Return a finding as it is written: of an end it is said which one, and the claim stands beside it. */
export function findingView({ value, claim, definition }) {
  const some = { LOWER: "at least ", UPPER: "at most " }[claim] ?? "";
  return [`${some}${number(value)} `, claim && claimBadge(claim, definition)];
}
