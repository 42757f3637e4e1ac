// A slider through the states of a training; which one is looked at is the epoch of the store.

import { make, write } from "../elements.js";

/**
 * Return the slider, the name of where it stands, and what moves it.
 * @param {{store: object, label: string, places: () => {count: number, at: (place: number) => number,
 *   of: (epoch: number) => number}, name: (epoch: number | null) => string, isLive?: boolean, onmove?: () => void}} what
 *   `isLive`: the last place is the model as it is now
 */
export function createEpochSlider({ store, label, places, name, isLive = false, onmove = () => {} }) {
  const element = make("input", { type: "range", min: 0, "aria-label": label, oninput: () => go(Number(element.value)) });
  const said = make("b");
  const last = () => places().count - 1;
  const at = () => (store.get().epoch === null ? last() : Math.max(0, places().of(store.get().epoch)));

  function choose(place) {
    store.set({ epoch: place === null || (isLive && place >= last()) ? null : places().at(place) });
  }
  function go(place) {
    onmove();
    choose(place);
  }
  function show() {
    const named = name(store.get().epoch);
    element.max = String(last());
    element.value = String(at());
    element.setAttribute("aria-valuetext", named);
    write(said, named);
  }
  return { element, said, at, last, choose, go, show };
}
