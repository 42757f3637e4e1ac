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
    const [red, green, blue, alpha] = bytesOf(getComputedStyle(around).backgroundColor);
    if (alpha > 127) return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
  }
  return null;
}

/** Return a colour as it is painted: pages write colours in more notations than one would want to read. */
function bytesOf(colour) {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return context.getImageData(0, 0, 1, 1).data;
}
