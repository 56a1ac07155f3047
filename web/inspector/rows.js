// Lists of any length with a fixed pool of rows. Only what is in sight is in the document.

import { el } from "../view/dom.js";
import { updateAttribute } from "./text.js";

/** The number of rows that are kept above and below the visible ones. */
const SPARE_ROWS = 3;
/** The maximum height of a scroll area, in pixels, that every browser can lay out. */
const MAXIMUM_HEIGHT_PIXELS = 8_000_000;

/** A long list of rows with equal height; only the rows in sight have elements, which it reuses. */
export class PooledRows {
  /** The element that scrolls. */
  root;
  count = 0;
  #rowContainer;
  #pool = [];
  #makeRow;
  #fillRow;
  #rowHeight = 28;
  #maximumRows;
  #viewHeight = 0;
  /** The scroll position in pixels. To read it from the element would lay out the page in each frame. */
  #scrollTop = 0;
  #isDrawScheduled = false;
  #keyOf;
  /** The elements in use, by the key of what they show. @type {Map<any, HTMLElement|null>} */
  #rowByKey = new Map();
  /** The index of a row that keeps its element even out of sight; −1 for none. */
  activeIndex = -1;

  /**
   * @param {HTMLElement} root it scrolls
   * @param {{make: () => HTMLElement, fill: (row: HTMLElement, index: number) => void, most?: number, role?: string, keyOf?: (index: number) => any}} options
   *   `keyOf` returns the key of what a row shows, by default its index. While a key is in sight,
   * it keeps its element, and so its focus, selection and id
   */
  constructor(root, { make, fill, most = 60, role, keyOf = (index) => index }) {
    this.#keyOf = keyOf;
    this.root = root;
    this.#makeRow = make;
    this.#fillRow = fill;
    this.#maximumRows = most;
    this.#rowContainer = el("div", { class: "rows", role });
    root.append(this.#rowContainer);
    root.addEventListener("scroll", () => {
      this.#scrollTop = root.scrollTop;
      this.#scheduleDraw();
    }, { passive: true });
    new ResizeObserver(() => {
      this.#measure();
      this.draw();
    }).observe(root);
  }

  /** Draws in the next frame, once for all scroll events before it. */
  #scheduleDraw() {
    if (this.#isDrawScheduled) return;
    this.#isDrawScheduled = true;
    requestAnimationFrame(() => {
      this.#isDrawScheduled = false;
      this.draw();
    });
  }

  #measure() {
    this.#viewHeight = this.root.clientHeight;
    // A list that was hidden has lost its place.
    this.#scrollTop = this.root.scrollTop;
    const height = parseFloat(getComputedStyle(this.root).getPropertyValue("--row"));
    if (height > 0) this.#rowHeight = height;
  }

  /**
   * Draws a list of `count` rows. `added` of them are new at the top; the list scrolls by as many,
   * so that what the person reads stays in place.
   *
   * @param {number} count
   * @param {number} [added]
   */
  update(count, added = 0) {
    if (count !== this.count) {
      this.count = count;
      this.#rowContainer.style.setProperty("height", `${Math.min(MAXIMUM_HEIGHT_PIXELS, count * this.#rowHeight)}px`);
    }
    if (added && (this.#scrollTop > 2 || this.#rowContainer.contains(document.activeElement))) this.#setScrollTop(this.#scrollTop + added * this.#rowHeight);
    this.draw();
  }

  /** Draws the rows in sight; none while the list is hidden or not laid out yet. */
  draw() {
    const rows = this.#viewHeight ? Math.min(this.#maximumRows, Math.ceil(this.#viewHeight / this.#rowHeight) + 2 * SPARE_ROWS) : 0;
    const last = Math.max(0, this.count - rows);
    const first = Math.min(last, Math.max(0, Math.floor(this.#scrollTop / this.#rowHeight) - SPARE_ROWS));
    const indexes = Array.from({ length: Math.min(rows, this.count) }, (_, at) => first + at);
    if (indexes.length && this.activeIndex >= 0 && this.activeIndex < this.count && !(this.activeIndex >= first && this.activeIndex < first + indexes.length)) {
      indexes.splice(this.activeIndex < first ? 0 : indexes.length, 0, this.activeIndex);
    }
    const before = this.#rowByKey;
    this.#rowByKey = new Map();
    const keys = indexes.map((index) => {
      const key = this.#keyOf(index);
      // A forged recording may have an id twice.
      const own = this.#rowByKey.has(key) ? {} : key;
      this.#rowByKey.set(own, before.get(own) ?? null);
      return own;
    });
    const kept = new Set([...this.#rowByKey.values()].filter((row) => row !== null));
    const free = this.#pool.filter((row) => !kept.has(row));
    const order = [];
    for (const [at, index] of indexes.entries()) {
      const row = this.#rowByKey.get(keys[at]) ?? free.pop() ?? this.#addRow();
      this.#rowByKey.set(keys[at], row);
      order.push(row);
      const place = `${index * this.#rowHeight}px`;
      if (row.style.getPropertyValue("--at") !== place) row.style.setProperty("--at", place);
      updateAttribute(row, "data-index", index);
      this.#fillRow(row, index);
    }
    for (const row of free) row.remove();
    this.#pool = order;
    this.#orderRows(order, kept);
  }

  #addRow() {
    const row = this.#makeRow();
    row.classList.add("row-of-pool");
    return row;
  }

  /** Sorts the elements in the order of the list, for screen readers. It moves elements that stay only if their order has changed, since a moved one loses the focus. */
  #orderRows(order, kept) {
    let after = null;
    for (let at = order.length - 1; at >= 0; at--) {
      const row = order[at];
      if (!kept.has(row) && (row.parentNode !== this.#rowContainer || row.nextSibling !== after)) this.#rowContainer.insertBefore(row, after);
      after = row;
    }
    // Those that stay have another order in a list that was sorted anew.
    let next = this.#rowContainer.firstElementChild;
    for (const row of order) {
      if (row === next) next = next.nextElementSibling;
      else this.#rowContainer.insertBefore(row, next);
    }
  }

  /**
   * Scrolls so that a row is in sight.
   *
   * @param {number} index
   */
  scrollToRow(index) {
    const top = index * this.#rowHeight;
    if (top < this.#scrollTop) this.#setScrollTop(top);
    else if (top + this.#rowHeight > this.#scrollTop + this.#viewHeight) this.#setScrollTop(top + this.#rowHeight - this.#viewHeight);
    this.draw();
  }

  #setScrollTop(top) {
    this.root.scrollTop = top;
    this.#scrollTop = this.root.scrollTop;
  }

  /**
   * The element of a row, if it is in sight.
   *
   * @param {number} index
   */
  rowElement(index) {
    return this.#pool.find((row) => row.dataset.index === String(index)) ?? null;
  }
}
