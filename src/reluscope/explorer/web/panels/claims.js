// A finding as it is written everywhere: the number, and what it claims.

import { make } from "../elements.js";
import { count, number } from "../words.js";

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

/** Return a finding's number as text: what it is an end of is said in words. */
export function findingText(finding, { whole = false } = {}) {
  if (finding === null || finding === undefined) return "–";
  const write = whole ? count : (value) => number(value);
  if (typeof finding === "number") return write(finding);
  const { value, claim } = finding;
  if (value === null) return "–";
  if (claim === "LOWER") return `at least ${write(value)}`;
  return claim === "UPPER" ? `at most ${write(value)}` : write(value);
}
