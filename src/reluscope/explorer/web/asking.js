// Questions over a model (`send`, `on`, `off`) as promises: one in flight in every lane, the latest wins.
//
// A lane is a kind of question of which only the newest answer matters: the plane, its values, the card of a region. While
// one is on its way the next waits, and a newer one takes its place; the one on its way is asked to end early.

import { namedArrays } from "./unpack.js";

export const SLOW = 350; // milliseconds after which the reader is told, and progress is asked for
const PATIENCE = 10_000; // without any word the other side is taken for gone

/** What was asked cannot be answered; its message is for the reader. */
export class AnswerError extends Error {
  /** @param {string} message @param {string} kind */
  constructor(message, kind) {
    super(message);
    this.kind = kind;
  }
}

/**
 * Ask questions over a model in anywidget's form.
 * @param {{send: Function, on: Function, off: Function}} model
 * @param {{first?: number, slow?: number, patience?: number}} [options] the number of the first question
 */
export function createAsker(model, { first = Math.floor(Math.random() * 2 ** 40), slow = SLOW, patience = PATIENCE } = {}) {
  const open = new Map();
  const lanes = new Map();
  let next = first;
  let heard = performance.now();

  const hear = (header, buffers) => {
    heard = performance.now();
    const asked = open.get(header?.seq);
    if (asked === undefined) return;
    open.delete(header.seq);
    asked.stop();
    if (header.answer === "error") asked.reject(new AnswerError(header.message, header.kind));
    else {
      try {
        asked.resolve({ header, arrays: namedArrays(header, buffers ?? []) });
      } catch (error) {
        asked.reject(new AnswerError(error.message, "internal"));
      }
    }
  };
  model.on("msg:custom", hear);

  function send(question, onprogress) {
    const seq = next++;
    const promise = new Promise((resolve, reject) => {
      const stop = watch(seq, onprogress, reject);
      open.set(seq, { resolve, reject, stop });
      model.send({ ...question, seq });
    });
    return { seq, promise };
  }

  function watch(seq, onprogress, reject) {
    const began = performance.now();
    let waiting = false;
    const timer = setInterval(() => {
      if (performance.now() - Math.max(began, heard) > patience) {
        open.get(seq)?.stop();
        open.delete(seq);
        reject(new AnswerError("Nothing answers: the kernel, or the command, is busy or gone.", "connection"));
        return;
      }
      if (waiting) return;
      waiting = true;
      const asked = next++;
      open.set(asked, {
        resolve: (answer) => {
          waiting = false;
          if (open.has(seq)) onprogress?.({ ...answer.header, seconds: (performance.now() - began) / 1000 });
        },
        reject: () => {
          waiting = false;
        },
        stop: () => {},
      });
      model.send({ ask: "progress", of: seq, seq: asked });
    }, slow);
    return () => clearInterval(timer);
  }

  function start(lane, { question, onprogress, resolve, reject }) {
    const { seq, promise } = send(question, onprogress);
    lane.running = seq;
    const finish = (settle) => (value) => {
      const { waiting } = lane;
      lane.running = null;
      lane.waiting = null;
      if (waiting === null) settle(value);
      else {
        resolve(null);
        start(lane, waiting);
      }
    };
    promise.then(finish(resolve), finish(reject));
  }

  return {
    /** Ask, and return a promise of `{header, arrays}`. */
    ask: (question, onprogress) => send(question, onprogress).promise,

    /** Ask in a lane; the promise is of null if a newer question of the lane took its place. */
    latest(name, question, onprogress) {
      const lane = lanes.get(name) ?? { running: null, waiting: null };
      lanes.set(name, lane);
      return new Promise((resolve, reject) => {
        const asked = { question, onprogress, resolve, reject };
        if (lane.running === null) {
          start(lane, asked);
          return;
        }
        if (lane.waiting === null) model.send({ ask: "cancel", of: lane.running, seq: next++ });
        else lane.waiting.resolve(null);
        lane.waiting = asked;
      });
    },

    /** Ask what is on its way in a lane to end with what it has found. */
    cancel(name) {
      const running = lanes.get(name)?.running ?? null;
      if (running !== null) model.send({ ask: "cancel", of: running, seq: next++ });
    },

    /** Whether a question of a lane is on its way. */
    isBusy: (name) => (lanes.get(name)?.running ?? null) !== null,

    dispose() {
      model.off("msg:custom", hear);
      for (const asked of open.values()) asked.stop();
      open.clear();
    },
  };
}
