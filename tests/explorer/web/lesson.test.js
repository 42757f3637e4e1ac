// A lesson's panel without a page: steps that are kept, curves, lines that are clicked, the pace, what lists offer.
import assert from "node:assert/strict";
import { test } from "node:test";

import { keptPlaces } from "../../../src/reluscope/explorer/web/learning/kept_places.js";
import { curveOf, joined, measuredAt } from "../../../src/reluscope/explorer/web/learning/measured.js";
import { unitNear } from "../../../src/reluscope/explorer/web/learning/near_line.js";
import { createPace } from "../../../src/reluscope/explorer/web/learning/pace.js";
import { offered } from "../../../src/reluscope/explorer/web/learning/settings_form.js";
import { rangeAbout } from "../../../src/reluscope/explorer/web/learning/unit_knobs.js";
import { createStore } from "../../../src/reluscope/explorer/web/state.js";

test("a slider has a place for each step that is kept", () => {
  for (const [step, stride] of [[0, 1], [7, 1], [8, 4], [9, 4], [1000, 64], [1, 64]]) {
    const kept = [];
    for (let one = 0; one <= step; one++) if (one % stride === 0 || one === step) kept.push(one);
    const { count, at, of } = keptPlaces({ step, stride });
    assert.deepEqual(Array.from({ length: count }, (_, place) => at(place)), kept, `${step} by ${stride}`);
    kept.forEach((one, place) => assert.equal(of(one), place));
    assert.equal(of(step + 5), count - 1);
  }
  assert.equal(keptPlaces({ step: 20, stride: 8 }).of(15), 1, "a step between two is that before it");
});

test("new measurements follow old ones, and take the place of those of the same steps", () => {
  const rows = [[0, 3], [1, 2], [2, 1]];
  assert.deepEqual(joined(rows, [[2, 5], [3, 4]]), [[0, 3], [1, 2], [2, 5], [3, 4]]);
  assert.equal(joined(rows, []), rows);
  const many = joined(Array.from({ length: 2000 }, (_, step) => [step, 1]), [[2000, 7]]);
  assert.ok(many.length <= 1001);
  assert.deepEqual(many.at(-1), [2000, 7]);
  assert.deepEqual(measuredAt(rows, 1), [1, 2]);
  assert.deepEqual(measuredAt(rows, 99), [2, 1]);
});

test("a curve goes from the first step to the last, without what was not measured", () => {
  const rows = Array.from({ length: 1000 }, (_, step) => [step, step / 2, step < 500 ? null : 1]);
  const points = curveOf(rows, 1);
  assert.ok(points.length < 200);
  assert.deepEqual(points[0], [0, 0]);
  assert.deepEqual(points.at(-1), [1, 499.5]);
  assert.equal(curveOf(rows, 2)[0][0] >= 0.5, true);
  assert.deepEqual(curveOf([[0, 2, null]], 1), [[0, 2]]);
});

test("a click chooses the nearest line, within a few pixels", () => {
  const plane = { arrays: { edge_ends: new Float32Array([-1, 0, 1, 0, 0.5, -1, 0.5, 1, 0, 0, 0, 0]), edge_gate: [0, 1, 2], edge_unit: [4, 5, 6] } };
  assert.deepEqual(unitNear(plane, [-0.5, 0.01], 0.02), { gate: 0, unit: 4 });
  assert.deepEqual(unitNear(plane, [0.51, 0.7], 0.02), { gate: 1, unit: 5 });
  assert.equal(unitNear(plane, [-0.5, 0.03], 0.02), null);
  assert.equal(unitNear(plane, [1.03, 0], 0.02), null, "beyond its end there is no line");
  assert.equal(unitNear({ arrays: { edge_ends: [], edge_gate: [], edge_unit: [] } }, [0, 0], 1), null);
});

/** A pace whose clock the test moves. */
function paced(frame) {
  const told = [];
  const waits = [];
  const clock = { now: 0 };
  const pace = createPace({
    frame: () => frame(clock), onchange: (isPlaying) => told.push(isPlaying), now: () => clock.now,
    wait: async (time) => {
      waits.push(time);
      clock.now += time;
    },
  });
  return { pace, told, waits };
}

test("frames follow each other until it is paused, none before the last is done", async () => {
  let frames = 0;
  let running = 0;
  const { pace, told, waits } = paced(async (clock) => {
    assert.equal(++running, 1);
    frames++;
    clock.now += 20;
    await null;
    running--;
    if (frames === 5) pace.pause();
    return true;
  });
  const played = pace.play();
  void pace.play();
  await played;
  assert.deepEqual([frames, told, pace.isPlaying()], [5, [true, false], false]);
  assert.deepEqual(waits, [30, 30, 30, 30, 30], "no faster than twenty in a second");
  assert.equal(Math.round(pace.rate()), 20);
});

test("a frame that fails ends it", async () => {
  const { pace, told } = paced(async () => false);
  await pace.play();
  assert.deepEqual([told, pace.isPlaying(), pace.rate()], [[true, false], false, null]);
});

test("lists offer the usual values, and the one that is set", () => {
  assert.deepEqual(offered("hidden", 3), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(offered("width", 10), [2, 4, 8, 10, 16, 24, 32, 48, 64]);
  assert.deepEqual(offered("rate", 5).at(-1), 5);
});

test("a slider reaches far enough to turn a line round", () => {
  assert.deepEqual(rangeAbout(0.2, true), [-1, 1]);
  assert.deepEqual(rangeAbout(-3, true), [-6, 6]);
  assert.deepEqual(rangeAbout(2, false), [0, 4]);
});

test("a store may compare what it holds by identity", () => {
  const [one, same] = [{ a: 1 }, { a: 1 }];
  const told = [];
  const store = createStore({ plane: one }, Object.is);
  store.subscribe((_, changed) => told.push([...changed]));
  store.set({ plane: one });
  store.set({ plane: same });
  assert.deepEqual(told, [["plane"]]);
});
