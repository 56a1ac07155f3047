// A table of any length, with the roles of a table and a fixed pool of rows.

import { el } from "../view/dom.js";
import { PooledRows } from "./rows.js";
import { updateAttribute } from "./text.js";

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} width as in `grid-template-columns`
 * @property {boolean} [isNumber]
 */

/**
 * A table of any length that draws records as rows.
 *
 * @template T
 */
export class Table {
  root;
  #rows;
  #columns;
  #cellsOf;
  #markRow;
  /** @type {readonly T[]} */
  #records = [];
  #drawnRecords = new WeakMap();

  /**
   * @param {string} label
   * @param {Column[]} columns
   * @param {{cells: (record: T) => (Node|string|(Node|string)[])[], mark: (row: HTMLElement, record: T) => void, least?: string, isTall?: boolean}} options
   *   `least` is the width below which the table scrolls sideways; a tall table has rows of two lines
   */
  constructor(label, columns, { cells, mark: set, least = "0", isTall = false }) {
    this.#columns = columns;
    this.#cellsOf = cells;
    this.#markRow = set;
    const head = el("div", { class: "table-head", role: "row" }, ...columns.map(({ name, isNumber }) => (
      el("span", { role: "columnheader", class: isNumber ? "number" : null }, name))));
    const body = el("div", { class: "pool", role: "rowgroup", tabindex: "0", "aria-label": label });
    this.root = el("div", { class: isTall ? "table tall" : "table", role: "table", "aria-label": label }, el("div", { role: "rowgroup" }, head), body);
    this.root.style.setProperty("--columns", columns.map(({ width }) => width).join(" "));
    this.root.style.setProperty("--least", least);
    this.#rows = new PooledRows(body, { make: () => this.#makeRow(), fill: (row, index) => this.#fillRow(row, index), most: 40, role: "presentation" });
  }

  /**
   * Draws the records; `added` of them are new at the top.
   *
   * @param {readonly T[]} list
   * @param {number} [added]
   */
  update(list, added = 0) {
    this.#records = list;
    updateAttribute(this.root, "aria-rowcount", list.length + 1);
    this.#rows.update(list.length, added);
  }

  #makeRow() {
    return el("div", { class: "table-row", role: "row" }, ...this.#columns.map(({ isNumber }) => el("span", { role: "cell", class: isNumber ? "number" : null })));
  }

  #fillRow(row, index) {
    const record = this.#records[index];
    updateAttribute(row, "aria-rowindex", index + 2);
    if (this.#drawnRecords.get(row) === record) return;
    this.#drawnRecords.set(row, record);
    this.#markRow(row, record);
    for (const [at, content] of this.#cellsOf(record).entries()) {
      row.children[at].replaceChildren(...(Array.isArray(content) ? content : [content]));
    }
  }
}
