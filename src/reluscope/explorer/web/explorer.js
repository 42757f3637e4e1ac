// The one module of the explorer, in anywidget's form: `render({ model, el })` shows it in an element.
//
// On pages it begins by itself, at every element that says where answers come from: `data-reluscope="page"` (the server
// that the page came from) or `data-reluscope="still"` (what the element holds). Notebooks have no such element.

import { AnswerError, createAsker } from "./asking.js";
import { assemble } from "./assembling.js";
import { capital, make, refill } from "./elements.js";
import { createPageModel } from "./page.js";
import { NoWebGL } from "./scene.js";
import { createStillModel, readAnswers } from "./still.js";
import style from "./style.css";
import { watchTheme } from "./theme.js";

/** Show an explorer in an element; the result takes it away. */
function render({ model, el }) {
  const root = el.shadowRoot ?? el.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  const body = make(`div.explorer.${"fills" in el.dataset ? "page" : "cell"}`);
  root.replaceChildren(body);
  refill(body, make("p.opening", { role: "status" }, "Opening the network …"));

  const asker = createAsker(model);
  const theme = { isDark: false, onchange: () => {} };
  const ends = [asker.dispose, watchTheme(el, (isDark) => {
    theme.isDark = isDark;
    body.classList.toggle("dark", isDark);
    theme.onchange();
  })];
  let isGone = false;

  let takeApart = () => {};
  ends.push(() => takeApart());

  /** Open it again, for another network, as the reader has left it. */
  async function reopen({ by, edges, boundary, tab }, focused) {
    takeApart();
    takeApart = () => {};
    await open({ by, edges, boundary, tab });
    if (focused) body.querySelector(`[name="${focused}"]`)?.focus({ preventScroll: true });
  }
  async function open(initial = model.get("initial")) {
    try {
      const { header: hello } = await asker.ask({ ask: "hello" });
      if (!isGone) takeApart = assemble({ body, model, asker, hello, theme, initial, reopen });
    } catch (error) {
      if (isGone) return;
      const isSaid = error instanceof AnswerError || error instanceof NoWebGL;
      if (!isSaid) console.error(error);
      refill(body, make("div.opening.warned", { role: "alert" },
        make("p", isSaid ? capital(error.message) : `The explorer failed (${error.message}): please report it.`),
        make("p", make("button", { onclick: () => void open() }, "Try again"))));
    }
  }
  void open();

  return () => {
    isGone = true;
    for (const end of ends.reverse()) end();
    root.replaceChildren();
  };
}

export default { render };

function start(element) {
  const { reluscope: kind, initial } = element.dataset;
  const isAlone = document.querySelectorAll("[data-reluscope]").length === 1 && element.parentElement === document.body;
  if (isAlone) fillThePage(element);
  const model = kind === "page" ? createPageModel() : createStillModel(readAnswers(element.querySelector("script").textContent), {
    initial: JSON.parse(initial ?? "{}"), ...(isAlone ? { location, history } : {}),
  });
  render({ model, el: element });
}

/** The element is all that its page shows. */
function fillThePage(element) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("html, body { margin: 0; height: 100%; } :root { color-scheme: light dark; }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  element.dataset.fills = "";
  element.style.display = "block";
  element.style.minHeight = "100%";
}

if (typeof document !== "undefined") {
  for (const element of document.querySelectorAll("[data-reluscope]")) start(element);
}
