// Elements made in one call: no markup is ever parsed, so no name of a model or a class can become part of the page.

const DRAWN = "http://www.w3.org/2000/svg";

/**
 * Return an element with attributes, listeners (`onclick: f`) and children; what is null or false is left out.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...unknown} children
 */
export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Return an element of a drawing (SVG), as `make` does. */
export function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(DRAWN, tag), attributes, children);
}

/** Put children in the place of those that an element has, unless they are the same text. */
export function refill(element, ...children) {
  element.replaceChildren(...present(children));
  return element;
}

/** Write a text where it is another one: a live region speaks only when something has changed. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}
