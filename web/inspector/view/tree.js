// The tree of navs, grouped by the parts of their names.

import { el } from "../../view/dom.js";
import { toggled } from "../bookmarks.js";
import { Rows } from "../rows.js";
import { ago, count, counted, explain, mark, visible, write } from "../text.js";

/** How often ages are drawn anew, in milliseconds: they have steps of ten seconds. */
const AGES_MS = 10_000;
/** How long the dot of a change stays, in milliseconds. */
const FRESH = 1500;
const FORMAT = new Intl.Collator("en", { numeric: true });

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

/** Draws the tree; a choice sets `nav` in the store. */
export class Tree {
  #root;
  #context;
  #rows;
  #search;
  #count;
  #pin = /** @type {HTMLButtonElement} */ (el("button", { type: "button", class: "act", "data-part": "pin", title: "Pin the chosen nav to the top (T)" }, "Pin"));
  /** The pins of the nodes. */
  #pins = /** @type {readonly string[]} */ ([]);
  /** @type {import("../source.js").Row[]} */
  #list = [];
  #query = "";
  /** The query of the nodes. */
  #built = "";
  #found = -1;
  #closed = new Set();
  /** @type {Node[]} */
  #nodes = [];
  #active = -1;
  #chosen = null;
  #seen = new Map();
  #isFresh = 0;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#root = root;
    this.#context = context;
    this.#search = /** @type {HTMLInputElement} */ (document.querySelector("[data-part=search]"));
    this.#count = document.querySelector("[data-part=tree-count]");
    this.#count.after(this.#pin);
    this.#pin.addEventListener("click", () => this.pin());
    this.#rows = new Rows(root, { make, fill: (row, index) => this.#fill(row, index), role: "presentation", keyOf: (index) => keyOf(this.#nodes[index]) });
    this.#search.addEventListener("input", () => {
      this.#query = this.#search.value.trim().toLowerCase();
      context.schedule();
    });
    this.#search.addEventListener("keydown", (event) => this.#searched(event));
    root.addEventListener("click", (event) => {
      const row = /** @type {HTMLElement} */ (event.target).closest?.("[data-index]");
      if (row instanceof HTMLElement) this.#press(Number(row.dataset.index));
    });
    root.addEventListener("keydown", (event) => this.#key(event));
    const timer = setInterval(() => { if (!document.hidden) context.schedule(); }, AGES_MS);
    context.signal.addEventListener("abort", () => clearInterval(timer));
  }

  /** @param {import("../shell.js").Model} model */
  update({ rows, listError }) {
    if (!rows) {
      const isForbidden = listError?.["code"] === "forbidden";
      const why = isForbidden ? "You have no right to list navs. Type a name and press Enter." : listError ? explain(listError) : "";
      write(this.#count, why);
      return;
    }
    // Most lists differ in revisions only, and the tree is made of the names.
    const isOther = rows !== this.#list && (this.#query !== "" || !isAlike(rows, this.#list));
    this.#list = rows;
    const { nav, pins } = this.#context.store;
    if (isOther || this.#query !== this.#built || pins !== this.#pins) this.#build();
    this.#pin.disabled = nav === null;
    mark(this.#pin, "aria-pressed", String(pins.includes(nav)));
    if (nav !== this.#chosen) {
      this.#chosen = nav;
      this.#reveal(nav);
    }
    const few = this.#query ? `${count(this.#found)} of ${counted(rows.length, "nav")}` : counted(rows.length, "nav");
    write(this.#count, few);
    mark(this.#root, "data-count", rows.length);
    this.#rows.update(this.#nodes.length);
    this.#point();
  }

  // --- The nodes --------------------------------------------------------------------------------

  #build() {
    const root = { children: new Map(), index: null, key: "" };
    this.#found = 0;
    this.#built = this.#query;
    this.#pins = this.#context.store.pins;
    const pinned = new Map();
    for (const [index, row] of this.#list.entries()) {
      if (this.#query && !`${row.nav}\n${row.top ?? ""}`.toLowerCase().includes(this.#query)) continue;
      this.#found++;
      if (this.#pins.includes(row.nav)) {
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
    const active = this.#active < 0 ? null : keyOf(this.#nodes[this.#active]);
    // A pinned nav stands at the top with its whole name, and nowhere else.
    const own = this.#pins.filter((nav) => pinned.has(nav));
    const size = own.length + root.children.size;
    this.#nodes = own.map((nav, at) => ({
      key: nav, label: nav, level: 1, size, position: at + 1, isOpen: null, index: pinned.get(nav), navs: 0, pin: at === own.length - 1 ? "last" : "pinned" }));
    this.#flatten(root, 1, own.length);
    // The active node stays the active one wherever it is now.
    const found = active === null ? -1 : this.#nodes.findIndex((node) => keyOf(node) === active);
    this.#active = found < 0 ? Math.min(this.#active, this.#nodes.length - 1) : found;
    this.#rows.active = this.#active;
  }

  #flatten({ children }, level, before = 0) {
    const sorted = [...children].sort(([a], [b]) => FORMAT.compare(a, b));
    for (const [at, [label, branch]] of sorted.entries()) {
      const hasChildren = branch.children.size > 0;
      const isOpen = hasChildren ? !this.#closed.has(branch.key) || this.#query !== "" : null;
      const node = { key: branch.key, label, level, size: before + sorted.length, position: before + at + 1, isOpen, index: branch.index, navs: hasChildren ? sizeOf(branch) : 0, pin: null };
      this.#nodes.push(node);
      if (isOpen) this.#flatten(branch, level + 1);
    }
  }

  /** Opens the groups above a nav and scrolls to it. */
  #reveal(nav) {
    if (nav === null) return;
    const parts = nav.split("/");
    let isChanged = false;
    for (let length = 1; length < parts.length; length++) {
      isChanged = this.#closed.delete(parts.slice(0, length).join("/")) || isChanged;
    }
    if (isChanged) this.#build();
    this.#rows.update(this.#nodes.length);
    this.#activate(this.#nodes.findIndex((node) => node.index !== null && node.key === nav));
  }

  // --- What a person does -----------------------------------------------------------------------

  /**
   * Moves to the next or the previous nav and chooses it.
   *
   * @param {number} step 1 or −1
   */
  step(step) {
    const chosen = this.#nodes.findIndex((node) => node.index !== null && node.key === this.#chosen);
    for (let at = chosen + step; at >= 0 && at < this.#nodes.length; at += step) {
      if (this.#nodes[at].index !== null) return this.#choose(at);
    }
    return undefined;
  }

  /** Pins the chosen nav to the top of the tree, or lets it go back to its place. */
  pin() {
    const { store, announce } = this.#context;
    if (store.nav === null) return;
    const pins = toggled(store.pins, store.nav);
    announce(`${visible(store.nav, 80)} ${pins.includes(store.nav) ? "is pinned" : "is not pinned"}`);
    store.set({ pins });
    this.#chosen = null;
  }

  /** Puts the focus into the search field. */
  search() {
    this.#search.focus();
    this.#search.select();
  }

  #searched(event) {
    if (event.key === "Escape" && this.#search.value) {
      this.#search.value = "";
      this.#search.dispatchEvent(new Event("input"));
      event.stopPropagation();
    } else if (event.key === "Escape") {
      this.#root.focus();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      const first = this.#nodes.findIndex((node) => node.index !== null);
      const name = this.#search.value.trim();
      // Without the right to the list, a person can still name a nav.
      if (!this.#list.length && name && event.key === "Enter") this.#context.store.set({ nav: name });
      if (first >= 0 && event.key === "Enter") this.#choose(first);
      this.#root.focus();
    }
  }

  #press(index) {
    const node = this.#nodes[index];
    if (!node) return;
    if (node.index !== null) this.#choose(index);
    else this.#toggle(index, !node.isOpen);
  }

  #choose(index) {
    this.#activate(index);
    this.#context.store.set({ nav: this.#nodes[index].key });
  }

  #toggle(index, isOpen) {
    const { key } = this.#nodes[index];
    if (isOpen) this.#closed.delete(key);
    else this.#closed.add(key);
    this.#build();
    this.#rows.update(this.#nodes.length);
    this.#activate(index);
  }

  #activate(index) {
    if (index < 0) return;
    this.#active = this.#rows.active = index;
    this.#rows.show(index);
    this.#point();
  }

  /** Names the active row to screen readers. While a row shows the same node, it has the same id. */
  #point() {
    mark(this.#root, "aria-activedescendant", this.#rows.element(this.#active)?.id ?? null);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = this.#nodes[this.#active];
    const moves = { ArrowDown: this.#active + 1, ArrowUp: this.#active - 1, Home: 0, End: this.#nodes.length - 1 };
    if (Object.hasOwn(moves, event.key)) this.#activate(Math.min(this.#nodes.length - 1, Math.max(0, moves[event.key])));
    else if (event.key === "Enter" || event.key === " ") this.#press(this.#active);
    else if (event.key === "ArrowRight" && node?.isOpen === false) this.#toggle(this.#active, true);
    else if (event.key === "ArrowRight" && node?.isOpen) this.#activate(this.#active + 1);
    else if (event.key === "ArrowLeft" && node?.isOpen) this.#toggle(this.#active, false);
    else if (event.key === "ArrowLeft") this.#activate(this.#parent());
    else return;
    // In the tree, the arrows do not step through revisions.
    event.preventDefault();
    event.stopPropagation();
  }

  #parent() {
    for (let at = this.#active - 1; at >= 0; at--) if (this.#nodes[at].level < this.#nodes[this.#active].level) return at;
    return this.#active;
  }

  // --- Drawing ----------------------------------------------------------------------------------

  #fill(element, index) {
    const node = this.#nodes[index];
    const row = node.index === null ? null : this.#list[node.index];
    const isChosen = row !== null && row.nav === this.#chosen;
    mark(element, "data-nav", row?.nav ?? null);
    mark(element, "aria-level", node.level);
    mark(element, "aria-setsize", node.size);
    mark(element, "aria-posinset", node.position);
    mark(element, "aria-expanded", node.isOpen === null ? null : String(node.isOpen));
    mark(element, "aria-selected", String(isChosen));
    mark(element, "data-pin", node.pin);
    mark(element, "data-active", index === this.#active ? "" : null);
    mark(element, "data-fresh", row && this.#isNew(row) ? "" : null);
    element.style.setProperty("--level", String(node.level));
    const [, , name, rev, more] = element.children;
    write(name, visible(node.label) || "(empty)");
    write(rev, row?.rev === undefined ? "" : String(row.rev));
    if (row) this.#describe(element, more, row, node);
    else {
      for (const part of more.children) write(part, "");
      write(more.firstChild, counted(node.navs, "nav"));
      mark(element, "title", null);
      mark(element, "aria-label", `${visible(node.label) || "empty name"}, ${counted(node.navs, "nav")}`);
    }
  }

  /** The second line, and the same in words. Without the right to read `$heads`, it has no top and no time. */
  #describe(element, more, row, node) {
    const [kind, top, owner, age] = more.children;
    const changed = row.t === undefined ? "" : ago(this.#context.clock.now - row.t);
    const title = titleOf(row);
    // Most navs are controllers, and the line is short.
    write(kind, row.kind === "controller" ? "" : visible(row.kind ?? "", 20));
    write(top, visible(row.top ?? "", 60));
    write(owner, visible(row.owner ?? "", 60));
    write(age, changed);
    mark(element, "title", title);
    const when = changed && (changed === "now" ? "changed now" : `changed ${changed} ago`);
    const parts = [
      visible(node.label) || "empty name", node.pin && "pinned", row.kind && visible(row.kind, 20), row.top && `top ${visible(row.top, 60)}`,
      row.owner && `owner ${visible(row.owner, 60)}`, row.rev !== undefined && `revision ${row.rev}`, when,
    ];
    mark(element, "aria-label", parts.filter(Boolean).join(", "));
  }

  /**
   * Whether the nav changed a moment ago. The dot goes with a later frame.
   *
   * @param {import("../source.js").Row} row
   */
  #isNew({ nav, rev }) {
    const now = performance.now();
    const seen = this.#seen.get(nav);
    if (!seen || seen.rev !== rev) {
      if (this.#seen.size > 512) this.#seen.clear();
      this.#seen.set(nav, { rev, at: seen ? now : -FRESH });
    }
    const isNew = now - this.#seen.get(nav).at < FRESH;
    if (isNew && !this.#isFresh) {
      this.#isFresh = setTimeout(() => {
        this.#isFresh = 0;
        this.#context.schedule();
      }, FRESH);
    }
    return isNew;
  }
}

/** Whether two lists have the same navs in the same order. */
const isAlike = (one, other) => one.length === other.length && one.every((row, index) => row.nav === other[index].nav);

/** A group may have the name of a pinned nav. @param {Node} node */
const keyOf = ({ key, pin }) => (pin ? `pin\n${key}` : key);

let numbers = 0;

function make() {
  return el(
    "div", { role: "treeitem", id: `nav-${numbers++}`, class: "tree-row" },
    el("span", { class: "twist", "aria-hidden": "true" }), el("span", { class: "pulse", "aria-hidden": "true" }),
    el("bdi", { class: "tree-name" }), el("span", { class: "tree-rev" }),
    el("span", { class: "tree-more" },
      el("bdi", { "data-part": "row-kind" }), el("bdi", { "data-part": "row-top", class: "tree-top" }),
      el("bdi", { "data-part": "row-owner", "data-author": "proven", title: "The principal that made the nav" }), el("span", { "data-part": "row-age", class: "tree-age" })));
}

function sizeOf(branch) {
  let size = branch.index === null ? 0 : 1;
  for (const child of branch.children.values()) size += sizeOf(child);
  return size;
}

/** @param {import("../source.js").Row} row */
function titleOf({ nav, depth, watches }) {
  const parts = [visible(nav), depth !== undefined && counted(depth, "screen"), watches !== undefined && `${watches} watching`];
  return parts.filter(Boolean).join(" · ");
}
