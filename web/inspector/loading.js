// Loads a history from a daemon: pages of `get log`, newest first, one at a time.

import { WorkSlices } from "./slices.js";

/** The maximum of revisions that navd returns in one answer. */
const PAGE_REVISIONS = 1000;
const MINIMUM_PAGE_REVISIONS = 25;
/** The pause between two reads of the newest revisions. navd performs up to 56,000 in a second; the page needs none of them at once. */
const FOLLOW_INTERVAL_MS = 250;
/**
 * A nav with more revisions a millisecond counts as busy, and the page reads it slowly. Its rows
 * lie between those of all other navs: to read three of 16 such navs took a quarter of navd's time.
 */
const BUSY_REVISIONS_PER_MS = 1;
const BUSY_PAGE_REVISIONS = 250;
const BUSY_PAUSE_MS = 1000;
const REPORT_INTERVAL_MS = 100;
const RETRY_MS = 1000;
/** The codes of errors after which a retry cannot succeed. */
const FINAL_ERROR_CODES = new Set(["no-nav", "forbidden", "unknown-verb", "invalid-argument", "unauthorized"]);

/** Reads the log of a nav from the daemon into a history. */
export class HistoryLoader {
  #history;
  #source;
  #maximumRevisions;
  /** The ranges `[from, to]` that are not loaded, oldest first. */
  #missingRanges = [];
  #isRangeKnown = false;
  #pageSize = PAGE_REVISIONS;
  /** The newest revision that the last answer named. */
  #newestRead = 0;
  #isNavBusy = false;
  #runController = null;
  #wakeUp = null;
  /** The newest revision that the watch has shown. */
  #newestWatched = 0;
  #lastReadAt = -Infinity;
  #lastReportAt = -Infinity;

  /** @param {import("./history.js").History} history @param {any} source @param {number} most the revisions of a full history */
  constructor(history, source, most) {
    this.#history = history;
    this.#source = source;
    this.#maximumRevisions = most;
  }

  get isComplete() { return this.#isRangeKnown && !this.missing; }

  get missing() {
    return this.#missingRanges.reduce((sum, [from, to]) => sum + to - from + 1, Math.max(0, this.#newestWatched - this.#history.newest));
  }

  start() {
    if (this.#runController || this.#history.successor) return;
    const abort = this.#runController = new AbortController();
    this.#loadUntilAborted(abort.signal).catch(() => {}).finally(() => {
      if (this.#runController === abort) this.#runController = null;
    });
  }

  stop() {
    this.#runController?.abort();
    this.#runController = null;
    this.#wakeUp?.();
  }

  /** @param {{rev: number, epoch: string}} state */
  follow({ rev, epoch }) {
    const history = this.#history;
    if (!this.#isRangeKnown || history.successor) return;
    if (epoch !== history.epoch) return this.#endWithSuccessor(epoch);
    if (rev <= Math.max(history.newest, this.#newestWatched)) return;
    this.#newestWatched = rev;
    if (performance.now() - this.#lastReportAt >= REPORT_INTERVAL_MS) {
      this.#extendToWatch();
      this.#reportChange(true);
    }
    this.#wakeUp?.();
  }

  /** Makes room for the revisions that the watch has shown. */
  #extendToWatch() {
    const { newest, floor, epoch } = this.#history;
    if (this.#isRangeKnown && this.#newestWatched > newest) this.#extend(floor, this.#newestWatched, epoch);
  }

  /** Ends this history, since another epoch began or it is full; its successor continues. */
  #endWithSuccessor(epoch) {
    const history = this.#history;
    history.successorEpoch = epoch;
    const { constructor } = /** @type {any} */ (history);
    history.successor = new constructor(history.nav, this.#source, { most: this.#maximumRevisions });
    this.stop();
    history.reportChange();
  }

  async #loadUntilAborted(signal) {
    const { nav } = this.#history;
    while (!signal.aborted) {
      try {
        this.#extendToWatch();
        if (!this.#isRangeKnown) await this.#findRange(nav, signal);
        else if (this.#missingRanges.length) await this.#readPage(nav, signal);
        else await this.#sleep(0, signal);
        this.#history.error = null;
      } catch (error) {
        if (signal.aborted) return;
        if (!this.#adaptToRefusal(error)) {
          this.#history.error = error;
          this.#history.reportChange();
          if (FINAL_ERROR_CODES.has(error.code)) return;
          await this.#sleep(RETRY_MS, signal);
        }
      }
    }
  }

  /** Reads one entry; its answer has the oldest and the newest revision of the log. */
  async #findRange(nav, signal) {
    const { floor, rev, epoch } = await this.#source.log(nav, { limit: 1, signal });
    signal.throwIfAborted();
    this.#isRangeKnown = true;
    this.#extend(floor, rev, epoch);
    this.#newestRead = rev;
    this.#history.reportChange();
  }

  #extend(floor, newest, epoch) {
    const history = this.#history;
    const oldest = history.length ? history.oldest : Math.max(floor, newest - this.#maximumRevisions / 2 + 1);
    if (newest - oldest >= this.#maximumRevisions) return this.#endWithSuccessor(epoch);
    const from = history.length ? history.newest + 1 : oldest;
    history.floor = floor;
    history.extend(oldest, newest, epoch);
    if (newest < from) return;
    const last = this.#missingRanges.at(-1);
    if (last && last[1] === from - 1) last[1] = newest;
    else this.#missingRanges.push([from, newest]);
  }

  async #readPage(nav, signal) {
    const [from, to] = this.#missingRanges.at(-1);
    // The newest revisions of a busy nav wait, so that one read brings many of them.
    const isNewest = to === this.#history.newest && to - from < PAGE_REVISIONS;
    const pause = this.#isNavBusy ? BUSY_PAUSE_MS : isNewest ? FOLLOW_INTERVAL_MS : 0;
    const wait = this.#lastReadAt + pause - performance.now();
    if (wait > 0) return this.#sleep(wait, signal);
    const size = this.#isNavBusy ? Math.min(this.#pageSize, BUSY_PAGE_REVISIONS) : this.#pageSize;
    const start = Math.max(from, to - size + 1);
    const readAt = performance.now();
    const since = readAt - this.#lastReadAt;
    this.#lastReadAt = readAt;
    const page = await this.#source.log(nav, { from: start, limit: to - start + 1, signal });
    signal.throwIfAborted();
    if (page.epoch !== this.#history.epoch) return this.#endWithSuccessor(page.epoch);
    this.#isNavBusy = page.rev - this.#newestRead > since * BUSY_REVISIONS_PER_MS;
    this.#newestRead = page.rev;
    await this.#putEntries(page.list, signal);
    this.#removeFromMissing(start, Math.min(to, (page.next ?? Infinity) - 1));
    this.#history.noteFloor(page.floor);
    if (page.rev > this.#history.newest) this.#extend(page.floor, page.rev, page.epoch);
    this.#reportChange();
  }

  /** Reports the change of the history, at most every 100 ms: each report draws the whole strip anew. */
  #reportChange(isDue = this.isComplete) {
    const now = performance.now();
    if (!isDue && now - this.#lastReportAt < REPORT_INTERVAL_MS) return;
    this.#lastReportAt = now;
    this.#history.reportChange();
  }

  async #putEntries(list, signal) {
    const slices = new WorkSlices();
    // Newest first, as an entry that begins an epoch names what is older.
    for (let index = list.length - 1; index >= 0; index--) {
      this.#history.put(list[index]);
      if (!(index & 63) && slices.isOver) await slices.nextSlice(signal);
    }
  }

  /** Removes a range that was read from the missing ranges. New revisions may have come after it. */
  #removeFromMissing(from, to) {
    const kept = [];
    for (const [first, last] of this.#missingRanges) {
      if (first < from) kept.push([first, Math.min(last, from - 1)]);
      if (last > to) kept.push([Math.max(first, to + 1), last]);
    }
    this.#missingRanges = kept;
  }

  /** What the daemon has pruned cannot be loaded any more. @param {number} floor */
  dropBelow(floor) { this.#removeFromMissing(0, floor - 1); }

  /** Handles refusals that a smaller or later range avoids; returns whether it did. */
  #adaptToRefusal(error) {
    if (error.code === "limit" && this.#pageSize > MINIMUM_PAGE_REVISIONS) {
      this.#pageSize = Math.ceil(this.#pageSize / 2);
      return true;
    }
    if (error.code === "compacted" && error.floor > this.#history.floor) {
      this.#history.noteFloor(error.floor);
      return true;
    }
    return false;
  }

  /** Waits for a time, or if it is 0 until a range is missing. */
  #sleep(milliseconds, signal) {
    return new Promise((resolve) => {
      const timer = milliseconds ? setTimeout(() => end(), milliseconds) : 0;
      const end = this.#wakeUp = () => {
        // A wake-up must not end a pause between two reads.
        if (milliseconds && !signal.aborted && performance.now() + 1 < until) return;
        clearTimeout(timer);
        this.#wakeUp = null;
        resolve(undefined);
      };
      const until = performance.now() + milliseconds;
    });
  }
}
