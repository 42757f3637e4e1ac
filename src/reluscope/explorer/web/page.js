// The local page: a model in anywidget's form over POST requests to the server that the page came from.

import { readStateText, stateText } from "./link.js";
import { unpack } from "./unpack.js";

const GONE = "The server does not answer: run the command again, and open the address that it prints.";
const REFUSED = "The server refuses this page: open the whole address that the command printed.";

/**
 * Return the model of a page; the key to the server and the state lie in the fragment of its address.
 * @param {{fetch?: typeof fetch, location?: Location, history?: History}} [browser]
 */
export function createPageModel(browser = globalThis) {
  const listeners = new Set();
  const token = new URLSearchParams(browser.location.hash.slice(1)).get("token") ?? "";
  const emit = (header, buffers) => listeners.forEach((listener) => listener(header, buffers));

  async function ask(question) {
    let response;
    try {
      response = await browser.fetch("/ask", {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify(question),
      });
      const bytes = await response.arrayBuffer();
      if (response.ok) {
        const { header, buffers } = unpack(bytes);
        emit(header, buffers);
        return;
      }
    } catch {
      response = undefined;
    }
    const message = response === undefined ? GONE : REFUSED;
    emit({ answer: "error", seq: question.seq, kind: "connection", message }, []);
  }

  return {
    send: (question) => void ask(question),
    on: (_, listener) => listeners.add(listener),
    off: (_, listener) => listeners.delete(listener),
    get: (name) => (name === "initial" ? readStateText(browser.location.hash) : undefined),
    /** Keep the state in the address, beside the key. */
    remember(state) {
      const kept = [token && `token=${encodeURIComponent(token)}`, stateText(state)].filter(Boolean).join("&");
      browser.history.replaceState(null, "", `#${kept}`);
    },
  };
}
