// A recording as a source: the history of one nav from a file, proven by its digests.

import { NavigationError } from "../client/index.js";
import { REVISION_FLAG } from "./columns.js";
import { History } from "./history.js";
import { inflate, RecordingLines, filePieces, base64Pieces, RecordingError } from "./navrec.js";
import { freezeWithoutPrototypes, Replay } from "./replay.js";
import { WorkSlices } from "./slices.js";

/** The newest format of recordings that this page reads. */
const NEWEST_FORMAT = 1;
/** The source keeps the state of every 128th revision, and replays the revisions after it. */
const CHECKPOINT_INTERVAL = 128;
const MAXIMUM_KEPT_STATES = 64;
/** How many states before the requested one are kept, since a person steps back as often as forth. */
const STATES_KEPT_BEFORE = 24;

/**
 * What a recording says of itself, and what is wrong with it.
 *
 * @typedef {object} Facts
 * @property {string} nav
 * @property {string} server
 * @property {number} rules the version of the rules that computed what the bar shows
 * @property {number} recorded milliseconds since 1970
 * @property {string[]|null} redacted what was replaced, if anything was
 * @property {{code: string, message: string}|null} problem why the file is not whole
 * @property {{from: number, to: number, reason: string}[]} unproven ranges of positions
 */

/** The source of a page that shows a recording; it has the same members as LiveSource. */
export class RecordingSource {
  kind = /** @type {const} */ ("recording");
  /** @type {{phase: "recording", since: number, message?: string}} */
  status = { phase: "recording", since: Date.now() };
  /** @type {Facts} */
  facts = { nav: "", server: "", rules: 0, recorded: 0, redacted: null, problem: null, unproven: [] };
  /** @type {History} */
  #history;
  #lines = new RecordingLines();
  /** By position: the number of the line after which the state of the position is complete. */
  #lineByPosition = new Uint32Array(1024);
  #checkpoints = [];
  #recentStates = new Map();

  /**
   * Opens a file. @param {Blob} file @param {(progress: {share: number, revisions: number}) => void} [onProgress]
   * @returns {Promise<RecordingSource>}
   * @throws {RecordingError} if nothing in it can be shown
   */
  static open(file, onProgress = undefined) { return new RecordingSource().#openPieces((report) => filePieces(file, report), onProgress); }

  /**
   * Opens the base64 of a file. @param {string} text @param {(progress: {share: number, revisions: number}) => void} [onProgress]
   * @returns {Promise<RecordingSource>}
   */
  static openText(text, onProgress = undefined) { return new RecordingSource().#openPieces((report) => base64Pieces(text, report), onProgress); }

  /** Makes a source without a nav, for a page in which no file is open yet. */
  static empty() {
    const source = new RecordingSource();
    source.#history = new History("");
    return source;
  }

  async #openPieces(piecesWith, onProgress = (_) => {}) {
    const reader = new RecordingReader(this.#lines, (nav) => { this.#history = new History(nav); return this.#history; },
      (position, line, replay) => this.#notePosition(position, line, replay), this.facts);
    let share = 0;
    const slices = new WorkSlices();
    const takeLines = async () => {
      while (reader.takeLine()) {
        if (slices.isOver) {
          onProgress({ share, revisions: this.#history?.length ?? 0 });
          await slices.nextSlice();
        }
      }
    };
    try {
      await inflate(piecesWith((done) => { share = done; }), this.#lines, takeLines);
    } catch (error) {
      if (!(error instanceof RecordingError) || !this.#history?.length) throw error;
      this.facts.problem = { code: error.code, message: `${error.message.replace(/\.$/, "")}: what is behind revision ${this.#history.newest} cannot be read.` };
    }
    reader.finish();
    onProgress({ share: 1, revisions: this.#history.length });
    const { problem } = this.facts;
    if (problem) this.status = { ...this.status, message: problem.message };
    return this;
  }

  #notePosition(position, line, replay) {
    if (position >= this.#lineByPosition.length) {
      const next = new Uint32Array(2 * this.#lineByPosition.length);
      next.set(this.#lineByPosition);
      this.#lineByPosition = next;
    }
    this.#lineByPosition[position] = line;
    if (position % CHECKPOINT_INTERVAL) return;
    this.#checkpoints[position / CHECKPOINT_INTERVAL] = { state: replay.state, unprovenReason: replay.unprovenReason };
  }

  /** The history, which is complete. @param {string} nav @returns {History} */
  history(nav) { return nav === this.facts.nav ? this.#history : new History(nav); }

  /** Never calls the listener: the status of a recording does not change. */
  onStatus() { return () => {}; }

  pause() {}

  resume() {}

  /** Yields the list of navs, which has the nav of the recording only. */
  async *navLists() {
    const history = this.#history;
    if (!history.length) return yield [];
    const { epoch, rev, screens, top, kind } = await this.state(history.nav);
    yield [{ nav: history.nav, epoch, kind, rev, depth: screens.length, top: top?.id, t: history.at(history.length - 1)?.t }];
  }

  /** Yields the last state, and ends only when it is aborted, since the end would mean that the nav was closed. */
  async *states(nav, options = {}) {
    const { signal } = /** @type {{signal?: AbortSignal}} */ (options);
    yield await this.state(nav);
    await new Promise((resolve) => {
      if (signal?.aborted) resolve(undefined);
      else signal?.addEventListener("abort", resolve);
    });
  }

  /** The last state. @param {string} nav */
  state(nav) { return this.stateAt(nav, this.#history.newest, this.#history.epoch); }

  /**
   * The state at a revision, in the form of the client's states. `isProven` says whether its digest is right, `unproven` the reason if not.
   *
   * @param {string} nav @param {number} rev
   * @param {string|null} [epoch] without it, the newest revision of that number
   */
  async stateAt(nav, rev, epoch = null) {
    this.#checkNav(nav);
    const history = this.#history;
    const position = history.positionOf(rev, epoch);
    if (position < 0) {
      const isFuture = rev > history.newest;
      const message = `the recording has revisions ${history.oldest} to ${history.newest}`;
      throw new NavigationError("compacted", message, { floor: history.oldest, ...(isFuture ? { future: true } : {}) });
    }
    const kept = this.#recentStates.get(position) ?? this.#replayTo(position);
    this.#recentStates.delete(position);
    this.#recentStates.set(position, kept);
    while (this.#recentStates.size > MAXIMUM_KEPT_STATES) this.#recentStates.delete(this.#recentStates.keys().next().value);
    return kept;
  }

  #replayTo(position) {
    const from = Math.floor(position / CHECKPOINT_INTERVAL) * CHECKPOINT_INTERVAL;
    const replay = new Replay(this.facts.nav, this.#checkpoints[from / CHECKPOINT_INTERVAL]);
    let found = viewState(replay);
    for (let at = from + 1; at <= position; at++) {
      for (let line = this.#lineByPosition[at - 1] + 1; line <= this.#lineByPosition[at]; line++) replay.apply(this.#lines.parse(line));
      if (at > position - STATES_KEPT_BEFORE) this.#recentStates.set(at, found = viewState(replay));
    }
    return found;
  }

  /** Reads entries of the log, without contents. @param {string} nav @param {{from?: number, limit?: number}} [options] */
  async log(nav, options = {}) {
    const page = await this.diffs(nav, options);
    const list = page.list.map(({ kind, state, ch, ev, depth, resolved, ...entry }) => entry);
    return { ...page, list };
  }

  /** Reads entries of the log with their contents, oldest first. @param {string} nav @param {{from?: number, limit?: number}} [options] */
  async diffs(nav, options = {}) {
    const { from, limit = 100 } = /** @type {{from?: number, limit?: number}} */ (options);
    this.#checkNav(nav);
    const history = this.#history;
    const start = from === undefined ? 0 : history.positionOf(Math.max(from, history.oldest));
    const list = [];
    for (let at = start; at >= 0 && at < Math.min(history.length, start + limit); at++) {
      for (let line = at ? this.#lineByPosition[at - 1] + 1 : 1; line <= this.#lineByPosition[at]; line++) list.push(freezeWithoutPrototypes(this.#lines.parse(line)));
    }
    return { list, floor: history.oldest, rev: history.newest, epoch: history.epoch };
  }

  #checkNav(nav) {
    if (nav !== this.facts.nav) throw new NavigationError("no-nav", `the recording has the nav ${this.facts.nav} only`, { nav });
  }

  /** A recording has no sessions. */
  async sessions() { return null; }

  async statistics() { return null; }

  async refusals() { return null; }
}

/** Freezes the state of a replay for the views, with whether its digest proves it. */
function viewState({ state, unprovenReason }) {
  for (const value of [state.screens, state.parts, state.bar, state.ev, state.by]) freezeWithoutPrototypes(value);
  return Object.freeze({ ...state, isProven: unprovenReason === null, unproven: unprovenReason });
}

/** Reads the lines of a recording into a history, from the header to the end. */
class RecordingReader {
  #lines;
  #beginHistory;
  #notePosition;
  #facts;
  #nextLine = 0;
  /** @type {History} */
  #history;
  /** @type {Replay} */
  #replay;
  #isOver = false;
  #entryCount = 0;

  constructor(lines, begin, note, facts) {
    this.#lines = lines;
    this.#beginHistory = begin;
    this.#notePosition = note;
    this.#facts = facts;
  }

  /** Reads the next line; returns whether there was one. */
  takeLine() {
    if (this.#isOver || this.#nextLine >= this.#lines.length) return false;
    const line = this.#nextLine++;
    let entry;
    try {
      entry = this.#lines.parse(line);
      if (entry === null || typeof entry !== "object") throw new SyntaxError("it is no object");
    } catch (error) {
      if (!line) throw new RecordingError("format", "The file is no recording of navd.");
      return this.#endReading("damaged", `Line ${line + 1} and what is behind it cannot be read: ${error.message}.`);
    }
    if (!line) this.#readHeader(entry);
    else if (Object.hasOwn(entry, "end")) this.#readEnd(entry);
    else this.#takeEntry(entry, line);
    return true;
  }

  #readHeader(header) {
    if (!Number.isSafeInteger(header.navrec) || typeof header.nav !== "string") {
      throw new RecordingError("format", "The file is no recording of navd: its first line has no `navrec`.");
    }
    if (header.navrec > NEWEST_FORMAT) {
      throw new RecordingError("version", `The recording has format ${header.navrec}. This page reads formats up to ${NEWEST_FORMAT}: use a newer inspector.`);
    }
    const text = (value) => typeof value === "string" ? value : "";
    const number = (value) => Number.isFinite(value) ? value : 0;
    Object.assign(this.#facts, {
      nav: header.nav, server: text(header.server), rules: number(header.rules), recorded: number(header.recorded),
      redacted: Array.isArray(header.redacted) ? header.redacted.filter((rule) => typeof rule === "string") : null,
    });
    this.#replay = new Replay(header.nav);
    this.#history = this.#beginHistory(header.nav);
  }

  #takeEntry(entry, line) {
    this.#entryCount++;
    const history = this.#history;
    const had = this.#replay.state && { dig: this.#replay.state.dig, isMissing: this.#replay.areContentsMissing };
    const isStep = this.#replay.apply(entry);
    if (!this.#replay.state) throw new RecordingError("format", "The recording does not begin with a state.");
    if (entry.kind === "report" || entry.bad !== undefined) history.mark(history.length - 1, REVISION_FLAG.bad);
    if (entry.kind === "closed") history.mark(history.length - 1, REVISION_FLAG.closed);
    if (!isStep || !Number.isSafeInteger(entry.rev) || entry.rev < 0) return this.#pass(line);
    const position = this.#positionFor(entry, had);
    if (this.#replay.unprovenReason) this.#markUnproven(position);
    else this.#markProven(position);
    this.#notePosition(position, line, this.#replay);
  }

  /** The position of the revision of an entry; appends it to the history if it is new. */
  #positionFor(entry, had) {
    const history = this.#history;
    const { epoch, dig } = this.#replay.state;
    if (had !== null && entry.rev === history.newest) {
      // The same state goes on in another epoch, or a state brings the contents of the entry before it.
      if (entry.kind === "epoch") {
        history.beginEpochAtNewest(epoch);
        return history.length - 1;
      }
      if (entry.kind === "state" && epoch === history.epoch && (dig === had.dig || had.isMissing)) return history.length - 1;
    }
    const flags = entry.kind === "epoch" || had !== null && epoch !== history.epoch ? REVISION_FLAG.border : 0;
    return history.append(entry, epoch, flags);
  }

  /** A line that belongs to the position before it. */
  #pass(line) { if (this.#history.length) this.#notePosition(this.#history.length - 1, line, this.#replay); }

  #markUnproven(position) {
    const { unprovenReason: reason } = this.#replay;
    this.#history.mark(position, REVISION_FLAG.unproven);
    const last = this.#facts.unproven.at(-1);
    if (last && last.to >= position - 1 && last.reason === reason) last.to = position;
    else this.#facts.unproven.push({ from: position, to: position, reason });
  }

  #markProven(position) {
    if (!(this.#history.columns.flags[position] & REVISION_FLAG.unproven)) return;
    this.#history.columns.flags[position] &= ~REVISION_FLAG.unproven;
    const { unproven } = this.#facts;
    const last = unproven.at(-1);
    if (last?.to === position && --last.to < last.from) unproven.pop();
  }

  #readEnd({ end, rev, dig }) {
    const { state } = this.#replay;
    const isRight = end === this.#entryCount && rev === state.rev && dig === state.dig;
    const found = JSON.stringify([this.#entryCount, state.rev, state.dig]);
    this.#endReading(isRight ? null : "damaged", `The last line names ${JSON.stringify([end, rev, dig])} as count, revision and digest. The file has ${found}.`);
  }

  #endReading(code, message) {
    this.#isOver = true;
    if (code) this.#facts.problem = { code, message };
    return false;
  }

  /** Notes whether the file is complete; throws if it has no revision. */
  finish() {
    if (!this.#history?.length) throw new RecordingError("format", "The file has no revision.");
    if (this.#isOver || this.#facts.problem) return;
    const last = this.#history.newest;
    this.#facts.problem = { code: "truncated", message: `The file was cut off behind revision ${last}: its last line is missing.` };
  }
}
