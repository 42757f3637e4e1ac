// Keys of the stage beyond those that move the view: open, walk, draw, undo.

/** Listen to keys within an explorer; the result ends it. */
export function listenToKeys({ body, stage, store, history, region, walk, pick, keys, layers, travel }) {
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
  const acts = {
    Enter: enter,
    n: () => region.sides.step(1),
    p: () => region.sides.step(-1),
    x: () => travel("corner"),
    b: () => travel("boundary"),
    d: () => travel("densest"),
    l: () => {
      begun = null;
      store.set({ tool: store.get().tool === "line" ? "move" : "line" });
    },
    c: () => body.querySelector(".colouring input:checked")?.focus(),
    "[": () => layers?.step(-1),
    "]": () => layers?.step(1),
    "?": keys.open,
    Escape: () => store.set({ selected: null, tool: "move" }),
  };

  function onkey(event) {
    const { target, key: pressed, ctrlKey, metaKey, altKey, shiftKey } = event;
    const key = pressed.length === 1 ? pressed.toLowerCase() : pressed;
    const isCommand = ctrlKey || metaKey;
    const isHere = target === stage.surface
      || (key === "Escape" ? target.closest(".side") : (key === "n" || key === "p") && target.closest(".sides"));
    let act = isHere && !isCommand && !altKey ? acts[key] : undefined;
    if (isCommand && key === "z" && !target.matches("textarea, [type=number]")) act = shiftKey ? history.redo : history.undo;
    if (!act) return;
    event.preventDefault();
    act();
    if (key === "Escape") stage.surface.focus();
  }
  body.addEventListener("keydown", onkey);
  return () => body.removeEventListener("keydown", onkey);
}
