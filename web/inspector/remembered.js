// What the browser remembers for a person, by address and port: choices of how the page is used, which no link carries.

/** The choices by name, for browsers that forbid storage: there they last as long as the page. @type {Map<string, string|null>} */
const unstoredChoices = new Map();

const STORAGE_PREFIX = "navd-inspector.";

/** Returns the stored choice of a name, or null. @param {string} name */
export function recallChoice(name) {
  try {
    return localStorage.getItem(STORAGE_PREFIX + name);
  } catch {
    return unstoredChoices.get(name) ?? null;
  }
}

/** Stores a choice; null removes it. @param {string} name @param {string|null} value */
export function rememberChoice(name, value) {
  unstoredChoices.set(name, value);
  try {
    if (value === null) localStorage.removeItem(STORAGE_PREFIX + name);
    else localStorage.setItem(STORAGE_PREFIX + name, value);
  } catch {
    // `unstoredChoices` has it.
  }
}
