// The live source: what the inspector reads, over the client for browsers. It only watches and gets.
//
// RecordingSource (recording.js) has the same members. Errors are `NavigationError`.

import { Mirror, NavigationClient, NavigationError } from "../client/index.js";
import { LatestValueIterator } from "./latest.js";

/** @typedef {import("../client/index.js").NavigationState} State */

/**
 * A nav in the tree. `rev`, `depth`, `top`, `t` and `watches` are absent without the right to read `$heads`.
 *
 * @typedef {object} Row
 * @property {string} nav
 * @property {string} epoch
 * @property {string} [kind]
 * @property {string} [owner]
 * @property {number} [rev]
 * @property {number} [depth]
 * @property {string} [top]
 * @property {number} [t] the time of the last change, in milliseconds since 1970
 * @property {number} [watches]
 */

/**
 * One answer to `get log` or `get diffs` (docs/protocol.md, §12): entries of the history, oldest first.
 *
 * @typedef {object} HistoryPage
 * @property {any[]} list
 * @property {number} floor the oldest revision that can be read
 * @property {number} rev the newest
 * @property {string} epoch
 * @property {number} [next] the revision to go on from, if a size ended the list
 */

/**
 * @typedef {object} SourceStatus
 * @property {"connecting"|"connected"|"stale"|"paused"|"expired"|"recording"} phase
 * @property {number} since when the phase began, in milliseconds since 1970
 * @property {string} [message]
 */

const MAXIMUM_KEPT_STATES = 64;
/** The maximum of prefetches at the same time: navd limits the history reads of all clients together. */
const MAXIMUM_PREFETCHES = 2;
const MAXIMUM_TRIES = 5;

/** The source of a page that shows a running daemon, over the client for browsers. */
export class LiveSource {
  kind = /** @type {const} */ ("live");
  /** @type {SourceStatus} */
  status = { phase: "connecting", since: Date.now() };

  #options;
  #client = null;
  #nextClient = null;
  #listeners = new Set();
  /** States of past revisions by revision, epoch and nav, the least recently used first. */
  #recentStates = new Map();
  /** The epoch, the newest revision and the floor by nav. */
  #knownRevisions = new Map();
  #prefetchCount = 0;
  /** The reads that the daemon refused for lack of rights. */
  #forbidden = new Set();

  /** @param {import("../client/index.js").ClientOptions} options */
  constructor(options) {
    this.#options = options;
    this.resume();
  }

  /**
   * Calls `listener` with each new status.
   *
   * @param {(status: SourceStatus) => void} listener
   */
  onStatus(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens the stream again after `pause`. */
  resume() {
    if (this.#client || this.status.phase === "expired") return;
    const client = this.#client = new NavigationClient(this.#options);
    this.#nextClient?.resolve(client);
    this.#nextClient = null;
    this.#followStatus(client);
  }

  /** Closes the stream. Reads and loops wait for `resume`. */
  pause() {
    const client = this.#client;
    if (!client) return;
    this.#client = null;
    this.#setPhase("paused");
    client.close().catch(() => {});
  }

  async #followStatus(client) {
    try {
      for await (const status of client.statuses()) {
        if (client !== this.#client) return;
        if (status === "connected") this.#setPhase("connected");
        else if (status === "disconnected") this.#setPhase("stale");
        else if (status === "unauthorized") this.#setPhase("expired");
        else if (status === "waiting") this.#setPhase("connecting", "four other pages of this browser are connected");
      }
    } catch (error) {
      if (client === this.#client) this.#setPhase("expired", error.message);
    }
    if (client === this.#client && client.status === "closed") this.#setPhase("expired", "the session was closed");
  }

  #setPhase(phase, message) {
    if (this.status.phase === phase && this.status.message === message) return;
    this.status = { phase, since: Date.now(), message };
    for (const listener of [...this.#listeners]) listener(this.status);
  }

  /** Resolves with the client; while the page is hidden there is none, and it waits for the next. */
  #connectedClient() {
    if (this.#client) return Promise.resolve(this.#client);
    this.#nextClient ??= deferred();
    return this.#nextClient.promise;
  }

  // --- Watches ----------------------------------------------------------------------------------

  /**
   * Iterates over the states of a nav, until it is closed. A slow loop gets the newest.
   *
   * @param {string} nav
   * @param {{signal?: AbortSignal}} [options]
   * @returns {AsyncGenerator<State>}
   */
  async *states(nav, options = {}) {
    const { signal } = options;
    while (!signal?.aborted) {
      const client = await this.#connectedClient();
      try {
        for await (const state of client.watch(nav, { signal })) {
          if (state.kind !== "directory") this.#noteRevisions(nav, state.epoch, state.rev);
          yield state;
        }
        return;
      } catch (error) {
        if (client === this.#client) throw error;
        // The page was hidden meanwhile.
      }
    }
  }

  /**
   * Iterates over the lists of all navs, in the order of their names.
   *
   * @param {{signal?: AbortSignal}} [options]
   * @returns {AsyncIterableIterator<Row[]>}
   */
  navLists(options = {}) {
    const latest = new LatestValueIterator(options.signal);
    let navs = null;
    let heads = new Map();
    const known = new Map();
    const offer = () => navs && latest.offer(joinDirectories(navs, heads, known));
    this.#followDirectory("$navs", latest, (state) => { navs = state.screens; offer(); }, true);
    this.#followDirectory("$heads", latest, (state) => {
      heads = new Map(state.screens.map((head) => [head.id, head]));
      offer();
    }, false);
    return latest;
  }

  async #followDirectory(nav, latest, take, isNeeded) {
    try {
      for await (const state of this.states(nav, { signal: latest.signal })) take(state);
    } catch (error) {
      // Without the right to `$heads`, the tree has names only.
      if (isNeeded) latest.fail(error);
    }
  }

  // --- Reads ------------------------------------------------------------------------------------

  /** Notes the oldest and newest revision of a nav, and its epoch. */
  #noteRevisions(nav, epoch, newest, floor) {
    const known = this.#knownRevisions.get(nav);
    const isSame = known?.epoch === epoch;
    this.#knownRevisions.set(nav, { epoch, newest, floor: floor ?? (isSame ? known.floor : undefined) });
    if (this.#knownRevisions.size > MAXIMUM_KEPT_STATES) this.#knownRevisions.delete(this.#knownRevisions.keys().next().value);
  }

  #key(nav, rev, epoch = this.#knownRevisions.get(nav)?.epoch ?? "") { return `${rev} ${epoch} ${nav}`; }

  /** @param {string|null} nav @param {object} options */
  async #getWithRetries(nav, options) {
    for (let left = MAXIMUM_TRIES; ; left--) {
      const client = await this.#connectedClient();
      try {
        return await client.get(nav, options);
      } catch (error) {
        if (client !== this.#client && error.code === "closed") continue;
        if (error.retry !== "later" || left <= 1) throw error;
        await sleep(error.after ?? 200);
      }
    }
  }

  /**
   * Reads a page of the log. @param {string} nav @param {{from?: number, limit?: number, signal?: AbortSignal}} [options]
   * @returns {Promise<HistoryPage>}
   */
  log(nav, options = {}) { return this.#readPage(nav, "log", options); }

  /**
   * Reads a page of the history with its contents. @param {string} nav
   * @param {{from?: number, limit?: number, signal?: AbortSignal}} [options]
   * @returns {Promise<HistoryPage>}
   */
  diffs(nav, options = {}) { return this.#readPage(nav, "diffs", options); }

  /** @param {string} nav @param {string} what @param {{from?: number, limit?: number, signal?: AbortSignal}} options */
  async #readPage(nav, what, { from, limit, signal }) {
    const page = { what, ...(from === undefined ? {} : { from }), ...(limit === undefined ? {} : { limit }) };
    const { value, floor, rev, epoch, next } = await this.#getWithRetries(nav, { ...page, signal });
    this.#noteRevisions(nav, epoch, rev, floor);
    return { list: value, floor, rev, epoch, next };
  }

  /**
   * Reads the state at a revision, and verifies its digest.
   *
   * @param {string} nav
   * @param {number} rev
   * @param {string|null} [epoch] the epoch that the revision was chosen of; null for that of now
   * @returns {Promise<State>}
   */
  async stateAt(nav, rev, epoch = null) {
    const key = this.#key(nav, rev, epoch ?? undefined);
    const kept = this.#recentStates.get(key);
    if (kept) {
      this.#recentStates.delete(key);
      this.#recentStates.set(key, kept);
    }
    const state = kept ?? await this.#readState(nav, rev);
    if (epoch !== null && state.epoch !== epoch) {
      const text = `revision ${rev} of epoch ${epoch} is not loaded, and the nav has the epoch ${state.epoch} now`;
      throw new NavigationError("epoch", text, { nav });
    }
    for (const near of [rev + 1, rev - 1]) this.#prefetch(nav, near);
    return state;
  }

  async #readState(nav, rev) {
    const { value, epoch, rev: newest } = await this.#getWithRetries(nav, { what: "state", at: rev });
    this.#noteRevisions(nav, epoch, newest);
    const state = Mirror.read(nav, value, performance.now());
    // The first answer brings the epoch.
    this.#recentStates.set(this.#key(nav, rev), state);
    if (this.#recentStates.size > MAXIMUM_KEPT_STATES) this.#recentStates.delete(this.#recentStates.keys().next().value);
    return state;
  }

  #prefetch(nav, rev) {
    const { floor = Infinity, newest = 0 } = this.#knownRevisions.get(nav) ?? {};
    const key = this.#key(nav, rev);
    // A revision outside the history would be refused, and the refusal would be listed.
    if (rev < floor || rev > newest || this.#prefetchCount >= MAXIMUM_PREFETCHES || this.#recentStates.has(key)) return;
    this.#prefetchCount++;
    this.#readState(nav, rev).catch(() => {}).finally(() => { this.#prefetchCount--; });
  }

  /**
   * Reads the records of `$clients`, one for each session; null without the right.
   *
   * @returns {Promise<readonly any[]|null>}
   */
  sessions() {
    return this.#readIfPermitted("sessions", async () => (await (await this.#connectedClient()).state("$clients")).screens);
  }

  /**
   * The statistics of the daemon.
   *
   * @returns {Promise<any>}
   */
  async statistics() { return (await this.#getWithRetries(null, { what: "stats" })).value; }

  /**
   * Reads the newest refusals of the daemon, oldest first; null without the right.
   *
   * @returns {Promise<any[]|null>}
   */
  refusals() {
    return this.#readIfPermitted("refusals", async () => (await this.#getWithRetries(null, { what: "refusals" })).value);
  }

  /** Runs a read; null if the right is missing. It never repeats a refused read, since navd lists each refusal for administrators. */
  async #readIfPermitted(what, read) {
    if (this.#forbidden.has(what)) return null;
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof NavigationError) || error.code !== "forbidden") throw error;
      this.#forbidden.add(what);
      return null;
    }
  }

  /**
   * The newest state, by a read.
   *
   * @param {string} nav
   * @returns {Promise<State>}
   */
  async state(nav) { return (await this.#connectedClient()).state(nav); }
}

/** Joins `$navs` and `$heads` into one list. A row that did not change stays the same object. */
function joinDirectories(navs, heads, known) {
  const before = new Map(known);
  // A nav that was closed is forgotten.
  known.clear();
  return navs.map((record) => {
    const head = heads.get(record.id);
    const old = before.get(record.id);
    const isSame = old && old.record === record && old.head === head;
    const { id, kind, epoch, owner } = record;
    const row = isSame ? old.row : { nav: id, kind, epoch, owner, ...(head ? pickHead(head) : {}) };
    known.set(id, isSame ? old : { record, head, row });
    return row;
  });
}

const pickHead = ({ rev, depth, top, t, watches }) => ({ rev, depth, top, t, watches });

const sleep = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

function deferred() {
  const made = /** @type {any} */ ({});
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
