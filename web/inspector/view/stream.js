// The stream: what the watch of the chosen nav delivers, newest first; and reports of divergence, and sessions that come and go.

import { el } from "../../view/dom.js";
import { isGestureProgress, eventSummary } from "../events.js";
import { filterError, matchesAllWords, parseFilter, authorText } from "../filter.js";
import { ReportAndSessionFeed } from "../incidents.js";
import { PooledRows } from "../rows.js";
import { authorElements, bdi, timeWithMilliseconds, numberText, countedNoun, errorText, updateAttribute, dateAndTime, principalText, withSpaces, visibleText, writeText } from "../text.js";

/** The maximum of rows that the stream keeps. */
const MAXIMUM_ROWS = 2000;

/**
 * @typedef {object} Row
 * @property {"event"|"folded"|"gap"|"border"|"report"|"session"} kind
 * @property {number} rev
 * @property {string} what
 * @property {number} [t]
 * @property {string|null} [cause]
 * @property {any} [by]
 * @property {number} [folded] how many revisions it stands for
 * @property {string} [epoch]
 * @property {boolean} [isProgress]
 * @property {string} [event] what happened to a session
 */

/** The panel that lists the arriving states; a click on a row shows its revision on the stage. */
export class StreamPanel {
  #root;
  #context;
  #rows;
  #note = el("p", { class: "note", "data-part": "stream-note" });
  #listElement = el("div", { class: "pool stream", role: "list", "aria-label": "Revisions as they came, newest first", tabindex: "-1" });
  /**
   * All rows, newest last.
   *
   * @type {Row[]}
   */
  #allRows = [];
  /**
   * The rows that are drawn, newest last.
   *
   * @type {Row[]}
   */
  #shownRows = [];
  #nav = null;
  #lastState = null;
  #droppedCount = 0;
  #pausedCount = 0;
  #filterKey = "";
  #addedCount = 0;
  #feed;
  /** The states for which the stream has rows already. */
  #seenStates = new WeakSet();
  /** Rows about reports and sessions since the last frame. @type {Row[]} */
  #newFeedRows = [];

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#root = root;
    this.#context = context;
    root.append(this.#note, this.#listElement);
    this.#feed = new ReportAndSessionFeed(context, (row) => this.#newFeedRows.push(row));
    this.#rows = new PooledRows(this.#listElement, { make: () => this.#makeRow(), fill: (row, index) => this.#fillRow(row, index), most: 40, keyOf: (index) => this.#shownRows[this.#shownRows.length - 1 - index] });
  }

  /** @param {import("../shell.js").Model} model */
  update(model) {
    const { nav, filter, paused, tab } = this.#context.store;
    if (nav !== this.#nav) this.#reset(nav);
    const before = this.#allRows.length + this.#droppedCount;
    this.#feed.followWhile(tab === "stream", model.live);
    // Nothing arrives from a recording.
    const arrivals = this.#context.source.kind === "recording" ? [] : model.arrivals;
    for (const state of arrivals) {
      // Until all views are there, each frame has the same arrivals.
      if (this.#seenStates.has(state)) continue;
      this.#seenStates.add(state);
      this.#addStateRows(state);
    }
    for (const row of this.#newFeedRows.splice(0)) this.#addRow(row);
    const added = this.#allRows.length + this.#droppedCount - before;
    if (paused) this.#pausedCount += added;
    else this.#pausedCount = 0;
    if (tab !== "stream") return;
    const key = `${filter} ${paused}`;
    if (!paused || key !== this.#filterKey) this.#filterRows(filter, added);
    this.#filterKey = key;
    this.#showNote(model);
    this.#rows.update(this.#shownRows.length, this.#addedCount);
    this.#addedCount = 0;
  }

  #reset(nav) {
    this.#nav = nav;
    this.#allRows = [];
    this.#shownRows = [];
    this.#lastState = null;
    this.#droppedCount = this.#pausedCount = 0;
    this.#filterKey = "";
  }

  #filterRows(filter, added) {
    const before = this.#shownRows.length;
    const words = filterError(filter) ? null : parseFilter(filter);
    this.#shownRows = this.#allRows.filter((row) => row.by === undefined || words !== null && matchesAllWords(words, filterTexts(row)));
    this.#addedCount = filter ? Math.max(0, this.#shownRows.length - before) : added;
  }

  #showNote({ live, error }) {
    const parts = [];
    const { filter } = this.#context.store;
    const isRecording = this.#context.source.kind === "recording";
    if (!this.#allRows.length && isRecording) parts.push("A stream is not in a recording. The timeline has its revisions; the page of a daemon lists them here as they come.");
    else if (!this.#allRows.length) parts.push(live ? "Nothing has come yet. Each change of this nav adds a row." : error ? "Choose a nav that is there. Each change of it adds a row." : "");
    else if (filter && !this.#shownRows.some((row) => row.by !== undefined)) parts.push(filterError(filter) || "No row matches the filter. Rows that match are added as they come.");
    if (this.#pausedCount) parts.push(`Paused · ${countedNoun(this.#pausedCount, "new row")}`);
    const failed = this.#feed.sessionsError;
    if (failed) parts.push(failed.code === "forbidden" ? "Events of sessions need the role admin." : `Sessions: ${errorText(failed)}`);
    if (this.#droppedCount) parts.push(`${countedNoun(this.#droppedCount, "older row")} left the list; the timeline has them.`);
    writeText(this.#note, parts.join(" "));
    this.#note.hidden = !parts.join("");
  }

  // --- Rows -------------------------------------------------------------------------------------

  /** @param {import("../source.js").State} state */
  #addStateRows(state) {
    const last = this.#lastState;
    this.#lastState = state;
    const { rev } = state;
    const t = performance.timeOrigin + state.receivedAt + this.#context.clock.aheadMilliseconds;
    if (!last) return this.#addRow({ kind: "event", rev, t, epoch: state.epoch, what: "the state as it is", cause: null, by: null });
    if (last.epoch !== state.epoch) this.#addRow({ kind: "border", rev, t, epoch: state.epoch, what: `epoch ${state.epoch}` });
    const missed = rev - last.rev - 1;
    if (last.epoch === state.epoch && missed > 0) {
      if (state.isResynchronised) this.#addRow({ kind: "gap", rev, folded: missed, what: `revisions ${last.rev + 1} – ${rev - 1} did not come` });
      else this.#addRow({ kind: "folded", rev, folded: missed, what: `${numberText(missed)} ${missed === 1 ? "revision" : "revisions"} folded` });
    }
    // A reconnect delivers the same state again.
    if (rev === last.rev && last.epoch === state.epoch && !state.ev.length) return undefined;
    const isFinger = isGestureProgress(state);
    const row = { kind: /** @type {const} */ ("event"), rev, t, epoch: state.epoch, what: eventSummary(state), cause: state.cause, by: state.by, isProgress: isFinger };
    const newest = this.#allRows.at(-1);
    if (isFinger && newest?.isProgress) this.#allRows[this.#allRows.length - 1] = row;
    else this.#addRow(row);
    return undefined;
  }

  /** @param {Row} row */
  #addRow(row) {
    this.#allRows.push(row);
    if (this.#allRows.length <= MAXIMUM_ROWS) return;
    const most = this.#allRows.length - MAXIMUM_ROWS * 0.9;
    this.#allRows.splice(0, most);
    this.#droppedCount += Math.ceil(most);
  }

  #makeRow() {
    const row = el(
      "div", { role: "listitem", class: "stream-row" },
      el("button", { type: "button", class: "rev" }), el("span", { class: "time" }), el("span", { class: "what" }, el("bdi")), el("span", { class: "cause" }), el("span", { class: "by" }));
    row.firstChild.addEventListener("click", () => {
      const { rev, epoch = null } = /** @type {any} */ (row).row;
      this.#context.store.set({ at: rev, epoch });
    });
    return row;
  }

  #fillRow(element, index) {
    const row = this.#shownRows[this.#shownRows.length - 1 - index];
    updateAttribute(element, "aria-setsize", this.#shownRows.length);
    updateAttribute(element, "aria-posinset", index + 1);
    if (element.row === row) return;
    element.row = row;
    const [rev, time, what, cause, by] = element.children;
    const isEvent = row.kind === "event";
    const leads = isEvent || row.kind === "report";
    updateAttribute(element, "data-event", isEvent ? "" : null);
    updateAttribute(element, "data-rev", isEvent ? row.rev : null);
    updateAttribute(element, "data-epoch", row.epoch ?? null);
    updateAttribute(element, "data-folded", row.kind === "folded" ? row.folded : null);
    updateAttribute(element, "data-gap", row.kind === "gap" ? row.folded : null);
    updateAttribute(element, "data-epoch-border", row.kind === "border" ? "" : null);
    updateAttribute(element, "data-report", row.kind === "report" ? row.rev : null);
    updateAttribute(element, "data-session-event", row.event ?? null);
    writeText(rev, leads ? String(row.rev) : "");
    rev.hidden = !leads;
    const who = row.by?.name && `by ${visibleText(row.by.name)}`;
    updateAttribute(rev, "aria-label", leads ? [`Travel to revision ${row.rev}`, row.what, who].filter(Boolean).join(", ") : null);
    writeText(time, row.t === undefined ? "" : timeWithMilliseconds(row.t));
    updateAttribute(time, "title", row.t === undefined ? null : dateAndTime(row.t));
    writeText(what.firstChild, row.what);
    updateAttribute(what, "title", row.what);
    writeText(cause, row.cause ?? "");
    by.replaceChildren(...(row.by ? withSpaces(authorElements(rowAuthor(row))) : row.cause ? [el("span", { class: "faint" }, bdi("navd"))] : []));
  }
}

/** The texts of a row that a filter compares. @param {Row} row */
function filterTexts(row) {
  const { what, cause, by } = row;
  const text = what.toLowerCase();
  return { by: by ? authorText({ ...by, principal: principalText(by) }) : "", cause: (cause ?? "").toLowerCase(), op: text, screen: text };
}

/** The author of a row; in a record of `$clients`, the principal is in the members `uid` or `key`. @param {Row} row */
function rowAuthor({ kind, by = null }) {
  if (kind !== "session") return by;
  const principal = principalText(by);
  return { name: by.name, ...(principal ? { principal } : {}), ...(by.pid === undefined ? {} : { pid: by.pid }) };
}
