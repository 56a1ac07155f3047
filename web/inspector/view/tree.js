// The tree of navs, grouped by the parts of their names.

import { el } from "../../view/dom.js";
import { toggled } from "../bookmarks.js";
import { PooledRows } from "../rows.js";
import { ageText, numberText, countedNoun, errorText, updateAttribute, visibleText, writeText } from "../text.js";

/** How often the tree redraws ages, in milliseconds, since ages have steps of ten seconds. */
const AGE_REDRAW_MS = 10_000;
/** How long a dot marks a nav that has changed, in milliseconds. */
const CHANGE_DOT_MS = 1500;
const NAME_ORDER = new Intl.Collator("en", { numeric: true });

/**
 * @typedef {object} Node
 * @property {string} key
 * @property {string} label
 * @property {number} level
 * @property {number} size
 * @property {number} position
 * @property {boolean|null} isOpen null without children
 * @property {number|null} index of the row in the list of navs
 * @property {number} navs how many navs are below it
 * @property {"pinned"|"last"|null} pin whether it is pinned, and the last one that is
 */

/** The tree of navs; a click sets `nav` in the store. */
export class NavTree {
  #root;
  #context;
  #rows;
  #searchField;
  #countElement;
  #pinButton = /** @type {HTMLButtonElement} */ (el("button", { type: "button", class: "act", "data-part": "pin", title: "Pin the chosen nav to the top (T)" }, "Pin"));
  /** The pins with which the nodes were built. */
  #drawnPins = /** @type {readonly string[]} */ ([]);
  /** @type {import("../source.js").Row[]} */
  #navRows = [];
  #query = "";
  /** The search text with which the nodes were built. */
  #drawnQuery = "";
  #foundCount = -1;
  #closedGroups = new Set();
  /** @type {Node[]} */
  #nodes = [];
  #activeIndex = -1;
  #chosenNav = null;
  #seenRevisions = new Map();
  #dotTimer = 0;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#root = root;
    this.#context = context;
    this.#searchField = /** @type {HTMLInputElement} */ (document.querySelector("[data-part=search]"));
    this.#countElement = document.querySelector("[data-part=tree-count]");
    this.#countElement.after(this.#pinButton);
    this.#pinButton.addEventListener("click", () => this.togglePin());
    this.#rows = new PooledRows(root, { make: makeTreeRow, fill: (row, index) => this.#fillRow(row, index), role: "presentation", keyOf: (index) => nodeKey(this.#nodes[index]) });
    this.#searchField.addEventListener("input", () => {
      this.#query = this.#searchField.value.trim().toLowerCase();
      context.schedule();
    });
    this.#searchField.addEventListener("keydown", (event) => this.#onSearchKey(event));
    root.addEventListener("click", (event) => {
      const row = /** @type {HTMLElement} */ (event.target).closest?.("[data-index]");
      if (row instanceof HTMLElement) this.#pressRow(Number(row.dataset.index));
    });
    root.addEventListener("keydown", (event) => this.#onKey(event));
    const timer = setInterval(() => { if (!document.hidden) context.schedule(); }, AGE_REDRAW_MS);
    context.signal.addEventListener("abort", () => clearInterval(timer));
  }

  /** @param {import("../shell.js").Model} model */
  update({ rows, listError }) {
    if (!rows) {
      const isForbidden = listError?.["code"] === "forbidden";
      const why = isForbidden ? "You have no right to list navs. Type a name and press Enter." : listError ? errorText(listError) : "";
      writeText(this.#countElement, why);
      return;
    }
    // Most lists differ in revisions only, and the tree is made of the names.
    const isOther = rows !== this.#navRows && (this.#query !== "" || !haveSameNavs(rows, this.#navRows));
    this.#navRows = rows;
    const { nav, pins } = this.#context.store;
    if (isOther || this.#query !== this.#drawnQuery || pins !== this.#drawnPins) this.#buildNodes();
    this.#pinButton.disabled = nav === null;
    updateAttribute(this.#pinButton, "aria-pressed", String(pins.includes(nav)));
    if (nav !== this.#chosenNav) {
      this.#chosenNav = nav;
      this.#revealNav(nav);
    }
    const few = this.#query ? `${numberText(this.#foundCount)} of ${countedNoun(rows.length, "nav")}` : countedNoun(rows.length, "nav");
    writeText(this.#countElement, few);
    updateAttribute(this.#root, "data-count", rows.length);
    this.#rows.update(this.#nodes.length);
    this.#updateActiveDescendant();
  }

  // --- The nodes --------------------------------------------------------------------------------

  #buildNodes() {
    const root = { children: new Map(), index: null, key: "" };
    this.#foundCount = 0;
    this.#drawnQuery = this.#query;
    this.#drawnPins = this.#context.store.pins;
    const pinned = new Map();
    for (const [index, row] of this.#navRows.entries()) {
      if (this.#query && !`${row.nav}\n${row.top ?? ""}`.toLowerCase().includes(this.#query)) continue;
      this.#foundCount++;
      if (this.#drawnPins.includes(row.nav)) {
        pinned.set(row.nav, index);
        continue;
      }
      let at = root;
      let key = "";
      for (const part of row.nav.split("/")) {
        key = at === root ? part : `${key}/${part}`;
        if (!at.children.has(part)) at.children.set(part, { children: new Map(), index: null, key });
        at = at.children.get(part);
      }
      at.index = index;
    }
    const active = this.#activeIndex < 0 ? null : nodeKey(this.#nodes[this.#activeIndex]);
    // A pinned nav stands at the top with its whole name, and nowhere else.
    const own = this.#drawnPins.filter((nav) => pinned.has(nav));
    const size = own.length + root.children.size;
    this.#nodes = own.map((nav, at) => ({
      key: nav, label: nav, level: 1, size, position: at + 1, isOpen: null, index: pinned.get(nav), navs: 0, pin: at === own.length - 1 ? "last" : "pinned" }));
    this.#flattenNodes(root, 1, own.length);
    // The active node stays the active one wherever it is now.
    const found = active === null ? -1 : this.#nodes.findIndex((node) => nodeKey(node) === active);
    this.#activeIndex = found < 0 ? Math.min(this.#activeIndex, this.#nodes.length - 1) : found;
    this.#rows.activeIndex = this.#activeIndex;
  }

  #flattenNodes({ children }, level, before = 0) {
    const sorted = [...children].sort(([a], [b]) => NAME_ORDER.compare(a, b));
    for (const [at, [label, branch]] of sorted.entries()) {
      const hasChildren = branch.children.size > 0;
      const isOpen = hasChildren ? !this.#closedGroups.has(branch.key) || this.#query !== "" : null;
      const node = { key: branch.key, label, level, size: before + sorted.length, position: before + at + 1, isOpen, index: branch.index, navs: hasChildren ? navCount(branch) : 0, pin: null };
      this.#nodes.push(node);
      if (isOpen) this.#flattenNodes(branch, level + 1);
    }
  }

  /** Opens the groups above a nav and scrolls to it. */
  #revealNav(nav) {
    if (nav === null) return;
    const parts = nav.split("/");
    let isChanged = false;
    for (let length = 1; length < parts.length; length++) {
      isChanged = this.#closedGroups.delete(parts.slice(0, length).join("/")) || isChanged;
    }
    if (isChanged) this.#buildNodes();
    this.#rows.update(this.#nodes.length);
    this.#activateRow(this.#nodes.findIndex((node) => node.index !== null && node.key === nav));
  }

  // --- What a person does -----------------------------------------------------------------------

  /**
   * Moves to the next or the previous nav and chooses it.
   *
   * @param {number} step 1 or −1
   */
  stepNav(step) {
    const chosen = this.#nodes.findIndex((node) => node.index !== null && node.key === this.#chosenNav);
    for (let at = chosen + step; at >= 0 && at < this.#nodes.length; at += step) {
      if (this.#nodes[at].index !== null) return this.#chooseRow(at);
    }
    return undefined;
  }

  /** Pins the chosen nav to the top of the tree, or unpins it. */
  togglePin() {
    const { store, announce } = this.#context;
    if (store.nav === null) return;
    const pins = toggled(store.pins, store.nav);
    announce(`${visibleText(store.nav, 80)} ${pins.includes(store.nav) ? "is pinned" : "is not pinned"}`);
    store.set({ pins });
    this.#chosenNav = null;
  }

  /** Puts the focus into the search field. */
  focusSearch() {
    this.#searchField.focus();
    this.#searchField.select();
  }

  #onSearchKey(event) {
    if (event.key === "Escape" && this.#searchField.value) {
      this.#searchField.value = "";
      this.#searchField.dispatchEvent(new Event("input"));
      event.stopPropagation();
    } else if (event.key === "Escape") {
      this.#root.focus();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      const first = this.#nodes.findIndex((node) => node.index !== null);
      const name = this.#searchField.value.trim();
      // Without the right to the list, a person can still name a nav.
      if (!this.#navRows.length && name && event.key === "Enter") this.#context.store.set({ nav: name });
      if (first >= 0 && event.key === "Enter") this.#chooseRow(first);
      this.#root.focus();
    }
  }

  #pressRow(index) {
    const node = this.#nodes[index];
    if (!node) return;
    if (node.index !== null) this.#chooseRow(index);
    else this.#toggleGroup(index, !node.isOpen);
  }

  #chooseRow(index) {
    this.#activateRow(index);
    this.#context.store.set({ nav: this.#nodes[index].key });
  }

  #toggleGroup(index, isOpen) {
    const { key } = this.#nodes[index];
    if (isOpen) this.#closedGroups.delete(key);
    else this.#closedGroups.add(key);
    this.#buildNodes();
    this.#rows.update(this.#nodes.length);
    this.#activateRow(index);
  }

  #activateRow(index) {
    if (index < 0) return;
    this.#activeIndex = this.#rows.activeIndex = index;
    this.#rows.scrollToRow(index);
    this.#updateActiveDescendant();
  }

  /** Sets `aria-activedescendant` to the id of the active row. A row keeps its id while it shows the same node. */
  #updateActiveDescendant() {
    updateAttribute(this.#root, "aria-activedescendant", this.#rows.rowElement(this.#activeIndex)?.id ?? null);
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = this.#nodes[this.#activeIndex];
    const moves = { ArrowDown: this.#activeIndex + 1, ArrowUp: this.#activeIndex - 1, Home: 0, End: this.#nodes.length - 1 };
    if (Object.hasOwn(moves, event.key)) this.#activateRow(Math.min(this.#nodes.length - 1, Math.max(0, moves[event.key])));
    else if (event.key === "Enter" || event.key === " ") this.#pressRow(this.#activeIndex);
    else if (event.key === "ArrowRight" && node?.isOpen === false) this.#toggleGroup(this.#activeIndex, true);
    else if (event.key === "ArrowRight" && node?.isOpen) this.#activateRow(this.#activeIndex + 1);
    else if (event.key === "ArrowLeft" && node?.isOpen) this.#toggleGroup(this.#activeIndex, false);
    else if (event.key === "ArrowLeft") this.#activateRow(this.#parentIndex());
    else return;
    // In the tree, the arrows do not step through revisions.
    event.preventDefault();
    event.stopPropagation();
  }

  #parentIndex() {
    for (let at = this.#activeIndex - 1; at >= 0; at--) if (this.#nodes[at].level < this.#nodes[this.#activeIndex].level) return at;
    return this.#activeIndex;
  }

  // --- Drawing ----------------------------------------------------------------------------------

  #fillRow(element, index) {
    const node = this.#nodes[index];
    const row = node.index === null ? null : this.#navRows[node.index];
    const isChosen = row !== null && row.nav === this.#chosenNav;
    updateAttribute(element, "data-nav", row?.nav ?? null);
    updateAttribute(element, "aria-level", node.level);
    updateAttribute(element, "aria-setsize", node.size);
    updateAttribute(element, "aria-posinset", node.position);
    updateAttribute(element, "aria-expanded", node.isOpen === null ? null : String(node.isOpen));
    updateAttribute(element, "aria-selected", String(isChosen));
    updateAttribute(element, "data-pin", node.pin);
    updateAttribute(element, "data-active", index === this.#activeIndex ? "" : null);
    updateAttribute(element, "data-fresh", row && this.#hasJustChanged(row) ? "" : null);
    element.style.setProperty("--level", String(node.level));
    const [, , name, rev, more] = element.children;
    writeText(name, visibleText(node.label) || "(empty)");
    writeText(rev, row?.rev === undefined ? "" : String(row.rev));
    if (row) this.#describeNav(element, more, row, node);
    else {
      for (const part of more.children) writeText(part, "");
      writeText(more.firstChild, countedNoun(node.navs, "nav"));
      updateAttribute(element, "title", null);
      updateAttribute(element, "aria-label", `${visibleText(node.label) || "empty name"}, ${countedNoun(node.navs, "nav")}`);
    }
  }

  /** Writes the second line of a nav, and the same in words for screen readers. Without the right to read `$heads`, it has no top screen and no time. */
  #describeNav(element, more, row, node) {
    const [kind, top, owner, age] = more.children;
    const changed = row.t === undefined ? "" : ageText(this.#context.clock.now - row.t);
    const title = rowTitle(row);
    // Most navs are controllers, and the line is short.
    writeText(kind, row.kind === "controller" ? "" : visibleText(row.kind ?? "", 20));
    writeText(top, visibleText(row.top ?? "", 60));
    writeText(owner, visibleText(row.owner ?? "", 60));
    writeText(age, changed);
    updateAttribute(element, "title", title);
    const when = changed && (changed === "now" ? "changed now" : `changed ${changed} ago`);
    const parts = [
      visibleText(node.label) || "empty name", node.pin && "pinned", row.kind && visibleText(row.kind, 20), row.top && `top ${visibleText(row.top, 60)}`,
      row.owner && `owner ${visibleText(row.owner, 60)}`, row.rev !== undefined && `revision ${row.rev}`, when,
    ];
    updateAttribute(element, "aria-label", parts.filter(Boolean).join(", "));
  }

  /**
   * Whether the nav has changed within the last 1.5 s; requests a later frame that removes the dot.
   *
   * @param {import("../source.js").Row} row
   */
  #hasJustChanged({ nav, rev }) {
    const now = performance.now();
    const seen = this.#seenRevisions.get(nav);
    if (!seen || seen.rev !== rev) {
      if (this.#seenRevisions.size > 512) this.#seenRevisions.clear();
      this.#seenRevisions.set(nav, { rev, at: seen ? now : -CHANGE_DOT_MS });
    }
    const isNew = now - this.#seenRevisions.get(nav).at < CHANGE_DOT_MS;
    if (isNew && !this.#dotTimer) {
      this.#dotTimer = setTimeout(() => {
        this.#dotTimer = 0;
        this.#context.schedule();
      }, CHANGE_DOT_MS);
    }
    return isNew;
  }
}

/** Whether two lists have the same navs in the same order. */
const haveSameNavs = (one, other) => one.length === other.length && one.every((row, index) => row.nav === other[index].nav);

/** The key of a node; the prefix tells a pinned nav from a group with its name. @param {Node} node */
const nodeKey = ({ key, pin }) => (pin ? `pin\n${key}` : key);

let nextRowNumber = 0;

function makeTreeRow() {
  return el(
    "div", { role: "treeitem", id: `nav-${nextRowNumber++}`, class: "tree-row" },
    el("span", { class: "twist", "aria-hidden": "true" }), el("span", { class: "pulse", "aria-hidden": "true" }),
    el("bdi", { class: "tree-name" }), el("span", { class: "tree-rev" }),
    el("span", { class: "tree-more" },
      el("bdi", { "data-part": "row-kind" }), el("bdi", { "data-part": "row-top", class: "tree-top" }),
      el("bdi", { "data-part": "row-owner", "data-author": "proven", title: "The principal that made the nav" }), el("span", { "data-part": "row-age", class: "tree-age" })));
}

function navCount(branch) {
  let size = branch.index === null ? 0 : 1;
  for (const child of branch.children.values()) size += navCount(child);
  return size;
}

/** @param {import("../source.js").Row} row */
function rowTitle({ nav, depth, watches }) {
  const parts = [visibleText(nav), depth !== undefined && countedNoun(depth, "screen"), watches !== undefined && `${watches} watching`];
  return parts.filter(Boolean).join(" · ");
}
