// Elements made in one call: no markup is ever parsed, so no name of a model or a class can become part of the page.

const DRAWN = "http://www.w3.org/2000/svg";

/**
 * Return an element: its tag and classes as in "p.note", perhaps attributes and listeners (`{ onclick: f }`), then
 * children; what is null or false is left out.
 * @param {string} name
 * @param {...unknown} content
 */
export function make(name, ...content) {
  return filled((tag) => document.createElement(tag), name, content);
}

/** Return an element of a drawing (SVG), as `make` does. */
export function draw(name, ...content) {
  return filled((tag) => document.createElementNS(DRAWN, tag), name, content);
}

/** Return a button that is text among text. */
export function quiet(label, act, attributes = {}) {
  return make("button.quiet", { onclick: act, ...attributes }, label);
}

/** Return a button that is a sign, and what it is called. */
export function sign(text, label, act) {
  return make("button.icon", { title: label, "aria-label": label, onclick: act }, text);
}

/** Put children in the place of those that an element has. */
export function refill(element, ...children) {
  element.replaceChildren(...present(children));
  return element;
}

/** Write a text where it is another one: a live region speaks only when something has changed. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Return a text with a capital at its beginning. */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function filled(create, name, content) {
  const [tag, ...classes] = name.split(".");
  const element = create(tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  const [first] = content;
  if (first?.constructor === Object) {
    content.shift();
    for (const [key, value] of Object.entries(first)) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (key === "value" || key === "checked" || key === "disabled") element[key] = value;
      else element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...present(content));
  return element;
}

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}
