// Questions as promises: lanes in which the latest wins, progress of slow ones, errors, and a side that went silent.
import assert from "node:assert/strict";
import { test } from "node:test";

import { AnswerError, createAsker } from "../../../src/reluscope/explorer/web/asking.js";

const soon = (milliseconds = 0) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function fakeModel() {
  const listeners = new Set();
  const sent = [];
  return {
    sent,
    send: (question) => sent.push(question),
    on: (_, listener) => listeners.add(listener),
    off: (_, listener) => listeners.delete(listener),
    answer(header, buffers = []) {
      for (const listener of listeners) listener(header, buffers);
    },
    listeners,
  };
}

test("an answer goes to its question, whatever the order, with its arrays by name", async () => {
  const model = fakeModel();
  const asker = createAsker(model, { first: 7 });
  const [one, two] = [asker.ask({ ask: "hello" }), asker.ask({ ask: "locate" })];
  assert.deepEqual(model.sent, [{ ask: "hello", seq: 7 }, { ask: "locate", seq: 8 }]);
  const bytes = new Uint8Array(12);
  new DataView(bytes.buffer).setInt32(4, 41, true);
  // Not at a multiple of four, as messages of a notebook may lie.
  const moved = new Uint8Array(13);
  moved.set(bytes.subarray(4, 8), 1);
  model.answer({ answer: "locate", seq: 8, arrays: [{ name: "rows", dtype: "int32", shape: [1] }] }, [new DataView(moved.buffer, 1, 4)]);
  model.answer({ answer: "hello", seq: 7, version: "1" });
  assert.deepEqual([...(await two).arrays.rows], [41]);
  assert.equal((await one).header.version, "1");
  asker.dispose();
  assert.equal(model.listeners.size, 0);
});

test("in a lane the latest wins: those between are never sent, and stale answers are dropped", async () => {
  const model = fakeModel();
  const asker = createAsker(model, { first: 0 });
  const answers = ["a", "b", "c"].map((window) => asker.latest("plane", { ask: "partition", window }));
  assert.deepEqual(model.sent.map((question) => question.ask), ["partition", "cancel"]);
  assert.equal(model.sent[1].of, 0);
  assert.equal(await answers[1], null);
  model.answer({ answer: "partition", seq: 0, version: 1 });
  assert.equal(await answers[0], null);
  const last = model.sent.at(-1);
  assert.equal(last.window, "c");
  model.answer({ answer: "partition", seq: 0, version: 1 });
  model.answer({ answer: "partition", seq: last.seq, version: 2 });
  assert.equal((await answers[2]).header.version, 2);
  assert.equal(asker.isBusy("plane"), false);
  asker.dispose();
});

test("an error is told with its sentence and kind, and the lane goes on", async () => {
  const model = fakeModel();
  const asker = createAsker(model, { first: 0 });
  const failing = asker.latest("plane", { ask: "partition" });
  model.answer({ answer: "error", seq: 0, kind: "input", message: "A and B are the same point" });
  await assert.rejects(failing, (error) => error instanceof AnswerError && error.kind === "input" && /same point/.test(error.message));
  const next = asker.latest("plane", { ask: "partition" });
  model.answer({ answer: "partition", seq: 1 });
  assert.equal((await next).header.seq, 1);
  asker.dispose();
});

test("arrays that are not whole are an error and no picture", async () => {
  const model = fakeModel();
  const asker = createAsker(model, { first: 0 });
  const asked = asker.ask({ ask: "partition" });
  model.answer({ answer: "partition", seq: 0, arrays: [{ name: "corners", dtype: "float32", shape: [3, 2] }] }, [new DataView(new ArrayBuffer(20))]);
  await assert.rejects(asked, /not whole/);
  asker.dispose();
});

test("a slow question asks for progress until it is answered", async () => {
  const model = fakeModel();
  const asker = createAsker(model, { first: 0, slow: 5 });
  const told = [];
  const asked = asker.ask({ ask: "partition" }, (progress) => told.push(progress));
  for (let time = 0; time < 5; time++) await soon(10);
  const question = model.sent.find(({ ask }) => ask === "progress");
  assert.equal(question.of, 0);
  assert.equal(model.sent.filter(({ ask }) => ask === "progress").length, 1, "no second one before the first is answered");
  model.answer({ answer: "progress", seq: question.seq, share: 0.4, regions: 1200 });
  await soon();
  assert.equal(told[0].share, 0.4);
  model.answer({ answer: "partition", seq: 0 });
  await asked;
  const number = model.sent.length;
  await soon(20);
  assert.equal(model.sent.length, number);
  asker.dispose();
});

test("where nothing answers any more the reader is told", async () => {
  const model = fakeModel();
  const asker = createAsker(model, { first: 0, slow: 5, patience: 15 });
  await assert.rejects(asker.ask({ ask: "partition" }), (error) => error.kind === "connection");
  asker.dispose();
});
