// The keys of the page. Revisions are chosen through the store, so the timeline and the stage follow.

import { recall, remember } from "./remembered.js";
import { TABS } from "./store.js";

/** Speech input types words, and each letter of them would act: a person can turn the letters off (WCAG 2.1.4). */
const OFF = "keys";

/** Whether keys of a single character act. */
export const areLettersOn = () => recall(OFF) === null;

/** @param {boolean} isOn */
export const setLetters = (isOn) => remember(OFF, isOn ? null : "off");

/** Listens to the keys. Fields, dialogs and lists that use a key themselves come first. */
export class Keys {
  #store;
  #parts;

  /**
   * @param {import("./shell.js").Context} context
   * @param {{tree: any, help: any, model: import("./shell.js").Model}} parts
   */
  constructor({ store, signal }, parts) {
    this.#store = store;
    this.#parts = parts;
    document.addEventListener("keydown", (event) => this.#key(event), { signal });
  }

  #key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest?.("input, textarea, select, dialog")) return;
    if (event.key.length === 1 && !areLettersOn()) return;
    const act = this.#acts()[event.key] ?? this.#acts()[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @returns {Record<string, () => void>} */
  #acts() {
    const { tree, help } = this.#parts;
    const store = this.#store;
    /** @type {any} */
    const acts = Object.assign(Object.create(null), {
      j: () => tree.step(1), k: () => tree.step(-1), "/": () => tree.search(), "?": () => help.open(),
      t: () => tree.pin(), b: () => this.#jump("bookmark"),
      l: () => store.set({ at: null }), p: () => store.set({ paused: !store.paused }),
      ArrowLeft: () => this.#step(-1), ArrowRight: () => this.#step(1), Home: () => this.#jump("first"), End: () => this.#jump("last"),
    });
    TABS.forEach((tab, index) => { acts[String(index + 1)] = () => store.set({ tab }); });
    return acts;
  }

  /** The buttons of the timeline know what is on the stage, the floor and what is loaded. */
  #jump(name) {
    /** @type {HTMLElement|null} */ (document.querySelector(`[data-part=${name}]`))?.click();
  }

  #step(by) {
    const button = document.querySelector(`[data-part=${by < 0 ? "previous" : "next"}]`);
    if (button instanceof HTMLElement) return button.click();
    const { live, state } = this.#parts.model;
    const from = this.#store.at ?? live?.rev ?? state?.rev;
    if (from === undefined) return undefined;
    const next = from + by;
    if (live && next >= live.rev) this.#store.set({ at: null });
    else if (next >= 1) this.#store.set({ at: next });
    return undefined;
  }
}
