// Elements are made by these functions only. None of them parses HTML, so a text of a client stays a text.

/** The attribute of an element that a finger presses, which `morph` keeps. */
export const PRESSED_ATTRIBUTE = "data-pressed";

/**
 * Makes an element.
 *
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] `undefined`, `null` and `false` leave an attribute out; `true` sets it empty.
 * @param {...(Node|string|null|undefined)} children
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

/** Makes an element `bdi` for a text of a client; `bdi` keeps its writing direction from changing the text beside it. */
export function bdiText(text) {
  const element = document.createElement("bdi");
  element.textContent = String(text);
  return element;
}

/** Sets the language of an element; null inherits that of its parent. */
export function setLanguage(element, language) {
  if (language) element.lang = language;
  else element.removeAttribute("lang");
}

/**
 * Makes `old` equal to `next`, and keeps the elements that stay.
 *
 * Replacing them would take away the focus, the caret and the scroll position of somebody who is typing. It
 * matches elements with the same `data-key`, and each other element with the next old one if both have the same tag.
 */
export function morph(old, next) {
  morphAttributes(old, next);
  const oldByKey = new Map();
  for (const child of old.children) if (child.dataset.key) oldByKey.set(child.dataset.key, child);
  let at = old.firstChild;
  for (const child of [...next.childNodes]) {
    const match = matchingChild(at, child, oldByKey);
    if (match) {
      if (match !== at) old.insertBefore(match, at);
      else at = at.nextSibling;
      if (match.nodeType === Node.ELEMENT_NODE) morph(match, child);
      else if (match.data !== child.data) match.data = child.data;
    } else {
      old.insertBefore(child, at);
    }
  }
  while (at) {
    const after = at.nextSibling;
    at.remove();
    at = after;
  }
}

/** The old child that becomes `child`: the one with its key, else `nextOld` if it has the same tag; null if there is none. */
function matchingChild(nextOld, child, oldByKey) {
  const key = child.dataset?.key;
  if (key) {
    const match = oldByKey.get(key);
    return match?.localName === child.localName ? match : null;
  }
  if (!nextOld || nextOld.nodeType !== child.nodeType || nextOld.dataset?.key) return null;
  return nextOld.nodeType !== Node.ELEMENT_NODE || (nextOld.localName === child.localName && nextOld.namespaceURI === child.namespaceURI) ? nextOld : null;
}

function morphAttributes(old, next) {
  for (const { name } of [...old.attributes]) if (name !== PRESSED_ATTRIBUTE && !next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of [...next.attributes]) if (name !== "style" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  morphStyle(old.style, next.style);
  if (old.localName !== "input") return;
  // The attribute is only the first value. While somebody types here, the field itself is ahead of the state.
  if (old !== document.activeElement && old.value !== next.value) old.value = next.value;
}

// The policy of the page refuses `style` as an attribute, but not single properties.
function morphStyle(old, next) {
  for (const name of [...old]) if (!next.getPropertyValue(name)) old.removeProperty(name);
  for (const name of [...next]) if (old.getPropertyValue(name) !== next.getPropertyValue(name)) old.setProperty(name, next.getPropertyValue(name));
}
