// What the browser remembers for a person, by address and port: choices of how the page is used, which no link carries.

/** Used where a browser forbids storage: a choice then lasts as long as the page. @type {Map<string, string|null>} */
const own = new Map();

const PREFIX = "navd-inspector.";

/** The choice of that name, or null. @param {string} name */
export function recall(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return own.get(name) ?? null;
  }
}

/** Keeps a choice; null forgets it. @param {string} name @param {string|null} value */
export function remember(name, value) {
  own.set(name, value);
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // `own` has it.
  }
}
