// The history of one nav: author, time and operations of each revision.

import { InternedAuthors, RevisionColumns, REVISION_FLAG, InternedTexts } from "./columns.js";
import { FilterMatches } from "./filter.js";
import { HistoryLoader } from "./loading.js";

/**
 * A revision as the views show it.
 *
 * @typedef {object} Entry
 * @property {number} position
 * @property {number} rev
 * @property {string} epoch `before X` if the journal does not name it
 * @property {number} t milliseconds since 1970; 0 is unknown
 * @property {string} cause
 * @property {import("./columns.js").Author|null} by
 * @property {string} operations their names, parted by spaces
 * @property {string} subject the screen that it is about; empty if there is none
 * @property {number} flags of `FLAG`
 * @property {string|null} digest the one that the log names
 * @property {boolean} isLoaded
 */

/**
 * The revisions of a nav in the order of time. A position is the index of a revision, 0 for the oldest one known.
 *
 * The history of a daemon covers one epoch. When another epoch begins, or the history is full, it
 * stops, and `successor` continues in a new history.
 */
export class History {
  columns = new RevisionColumns();
  names = new InternedTexts();
  authors = new InternedAuthors();
  epochs = new InternedTexts();
  /** A counter that rises with each change of the history. */
  changeCount = 0;
  /** The oldest revision that the source still has. */
  floor = 0;
  /** How many revisions the page has read from the log. */
  loaded = 0;
  /** The newest reports of clients whose digest differed, oldest first. @type {any[]} */
  divergenceReports = [];
  /** @type {any} why the last read failed */
  error = null;
  /** @type {History|null} */
  successor = null;
  /** The epoch of the successor. */
  successorEpoch = "";
  #listeners = new Set();
  #revisionRuns = [];
  #loader = null;
  #lastMatches = { key: "", value: null };

  /**
   * @param {string} nav
   * @param {any} [source] a LiveSource to read from; without one, `append` fills the history
   * @param {{most?: number}} [options] `most`: how many revisions are kept of what is read; half of them are read at the start
   */
  constructor(nav, source = null, options = {}) {
    const { most = MAXIMUM_REVISIONS } = options;
    this.nav = nav;
    if (source) this.#loader = new HistoryLoader(this, source, most);
  }

  get length() { return this.columns.length; }

  /** The epoch of the newest revision. */
  get epoch() { return this.length ? this.epochs.list[this.columns.epoch[this.length - 1]] : ""; }

  /** The newest revision known. */
  get newest() { return this.length ? this.columns.rev[this.length - 1] : 0; }

  /** The oldest revision known. */
  get oldest() { return this.length ? this.columns.rev[0] : 0; }

  /** Whether everything that the source has is here. */
  get isComplete() { return this.#loader ? this.#loader.isComplete : true; }

  /** How many revisions are still to be loaded. */
  get missing() { return this.#loader?.missing ?? 0; }

  /** Begins to load, newest first. Does nothing while it loads. */
  start() { this.#loader?.start(); }

  /** Stops loading until the next `start`. */
  stop() { this.#loader?.stop(); }

  /** Notes a state of the watch, so that the revisions up to it are read soon. @param {{rev: number, epoch: string}} state */
  follow(state) { this.#loader?.follow(state); }

  /** Notes the oldest revision that the source still has. Older revisions that are loaded stay. @param {number} floor */
  noteFloor(floor) {
    if (!(floor > this.floor)) return;
    this.floor = floor;
    this.#loader?.dropBelow(floor);
    this.reportChange();
  }

  /** Calls `listener` after each change. @param {() => void} listener @returns {() => void} ends the subscription */
  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listeners after a change. */
  reportChange() {
    this.changeCount++;
    for (const listener of [...this.#listeners]) listener();
  }

  // --- Reading ----------------------------------------------------------------------------------

  /** The revision at a position. @param {number} position @returns {Entry|null} */
  at(position) {
    const { columns } = this;
    if (!(position >= 0 && position < columns.length)) return null;
    const flags = columns.flags[position];
    return {
      position, rev: columns.rev[position], epoch: this.epochs.list[columns.epoch[position]], t: columns.performedAt[position],
      cause: this.names.list[columns.cause[position]], by: this.authors.list[columns.author[position]],
      operations: this.names.list[columns.operations[position]], subject: this.names.list[columns.subject[position]],
      flags, isLoaded: (flags & REVISION_FLAG.loaded) !== 0,
      digest: flags & REVISION_FLAG.digest ? DIGEST_COLUMNS.map((name) => columns[name][position].toString(16).padStart(8, "0")).join("") : null,
    };
  }

  /**
   * The position of a revision, or −1. Without a known epoch, it is that of the newest revision with this number.
   *
   * @param {number} rev @param {string|null} [epoch]
   */
  positionOf(rev, epoch = null) {
    let found = -1;
    for (let index = this.#revisionRuns.length - 1; index >= 0; index--) {
      const { start, first } = this.#revisionRuns[index];
      const end = this.#revisionRuns[index + 1]?.start ?? this.length;
      if (rev < first || rev - first >= end - start) continue;
      const position = start + rev - first;
      if (epoch === null || this.epochs.list[this.columns.epoch[position]] === epoch) return position;
      if (found < 0) found = position;
    }
    return found;
  }

  /** The positions that match a filter. It keeps the last result until the history changes. @param {string} filter @returns {FilterMatches} */
  matches(filter) {
    const key = `${this.changeCount} ${filter}`;
    if (this.#lastMatches.key !== key) this.#lastMatches = { key, value: new FilterMatches(this, filter) };
    return this.#lastMatches.value;
  }

  // --- Filling ----------------------------------------------------------------------------------

  /** Appends a revision behind the newest one; returns its position. @param {any} entry @param {string} epoch @param {number} [flags] */
  append(entry, epoch, flags = 0) {
    const position = this.length;
    const isNext = position > 0 && entry.rev === this.newest + 1 && epoch === this.epoch;
    this.columns.extend(position + 1);
    if (!isNext) this.#revisionRuns.push({ start: position, first: entry.rev });
    this.#writeRow(position, entry, epoch, flags);
    return position;
  }

  /** Adds positions for the revisions up to `newest`, all of one epoch and not loaded yet. @param {number} oldest where an empty history begins @param {number} newest @param {string} epoch */
  extend(oldest, newest, epoch) {
    if (!this.length) this.#revisionRuns = [{ start: 0, first: oldest }];
    const from = this.length;
    const [{ first }] = this.#revisionRuns;
    this.columns.extend(newest - first + 1);
    const number = this.epochs.intern(epoch);
    for (let position = from; position < this.length; position++) {
      this.columns.rev[position] = first + position;
      this.columns.epoch[position] = number;
    }
  }

  /** Stores an entry of the log at the position of its revision; `extend` has added the position before. @param {any} entry */
  put(entry) {
    const position = this.positionOf(entry.rev);
    if (position < 0) return;
    if (entry.bad !== undefined) this.#addReport(position, entry);
    else if (typeof entry.epoch === "string") this.#beginEpochAt(position, entry.epoch);
    else this.#writeRow(position, entry, null, 0);
  }

  #addReport(position, entry) {
    this.mark(position, REVISION_FLAG.bad);
    if (this.divergenceReports.push(entry) > MAXIMUM_REPORTS) this.divergenceReports.shift();
  }

  /** Notes that an epoch begins at a position, and gives all older revisions another epoch. */
  #beginEpochAt(position, epoch) {
    const { columns } = this;
    const newer = columns.epoch[position];
    // The journal names the epoch that begins. The border before it will name the older one.
    if (this.epochs.list[newer].startsWith(UNNAMED_EPOCH_PREFIX)) this.epochs.list[newer] = epoch;
    this.mark(position, REVISION_FLAG.border);
    const older = this.epochs.intern(UNNAMED_EPOCH_PREFIX + epoch);
    for (let at = position - 1; at >= 0 && columns.epoch[at] === newer; at--) columns.epoch[at] = older;
  }

  /** Notes that the newest revision begins a new epoch. @param {string} epoch */
  beginEpochAtNewest(epoch) {
    this.columns.epoch[this.length - 1] = this.epochs.intern(epoch);
    this.mark(this.length - 1, REVISION_FLAG.border);
  }

  /** Marks a revision, for example as unproven. @param {number} position @param {number} flags */
  mark(position, flags) { this.columns.flags[position] |= flags; }

  #writeRow(position, entry, epoch, flags) {
    const { columns } = this;
    if (!(columns.flags[position] & REVISION_FLAG.loaded)) this.loaded++;
    columns.rev[position] = entry.rev;
    columns.performedAt[position] = Number.isFinite(entry.t) ? entry.t : 0;
    columns.cause[position] = this.names.intern(entry.cause);
    columns.author[position] = this.authors.intern(entry.by);
    columns.operations[position] = this.names.intern(textsIn(entry.do).join(" "));
    columns.subject[position] = this.names.intern(subjectScreenOf(entry));
    const digest = entry.dig ?? entry.state?.dig;
    if (DIGEST_PATTERN.test(digest)) {
      DIGEST_COLUMNS.forEach((name, index) => { columns[name][position] = parseInt(digest.slice(8 * index, 8 * index + 8), 16); });
      flags |= REVISION_FLAG.digest;
    }
    if (epoch !== null) columns.epoch[position] = this.epochs.intern(epoch);
    columns.flags[position] |= flags | REVISION_FLAG.loaded | (entry.override === true ? REVISION_FLAG.override : 0)
      | (entry.vetoSkipped === true ? REVISION_FLAG.vetoSkipped : 0);
  }
}

/** The maximum of revisions in a history; with 42 octets for each, its columns have 42 MB. */
const MAXIMUM_REVISIONS = 1_000_000;

const DIGEST_PATTERN = /^[0-9a-f]{24}$/;
/** The columns that have the digits of a digest, 8 digits in each. @type {("checksum"|"chainHigh"|"chainLow")[]} */
const DIGEST_COLUMNS = ["checksum", "chainHigh", "chainLow"];
/** The maximum of reports that are kept; a revision keeps its flag when its report is dropped. */
const MAXIMUM_REPORTS = 256;

/** Begins the name of an epoch that the journal does not name: the one before a known epoch. */
const UNNAMED_EPOCH_PREFIX = "before ";

/** The texts in a value if it is a list; a recording may have any JSON there. */
const textsIn = (list) => Array.isArray(list) ? list.filter((each) => typeof each === "string") : [];

/** The id of the screen that an entry of the log is about: inserted, presented or deleted. */
function subjectScreenOf({ ins, del, presented }) {
  const last = (list) => Array.isArray(list) ? list.at(-1) : undefined;
  return last(ins)?.id ?? last(presented)?.id ?? last(del) ?? null;
}

/** The histories of each source, by nav. @type {WeakMap<object, Map<string, History>>} */
const historiesBySource = new WeakMap();
/** The maximum of histories kept for each source; a history of 100,000 revisions has 4 MB. */
const MAXIMUM_HISTORIES = 4;

/** The history of a nav; the same one for all views. @param {any} source @param {string} nav @returns {History} */
export function historyOf(source, nav) {
  if (source.history) return source.history(nav);
  if (!historiesBySource.has(source)) historiesBySource.set(source, new Map());
  const histories = historiesBySource.get(source);
  let history = histories.get(nav) ?? new History(nav, source);
  if (history.successor) history = history.successor;
  histories.delete(nav);
  histories.set(nav, history);
  if (histories.size > MAXIMUM_HISTORIES) {
    const [[name, oldest]] = histories;
    oldest.stop();
    histories.delete(name);
  }
  return history;
}
