// The choices of the person who looks: one object, changed by `set` only.

/** @typedef {"stream"|"compare"|"why"|"sessions"|"refusals"|"plots"} Tab */

/**
 * The choices of the person: nav, revision, filter, tab and so on.
 *
 * @typedef {object} Choice
 * @property {string|null} nav the nav on the stage
 * @property {number|null} at a revision of the past; null follows the newest
 * @property {string|null} epoch the epoch that `at` is of; null if only its number is known
 * @property {number|null} compareWith the revision to compare the one on the stage with
 * @property {string} filter the text that timeline and stream are filtered by
 * @property {boolean} paused whether the lists hold still while the nav goes on
 * @property {Tab} tab
 * @property {readonly string[]} pins the navs at the top of the tree
 * @property {readonly string[]} bookmarks as `formatBookmark` writes them
 */

/**
 * The names of the tabs, in the order of the keys 1 … 6.
 *
 * @type {readonly Tab[]}
 */
export const TABS = Object.freeze(["stream", "compare", "why", "sessions", "refusals", "plots"]);

/** Holds the choices and reports their changes. */
export class ChoiceStore {
  /** @type {string|null} */
  nav = null;
  /** @type {number|null} */
  at = null;
  /** @type {string|null} */
  epoch = null;
  /** @type {number|null} */
  compareWith = null;
  filter = "";
  paused = false;
  /** @type {Tab} */
  tab = "stream";
  /** @type {readonly string[]} */
  pins = [];
  /** @type {readonly string[]} */
  bookmarks = [];
  #listeners = new Set();

  /**
   * Changes some choices. Another nav drops the choices about revisions unless `part` has them, and
   * another revision drops the epoch.
   *
   * @param {Partial<Choice>} part
   */
  set(part) {
    const isOther = part.nav !== undefined && part.nav !== this.nav;
    const wanted = {
      ...(isOther ? { at: null, epoch: null, compareWith: null } : part.at === undefined ? {} : { epoch: null }), ...part,
    };
    const changed = new Set();
    for (const [name, value] of Object.entries(wanted)) {
      if (this[name] === value) continue;
      this[name] = value;
      changed.add(name);
    }
    if (changed.size) for (const listener of [...this.#listeners]) listener(this, changed);
  }

  /**
   * Calls `listener` after each change, with the store and the names of what changed.
   *
   * @param {(store: ChoiceStore, changed: Set<string>) => void} listener
   * @returns {() => void} ends the subscription
   */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
