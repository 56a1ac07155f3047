// Loads a history from a daemon: pages of `get log`, newest first, one at a time.

import { Slices } from "./slices.js";

/** The most revisions that navd returns at once. */
const PAGE = 1000;
const LEAST_PAGE = 25;
/** How often the newest revisions are read. navd performs up to 56,000 in a second; the page needs none of them at once. */
const FOLLOW_MS = 250;
/**
 * A nav that does more than so many revisions in a millisecond is read slowly, the newest revisions first. Its rows lie
 * between those of all other navs, so to read three of 16 such navs at once took a quarter of navd.
 */
const BUSY_RATE = 1;
const BUSY_PAGE = 250;
const BUSY_PAUSE_MS = 1000;
const REPORT_MS = 100;
const RETRY_MS = 1000;
/** The codes of errors after which a retry cannot succeed. */
const FINAL = new Set(["no-nav", "forbidden", "unknown-verb", "invalid-argument", "unauthorized"]);

/** Fills a history. */
export class Loading {
  #history;
  #source;
  #most;
  /** The ranges `[from, to]` that are not loaded, oldest first. */
  #missing = [];
  #isKnown = false;
  #page = PAGE;
  /** The newest revision at the last read. */
  #rev = 0;
  #isBusy = false;
  #abort = null;
  #wake = null;
  /** The newest revision that the watch has shown. */
  #ahead = 0;
  #readAt = -Infinity;
  #reportedAt = -Infinity;

  /** @param {import("./history.js").History} history @param {any} source @param {number} most the revisions of a full history */
  constructor(history, source, most) {
    this.#history = history;
    this.#source = source;
    this.#most = most;
  }

  get isComplete() { return this.#isKnown && !this.missing; }

  get missing() {
    return this.#missing.reduce((sum, [from, to]) => sum + to - from + 1, Math.max(0, this.#ahead - this.#history.newest));
  }

  start() {
    if (this.#abort || this.#history.successor) return;
    const abort = this.#abort = new AbortController();
    this.#run(abort.signal).catch(() => {}).finally(() => {
      if (this.#abort === abort) this.#abort = null;
    });
  }

  stop() {
    this.#abort?.abort();
    this.#abort = null;
    this.#wake?.();
  }

  /** @param {{rev: number, epoch: string}} state */
  follow({ rev, epoch }) {
    const history = this.#history;
    if (!this.#isKnown || history.successor) return;
    if (epoch !== history.epoch) return this.#end(epoch);
    if (rev <= Math.max(history.newest, this.#ahead)) return;
    this.#ahead = rev;
    if (performance.now() - this.#reportedAt >= REPORT_MS) {
      this.#extendToWatch();
      this.#report(true);
    }
    this.#wake?.();
  }

  /** Makes room for the revisions that the watch has shown. */
  #extendToWatch() {
    const { newest, floor, epoch } = this.#history;
    if (this.#isKnown && this.#ahead > newest) this.#extend(floor, this.#ahead, epoch);
  }

  /** Ends this history, since another epoch began or it is full; its successor continues. */
  #end(epoch) {
    const history = this.#history;
    history.nextEpoch = epoch;
    const { constructor } = /** @type {any} */ (history);
    history.successor = new constructor(history.nav, this.#source, { most: this.#most });
    this.stop();
    history.changed();
  }

  async #run(signal) {
    const { nav } = this.#history;
    while (!signal.aborted) {
      try {
        this.#extendToWatch();
        if (!this.#isKnown) await this.#findRange(nav, signal);
        else if (this.#missing.length) await this.#read(nav, signal);
        else await this.#sleep(0, signal);
        this.#history.error = null;
      } catch (error) {
        if (signal.aborted) return;
        if (!this.#isRepaired(error)) {
          this.#history.error = error;
          this.#history.changed();
          if (FINAL.has(error.code)) return;
          await this.#sleep(RETRY_MS, signal);
        }
      }
    }
  }

  /** Reads one entry, which brings the range of the history. */
  async #findRange(nav, signal) {
    const { floor, rev, epoch } = await this.#source.log(nav, { limit: 1, signal });
    signal.throwIfAborted();
    this.#isKnown = true;
    this.#extend(floor, rev, epoch);
    this.#rev = rev;
    this.#history.changed();
  }

  #extend(floor, newest, epoch) {
    const history = this.#history;
    const oldest = history.length ? history.oldest : Math.max(floor, newest - this.#most / 2 + 1);
    if (newest - oldest >= this.#most) return this.#end(epoch);
    const from = history.length ? history.newest + 1 : oldest;
    history.floor = floor;
    history.extend(oldest, newest, epoch);
    if (newest < from) return;
    const last = this.#missing.at(-1);
    if (last && last[1] === from - 1) last[1] = newest;
    else this.#missing.push([from, newest]);
  }

  async #read(nav, signal) {
    const [from, to] = this.#missing.at(-1);
    // The newest revisions of a busy nav wait, so that one read brings many of them.
    const isNewest = to === this.#history.newest && to - from < PAGE;
    const pause = this.#isBusy ? BUSY_PAUSE_MS : isNewest ? FOLLOW_MS : 0;
    const wait = this.#readAt + pause - performance.now();
    if (wait > 0) return this.#sleep(wait, signal);
    const size = this.#isBusy ? Math.min(this.#page, BUSY_PAGE) : this.#page;
    const start = Math.max(from, to - size + 1);
    const readAt = performance.now();
    const since = readAt - this.#readAt;
    this.#readAt = readAt;
    const page = await this.#source.log(nav, { from: start, limit: to - start + 1, signal });
    signal.throwIfAborted();
    if (page.epoch !== this.#history.epoch) return this.#end(page.epoch);
    this.#isBusy = page.rev - this.#rev > since * BUSY_RATE;
    this.#rev = page.rev;
    await this.#take(page.list, signal);
    this.#noteLoaded(start, Math.min(to, (page.next ?? Infinity) - 1));
    this.#history.prune(page.floor);
    if (page.rev > this.#history.newest) this.#extend(page.floor, page.rev, page.epoch);
    this.#report();
  }

  /** Each report draws the whole strip anew, so pages that come fast share one. */
  #report(isDue = this.isComplete) {
    const now = performance.now();
    if (!isDue && now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    this.#history.changed();
  }

  async #take(list, signal) {
    const slices = new Slices();
    // Newest first, as an entry that begins an epoch names what is older.
    for (let index = list.length - 1; index >= 0; index--) {
      this.#history.put(list[index]);
      if (!(index & 63) && slices.isOver) await slices.rest(signal);
    }
  }

  /** Takes a range that was read off those that are missing. New revisions may have come behind it. */
  #noteLoaded(from, to) {
    const kept = [];
    for (const [first, last] of this.#missing) {
      if (first < from) kept.push([first, Math.min(last, from - 1)]);
      if (last > to) kept.push([Math.max(first, to + 1), last]);
    }
    this.#missing = kept;
  }

  /** What the daemon has pruned cannot be loaded any more. @param {number} floor */
  drop(floor) { this.#noteLoaded(0, floor - 1); }

  /** Handles refusals that another request avoids; returns whether it did. */
  #isRepaired(error) {
    if (error.code === "limit" && this.#page > LEAST_PAGE) {
      this.#page = Math.ceil(this.#page / 2);
      return true;
    }
    if (error.code === "compacted" && error.floor > this.#history.floor) {
      this.#history.prune(error.floor);
      return true;
    }
    return false;
  }

  /** Waits until something is missing, or for a time. */
  #sleep(milliseconds, signal) {
    return new Promise((resolve) => {
      const timer = milliseconds ? setTimeout(() => end(), milliseconds) : 0;
      const end = this.#wake = () => {
        // A wake-up must not end a pause between two reads.
        if (milliseconds && !signal.aborted && performance.now() + 1 < until) return;
        clearTimeout(timer);
        this.#wake = null;
        resolve(undefined);
      };
      const until = performance.now() + milliseconds;
    });
  }
}
