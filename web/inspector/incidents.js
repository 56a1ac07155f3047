// What the stream has beside revisions: reports of divergence, and what happens to sessions.

import { historyOf } from "./history.js";
import { Poll } from "./poll.js";
import { SessionEvents } from "./sessionevents.js";
import { visibleText } from "./text.js";

/** The pause between two reads of the log for reports: a report makes no revision, so no watch delivers it. */
const REPORT_POLL_MS = 1500;
/** The maximum of revisions in one such read. The history of the timeline reads the others. */
const MAXIMUM_LOG_REVISIONS = 100;
/** The maximum of reports that are remembered, so that none gets a second row. */
const MAXIMUM_SEEN_REPORTS = 4096;

/** @typedef {import("./view/stream.js").Row} Row */

/** Follows reports of divergence and the sessions while the tab of the stream is open. */
export class ReportAndSessionFeed {
  /** Why the page cannot follow the sessions; null if it can. @type {any} */
  sessionsError = null;
  #context;
  #addRow;
  #poll;
  #sessionEvents = new SessionEvents();
  #sessionsWatch = null;
  #nav = null;
  /** The first revision of the stream; only the timeline shows reports about older revisions. */
  #firstRevision = 0;
  #newestRevision = 0;
  #readUpTo = 0;
  #epoch = "";
  #seenReports = new Set();
  /** The newest report that this feed has taken from the history. */
  #lastTakenReport = null;

  /** @param {import("./shell.js").Context} context @param {(row: Row) => void} add takes a row of the stream */
  constructor(context, add) {
    this.#context = context;
    this.#addRow = add;
    this.#poll = new Poll(() => this.#readReports(), REPORT_POLL_MS, context.signal);
    context.signal.addEventListener("abort", () => this.#sessionsWatch?.abort());
  }

  /** Follows while `isWanted` is true; `live` is the newest state of the chosen nav. @param {boolean} isWanted @param {import("./source.js").State|null} live */
  followWhile(isWanted, live) {
    const { source, store } = this.#context;
    isWanted &&= source.kind === "live";
    const own = live?.nav === store.nav ? live : null;
    if (store.nav !== this.#nav || own && own.epoch !== this.#epoch) {
      this.#nav = store.nav;
      this.#epoch = own?.epoch ?? "";
      this.#firstRevision = this.#readUpTo = own?.rev ?? 0;
      this.#seenReports.clear();
    }
    if (own) this.#newestRevision = own.rev;
    this.#poll.setWanted(isWanted && own !== null);
    if (isWanted && own) this.#addLoadedReports(historyOf(source, this.#nav));
    if (isWanted && !this.#sessionsWatch && !this.sessionsError) this.#followSessions(this.#sessionsWatch = new AbortController());
    else if (!isWanted && this.#sessionsWatch) {
      this.#sessionsWatch.abort();
      this.#sessionsWatch = null;
    }
  }

  // --- Sessions ---------------------------------------------------------------------------------

  async #followSessions({ signal }) {
    const { source, clock, schedule } = this.#context;
    try {
      for await (const { screens } of source.states("$clients", { signal })) {
        // What happened while nobody looked is reported when the next list comes.
        for (const { event, session, what } of this.#sessionEvents.nextEvents(screens)) this.#addRow({ kind: "session", rev: 0, t: clock.now, what, event, by: session });
        schedule();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.sessionsError = error;
      schedule();
    }
  }

  // --- Reports ----------------------------------------------------------------------------------

  async #readReports() {
    const nav = this.#nav;
    const newest = this.#newestRevision;
    // Of a busy nav, the history of the timeline reads the newest revisions anyway.
    if (newest - this.#readUpTo > MAXIMUM_LOG_REVISIONS) {
      this.#readUpTo = newest;
      return;
    }
    // The revision that was the newest may have got reports since it was read.
    const from = Math.max(this.#readUpTo, newest - MAXIMUM_LOG_REVISIONS + 1);
    const { list } = await this.#context.source.log(nav, { from, limit: MAXIMUM_LOG_REVISIONS });
    if (nav !== this.#nav) return;
    this.#readUpTo = newest;
    const history = historyOf(this.#context.source, nav);
    let isNew = false;
    for (const entry of list) {
      if (entry.bad === undefined || !this.#addReport(entry)) continue;
      history.put(entry);
      isNew = true;
    }
    if (isNew) history.reportChange();
  }

  #addLoadedReports({ divergenceReports: reports }) {
    if (reports.at(-1) === this.#lastTakenReport) return;
    this.#lastTakenReport = reports.at(-1);
    for (const entry of reports) this.#addReport(entry);
  }

  /** Adds a row for a report, once; returns whether it did. */
  #addReport(entry) {
    const { rev, t, bad, by } = entry;
    const key = JSON.stringify([rev, t, bad.rev, bad.dig, by?.name, by?.pid]);
    if (rev < this.#firstRevision || this.#seenReports.has(key)) return false;
    this.#seenReports.add(key);
    if (this.#seenReports.size > MAXIMUM_SEEN_REPORTS) this.#seenReports.delete(this.#seenReports.values().next().value);
    const ours = bad.ours === undefined ? "" : `, not ${visibleText(bad.ours, 24)}`;
    this.#addRow({ kind: "report", rev: bad.rev, t, what: `divergence: ${visibleText(bad.dig, 24)}${ours}`, by: by ?? null });
    return true;
  }
}
