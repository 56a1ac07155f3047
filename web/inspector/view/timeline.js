// The timeline: the strip of all revisions, and the list of those that the filter shows.

import { el } from "../../view/dom.js";
import { formatBookmark } from "../bookmarks.js";
import { actionText, flagSigns } from "../describe.js";
import { filterError } from "../filter.js";
import { PooledRows } from "../rows.js";
import { authorElements, bdi, timeWithMilliseconds, numberText, countedNoun, updateAttribute, dateAndTime, visibleText, writeText } from "../text.js";
import { StripLegend } from "./legend.js";
import { TimelineStrip } from "./strip.js";

/** The minimum of revisions that the strip shows. */
const MINIMUM_VISIBLE_REVISIONS = 8;
const PROGRESS_THRESHOLD = 1000;
const SCROLL_DELAY_MS = 120;
/** For each proof of a revision: the sign in its row, and the words for screen readers. */
const PROOF_SIGNS = Object.freeze({
  proven: ["✓", "proven: the page has computed it"], unproven: ["✗", "unproven: the state has another one"], unchecked: ["", "not computed by the page"],
});
const FILTER_HELP = "Words that a revision must have. by:shell, cause:api, op:push and screen:home look in one place; a minus excludes.";

/** The timeline: the strip of all revisions of the chosen nav, and the list of those that match the filter. */
export class Timeline {
  #context;
  #past;
  #strip;
  #canvas = /** @type {HTMLCanvasElement} */ (el("canvas", { class: "strip", role: "img", "aria-label": "Revisions over time" }));
  #filter = /** @type {HTMLInputElement} */ (el("input", {
    type: "search", "data-part": "filter", placeholder: "Filter: op:push", "aria-label": `Filter revisions. ${FILTER_HELP}`, title: FILTER_HELP,
    autocomplete: "off", spellcheck: "false", maxlength: 256 }));
  #pauseButton = el("button", { type: "button", class: "act", "data-part": "pause", "aria-pressed": "false", title: "Hold the list still (P)" }, "Pause");
  #progressBar = el("progress", { "data-part": "history-progress", "aria-label": "Loading the history", max: 1, hidden: true });
  #statusText = el("p", { class: "timeline-status", "data-part": "history-status" });
  #legend = new StripLegend();
  /** Explains why the list is empty, or what is wrong with the filter. */
  #emptyNote = el("p", { class: "note", id: "revisions-empty", "data-part": "revisions-empty", hidden: true });
  #listElement = el("div", { class: "pool revisions", role: "list", "aria-label": "Revisions, newest first", tabindex: "0" });
  #rows;
  /** The positions that the strip shows. With `isFit` it shows all; with `isPinned` it follows the newest. */
  #visibleRange = { from: 0, to: 0, isFit: true, isPinned: true };
  /** The length of the history when the list was paused; null while it runs. */
  #heldLength = null;
  #history = null;
  #matches = null;
  #listedCount = 0;
  #scrolledTo = null;
  #listKey = "";
  /** The filter with which the list was last drawn. */
  #drawnFilter = "";
  #scrollTimer = 0;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context @param {import("../past.js").HistoryViews} past */
  constructor(root, context, past) {
    /** @type {HTMLElement} the element of the whole timeline, which says what is loaded */
    this.section = root.closest("[data-view]") ?? root;
    this.#context = context;
    this.#past = past;
    this.#strip = new TimelineStrip(this.#canvas, context.schedule, context.signal);
    this.#filter.addEventListener("input", () => context.store.set({ filter: this.#filter.value }));
    this.#pauseButton.addEventListener("click", () => context.store.set({ paused: !context.store.paused }));
    const zoom = (name, text, title, by) => {
      const button = el("button", { type: "button", class: "act glyph", "data-part": name, title, "aria-label": title }, text);
      button.addEventListener("click", () => this.#zoom(by, this.#zoomCentre()));
      return button;
    };
    root.classList.add("timeline-body");
    root.append(
      this.#canvas,
      el("div", { class: "timeline-tools" }, this.#filter, this.#pauseButton,
        el("div", { class: "zoom", role: "group", "aria-label": "Zoom" }, zoom("zoom-out", "−", "Show more revisions", 2),
          zoom("zoom-in", "+", "Show fewer revisions", 0.5), zoom("fit", "Fit", "Show all revisions", Infinity)),
        this.#progressBar, this.#statusText, this.#legend.root),
      this.#emptyNote, this.#listElement);
    this.#rows = new PooledRows(this.#listElement, {
      make: () => this.#makeRow(), fill: (row, index) => this.#fillRow(row, index), most: 60, keyOf: (index) => this.#matches.positions[this.#listedCount - 1 - index] });
    this.#listenToStrip();
  }

  /** @param {import("../shell.js").Model} model */
  update({ error }) {
    const { history, position } = this.#past;
    const { filter, paused, compareWith } = this.#context.store;
    if (history !== this.#history) this.#beginHistory(history);
    if (this.#filter.value !== filter) this.#filter.value = filter;
    updateAttribute(this.#pauseButton, "aria-pressed", String(paused));
    this.#showEmptyNote(history, filter, error);
    if (!history) return;
    this.#legend.update(history);
    this.#updateRange();
    if (paused) this.#heldLength ??= history.length;
    else this.#heldLength = null;
    this.#matches = history.matches(filter);
    const { from, to } = this.#visibleRange;
    const other = compareWith === null ? -1 : history.positionOf(compareWith);
    this.#strip.draw(history, { from, to, matches: this.#matches, filter, at: position, compareWith: other });
    const range = `${countedNoun(history.length, "revision")} from ${history.oldest} to ${history.newest}`;
    updateAttribute(this.#canvas, "aria-label", `${range}. The slider above chooses one; the list below names them.`);
    this.#drawList(history, position);
    this.#drawStatus(history, filter);
    const loaded = { loaded: history.loaded, from: history.oldest, to: history.newest, complete: history.isComplete };
    for (const [name, value] of Object.entries(loaded)) updateAttribute(this.section, `data-${name}`, String(value));
  }

  #showEmptyNote(history, filter, failed) {
    const error = filterError(filter);
    const isEmpty = history && !history.matches(filter).count;
    const text = error || (!isEmpty ? "" : history.length ? "No revision matches the filter. Without it, all are listed." : failed ? "" : "There is no revision yet. Each change of the nav adds one.");
    if (error && this.#emptyNote.textContent !== error) this.#context.announce(error);
    writeText(this.#emptyNote, text);
    this.#emptyNote.hidden = text === "";
    updateAttribute(this.#emptyNote, "data-error", error ? "" : null);
    updateAttribute(this.#filter, "aria-invalid", error ? "true" : null);
    updateAttribute(this.#filter, "aria-describedby", error ? this.#emptyNote.id : null);
  }

  #beginHistory(history) {
    this.#history = history;
    this.#visibleRange = { from: 0, to: 0, isFit: true, isPinned: true };
    this.#heldLength = this.#scrolledTo = null;
    this.#listKey = "";
    this.#listedCount = 0;
    this.#listElement.scrollTop = 0;
  }

  // --- The range --------------------------------------------------------------------------------

  #updateRange() {
    const range = this.#visibleRange;
    const { length } = this.#history;
    if (range.isFit) Object.assign(range, { from: 0, to: length });
    else if (range.isPinned && range.to !== length) Object.assign(range, { from: Math.max(0, length - (range.to - range.from)), to: length });
  }

  #zoomCentre() {
    const { from, to } = this.#visibleRange;
    const { position } = this.#past;
    return position >= from && position < to ? position + 0.5 : (from + to) / 2;
  }

  /** Multiplies the number of shown revisions by a factor; the position `around` stays where it is. */
  #zoom(factor, around) {
    const length = this.#history?.length ?? 0;
    const { from, to } = this.#visibleRange;
    const size = Math.max(Math.min(MINIMUM_VISIBLE_REVISIONS, length), Math.min(length, (to - from) * factor));
    if (size >= length) Object.assign(this.#visibleRange, { from: 0, to: length, isFit: true, isPinned: true });
    else {
      const share = (around - from) / Math.max(1, to - from);
      const start = Math.round(Math.max(0, Math.min(length - size, around - share * size)));
      const end = Math.min(length, Math.round(start + size));
      Object.assign(this.#visibleRange, { from: start, to: end, isFit: false, isPinned: end === length });
    }
    this.#context.schedule();
  }

  #listenToStrip() {
    const canvas = this.#canvas;
    const positionOf = (event) => {
      const { from, to } = this.#visibleRange;
      return Math.max(from, Math.min(to - 1, Math.floor(from + event.offsetX / Math.max(1, this.#strip.width) * (to - from))));
    };
    const travel = (event) => this.#history?.length && this.#past.travelTo(positionOf(event));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      travel(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) travel(event);
      else if (this.#history) updateAttribute(canvas, "title", TimelineStrip.tooltipText(this.#history, positionOf(event)));
    });
    canvas.addEventListener("wheel", (event) => {
      if (!this.#history?.length) return;
      event.preventDefault();
      const { from, to } = this.#visibleRange;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.#pan(Math.round((event.deltaX || event.deltaY) / Math.max(1, this.#strip.width) * (to - from)));
      } else this.#zoom(Math.exp(event.deltaY / 400), positionOf(event));
    }, { passive: false });
  }

  #pan(by) {
    const { from, to } = this.#visibleRange;
    const moved = Math.max(-from, Math.min(this.#history.length - to, by));
    if (!moved) return;
    Object.assign(this.#visibleRange, { from: from + moved, to: to + moved, isPinned: to + moved === this.#history.length });
    this.#context.schedule();
  }

  // --- The list ---------------------------------------------------------------------------------

  #drawList(history, position) {
    const { at, filter, compareWith } = this.#context.store;
    // A list that did not change is not drawn: that reads where it is scrolled to, which lays out the page.
    const key = `${history.nav} ${history.epoch} ${history.changeCount} ${this.#past.proofs.changeCount} ${filter} ${this.#heldLength}`;
    if (key !== this.#listKey) {
      const before = this.#listedCount;
      this.#listKey = key;
      this.#listedCount = this.#heldLength === null ? this.#matches.count : this.#matches.indexOf(this.#heldLength);
      const isOther = filter !== this.#drawnFilter;
      this.#drawnFilter = filter;
      this.#rows.update(this.#listedCount, isOther || !before ? 0 : Math.max(0, this.#listedCount - before));
      if (isOther) this.#listElement.scrollTop = 0;
    }
    for (const row of this.#listElement.querySelectorAll("[data-row]")) this.#markRow(row, position, compareWith);
    if (at === this.#scrolledTo) return;
    const index = this.#matches.indexOf(position);
    // A link may name a revision before the history is there.
    if (at !== null && (this.#matches.positions[index] !== position || index >= this.#listedCount)) return;
    this.#scrolledTo = at;
    clearTimeout(this.#scrollTimer);
    if (at === null) this.#listElement.scrollTop = 0;
    // Scrolling lays out the page, so it waits for the last move of the slider.
    else this.#scrollTimer = setTimeout(() => this.#scrollToRevision(at), SCROLL_DELAY_MS);
  }

  #scrollToRevision(at) {
    const position = this.#past.chosenPosition();
    const index = this.#matches.indexOf(position);
    if (at === this.#context.store.at && this.#matches.positions[index] === position && index < this.#listedCount) this.#rows.scrollToRow(this.#listedCount - 1 - index);
  }

  #makeRow() {
    const row = el("div", { role: "listitem", class: "revision-row" },
      el("button", { type: "button", class: "rev" }), el("span", { class: "time" }), el("span", { class: "what" }), el("span", { class: "cause" }), el("span", { class: "by" }),
      el("span", { class: "dig" }));
    row.addEventListener("click", () => {
      const at = Number(row.dataset.position);
      if (row.dataset.position !== undefined) this.#past.travelTo(at);
    });
    return row;
  }

  #fillRow(element, index) {
    const position = this.#matches.positions[this.#listedCount - 1 - index];
    const entry = this.#history.at(position);
    if (!entry) return;
    const proof = entry.digest === null ? null : this.#past.proofs.proofOf(entry);
    const key = `${position} ${entry.isLoaded} ${entry.flags} ${entry.epoch} ${proof}`;
    updateAttribute(element, "aria-setsize", this.#listedCount);
    updateAttribute(element, "aria-posinset", index + 1);
    if (element.key === key && element.history === this.#history) return;
    Object.assign(element, { key, history: this.#history });
    const [rev, time, what, cause, by, dig] = element.children;
    const data = { row: "", rev: entry.rev, position, epoch: entry.epoch, proof };
    for (const [name, value] of Object.entries(data)) updateAttribute(element, `data-${name}`, value);
    writeText(rev, String(entry.rev));
    const [sign, words] = proof ? PROOF_SIGNS[proof] : ["", ""];
    const about = proof ? `digest ${entry.digest}, ${words}` : "";
    const who = entry.by?.name && `by ${visibleText(entry.by.name)}`;
    updateAttribute(rev, "aria-label", [`Travel to revision ${entry.rev}`, visibleText(actionText(entry)), who, words].filter(Boolean).join(", "));
    updateAttribute(element, "title", about || null);
    writeText(dig, proof ? `${entry.digest?.slice(0, 8)} ${sign}`.trim() : "");
    updateAttribute(dig, "title", about || null);
    writeText(time, timeWithMilliseconds(entry.t));
    updateAttribute(time, "title", dateAndTime(entry.t));
    what.replaceChildren(bdi(actionText(entry)), ...flagSigns(entry.flags));
    updateAttribute(what, "title", visibleText(actionText(entry)));
    writeText(cause, visibleText(entry.cause));
    by.replaceChildren(...(entry.by ? authorElements(entry.by) : []));
    this.#markRow(element, this.#past.position, this.#context.store.compareWith);
  }

  /** Marks the row of the revision on the stage, and of the one that it is compared with. */
  #markRow(element, position, compareWith) {
    updateAttribute(element, "aria-current", Number(element.dataset.position) === position ? "true" : null);
    const { rev, epoch } = element.dataset;
    updateAttribute(element, "data-with", Number(rev) === compareWith);
    const { nav, bookmarks } = this.#context.store;
    updateAttribute(element, "data-bookmark", bookmarks.length > 0 && bookmarks.includes(formatBookmark({ nav, epoch, rev })));
  }

  #drawStatus(history, filter) {
    const { missing, length } = history;
    // The newest revisions of a busy nav are read a moment later; that is no progress to show.
    this.#progressBar.hidden = missing <= PROGRESS_THRESHOLD;
    updateAttribute(this.#progressBar, "value", missing ? ((length - missing) / length).toFixed(3) : null);
    const parts = [];
    if (missing > PROGRESS_THRESHOLD) parts.push(`Loading: ${numberText(length - missing)} of ${numberText(length)}`);
    else if (filter) parts.push(`${numberText(this.#matches.count)} of ${countedNoun(length, "revision")}`);
    else if (length) parts.push(countedNoun(length, "revision"));
    const { from, to, isFit } = this.#visibleRange;
    if (!isFit) parts.push(`${numberText(history.columns.rev[from])} – ${numberText(history.columns.rev[to - 1])} in sight`);
    if (this.#heldLength !== null && this.#matches.count > this.#listedCount) parts.push(`paused, ${numberText(this.#matches.count - this.#listedCount)} new`);
    writeText(this.#statusText, parts.join(" · "));
  }
}
