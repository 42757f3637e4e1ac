// Light or dark: as the page around is, a notebook's theme before the system's.

/**
 * Call `onchange(isDark)` now and whenever the surroundings change; the result ends it.
 * @param {Element} element what lies in the surroundings
 * @param {(isDark: boolean) => void} onchange
 */
export function watchTheme(element, onchange) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let last = null;
  const look = () => {
    const now = isDarkAround(element) ?? system.matches;
    if (now !== last) onchange(now);
    last = now;
  };
  system.addEventListener("change", look);
  // Notebooks change a class or an attribute of the document when their theme is changed.
  const observer = new MutationObserver(look);
  for (const observed of [document.documentElement, document.body]) observer.observe(observed, { attributes: true });
  look();
  return () => {
    system.removeEventListener("change", look);
    observer.disconnect();
  };
}

/** Whether the first ground that is painted behind an element is dark; null if none is. */
function isDarkAround(element) {
  for (let around = element; around !== null; around = around.parentElement ?? around.getRootNode().host ?? null) {
    const [red, green, blue, alpha = 1] = (getComputedStyle(around).backgroundColor.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    if (alpha > 0.5) return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
  }
  return null;
}
