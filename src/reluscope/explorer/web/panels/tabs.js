// The side as tabs: arrows go from one to the next.

import { make } from "../elements.js";

/** Return tabs; each has key, label, element and perhaps open(), called when it is shown. */
export function tabsPanel({ store, name, tabs }) {
  const buttons = tabs.map(({ key, label }) =>
    make("button", { role: "tab", id: `${name}-tab-${key}`, "aria-controls": `${name}-panel-${key}`, onclick: () => store.set({ tab: key }) }, label));
  const panels = tabs.map(({ key, element }) =>
    make("div", { role: "tabpanel", id: `${name}-panel-${key}`, "aria-labelledby": `${name}-tab-${key}` }, element));
  const list = make("div", { role: "tablist", class: "tablist", "aria-label": "panels", onkeydown: (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const now = buttons.indexOf(event.target);
    const next = (now + step + tabs.length) % tabs.length;
    store.set({ tab: tabs[next].key });
    buttons[next].focus();
  } }, buttons);

  function show({ tab }) {
    const at = Math.max(0, tabs.findIndex(({ key }) => key === tab));
    tabs.forEach((_, index) => {
      buttons[index].setAttribute("aria-selected", String(index === at));
      buttons[index].tabIndex = index === at ? 0 : -1;
      panels[index].hidden = index !== at;
    });
    tabs[at].open?.();
  }
  store.subscribe((state, changed) => changed.has("tab") && show(state));
  show(store.get());
  return [list, ...panels];
}
