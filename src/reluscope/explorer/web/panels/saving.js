// What can be kept: the view as a picture, the regions as a table, the code that makes it again, a link.

import { make } from "../elements.js";

/**
 * Return the menu of what can be saved.
 * @param {{pictures: {png: () => Promise<Blob>, svg: () => string}, exportAs: (as: string) => Promise<Blob>,
 *   can: (feature: string) => boolean, announce: Function, fail: Function, linkable: boolean}} app
 */
export function savingMenu({ pictures, exportAs, can, announce, fail, linkable }) {
  const entry = (label, act) => make("button", { role: "menuitem", onclick: () => run(act) }, label);
  const list = make("div.menu", { role: "menu" },
    entry("Picture (PNG)", async () => download(await pictures.png(), "plane.png")),
    entry("Drawing (SVG)", () => download(new Blob([pictures.svg()], { type: "image/svg+xml" }), "plane.svg")),
    can("export") && entry("Regions (Parquet)", async () => download(await exportAs("parquet"), "regions.parquet")),
    can("export") && entry("Python code", async () => download(await exportAs("python"), "plane.py")),
    linkable && entry("Copy the link", async () => {
      await navigator.clipboard.writeText(location.href);
      announce("The link is copied.");
    }));
  const button = make("summary.quiet", "Save");
  const element = make("details.saving", button, list);

  async function run(act) {
    element.open = false;
    button.focus();
    try {
      await act();
    } catch (error) {
      fail(error.message);
    }
  }
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.open) return;
    event.stopPropagation();
    element.open = false;
    button.focus();
  });
  element.addEventListener("focusout", (event) => {
    if (element.open && !element.contains(event.relatedTarget)) element.open = false;
  });
  return element;
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
