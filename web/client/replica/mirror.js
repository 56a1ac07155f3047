import { NavigationError } from "../errors.js";
import { PARTS, updateChecksums } from "./digest.js";

/**
 * A copy of one nav, which its digest proves at each revision.
 *
 * A mirror is replaced as a whole, by a snapshot or by a complete diff. No state in between and no
 * state with a wrong digest is visible.
 */
export class Mirror {
  #nav;
  #now = null;
  /** idle: no watch. awaiting: a watch without its answer. snapshot: one must come. following. */
  #phase = "snapshot";
  #bad = null;
  #isSuspect = false;
  #screens = null; // of an incomplete snapshot
  #head = null;
  #sums = [];

  constructor(nav) { this.#nav = nav; }

  /** Reads the state of a `get`; throws if its digest is wrong. */
  static read(nav, value, receivedAt = 0) {
    const mirror = new Mirror(nav);
    const { state } = mirror.apply("snap", { ...value, i: 0, last: true }, receivedAt);
    if (state) return state;
    const more = { nav, retry: "resync" };
    throw new NavigationError("internal", "the digest of the state is wrong", more);
  }

  /** Whether the digest of the mirror is verified, so that guards may be made from it. */
  get isSynced() {
    return this.#phase === "following" && !this.#isSuspect && !this.#screens && this.#now !== null;
  }

  get #position() {
    const { epoch, rev, dig } = this.#now;
    return { epoch, rev, dig };
  }

  /** The last state with a right digest, which a new loop gets first; null before the first snapshot. */
  get state() { return this.#now && this.#stateFor({ isResynchronised: true }); }

  /** Notes that a watch is sent; returns its members `from` or `bad`. */
  watching() {
    this.disconnect();
    this.#phase = "awaiting";
    if (this.#isSuspect) return this.#bad ? { bad: this.#bad } : {};
    return this.#now ? { from: this.#position } : {};
  }

  /** Notes the end of the session or of the watch; the next one resumes from here. */
  disconnect() {
    this.#phase = "idle";
    this.#screens = this.#head = null;
  }

  /**
   * Handles a message about the nav: `body`, for a `mark` its entry `[nav, rev, dig]`.
   *
   * @returns {{kind: "state" | "part" | "diverged" | "ignored" | "ended"}} A `state` has `state`
   *   and `how`: `replaced`, `applied` or `resumed`. After `diverged`, send a watch with the
   *   members of `watching()`; until its `ok` arrives, everything else is ignored.
   */
  apply(verb, body, now = 0) {
    switch (verb) {
      case "ok": return this.#receiveOk(body);
      case "snap": return this.#receiveSnap(body, now);
      case "diff": return this.#receiveDiff(body, now);
      case "mark": return this.#receiveMark(body);
      case "end": return this.#receiveEnd();
      default: return IGNORED;
    }
  }

  /** The state with the events of an `event`; null unless the mirror is known to be right. */
  withEvents({ ev = [] }, receivedAt = 0) {
    return this.isSynced ? this.#stateFor({ ev }, receivedAt) : null;
  }

  #receiveOk({ mode, epoch }) {
    if (this.#phase !== "awaiting") return IGNORED;
    if (mode !== "resume") {
      this.#phase = "snapshot";
      return PART;
    }
    // Not asked for, or of another epoch.
    if (this.#isSuspect || epoch !== this.#now?.epoch) return this.#enterDivergence(this.#now);
    this.#phase = "following";
    return { kind: "state", how: "resumed", state: this.state };
  }

  #receiveSnap(part, receivedAt) {
    if (this.#phase !== "snapshot" && this.#phase !== "following") return IGNORED;
    if (part.i > 0 && !this.#isContinued(part)) return this.#enterDivergence(this.#now);
    this.#head = part;
    this.#screens = part.i > 0 ? [...this.#screens, ...part.screens] : [...part.screens];
    if (!part.last) return PART;
    const screens = this.#screens;
    const { kind, epoch, rev, dig, resolved = null } = part;
    const parts = pick(part, PARTS);
    this.#screens = this.#head = null;
    const sums = [];
    const computed = updateChecksums(sums, screens, parts, 0);
    if (computed !== dig.slice(0, 8)) return this.#enterDivergence({ rev, dig: computed + dig.slice(8) });
    this.#sums = sums;
    this.#adopt({ kind, epoch, rev, dig, screens, parts, resolved, receivedAt });
    this.#phase = "following";
    this.#isSuspect = false;
    this.#bad = null;
    return { kind: "state", how: "replaced", state: this.state };
  }

  #isContinued(part) {
    return this.#head !== null && this.#screens.length === part.i
      && this.#head.epoch === part.epoch && this.#head.rev === part.rev;
  }

  #receiveDiff(diff, receivedAt) {
    if (this.#phase === "idle" || this.#phase === "awaiting") return IGNORED;
    // A snapshot comes whole and before every diff, so a message is missing.
    if (this.#phase === "snapshot" || this.#screens) return this.#enterDivergence(this.#now);
    const { epoch, rev, dig } = this.#now;
    if (diff.epoch === epoch && diff.rev <= rev) {
      return diff.rev === rev && diff.dig !== dig ? this.#enterDivergence(this.#now) : IGNORED;
    }
    if (diff.epoch !== epoch || diff.base !== rev) return this.#enterGap();
    return this.#change(diff, receivedAt);
  }

  #change(diff, receivedAt) {
    const next = { ...this.#now, screens: [...this.#now.screens], parts: this.#now.parts };
    let lowest = next.screens.length;
    for (const change of diff.ch) {
      const index = applyChange(next, change);
      if (index < 0) return this.#enterDivergence(this.#now);
      lowest = Math.min(lowest, index);
    }
    const computed = updateChecksums(this.#sums, next.screens, next.parts, lowest);
    if (computed !== diff.dig.slice(0, 8)) {
      return this.#enterDivergence({ rev: diff.rev, dig: computed + diff.dig.slice(8) });
    }
    this.#adopt({
      ...next, rev: diff.rev, dig: diff.dig, resolved: diff.resolved ?? next.resolved, receivedAt,
    });
    const state = this.#stateFor(diff);
    return { kind: "state", how: "applied", state };
  }

  #receiveMark([, rev, dig]) {
    if (this.#phase === "idle" || this.#phase === "awaiting") return IGNORED;
    // A mark names only watches to which the daemon has sent everything.
    if (this.#phase === "snapshot" || this.#screens) return this.#enterDivergence(this.#now);
    const isRight = rev < this.#now.rev || rev === this.#now.rev && dig === this.#now.dig;
    return isRight ? IGNORED : this.#enterDivergence(this.#now);
  }

  #receiveEnd() {
    this.#now = this.#bad = null;
    this.#isSuspect = false;
    this.#screens = this.#head = null;
    this.#sums = [];
    if (this.#phase === "awaiting") return IGNORED;
    this.#phase = "idle";
    return { kind: "ended" };
  }

  /** Revisions are missing: the mirror is right, and the next watch resumes from it. */
  #enterGap() {
    this.#phase = "awaiting";
    return DIVERGED;
  }

  /** The mirror differs from the nav; only a snapshot repairs it. */
  #enterDivergence(position) {
    this.#isSuspect = true;
    this.#bad = position && { rev: position.rev, dig: position.dig };
    this.#screens = this.#head = null;
    this.#phase = "awaiting";
    return DIVERGED;
  }

  #adopt(now) {
    Object.freeze(now.screens);
    Object.freeze(now.parts);
    this.#now = Object.freeze(now);
  }

  /** The state as loops get it. */
  #stateFor(change, receivedAt = this.#now.receivedAt) {
    const { kind, epoch, rev, dig, screens, parts, resolved } = this.#now;
    const { cause = null, by = null, ev = NOTHING, animated = false } = change;
    const { isResynchronised = false } = change;
    const presented = parts.presented?.chain ?? NOTHING;
    const top = screens.at(-1) ?? null;
    const isStack = kind !== "directory";
    return Object.freeze({
      nav: this.#nav, kind, epoch, rev, dig, screens, top: isStack ? top : null,
      visible: isStack ? presented.at(-1)?.screen ?? top : null, presented, bar: resolved, parts,
      cause, by, ev, animated, isResynchronised, receivedAt,
    });
  }
}

const IGNORED = Object.freeze({ kind: "ignored" });
const DIVERGED = Object.freeze({ kind: "diverged" });
const PART = Object.freeze({ kind: "part" });
const NOTHING = Object.freeze([]);

/** Applies a change; returns the index of the lowest screen that it touched, or −1. */
function applyChange(next, change) {
  const { screens } = next;
  if (change.set === undefined) {
    const { at, del, ins } = change;
    const isThere = del.every((id, index) => screens[at + index]?.id === id);
    if (at > screens.length || !isThere) return -1;
    screens.splice(at, del.length, ...ins);
    return at;
  }
  if (change.set === "screen") {
    const index = screens.findLastIndex((screen) => screen.id === change.to.id);
    if (index >= 0) screens[index] = change.to;
    return index;
  }
  if (!Object.hasOwn(next.parts, change.set)) return -1;
  next.parts = { ...next.parts, [change.set]: change.to };
  return screens.length;
}

function pick(source, names) {
  const result = Object.create(null);
  for (const name of names) if (source[name] !== undefined) result[name] = source[name];
  return result;
}
