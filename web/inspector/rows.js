// Lists of any length with a fixed pool of rows. Only what is in sight is in the document.

import { el } from "../../demo/kiosk/dom.js";
import { mark } from "./text.js";

/** Rows above and below what is in sight. */
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
  #isGrowing;

  /**
   * @param {HTMLElement} root it scrolls
   * @param {{make: () => HTMLElement, fill: (row: HTMLElement, index: number) => void, most?: number, role?: string, isGrowing?: boolean}} options
   *   `isGrowing`: rows come on top, so that a row keeps its distance to the last one
   */
  constructor(root, { make, fill, most = 60, role, isGrowing = false }) {
    this.#isGrowing = isGrowing;
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
   * reads stays in its place.
   *
   * @param {number} count
   * @param {number} [added]
   */
  update(count, added = 0) {
    if (count !== this.count) {
      this.count = count;
      this.#space.style.setProperty("height", `${Math.min(TALLEST, count * this.#height)}px`);
    }
    if (added && this.#top > 2) this.#scroll(this.#top + added * this.#height);
    this.draw();
  }

  /** Draws what is in sight; nothing while the list is hidden, or before the browser has laid it out. */
  draw() {
    const rows = this.#view ? Math.min(this.#most, Math.ceil(this.#view / this.#height) + 2 * SPARE) : 0;
    const last = Math.max(0, this.count - rows);
    const first = Math.min(last, Math.max(0, Math.floor(this.#top / this.#height) - SPARE));
    const shown = Math.min(rows, this.count);
    this.#resize(shown);
    const order = [];
    for (let index = first; index < first + shown; index++) {
      // A row keeps its data while it is in sight, so that focus and selection stay.
      const row = this.#pool[(this.#isGrowing ? this.count - 1 - index : index) % shown];
      order.push(row);
      const at = `${index * this.#height}px`;
      if (row.style.getPropertyValue("--at") !== at) row.style.setProperty("--at", at);
      mark(row, "data-index", index);
      this.#fill(row, index);
    }
    this.#sort(order);
  }

  #resize(shown) {
    while (this.#pool.length < shown) {
      const row = this.#make();
      row.classList.add("row-of-pool");
      this.#pool.push(row);
      this.#space.append(row);
    }
    while (this.#pool.length > shown) this.#pool.pop().remove();
  }

  /** The document has the rows in the order in which they are read, and moves as few of them as it can. */
  #sort(order) {
    const rank = new Map(order.map((row, index) => [row, index]));
    const leading = order.length - (rank.get(this.#space.firstElementChild) ?? 0);
    if (leading <= order.length / 2) for (let moved = 0; moved < leading; moved++) this.#space.append(this.#space.firstElementChild);
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
