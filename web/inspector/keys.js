// The keys of the page. Revisions are chosen through the store, so the timeline and the stage follow.

import { recallChoice, rememberChoice } from "./remembered.js";
import { TABS } from "./store.js";

/** The stored choice that letters are no shortcuts: speech input types words, whose letters would act (WCAG 2.1.4). */
const LETTERS_OFF_KEY = "keys";

/** Whether letters, digits and signs are shortcuts. */
export const areLetterKeysOn = () => recallChoice(LETTERS_OFF_KEY) === null;

/** @param {boolean} isOn */
export const setLetterKeysOn = (isOn) => rememberChoice(LETTERS_OFF_KEY, isOn ? null : "off");

/** Performs the keyboard shortcuts of the page, except in fields, dialogs and lists that use the key themselves. */
export class KeyboardShortcuts {
  #store;
  #targets;

  /**
   * @param {import("./shell.js").Context} context
   * @param {{tree: any, help: any, model: import("./shell.js").Model}} parts
   */
  constructor({ store, signal }, parts) {
    this.#store = store;
    this.#targets = parts;
    document.addEventListener("keydown", (event) => this.#onKey(event), { signal });
  }

  #onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest?.("input, textarea, select, dialog")) return;
    if (event.key.length === 1 && !areLetterKeysOn()) return;
    const act = this.#actionsByKey()[event.key] ?? this.#actionsByKey()[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @returns {Record<string, () => void>} */
  #actionsByKey() {
    const { tree, help } = this.#targets;
    const store = this.#store;
    /** @type {any} */
    const acts = Object.assign(Object.create(null), {
      j: () => tree.stepNav(1), k: () => tree.stepNav(-1), "/": () => tree.focusSearch(), "?": () => help.open(),
      t: () => tree.togglePin(), b: () => this.#clickButton("bookmark"),
      l: () => store.set({ at: null }), p: () => store.set({ paused: !store.paused }),
      ArrowLeft: () => this.#stepRevision(-1), ArrowRight: () => this.#stepRevision(1), Home: () => this.#clickButton("first"), End: () => this.#clickButton("last"),
    });
    TABS.forEach((tab, index) => { acts[String(index + 1)] = () => store.set({ tab }); });
    return acts;
  }

  /** Clicks a button of the timeline, which knows the shown revision, the oldest one and what is loaded. */
  #clickButton(name) {
    /** @type {HTMLElement|null} */ (document.querySelector(`[data-part=${name}]`))?.click();
  }

  #stepRevision(by) {
    const button = document.querySelector(`[data-part=${by < 0 ? "previous" : "next"}]`);
    if (button instanceof HTMLElement) return button.click();
    const { live, state } = this.#targets.model;
    const from = this.#store.at ?? live?.rev ?? state?.rev;
    if (from === undefined) return undefined;
    const next = from + by;
    if (live && next >= live.rev) this.#store.set({ at: null });
    else if (next >= 1) this.#store.set({ at: next });
    return undefined;
  }
}
