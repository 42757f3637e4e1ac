// Keys of the stage beyond those that move the view: open, walk, draw, undo.

/** Listen to keys within an explorer; the result ends it. */
export function listenToKeys({ body, stage, store, history, region, walk, pick, keys, hello, hasLayers }) {
  let begun = null; // where a line drawn by keys begins

  const middle = () => stage.camera().view().center;

  function enter() {
    if (store.get().tool === "line") {
      if (begun === null) begun = [...middle()];
      else {
        store.set({ line: [begun, [...middle()]], tab: "line", tool: "move" });
        begun = null;
      }
      return;
    }
    const side = region.sides.chosen();
    if (side !== null && side.neighbor >= 0) walk(side);
    else pick([...middle()]);
  }
  function layer(step) {
    if (!hasLayers) return;
    const most = hello.model.gates.length;
    const next = Math.min(most, Math.max(0, (store.get().layers ?? most) + step));
    store.set({ layers: next === most ? null : next, hidden: [] });
  }
  const acts = {
    Enter: enter,
    n: () => region.sides.step(1),
    p: () => region.sides.step(-1),
    l: () => {
      begun = null;
      store.set({ tool: store.get().tool === "line" ? "move" : "line" });
    },
    c: () => body.querySelector(".colouring input:checked")?.focus(),
    "[": () => layer(-1),
    "]": () => layer(1),
    "?": keys.open,
    Escape: () => store.set({ selected: null, tool: "move" }),
  };

  function onkey(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if ((event.ctrlKey || event.metaKey) && key === "z" && !isText(event.target)) {
      event.preventDefault();
      if (event.shiftKey) history.redo();
      else history.undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onStage = event.target === stage.surface;
    const onSides = event.target.closest?.(".sides") !== null && event.target.closest?.(".sides") !== undefined;
    if (!onStage && !(key === "Escape" || (onSides && (key === "n" || key === "p")))) return;
    const act = acts[key];
    if (act === undefined) return;
    event.preventDefault();
    act();
    if (key === "Escape" && !onStage) stage.surface.focus();
  }
  body.addEventListener("keydown", onkey);
  return () => body.removeEventListener("keydown", onkey);
}

const isText = (target) => ["TEXTAREA"].includes(target.tagName) || (target.tagName === "INPUT" && target.type === "number");
