// What the stream has beside revisions: reports of divergence, and what happens to sessions.

import { historyOf } from "./history.js";
import { Poll } from "./poll.js";
import { SessionEvents } from "./sessionevents.js";
import { visible } from "./text.js";

/** A report makes no revision, so no watch delivers it: the log is read again and again. */
const PAUSE_MS = 1500;
/** The most revisions that one such read gets. The history of the timeline reads the others. */
const MAXIMUM_REVISIONS = 100;
/** The reports that are remembered, so that each has one row. */
const MOST_SEEN = 4096;

/** @typedef {import("./view/stream.js").Row} Row */

/** Follows both while the stream is open, for the chosen nav. */
export class Incidents {
  /** Why there are no events of sessions; null if there are. @type {any} */
  error = null;
  #context;
  #add;
  #poll;
  #events = new SessionEvents();
  #sessions = null;
  #nav = null;
  /** The first revision of the stream. Reports about older ones are in the timeline alone. */
  #first = 0;
  #newest = 0;
  #asked = 0;
  #epoch = "";
  #seen = new Set();
  /** The newest report of the history that was taken. */
  #taken = null;

  /** @param {import("./shell.js").Context} context @param {(row: Row) => void} add takes a row of the stream */
  constructor(context, add) {
    this.#context = context;
    this.#add = add;
    this.#poll = new Poll(() => this.#read(), PAUSE_MS, context.signal);
    context.signal.addEventListener("abort", () => this.#sessions?.abort());
  }

  /** Begins or ends to follow. @param {boolean} isWanted @param {import("./source.js").State|null} live */
  want(isWanted, live) {
    const { source, store } = this.#context;
    isWanted &&= source.kind === "live";
    const own = live?.nav === store.nav ? live : null;
    if (store.nav !== this.#nav || own && own.epoch !== this.#epoch) {
      this.#nav = store.nav;
      this.#epoch = own?.epoch ?? "";
      this.#first = this.#asked = own?.rev ?? 0;
      this.#seen.clear();
    }
    if (own) this.#newest = own.rev;
    this.#poll.want(isWanted && own !== null);
    if (isWanted && own) this.#takeLoaded(historyOf(source, this.#nav));
    if (isWanted && !this.#sessions && !this.error) this.#followSessions(this.#sessions = new AbortController());
    else if (!isWanted && this.#sessions) {
      this.#sessions.abort();
      this.#sessions = null;
    }
  }

  // --- Sessions ---------------------------------------------------------------------------------

  async #followSessions({ signal }) {
    const { source, clock, schedule } = this.#context;
    try {
      for await (const { screens } of source.states("$clients", { signal })) {
        // What happened while nobody looked is reported when the next list comes.
        for (const { event, session, what } of this.#events.take(screens)) this.#add({ kind: "session", rev: 0, t: clock.now, what, event, by: session });
        schedule();
      }
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
      schedule();
    }
  }

  // --- Reports ----------------------------------------------------------------------------------

  async #read() {
    const nav = this.#nav;
    const newest = this.#newest;
    // Of a busy nav, the history of the timeline reads the newest revisions anyway.
    if (newest - this.#asked > MAXIMUM_REVISIONS) {
      this.#asked = newest;
      return;
    }
    // The revision that was the newest may have got reports since it was read.
    const from = Math.max(this.#asked, newest - MAXIMUM_REVISIONS + 1);
    const { list } = await this.#context.source.log(nav, { from, limit: MAXIMUM_REVISIONS });
    if (nav !== this.#nav) return;
    this.#asked = newest;
    const history = historyOf(this.#context.source, nav);
    let isNew = false;
    for (const entry of list) {
      if (entry.bad === undefined || !this.#report(entry)) continue;
      history.put(entry);
      isNew = true;
    }
    if (isNew) history.changed();
  }

  #takeLoaded({ reports }) {
    if (reports.at(-1) === this.#taken) return;
    this.#taken = reports.at(-1);
    for (const entry of reports) this.#report(entry);
  }

  /** Adds a row for a report, once; returns whether it did. */
  #report(entry) {
    const { rev, t, bad, by } = entry;
    const key = JSON.stringify([rev, t, bad.rev, bad.dig, by?.name, by?.pid]);
    if (rev < this.#first || this.#seen.has(key)) return false;
    this.#seen.add(key);
    if (this.#seen.size > MOST_SEEN) this.#seen.delete(this.#seen.values().next().value);
    const ours = bad.ours === undefined ? "" : `, not ${visible(bad.ours, 24)}`;
    this.#add({ kind: "report", rev: bad.rev, t, what: `divergence: ${visible(bad.dig, 24)}${ours}`, by: by ?? null });
    return true;
  }
}
