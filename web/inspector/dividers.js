// The dividers between the parts of the page. A pointer or the keys move them, and the browser remembers their places.

import { recall, remember } from "./remembered.js";
import { mark } from "./text.js";

/** How far a key moves a divider, in pixels. */
const STEP = 16;
/** The least that the parts keep, in pixels. */
const STAGE_WIDTH = 220;
const VIEWS_HEIGHT = 110;

/**
 * A divider sets the size of one part; the parts beside it have the rest.
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
  side: { part: ".side", side: "width", way: 1, least: 140, rest: [".panels"], room: STAGE_WIDTH },
  views: { part: ".panels", side: "width", way: -1, least: 260, rest: [".side"], room: STAGE_WIDTH },
  time: { part: ".timeline", side: "height", way: -1, least: 200, rest: [], room: VIEWS_HEIGHT },
});

/**
 * The size of a part after a key: null for the size that the style sheet gives, undefined if the key does nothing.
 *
 * @param {{side: string, way: number, least: number}} divider @param {string} key @param {number} size @param {number} most
 */
export function moved({ side, way, least }, key, size, most) {
  const [back, forth] = side === "width" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const wanted = { [back]: size - way * STEP, [forth]: size + way * STEP, Home: least, End: most };
  if (key === "Enter") return null;
  return Object.hasOwn(wanted, key) ? within(wanted[key], least, most) : undefined;
}

/** @param {number} size @param {number} least @param {number} most */
const within = (size, least, most) => Math.round(Math.max(least, Math.min(most, size)));

/** The dividers of the page. */
export class Dividers {
  #frame = /** @type {HTMLElement} */ (document.querySelector(".frame"));
  /** The sizes that a person chose, by divider. @type {Map<string, number>} */
  #sizes = new Map();

  /** @param {AbortSignal} signal ends them */
  constructor(signal) {
    for (const name of Object.keys(DIVIDERS)) {
      const kept = Number(recall(`divider.${name}`) ?? NaN);
      if (kept > 0) this.#sizes.set(name, kept);
      const element = this.#element(name);
      element.addEventListener("keydown", (event) => this.#key(name, event), { signal });
      element.addEventListener("pointerdown", (event) => this.#drag(name, event), { signal });
      element.addEventListener("dblclick", () => this.#set(name, null), { signal });
    }
    const observer = new ResizeObserver(() => this.#applySizes());
    observer.observe(this.#frame);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  #element(name) { return /** @type {HTMLElement} */ (this.#frame.querySelector(`[data-divider=${name}]`)); }

  #sizeOf(selector, side) { return this.#frame.querySelector(selector)?.getBoundingClientRect()[side] ?? 0; }

  /** The size of the part, and the most that it may have beside the others. */
  #bounds({ part, side, least, rest, room }) {
    const others = rest.reduce((sum, each) => sum + this.#sizeOf(each, side), room);
    return { size: this.#sizeOf(part, side), most: Math.max(least, this.#frame.getBoundingClientRect()[side] - others) };
  }

  /** Gives each part its size, as far as the window has room, and names it. */
  #applySizes() {
    for (const [name, divider] of Object.entries(DIVIDERS)) {
      const kept = this.#sizes.get(name);
      const { most } = this.#bounds(divider);
      if (kept === undefined) this.#frame.style.removeProperty(`--${name}`);
      else this.#frame.style.setProperty(`--${name}`, `${within(kept, divider.least, most)}px`);
      const { size } = this.#bounds(divider);
      const values = { valuemin: divider.least, valuemax: Math.round(most), valuenow: Math.round(size) };
      for (const [value, number] of Object.entries(values)) mark(this.#element(name), `aria-${value}`, number);
    }
  }

  #show(name, size) {
    if (size === null) this.#sizes.delete(name);
    else this.#sizes.set(name, size);
    this.#applySizes();
  }

  #set(name, size) {
    remember(`divider.${name}`, size === null ? null : String(size));
    this.#show(name, size);
  }

  #key(name, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { size, most } = this.#bounds(DIVIDERS[name]);
    const wanted = moved(DIVIDERS[name], event.key, size, most);
    if (wanted === undefined) return;
    event.preventDefault();
    this.#set(name, wanted);
  }

  #drag(name, event) {
    if (event.button !== 0) return;
    const divider = DIVIDERS[name];
    const element = this.#element(name);
    const { size, most } = this.#bounds(divider);
    const at = (each) => divider.side === "width" ? each.clientX : each.clientY;
    const begin = at(event);
    const over = new AbortController();
    element.setPointerCapture(event.pointerId);
    element.addEventListener("pointermove", (each) => {
      this.#show(name, within(size + divider.way * (at(each) - begin), divider.least, most));
    }, { signal: over.signal });
    // However the drag ends, the browser releases the pointer.
    element.addEventListener("lostpointercapture", () => {
      over.abort();
      this.#set(name, this.#sizes.get(name) ?? null);
    }, { once: true });
  }
}
