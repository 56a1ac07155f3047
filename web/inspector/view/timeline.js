// The timeline: the strip of all revisions, and the list of those that the filter shows.

import { el } from "../../view/dom.js";
import { formatBookmark } from "../bookmarks.js";
import { actOf, signsOf } from "../describe.js";
import { errorIn } from "../filter.js";
import { Rows } from "../rows.js";
import { authorOf, bdi, clock, count, counted, mark, moment, visible, write } from "../text.js";
import { Legend } from "./legend.js";
import { Strip } from "./strip.js";

/** The fewest revisions in sight. */
const CLOSEST = 8;
const SOON = 1000;
const QUIET_MS = 120;
/** What the row of a revision shows of its digest: a sign, and the words for it. */
const PROOFS = Object.freeze({
  proven: ["✓", "proven: the page has computed it"], unproven: ["✗", "unproven: the state has another one"], unchecked: ["", "not computed by the page"],
});
const HELP = "Words that a revision must have. by:shell, cause:api, op:push and screen:home look in one place; a minus excludes.";

/** Draws the history of the chosen nav. */
export class Timeline {
  #context;
  #past;
  #strip;
  #canvas = /** @type {HTMLCanvasElement} */ (el("canvas", { class: "strip", role: "img", "aria-label": "Revisions over time" }));
  #filter = /** @type {HTMLInputElement} */ (el("input", {
    type: "search", "data-part": "filter", placeholder: "Filter: op:push", "aria-label": `Filter revisions. ${HELP}`, title: HELP,
    autocomplete: "off", spellcheck: "false", maxlength: 256 }));
  #pause = el("button", { type: "button", class: "act", "data-part": "pause", "aria-pressed": "false", title: "Hold the list still (P)" }, "Pause");
  #progress = el("progress", { "data-part": "history-progress", "aria-label": "Loading the history", max: 1, hidden: true });
  #status = el("p", { class: "timeline-status", "data-part": "history-status" });
  #legend = new Legend();
  /** Says what would fill a list without rows, or what is wrong with the filter. */
  #empty = el("p", { class: "note", id: "revisions-empty", "data-part": "revisions-empty", hidden: true });
  #list = el("div", { class: "pool revisions", role: "list", "aria-label": "Revisions, newest first", tabindex: "0" });
  #rows;
  /** The range in sight. `isFit` shows all; `isPinned` follows the newest. */
  #range = { from: 0, to: 0, isFit: true, isPinned: true };
  /** How many revisions the list has while it holds still. */
  #held = null;
  #history = null;
  #matches = null;
  #listed = 0;
  #at = null;
  #listKey = "";
  /** The filter of the list that is drawn. */
  #shown = "";
  #scrolling = 0;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context @param {import("../past.js").Past} past */
  constructor(root, context, past) {
    /** @type {HTMLElement} the element of the whole timeline, which says what is loaded */
    this.section = root.closest("[data-view]") ?? root;
    this.#context = context;
    this.#past = past;
    this.#strip = new Strip(this.#canvas, context.schedule, context.signal);
    this.#filter.addEventListener("input", () => context.store.set({ filter: this.#filter.value }));
    this.#pause.addEventListener("click", () => context.store.set({ paused: !context.store.paused }));
    const zoom = (name, text, title, by) => {
      const button = el("button", { type: "button", class: "act glyph", "data-part": name, title, "aria-label": title }, text);
      button.addEventListener("click", () => this.#zoom(by, this.#centre()));
      return button;
    };
    root.classList.add("timeline-body");
    root.append(
      this.#canvas,
      el("div", { class: "timeline-tools" }, this.#filter, this.#pause,
        el("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, zoom("zoom-out", "−", "Show more revisions", 2),
          zoom("zoom-in", "+", "Show fewer revisions", 0.5), zoom("fit", "Fit", "Show all revisions", Infinity)),
        this.#progress, this.#status, this.#legend.root),
      this.#empty, this.#list);
    this.#rows = new Rows(this.#list, {
      make: () => this.#make(), fill: (row, index) => this.#fill(row, index), most: 60, keyOf: (index) => this.#matches.positions[this.#listed - 1 - index] });
    this.#listen();
  }

  /** @param {import("../shell.js").Model} model */
  update({ error }) {
    const { history, position } = this.#past;
    const { filter, paused, compareWith } = this.#context.store;
    if (history !== this.#history) this.#begin(history);
    if (this.#filter.value !== filter) this.#filter.value = filter;
    mark(this.#pause, "aria-pressed", String(paused));
    this.#explain(history, filter, error);
    if (!history) return;
    this.#legend.update(history);
    this.#fit();
    if (paused) this.#held ??= history.length;
    else this.#held = null;
    this.#matches = history.matches(filter);
    const { from, to } = this.#range;
    const other = compareWith === null ? -1 : history.positionOf(compareWith);
    this.#strip.draw(history, { from, to, matches: this.#matches, filter, at: position, compareWith: other });
    const range = `${counted(history.length, "revision")} from ${history.oldest} to ${history.newest}`;
    mark(this.#canvas, "aria-label", `${range}. The slider above chooses one; the list below names them.`);
    this.#drawList(history, position);
    this.#drawStatus(history, filter);
    const loaded = { loaded: history.loaded, from: history.oldest, to: history.newest, complete: history.isComplete };
    for (const [name, value] of Object.entries(loaded)) mark(this.section, `data-${name}`, String(value));
  }

  #explain(history, filter, failed) {
    const error = errorIn(filter);
    const isEmpty = history && !history.matches(filter).count;
    const text = error || (!isEmpty ? "" : history.length ? "No revision matches the filter. Without it, all are listed." : failed ? "" : "There is no revision yet. Each change of the nav adds one.");
    if (error && this.#empty.textContent !== error) this.#context.announce(error);
    write(this.#empty, text);
    this.#empty.hidden = text === "";
    mark(this.#empty, "data-error", error ? "" : null);
    mark(this.#filter, "aria-invalid", error ? "true" : null);
    mark(this.#filter, "aria-describedby", error ? this.#empty.id : null);
  }

  #begin(history) {
    this.#history = history;
    this.#range = { from: 0, to: 0, isFit: true, isPinned: true };
    this.#held = this.#at = null;
    this.#listKey = "";
    this.#listed = 0;
    this.#list.scrollTop = 0;
  }

  // --- The range --------------------------------------------------------------------------------

  #fit() {
    const range = this.#range;
    const { length } = this.#history;
    if (range.isFit) Object.assign(range, { from: 0, to: length });
    else if (range.isPinned && range.to !== length) Object.assign(range, { from: Math.max(0, length - (range.to - range.from)), to: length });
  }

  #centre() {
    const { from, to } = this.#range;
    const { position } = this.#past;
    return position >= from && position < to ? position + 0.5 : (from + to) / 2;
  }

  /** Changes the number of revisions in sight by a factor, and keeps a position where it is. */
  #zoom(factor, around) {
    const length = this.#history?.length ?? 0;
    const { from, to } = this.#range;
    const size = Math.max(Math.min(CLOSEST, length), Math.min(length, (to - from) * factor));
    if (size >= length) Object.assign(this.#range, { from: 0, to: length, isFit: true, isPinned: true });
    else {
      const share = (around - from) / Math.max(1, to - from);
      const start = Math.round(Math.max(0, Math.min(length - size, around - share * size)));
      const end = Math.min(length, Math.round(start + size));
      Object.assign(this.#range, { from: start, to: end, isFit: false, isPinned: end === length });
    }
    this.#context.schedule();
  }

  #listen() {
    const canvas = this.#canvas;
    const positionOf = (event) => {
      const { from, to } = this.#range;
      return Math.max(from, Math.min(to - 1, Math.floor(from + event.offsetX / Math.max(1, this.#strip.width) * (to - from))));
    };
    const travel = (event) => this.#history?.length && this.#past.travel(positionOf(event));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      travel(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) travel(event);
      else if (this.#history) mark(canvas, "title", Strip.textOf(this.#history, positionOf(event)));
    });
    canvas.addEventListener("wheel", (event) => {
      if (!this.#history?.length) return;
      event.preventDefault();
      const { from, to } = this.#range;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.#pan(Math.round((event.deltaX || event.deltaY) / Math.max(1, this.#strip.width) * (to - from)));
      } else this.#zoom(Math.exp(event.deltaY / 400), positionOf(event));
    }, { passive: false });
  }

  #pan(by) {
    const { from, to } = this.#range;
    const moved = Math.max(-from, Math.min(this.#history.length - to, by));
    if (!moved) return;
    Object.assign(this.#range, { from: from + moved, to: to + moved, isPinned: to + moved === this.#history.length });
    this.#context.schedule();
  }

  // --- The list ---------------------------------------------------------------------------------

  #drawList(history, position) {
    const { at, filter, compareWith } = this.#context.store;
    // A list that did not change is not drawn: that reads where it is scrolled to, which lays out the page.
    const key = `${history.nav} ${history.epoch} ${history.version} ${this.#past.proofs.version} ${filter} ${this.#held}`;
    if (key !== this.#listKey) {
      const before = this.#listed;
      this.#listKey = key;
      this.#listed = this.#held === null ? this.#matches.count : this.#matches.indexOf(this.#held);
      const isOther = filter !== this.#shown;
      this.#shown = filter;
      this.#rows.update(this.#listed, isOther || !before ? 0 : Math.max(0, this.#listed - before));
      if (isOther) this.#list.scrollTop = 0;
    }
    for (const row of this.#list.querySelectorAll("[data-row]")) this.#markRow(row, position, compareWith);
    if (at === this.#at) return;
    const index = this.#matches.indexOf(position);
    // A link may name a revision before the history is there.
    if (at !== null && (this.#matches.positions[index] !== position || index >= this.#listed)) return;
    this.#at = at;
    clearTimeout(this.#scrolling);
    if (at === null) this.#list.scrollTop = 0;
    // Scrolling lays out the page, so it waits for the last move of the slider.
    else this.#scrolling = setTimeout(() => this.#show(at), QUIET_MS);
  }

  #show(at) {
    const position = this.#past.chosen();
    const index = this.#matches.indexOf(position);
    if (at === this.#context.store.at && this.#matches.positions[index] === position && index < this.#listed) this.#rows.show(this.#listed - 1 - index);
  }

  #make() {
    const row = el("div", { role: "listitem", class: "revision-row" },
      el("button", { type: "button", class: "rev" }), el("span", { class: "time" }), el("span", { class: "what" }), el("span", { class: "cause" }), el("span", { class: "by" }),
      el("span", { class: "dig" }));
    row.addEventListener("click", () => {
      const at = Number(row.dataset.position);
      if (row.dataset.position !== undefined) this.#past.travel(at);
    });
    return row;
  }

  #fill(element, index) {
    const position = this.#matches.positions[this.#listed - 1 - index];
    const entry = this.#history.at(position);
    if (!entry) return;
    const proof = entry.digest === null ? null : this.#past.proofs.of(entry);
    const key = `${position} ${entry.isLoaded} ${entry.flags} ${entry.epoch} ${proof}`;
    mark(element, "aria-setsize", this.#listed);
    mark(element, "aria-posinset", index + 1);
    if (element.key === key && element.history === this.#history) return;
    Object.assign(element, { key, history: this.#history });
    const [rev, time, what, cause, by, dig] = element.children;
    const data = { row: "", rev: entry.rev, position, epoch: entry.epoch, proof };
    for (const [name, value] of Object.entries(data)) mark(element, `data-${name}`, value);
    write(rev, String(entry.rev));
    const [sign, words] = proof ? PROOFS[proof] : ["", ""];
    const about = proof ? `digest ${entry.digest}, ${words}` : "";
    const who = entry.by?.name && `by ${visible(entry.by.name)}`;
    mark(rev, "aria-label", [`Travel to revision ${entry.rev}`, visible(actOf(entry)), who, words].filter(Boolean).join(", "));
    mark(element, "title", about || null);
    write(dig, proof ? `${entry.digest?.slice(0, 8)} ${sign}`.trim() : "");
    mark(dig, "title", about || null);
    write(time, clock(entry.t));
    mark(time, "title", moment(entry.t));
    what.replaceChildren(bdi(actOf(entry)), ...signsOf(entry.flags));
    mark(what, "title", visible(actOf(entry)));
    write(cause, visible(entry.cause));
    by.replaceChildren(...(entry.by ? authorOf(entry.by) : []));
    this.#markRow(element, this.#past.position, this.#context.store.compareWith);
  }

  /** Marks the row of the revision on the stage, and of the one that it is compared with. */
  #markRow(element, position, compareWith) {
    mark(element, "aria-current", Number(element.dataset.position) === position ? "true" : null);
    const { rev, epoch } = element.dataset;
    mark(element, "data-with", Number(rev) === compareWith);
    const { nav, bookmarks } = this.#context.store;
    mark(element, "data-bookmark", bookmarks.length > 0 && bookmarks.includes(formatBookmark({ nav, epoch, rev })));
  }

  #drawStatus(history, filter) {
    const { missing, length } = history;
    // The newest revisions of a busy nav are read a moment later; that is no progress to show.
    this.#progress.hidden = missing <= SOON;
    mark(this.#progress, "value", missing ? ((length - missing) / length).toFixed(3) : null);
    const parts = [];
    if (missing > SOON) parts.push(`Loading: ${count(length - missing)} of ${count(length)}`);
    else if (filter) parts.push(`${count(this.#matches.count)} of ${counted(length, "revision")}`);
    else if (length) parts.push(counted(length, "revision"));
    const { from, to, isFit } = this.#range;
    if (!isFit) parts.push(`${count(history.columns.rev[from])} – ${count(history.columns.rev[to - 1])} in sight`);
    if (this.#held !== null && this.#matches.count > this.#listed) parts.push(`paused, ${count(this.#matches.count - this.#listed)} new`);
    write(this.#status, parts.join(" · "));
  }
}
