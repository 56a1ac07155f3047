// Lists of any length with a fixed pool of rows. Only what is in sight is in the document.

import { el } from "../view/dom.js";
import { mark } from "./text.js";

/** The number of rows that are kept above and below the visible ones. */
const SPARE = 3;
/** The height of a scroll area that every browser can lay out. */
const TALLEST = 8_000_000;

/** A list with rows of equal height, which takes its rows from a pool. */
export class Rows {
  /** The element that scrolls. */
  root;
  count = 0;
  #space;
  #pool = [];
  #make;
  #fill;
  #height = 28;
  #most;
  #view = 0;
  /** Where the list is scrolled to. Asking the element would lay out the page in each frame. */
  #top = 0;
  #isPlanned = false;
  #keyOf;
  /** The rows of the pool by what they show. @type {Map<any, HTMLElement|null>} */
  #shown = new Map();
  /** The index of a row that stays in the document where it is not in sight; −1 for none. */
  active = -1;

  /**
   * @param {HTMLElement} root it scrolls
   * @param {{make: () => HTMLElement, fill: (row: HTMLElement, index: number) => void, most?: number, role?: string, keyOf?: (index: number) => any}} options
   *   `keyOf` is what a row shows, by default its index. While that is in sight it keeps its element, and with it
   *   focus, selection, and what refers to its id
   */
  constructor(root, { make, fill, most = 60, role, keyOf = (index) => index }) {
    this.#keyOf = keyOf;
    this.root = root;
    this.#make = make;
    this.#fill = fill;
    this.#most = most;
    this.#space = el("div", { class: "rows", role });
    root.append(this.#space);
    root.addEventListener("scroll", () => {
      this.#top = root.scrollTop;
      this.#plan();
    }, { passive: true });
    new ResizeObserver(() => {
      this.#measure();
      this.draw();
    }).observe(root);
  }

  /** Scrolling draws at most once a frame. */
  #plan() {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      this.draw();
    });
  }

  #measure() {
    this.#view = this.root.clientHeight;
    // A list that was hidden has lost its place.
    this.#top = this.root.scrollTop;
    const height = parseFloat(getComputedStyle(this.root).getPropertyValue("--row"));
    if (height > 0) this.#height = height;
  }

  /**
   * Draws the list with so many rows. `added` rows came on top since the last call: what the person
   * reads, or has the focus in, stays in its place.
   *
   * @param {number} count
   * @param {number} [added]
   */
  update(count, added = 0) {
    if (count !== this.count) {
      this.count = count;
      this.#space.style.setProperty("height", `${Math.min(TALLEST, count * this.#height)}px`);
    }
    if (added && (this.#top > 2 || this.#space.contains(document.activeElement))) this.#scroll(this.#top + added * this.#height);
    this.draw();
  }

  /** Draws what is in sight; nothing while the list is hidden, or before the browser has laid it out. */
  draw() {
    const rows = this.#view ? Math.min(this.#most, Math.ceil(this.#view / this.#height) + 2 * SPARE) : 0;
    const last = Math.max(0, this.count - rows);
    const first = Math.min(last, Math.max(0, Math.floor(this.#top / this.#height) - SPARE));
    const indexes = Array.from({ length: Math.min(rows, this.count) }, (_, at) => first + at);
    if (indexes.length && this.active >= 0 && this.active < this.count && !(this.active >= first && this.active < first + indexes.length)) {
      indexes.splice(this.active < first ? 0 : indexes.length, 0, this.active);
    }
    const before = this.#shown;
    this.#shown = new Map();
    const keys = indexes.map((index) => {
      const key = this.#keyOf(index);
      // A forged recording may have an id twice.
      const own = this.#shown.has(key) ? {} : key;
      this.#shown.set(own, before.get(own) ?? null);
      return own;
    });
    const kept = new Set([...this.#shown.values()].filter((row) => row !== null));
    const free = this.#pool.filter((row) => !kept.has(row));
    const order = [];
    for (const [at, index] of indexes.entries()) {
      const row = this.#shown.get(keys[at]) ?? free.pop() ?? this.#add();
      this.#shown.set(keys[at], row);
      order.push(row);
      const place = `${index * this.#height}px`;
      if (row.style.getPropertyValue("--at") !== place) row.style.setProperty("--at", place);
      mark(row, "data-index", index);
      this.#fill(row, index);
    }
    for (const row of free) row.remove();
    this.#pool = order;
    this.#sort(order, kept);
  }

  #add() {
    const row = this.#make();
    row.classList.add("row-of-pool");
    return row;
  }

  /** The document has the rows in the order in which they are read. A row that is moved loses the focus, so those that stay are not. */
  #sort(order, kept) {
    let after = null;
    for (let at = order.length - 1; at >= 0; at--) {
      const row = order[at];
      if (!kept.has(row) && (row.parentNode !== this.#space || row.nextSibling !== after)) this.#space.insertBefore(row, after);
      after = row;
    }
    // Those that stay have another order in a list that was sorted anew.
    let next = this.#space.firstElementChild;
    for (const row of order) {
      if (row === next) next = next.nextElementSibling;
      else this.#space.insertBefore(row, next);
    }
  }

  /**
   * Scrolls so that a row is in sight.
   *
   * @param {number} index
   */
  show(index) {
    const top = index * this.#height;
    if (top < this.#top) this.#scroll(top);
    else if (top + this.#height > this.#top + this.#view) this.#scroll(top + this.#height - this.#view);
    this.draw();
  }

  #scroll(top) {
    this.root.scrollTop = top;
    this.#top = this.root.scrollTop;
  }

  /**
   * The element of a row, if it is in sight.
   *
   * @param {number} index
   */
  element(index) {
    return this.#pool.find((row) => row.dataset.index === String(index)) ?? null;
  }
}
