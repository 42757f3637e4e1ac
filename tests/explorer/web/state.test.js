// The reader's choices: a store, its history, and the text of a link.
import assert from "node:assert/strict";
import { test } from "node:test";

import { anchorText, readAnchor, readStateText, stateText } from "../../../src/reluscope/explorer/web/link.js";
import { BEGINNING, createHistory, createStore } from "../../../src/reluscope/explorer/web/state.js";

test("listeners are told what changed, and nothing where nothing did", () => {
  const store = createStore(BEGINNING);
  const told = [];
  const end = store.subscribe((_, changed) => told.push([...changed]));
  store.set({ by: "class", hidden: [] });
  store.set({ by: "area", hidden: [2] });
  end();
  store.set({ by: "rate" });
  assert.deepEqual(told, [["by", "hidden"]]);
});

test("choices are undone one after the other, and done again", () => {
  let now = 0;
  const store = createStore(BEGINNING);
  const history = createHistory(store, () => now);
  store.set({ by: "area" });
  now += 1000;
  store.set({ window: { center: [0, 0], height: 1 } });
  now += 100;
  store.set({ window: { center: [0, 0], height: 2 } });
  assert.equal(history.canRedo(), false);
  history.undo();
  assert.equal(store.get().window, null, "two moves at once are one step");
  assert.equal(store.get().by, "area");
  history.undo();
  assert.equal(store.get().by, "class");
  assert.equal(history.canUndo(), false);
  history.undo();
  history.redo();
  history.redo();
  assert.equal(store.get().window.height, 2);
  history.undo();
  store.set({ by: "rate" });
  assert.equal(history.canRedo(), false, "a new choice ends what was undone");
});

test("looking at another panel is no step", () => {
  const store = createStore(BEGINNING);
  const history = createHistory(store, () => 0);
  store.set({ tab: "line" });
  assert.equal(history.canUndo(), false);
  store.set({ by: "area" });
  store.set({ tab: "codes" });
  history.undo();
  assert.equal(store.get().by, "class");
  assert.equal(store.get().tab, "codes", "and is not undone");
});

test("anchors are short text and come back", () => {
  const between = { kind: "between", from: { kind: "sample", row: 3 }, to: { kind: "mean", class: 1 }, share: 0.25 };
  for (const [anchor, text] of [
    [{ kind: "sample", row: 12 }, "s12"],
    [{ kind: "mean", class: 3 }, "m3"],
    [{ kind: "adversary", of: 0 }, "v0"],
    [{ kind: "random", seed: 5 }, "r5"],
    [between, "s3:m1@0.25"],
  ]) {
    assert.equal(anchorText(anchor), text);
    assert.deepEqual(readAnchor(text), anchor);
  }
  for (const text of ["", "s", "s-1", "q3", "s1:s2@2", "s1:@0.5", "s1e3"]) assert.equal(readAnchor(text), null, text);
});

test("a state comes back from a link to the last digit", () => {
  const state = {
    ...BEGINNING,
    anchors: [{ kind: "sample", row: 1 }, { kind: "random", seed: 7 }, { kind: "adversary", of: 0 }],
    window: { center: [1.9028957546299228, -1.0500516253314105e-7], height: 1.9483581330566415e-12 },
    by: "unit",
    unit: { gate: 2, unit: 31 },
    layers: 1,
    edges: "gates",
    boundary: false,
    hidden: [3, 7],
    selected: [0.1, 1 / 3],
    line: [[0, 1], [-2.5, 1e-9]],
    tab: "line",
    epoch: 4,
  };
  const text = stateText(state);
  assert.deepEqual({ ...BEGINNING, ...readStateText(`#token=secret&${text}`) }, state);
  assert.equal(stateText(BEGINNING), "");
});

test("what is malformed in a link is left out, and the rest is kept", () => {
  const found = readStateText("#a=s1,s2&at=1,x&zoom=2&by=dance&layers=-1&unit=1&hidden=a&on=1,2,3&line=1,2,3&epoch=1e9&edges=gates");
  assert.deepEqual(found, { edges: "gates" });
  assert.deepEqual(readStateText("#at=1,2&zoom=0"), {});
  assert.deepEqual(readStateText("#by=unit"), {}, "a unit is needed");
});

test("a drag is one step to undo, however slow, and the next one another", () => {
  let [time, drag] = [0, null];
  const store = createStore({ window: 0 });
  const history = createHistory(store, () => time, () => drag);
  const move = (window) => {
    time += 5000;
    store.set({ window });
  };
  drag = 1;
  [1, 2, 3].forEach(move);
  drag = 2;
  [4, 5].forEach(move);
  drag = null;
  [6, 7].forEach(move);
  const seen = [];
  while (history.canUndo()) {
    history.undo();
    seen.push(store.get().window);
  }
  assert.deepEqual(seen, [6, 5, 3, 0]);
});

test("a solid and a plane within it come back from a link", () => {
  const solid = [{ kind: "sample", row: 3 }, { kind: "mean", class: 1 }, { kind: "random", seed: 5 }, { kind: "adversary", of: 0 }];
  const anchors = [[0.5, -1, 2], [1e-7, 0, 3], [0, 0, 0]].map((at) => ({ kind: "inside", at }));
  const text = stateText({ ...BEGINNING, solid, anchors });
  assert.deepEqual(readStateText(text), { solid, anchors });
  assert.deepEqual(readStateText("solid=s1,s2,s3"), {});
  assert.deepEqual(readStateText("solid=s1,s2,s3,q4&a=i1_x_2,s1,s2"), {});
});
