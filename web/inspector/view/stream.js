// The stream: what the watch of the chosen nav delivers, newest first; and reports of divergence, and sessions that come and go.

import { el } from "../../view/dom.js";
import { isProgress, summaryOf } from "../events.js";
import { errorIn, hasAll, parseFilter, textOf } from "../filter.js";
import { Incidents } from "../incidents.js";
import { Rows } from "../rows.js";
import { authorOf, bdi, clock, count, counted, explain, mark, moment, principalOf, spaced, visible, write } from "../text.js";

/** How many rows are kept. */
const KEPT = 2000;

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

/** Draws the rows of the stream; a choice of one travels to its revision. */
export class Stream {
  #root;
  #context;
  #rows;
  #note = el("p", { class: "note", "data-part": "stream-note" });
  #list = el("div", { class: "pool stream", role: "list", "aria-label": "Revisions as they came, newest first", tabindex: "-1" });
  /**
   * Newest last.
   *
   * @type {Row[]}
   */
  #all = [];
  /**
   * The rows that are drawn, newest last.
   *
   * @type {Row[]}
   */
  #shown = [];
  #nav = null;
  #last = null;
  #dropped = 0;
  #waiting = 0;
  #key = "";
  #added = 0;
  #incidents;
  /** The states whose rows the stream has. */
  #seen = new WeakSet();
  /** Rows beside those of revisions, since the last frame. @type {Row[]} */
  #came = [];

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#root = root;
    this.#context = context;
    root.append(this.#note, this.#list);
    this.#incidents = new Incidents(context, (row) => this.#came.push(row));
    this.#rows = new Rows(this.#list, { make: () => this.#make(), fill: (row, index) => this.#fill(row, index), most: 40, keyOf: (index) => this.#shown[this.#shown.length - 1 - index] });
  }

  /** @param {import("../shell.js").Model} model */
  update(model) {
    const { nav, filter, paused, tab } = this.#context.store;
    if (nav !== this.#nav) this.#forget(nav);
    const before = this.#all.length + this.#dropped;
    this.#incidents.want(tab === "stream", model.live);
    // Nothing arrives from a recording.
    const arrivals = this.#context.source.kind === "recording" ? [] : model.arrivals;
    for (const state of arrivals) {
      // Until all views are there, each frame has the same arrivals.
      if (this.#seen.has(state)) continue;
      this.#seen.add(state);
      this.#take(state);
    }
    for (const row of this.#came.splice(0)) this.#add(row);
    const added = this.#all.length + this.#dropped - before;
    if (paused) this.#waiting += added;
    else this.#waiting = 0;
    if (tab !== "stream") return;
    const key = `${filter} ${paused}`;
    if (!paused || key !== this.#key) this.#choose(filter, added);
    this.#key = key;
    this.#explain(model);
    this.#rows.update(this.#shown.length, this.#added);
    this.#added = 0;
  }

  #forget(nav) {
    this.#nav = nav;
    this.#all = [];
    this.#shown = [];
    this.#last = null;
    this.#dropped = this.#waiting = 0;
    this.#key = "";
  }

  #choose(filter, added) {
    const before = this.#shown.length;
    const words = errorIn(filter) ? null : parseFilter(filter);
    this.#shown = this.#all.filter((row) => row.by === undefined || words !== null && hasAll(words, textsOf(row)));
    this.#added = filter ? Math.max(0, this.#shown.length - before) : added;
  }

  #explain({ live, error }) {
    const parts = [];
    const { filter } = this.#context.store;
    const isRecording = this.#context.source.kind === "recording";
    if (!this.#all.length && isRecording) parts.push("A stream is not in a recording. The timeline has its revisions; the page of a daemon lists them here as they come.");
    else if (!this.#all.length) parts.push(live ? "Nothing has come yet. Each change of this nav adds a row." : error ? "Choose a nav that is there. Each change of it adds a row." : "");
    else if (filter && !this.#shown.some((row) => row.by !== undefined)) parts.push(errorIn(filter) || "No row matches the filter. Rows that match are added as they come.");
    if (this.#waiting) parts.push(`Paused · ${counted(this.#waiting, "new row")}`);
    const failed = this.#incidents.error;
    if (failed) parts.push(failed.code === "forbidden" ? "Events of sessions need the role admin." : `Sessions: ${explain(failed)}`);
    if (this.#dropped) parts.push(`${counted(this.#dropped, "older row")} left the list; the timeline has them.`);
    write(this.#note, parts.join(" "));
    this.#note.hidden = !parts.join("");
  }

  // --- Rows -------------------------------------------------------------------------------------

  /** @param {import("../source.js").State} state */
  #take(state) {
    const last = this.#last;
    this.#last = state;
    const { rev } = state;
    const t = performance.timeOrigin + state.receivedAt + this.#context.clock.ahead;
    if (!last) return this.#add({ kind: "event", rev, t, epoch: state.epoch, what: "the state as it is", cause: null, by: null });
    if (last.epoch !== state.epoch) this.#add({ kind: "border", rev, t, epoch: state.epoch, what: `epoch ${state.epoch}` });
    const missed = rev - last.rev - 1;
    if (last.epoch === state.epoch && missed > 0) {
      if (state.isResynchronised) this.#add({ kind: "gap", rev, folded: missed, what: `revisions ${last.rev + 1} – ${rev - 1} did not come` });
      else this.#add({ kind: "folded", rev, folded: missed, what: `${count(missed)} ${missed === 1 ? "revision" : "revisions"} folded` });
    }
    // A reconnect delivers the same state again.
    if (rev === last.rev && last.epoch === state.epoch && !state.ev.length) return undefined;
    const isFinger = isProgress(state);
    const row = { kind: /** @type {const} */ ("event"), rev, t, epoch: state.epoch, what: summaryOf(state), cause: state.cause, by: state.by, isProgress: isFinger };
    const newest = this.#all.at(-1);
    if (isFinger && newest?.isProgress) this.#all[this.#all.length - 1] = row;
    else this.#add(row);
    return undefined;
  }

  /** @param {Row} row */
  #add(row) {
    this.#all.push(row);
    if (this.#all.length <= KEPT) return;
    const most = this.#all.length - KEPT * 0.9;
    this.#all.splice(0, most);
    this.#dropped += Math.ceil(most);
  }

  #make() {
    const row = el(
      "div", { role: "listitem", class: "stream-row" },
      el("button", { type: "button", class: "rev" }), el("span", { class: "time" }), el("span", { class: "what" }, el("bdi")), el("span", { class: "cause" }), el("span", { class: "by" }));
    row.firstChild.addEventListener("click", () => {
      const { rev, epoch = null } = /** @type {any} */ (row).row;
      this.#context.store.set({ at: rev, epoch });
    });
    return row;
  }

  #fill(element, index) {
    const row = this.#shown[this.#shown.length - 1 - index];
    mark(element, "aria-setsize", this.#shown.length);
    mark(element, "aria-posinset", index + 1);
    if (element.row === row) return;
    element.row = row;
    const [rev, time, what, cause, by] = element.children;
    const isEvent = row.kind === "event";
    const leads = isEvent || row.kind === "report";
    mark(element, "data-event", isEvent ? "" : null);
    mark(element, "data-rev", isEvent ? row.rev : null);
    mark(element, "data-epoch", row.epoch ?? null);
    mark(element, "data-folded", row.kind === "folded" ? row.folded : null);
    mark(element, "data-gap", row.kind === "gap" ? row.folded : null);
    mark(element, "data-epoch-border", row.kind === "border" ? "" : null);
    mark(element, "data-report", row.kind === "report" ? row.rev : null);
    mark(element, "data-session-event", row.event ?? null);
    write(rev, leads ? String(row.rev) : "");
    rev.hidden = !leads;
    const who = row.by?.name && `by ${visible(row.by.name)}`;
    mark(rev, "aria-label", leads ? [`Travel to revision ${row.rev}`, row.what, who].filter(Boolean).join(", ") : null);
    write(time, row.t === undefined ? "" : clock(row.t));
    mark(time, "title", row.t === undefined ? null : moment(row.t));
    write(what.firstChild, row.what);
    mark(what, "title", row.what);
    write(cause, row.cause ?? "");
    by.replaceChildren(...(row.by ? spaced(authorOf(personOf(row))) : row.cause ? [el("span", { class: "faint" }, bdi("navd"))] : []));
  }
}

/** The texts of a row that a filter compares. @param {Row} row */
function textsOf(row) {
  const { what, cause, by } = row;
  const text = what.toLowerCase();
  return { by: by ? textOf({ ...by, principal: principalOf(by) }) : "", cause: (cause ?? "").toLowerCase(), op: text, screen: text };
}

/** The author of a row: a record of `$clients` has the principal as members of the peer. @param {Row} row */
function personOf({ kind, by = null }) {
  if (kind !== "session") return by;
  const principal = principalOf(by);
  return { name: by.name, ...(principal ? { principal } : {}), ...(by.pid === undefined ? {} : { pid: by.pid }) };
}
