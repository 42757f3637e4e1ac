// From dot to dot by arrows.
import assert from "node:assert/strict";
import { test } from "node:test";

import { nextDot } from "../../../src/reluscope/explorer/web/dots.js";

const WAYS = [[-1, 0], [1, 0], [0, -1], [0, 1]];

test("an arrow leads to the nearest dot in its direction, and nowhere at the edge", () => {
  const places = [[0, 0], [5, 1], [9, 0], [6, 30], [0, -4]];
  assert.equal(nextDot(places, 0, [1, 0]), 1);
  assert.equal(nextDot(places, 1, [1, 0]), 2);
  assert.equal(nextDot(places, 2, [1, 0]), -1);
  assert.equal(nextDot(places, 0, [0, -1]), 4);
  assert.equal(nextDot(places, 1, [0, 1]), 3);
  assert.equal(nextDot([[0, 0]], 0, [1, 0]), -1);
});

test("arrows reach nearly every dot, those in one place too", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 16807) % 2147483647;
    return seed / 2147483647;
  };
  const places = Array.from({ length: 200 }, () => [Math.round(40 * random()), Math.round(40 * random())]);
  const seen = new Set([0]);
  const waiting = [0];
  while (waiting.length) {
    const at = waiting.pop();
    for (const way of WAYS) {
      const to = nextDot(places, at, way);
      if (to < 0 || seen.has(to)) continue;
      seen.add(to);
      waiting.push(to);
    }
  }
  assert.ok(seen.size >= 0.98 * places.length, String(seen.size));
});

test("of dots in one place each is reached from the one before, and back", () => {
  const places = [[1, 1], [1, 1], [1, 1]];
  assert.deepEqual([0, 1, 2].map((at) => nextDot(places, at, [1, 0])), [1, 2, -1]);
  assert.deepEqual([0, 1, 2].map((at) => nextDot(places, at, [-1, 0])), [-1, 0, 1]);
});
