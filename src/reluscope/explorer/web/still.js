// A snapshot: a model in anywidget's form that answers from what its file holds, with no one behind it.

import { readStateText, stateText } from "./link.js";
import { restored } from "./restoring.js";
import { regionOfStill } from "./still_region.js";
import { namedArrays, unpack } from "./unpack.js";

const NOT_HERE = "A snapshot does not hold this: open the model with reluscope explore.";

/**
 * Return the answers that a text holds: base64 of gzip of packed answers, each after its length and four bytes of zero.
 * @param {string} text
 */
export async function readAnswers(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const opened = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(opened).arrayBuffer();
  const answers = [];
  for (let from = 0; from + 8 <= bytes.byteLength; ) {
    const length = new DataView(bytes, from, 4).getUint32(0, true);
    answers.push(restored(unpack(bytes, from + 8)));
    from += 8 + 8 * Math.ceil(length / 8);
  }
  return answers;
}

/**
 * Return the model of a snapshot.
 * @param {Promise<{header: object, buffers: DataView[]}[]>} answers
 * @param {{initial?: object, location?: Location, history?: History}} [options]
 */
export function createStillModel(answers, { initial = {}, location = null, history = null } = {}) {
  const listeners = new Set();

  async function answerTo(question) {
    let held;
    try {
      held = await answers;
    } catch {
      return { header: { answer: "error", kind: "input", message: "This snapshot is not whole: write it again." } };
    }
    const found = held.find(({ header }) => header.answer === question.ask && fits(header.question, question));
    if (question.ask === "hello" && found !== undefined) {
      const values = held.filter(({ header }) => header.answer === "values").map(({ header }) => header.question);
      return { ...found, header: { ...found.header, held: values } };
    }
    if (found !== undefined) return found;
    const plane = held.find(({ header }) => header.answer === "partition");
    if (question.ask === "region" && plane !== undefined) {
      const hello = held.find(({ header }) => header.answer === "hello");
      const arrays = namedArrays(plane.header, plane.buffers);
      return { header: regionOfStill(hello.header, { header: plane.header, arrays }, question) };
    }
    return { header: { answer: "error", kind: "input", message: NOT_HERE } };
  }

  return {
    send(question) {
      if (question.ask === "progress" || question.ask === "cancel") return;
      void answerTo(question).then(({ header, buffers = [] }) => {
        for (const listener of listeners) listener({ ...header, seq: question.seq }, buffers);
      });
    },
    on: (_, listener) => listeners.add(listener),
    off: (_, listener) => listeners.delete(listener),
    get: (name) => (name === "initial" ? { ...initial, ...readStateText(location?.hash ?? "") } : undefined),
    remember: history === null ? undefined : (state) => {
      try {
        history.replaceState(null, "", `#${stateText(state)}`);
      } catch {
        // Sandboxed frames may not change their address.
      }
    },
  };
}

/** Whether an answer that was kept with a question, or with a part of one, is the answer to this one. */
function fits(kept, question) {
  const apart = new Set(["ask", "seq", "version"]);
  return Object.entries(kept ?? {}).every(
    ([key, value]) => apart.has(key) || JSON.stringify(value) === JSON.stringify(question[key]),
  );
}
