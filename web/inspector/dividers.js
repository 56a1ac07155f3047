// The dividers between the parts of the page. A pointer or the keys move them, and the browser remembers their places.

import { recallChoice, rememberChoice } from "./remembered.js";
import { updateAttribute } from "./text.js";

/** How far a key moves a divider, in pixels. */
const KEY_STEP_PIXELS = 16;
/** The minimum width of the stage and height of the views, in pixels. */
const MINIMUM_STAGE_WIDTH = 220;
const MINIMUM_VIEWS_HEIGHT = 110;

/**
 * A divider sets the size of one part of the page; the parts beside it share the rest.
 *
 * @typedef {object} Divider
 * @property {string} part selects the part
 * @property {"width"|"height"} side
 * @property {1|-1} way 1 if the part grows to the right
 * @property {number} least
 * @property {string[]} rest selects the parts that keep their size
 * @property {number} room what the part between keeps
 */

/** @type {Readonly<Record<string, Divider>>} */
const DIVIDERS = Object.freeze({
  side: { part: ".side", side: "width", way: 1, least: 140, rest: [".panels"], room: MINIMUM_STAGE_WIDTH },
  views: { part: ".panels", side: "width", way: -1, least: 260, rest: [".side"], room: MINIMUM_STAGE_WIDTH },
  time: { part: ".timeline", side: "height", way: -1, least: 200, rest: [], room: MINIMUM_VIEWS_HEIGHT },
});

/**
 * The size of a part after a key press: null for the size of the style sheet, undefined if the key does nothing.
 *
 * @param {{side: string, way: number, least: number}} divider @param {string} key @param {number} size @param {number} most
 */
export function sizeAfterKey({ side, way, least }, key, size, most) {
  const [back, forth] = side === "width" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const wanted = { [back]: size - way * KEY_STEP_PIXELS, [forth]: size + way * KEY_STEP_PIXELS, Home: least, End: most };
  if (key === "Enter") return null;
  return Object.hasOwn(wanted, key) ? clampSize(wanted[key], least, most) : undefined;
}

/** @param {number} size @param {number} least @param {number} most */
const clampSize = (size, least, most) => Math.round(Math.max(least, Math.min(most, size)));

/** The dividers of the page. */
export class Dividers {
  #frame = /** @type {HTMLElement} */ (document.querySelector(".frame"));
  /** The sizes that a person chose, by divider. @type {Map<string, number>} */
  #chosenSizes = new Map();

  /** @param {AbortSignal} signal ends them */
  constructor(signal) {
    for (const name of Object.keys(DIVIDERS)) {
      const kept = Number(recallChoice(`divider.${name}`) ?? NaN);
      if (kept > 0) this.#chosenSizes.set(name, kept);
      const element = this.#element(name);
      element.addEventListener("keydown", (event) => this.#onKey(name, event), { signal });
      element.addEventListener("pointerdown", (event) => this.#onDrag(name, event), { signal });
      element.addEventListener("dblclick", () => this.#rememberSize(name, null), { signal });
    }
    const observer = new ResizeObserver(() => this.#applySizes());
    observer.observe(this.#frame);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  #element(name) { return /** @type {HTMLElement} */ (this.#frame.querySelector(`[data-divider=${name}]`)); }

  #sizeOf(selector, side) { return this.#frame.querySelector(selector)?.getBoundingClientRect()[side] ?? 0; }

  /** The size of a part in pixels, and the maximum that the other parts leave to it. */
  #sizeAndMaximum({ part, side, least, rest, room }) {
    const others = rest.reduce((sum, each) => sum + this.#sizeOf(each, side), room);
    return { size: this.#sizeOf(part, side), most: Math.max(least, this.#frame.getBoundingClientRect()[side] - others) };
  }

  /** Gives each part its chosen size, as far as the window has room, and reports the size to screen readers. */
  #applySizes() {
    for (const [name, divider] of Object.entries(DIVIDERS)) {
      const kept = this.#chosenSizes.get(name);
      const { most } = this.#sizeAndMaximum(divider);
      if (kept === undefined) this.#frame.style.removeProperty(`--${name}`);
      else this.#frame.style.setProperty(`--${name}`, `${clampSize(kept, divider.least, most)}px`);
      const { size } = this.#sizeAndMaximum(divider);
      const values = { valuemin: divider.least, valuemax: Math.round(most), valuenow: Math.round(size) };
      for (const [value, number] of Object.entries(values)) updateAttribute(this.#element(name), `aria-${value}`, number);
    }
  }

  #applySize(name, size) {
    if (size === null) this.#chosenSizes.delete(name);
    else this.#chosenSizes.set(name, size);
    this.#applySizes();
  }

  #rememberSize(name, size) {
    rememberChoice(`divider.${name}`, size === null ? null : String(size));
    this.#applySize(name, size);
  }

  #onKey(name, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { size, most } = this.#sizeAndMaximum(DIVIDERS[name]);
    const wanted = sizeAfterKey(DIVIDERS[name], event.key, size, most);
    if (wanted === undefined) return;
    event.preventDefault();
    this.#rememberSize(name, wanted);
  }

  #onDrag(name, event) {
    if (event.button !== 0) return;
    const divider = DIVIDERS[name];
    const element = this.#element(name);
    const { size, most } = this.#sizeAndMaximum(divider);
    const at = (each) => divider.side === "width" ? each.clientX : each.clientY;
    const begin = at(event);
    const over = new AbortController();
    element.setPointerCapture(event.pointerId);
    element.addEventListener("pointermove", (each) => {
      this.#applySize(name, clampSize(size + divider.way * (at(each) - begin), divider.least, most));
    }, { signal: over.signal });
    // However the drag ends, the browser releases the pointer.
    element.addEventListener("lostpointercapture", () => {
      over.abort();
      this.#rememberSize(name, this.#chosenSizes.get(name) ?? null);
    }, { once: true });
  }
}
