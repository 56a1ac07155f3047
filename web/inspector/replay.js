// Replays a recording entry by entry, and compares the digest at each revision.
//
// A `Mirror` proves the states. Behind an entry that does not fit, the states are computed without proof, so that
// a person can still look at them, until an entry brings a whole state again.

import { Mirror } from "../client/index.js";

/** @typedef {import("../client/index.js").NavigationState} State */

const PART_NAMES = Object.freeze(["bar", "toolbar", "presented", "transition", "environment", "settings"]);
const isPlainObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isScreenRecord = (value) => isPlainObject(value) && typeof value.id === "string";

/** Computes the states of a nav from the entries of a recording. */
export class Replay {
  /** @type {State|null} */
  state = null;
  /** @type {string|null} why the digest does not prove the state; null if it does */
  unprovenReason = null;
  /** Whether the last entry lacked its contents; the next entry has them. */
  areContentsMissing = false;
  #nav;
  #mirror;

  /** @param {string} nav @param {{state: State, unprovenReason: string|null}} [from] where to go on */
  constructor(nav, from) {
    this.#nav = nav;
    this.#mirror = new Mirror(nav);
    if (!from) return;
    this.state = from.state;
    this.unprovenReason = from.unprovenReason;
    if (!from.unprovenReason) this.#setMirrorTo(from.state);
  }

  /**
   * Applies an entry.
   *
   * @param {any} entry
   * @returns {boolean} whether it led to a state: false for a report, an end, or an unknown kind
   */
  apply(entry) {
    this.areContentsMissing = false;
    try {
      return this.#applyByKind(entry);
    } catch (error) {
      this.#markUnproven(`the entry is malformed: ${error.message}`);
      return this.#applyUnproven(entry, {});
    }
  }

  #applyByKind(entry) {
    const { kind } = entry;
    if (kind === "state" || kind === "created" && entry.state) return this.#replaceState(entry);
    if (!this.state) return false;
    if (kind === "epoch") return this.#beginEpoch(entry);
    if (kind === "closed") return false;
    if (kind === "changed" && entry.omitted !== true && entry.ch !== undefined) return this.#applyChange(entry);
    if (!["changed", "created"].includes(kind)) return false;
    // The next entry brings the state.
    this.areContentsMissing = true;
    this.#markUnproven(`the contents of revision ${entry.rev} are not in the recording`);
    return this.#applyUnproven(entry, {});
  }

  /** Replaces the state by the complete one in an entry. */
  #replaceState(entry) {
    const value = entry.state;
    // A nav that was closed and made again has a new epoch, which the entry does not name.
    const isMadeAgain = entry.kind === "created" && this.state !== null;
    const { epoch = isMadeAgain ? `after ${this.state.epoch}` : this.state?.epoch ?? "" } = entry;
    if (typeof epoch !== "string") throw new TypeError("an epoch has no name");
    if (!isPlainObject(value) || !value.screens.every(isScreenRecord)) throw new TypeError("a state has no list of screens");
    checkParts(value);
    const snap = { ...value, epoch, rev: entry.rev, resolved: barOrNull(entry.resolved ?? (entry.kind === "state" ? null : this.state?.bar)) };
    const { state } = this.#restartMirror(snap);
    if (state) {
      this.unprovenReason = null;
      this.state = this.#withEntryData(state, entry);
    } else {
      this.#markUnproven(`the digest of the state at revision ${entry.rev} is not ${JSON.stringify(value.dig)}`);
      this.state = this.#unprovenState({
        kind: value.kind, epoch, rev: entry.rev, dig: value.dig, screens: value.screens, bar: snap.resolved,
        parts: Object.fromEntries(PART_NAMES.filter((name) => isPlainObject(value[name])).map((name) => [name, value[name]])),
      }, entry);
    }
    return true;
  }

  /** Begins a new epoch with the same state. */
  #beginEpoch(entry) {
    const { kind, dig: before, screens, parts, bar } = /** @type {State} */ (this.state);
    if (typeof entry.epoch !== "string") throw new TypeError("an epoch has no name");
    const { epoch } = entry;
    const dig = before.slice(0, 8) + epoch;
    this.state = this.#unprovenState({ kind, epoch, rev: entry.rev, dig, screens, parts, bar }, entry);
    if (!this.unprovenReason) this.#setMirrorTo(this.state);
    return true;
  }

  #applyChange(entry) {
    checkChanges(entry.ch);
    const old = /** @type {State} */ (this.state);
    if (!this.unprovenReason && entry.rev !== old.rev + 1) this.#markUnproven(`revision ${entry.rev} does not follow revision ${old.rev}`);
    if (!this.unprovenReason && entry.before !== undefined && entry.before !== old.dig) {
      this.#markUnproven(`revision ${entry.rev} builds on ${JSON.stringify(entry.before)}, not on ${old.dig}`);
    }
    const resolved = entry.resolved === undefined ? undefined : barOrNull(entry.resolved);
    if (!this.unprovenReason) {
      const { rev, ch, ev, dig, cause, by, animated } = entry;
      const diff = { epoch: old.epoch, base: rev - 1, rev, ch, ev: Array.isArray(ev) ? ev : [], dig, resolved, cause, by, animated };
      const { state } = /** @type {any} */ (this.#mirror.apply("diff", diff));
      if (state) {
        this.state = state;
        return true;
      }
      this.#markUnproven(`the digest at revision ${rev} is not ${JSON.stringify(dig)}, or the change does not fit the state`);
    }
    return this.#applyUnproven(entry, changedContents(old, entry.ch), resolved);
  }

  /** Applies a change whose digest does not match, without proof. */
  #applyUnproven(entry, parts, resolved) {
    if (!this.state || !Number.isSafeInteger(entry.rev)) return false;
    const { kind, epoch, screens, parts: old, bar } = this.state;
    this.state = this.#unprovenState({
      kind, epoch, rev: entry.rev, dig: typeof entry.dig === "string" ? entry.dig : "", screens, parts: old, ...parts,
      bar: resolved ?? bar }, entry);
    return true;
  }

  #markUnproven(reason) { this.unprovenReason ??= reason; }

  #setMirrorTo({ kind, epoch, rev, dig, screens, parts, bar }) {
    this.#restartMirror({ kind, epoch, rev, dig, screens, ...parts, resolved: bar });
  }

  #restartMirror(snap) {
    this.#mirror = new Mirror(this.#nav);
    return /** @type {any} */ (this.#mirror.apply("snap", { ...snap, i: 0, last: true }));
  }

  #withEntryData(state, { cause = null, by = null, ev }) { return Object.freeze({ ...state, cause, by, ev: Array.isArray(ev) ? ev : [] }); }

  /** Makes a state in the form of the client's states, whose digest is not verified. */
  #unprovenState(state, { cause = null, by = null, ev }) {
    const presented = Array.isArray(state.parts.presented?.chain) ? state.parts.presented.chain : [];
    const top = state.screens.at(-1) ?? null;
    return Object.freeze({
      nav: this.#nav, ...state, top, visible: presented.at(-1)?.screen ?? top, presented, cause, by,
      ev: Array.isArray(ev) ? ev : [], animated: false, isResynchronised: false, receivedAt: 0,
    });
  }
}

/** The screens and parts after changes that may not fit them. */
function changedContents({ screens, parts }, changes) {
  const next = { screens: [...screens], parts: { ...parts } };
  for (const change of changes) {
    if (change.set === undefined) next.screens.splice(change.at, change.del.length, ...change.ins);
    else if (change.set !== "screen") next.parts[change.set] = change.to;
    else {
      const index = next.screens.findIndex((screen) => screen.id === change.to.id);
      if (index >= 0) next.screens[index] = change.to;
    }
  }
  return next;
}

/** Throws for changes of another form: the views rely on the form, and a recording may have any JSON. */
function checkChanges(changes) {
  if (!Array.isArray(changes)) throw new TypeError("its changes are no list");
  for (const change of changes) {
    if (!isPlainObject(change)) throw new TypeError("a change is no object");
    if (change.set === undefined) {
      const isSplice = Number.isSafeInteger(change.at) && change.at >= 0 && Array.isArray(change.del) && Array.isArray(change.ins);
      if (!isSplice || !change.ins.every(isScreenRecord)) throw new TypeError("a splice has no lists");
    } else if (change.set === "screen") {
      if (!isScreenRecord(change.to)) throw new TypeError("a screen has no id");
    } else {
      if (!PART_NAMES.includes(change.set)) throw new TypeError("a change names no part");
      checkParts({ [change.set]: change.to });
    }
  }
}

function checkParts(value) {
  for (const name of PART_NAMES) if (value[name] !== undefined && !isPlainObject(value[name])) throw new TypeError("a part is no object");
  const chain = value.presented?.chain;
  if (chain === undefined) return;
  if (!Array.isArray(chain) || !chain.every((entry) => isScreenRecord(entry?.screen))) throw new TypeError("a presentation has no screen");
}

/** Returns a value if it has the form of `resolved`, the description of the bar; else null. */
function barOrNull(value) {
  if (!isPlainObject(value)) return null;
  const lists = [value.left, value.right, value.toolbar?.items ?? []];
  return lists.every((list) => Array.isArray(list) && list.every(isPlainObject)) ? value : null;
}

/** Freezes a JSON value and removes the prototypes of its objects, as the client does. @param {any} value */
export function freezeWithoutPrototypes(value) {
  if (value === null || typeof value !== "object" || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freezeWithoutPrototypes(member);
  return Object.freeze(Array.isArray(value) ? value : Object.setPrototypeOf(value, null));
}
