import { NavigationError } from "../errors.js";
import { PART_NAMES, updateChecksums } from "./digest.js";

/**
 * A copy of one nav, which its digest proves at each revision.
 *
 * A mirror is replaced as a whole, by a snapshot or by a complete diff. No state in between and no
 * state with a wrong digest is visible.
 */
export class Mirror {
  #nav;
  #current = null;
  /** "idle": no watch; "awaiting": a watch has no answer; "snapshot": a snapshot must come; "following": diffs come. */
  #phase = "snapshot";
  #badPosition = null;
  #hasDiverged = false;
  #snapshotScreens = null; // of an incomplete snapshot
  #snapshotHead = null;
  #screenChecksums = [];

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
    return this.#phase === "following" && !this.#hasDiverged && !this.#snapshotScreens && this.#current !== null;
  }

  get #position() {
    const { epoch, rev, dig } = this.#current;
    return { epoch, rev, dig };
  }

  /** The last state with a right digest, which a new loop gets first; null before the first snapshot. */
  get state() { return this.#current && this.#stateFor({ isResynchronised: true }); }

  /** Notes that the client sends a watch; returns the member `from` or `bad` of the message. */
  beginWatch() {
    this.disconnect();
    this.#phase = "awaiting";
    if (this.#hasDiverged) return this.#badPosition ? { bad: this.#badPosition } : {};
    return this.#current ? { from: this.#position } : {};
  }

  /** Notes the end of the session or of the watch; the next one resumes from here. */
  disconnect() {
    this.#phase = "idle";
    this.#snapshotScreens = this.#snapshotHead = null;
  }

  /**
   * Handles a message about the nav: `body`, for a `mark` its entry `[nav, rev, dig]`.
   *
   * @returns {{kind: "state" | "part" | "diverged" | "ignored" | "ended"}} A `state` has `state`
   *   and `how`: `replaced`, `applied` or `resumed`. After `diverged`, send a watch with the
   *   members of `beginWatch()`; until its `ok` arrives, everything else is ignored.
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

  /** The state with the events of a message `event`; null unless the digest of the mirror is verified. */
  stateWithEvents({ ev = [] }, receivedAt = 0) {
    return this.isSynced ? this.#stateFor({ ev }, receivedAt) : null;
  }

  #receiveOk({ mode, epoch }) {
    if (this.#phase !== "awaiting") return IGNORED;
    if (mode !== "resume") {
      this.#phase = "snapshot";
      return INCOMPLETE;
    }
    // Not asked for, or of another epoch.
    if (this.#hasDiverged || epoch !== this.#current?.epoch) return this.#enterDivergence(this.#current);
    this.#phase = "following";
    return { kind: "state", how: "resumed", state: this.state };
  }

  #receiveSnap(part, receivedAt) {
    if (this.#phase !== "snapshot" && this.#phase !== "following") return IGNORED;
    if (part.i > 0 && !this.#continuesSnapshot(part)) return this.#enterDivergence(this.#current);
    this.#snapshotHead = part;
    this.#snapshotScreens = part.i > 0 ? [...this.#snapshotScreens, ...part.screens] : [...part.screens];
    if (!part.last) return INCOMPLETE;
    const screens = this.#snapshotScreens;
    const { kind, epoch, rev, dig, resolved = null } = part;
    const parts = pickMembers(part, PART_NAMES);
    this.#snapshotScreens = this.#snapshotHead = null;
    const sums = [];
    const computed = updateChecksums(sums, screens, parts, 0);
    if (computed !== dig.slice(0, 8)) return this.#enterDivergence({ rev, dig: computed + dig.slice(8) });
    this.#screenChecksums = sums;
    this.#replaceCurrent({ kind, epoch, rev, dig, screens, parts, resolved, receivedAt });
    this.#phase = "following";
    this.#hasDiverged = false;
    this.#badPosition = null;
    return { kind: "state", how: "replaced", state: this.state };
  }

  #continuesSnapshot(part) {
    return this.#snapshotHead !== null && this.#snapshotScreens.length === part.i
      && this.#snapshotHead.epoch === part.epoch && this.#snapshotHead.rev === part.rev;
  }

  #receiveDiff(diff, receivedAt) {
    if (this.#phase === "idle" || this.#phase === "awaiting") return IGNORED;
    // A snapshot comes whole and before every diff, so a message is missing.
    if (this.#phase === "snapshot" || this.#snapshotScreens) return this.#enterDivergence(this.#current);
    const { epoch, rev, dig } = this.#current;
    if (diff.epoch === epoch && diff.rev <= rev) {
      return diff.rev === rev && diff.dig !== dig ? this.#enterDivergence(this.#current) : IGNORED;
    }
    if (diff.epoch !== epoch || diff.base !== rev) return this.#enterGap();
    return this.#applyDiff(diff, receivedAt);
  }

  #applyDiff(diff, receivedAt) {
    const next = { ...this.#current, screens: [...this.#current.screens], parts: this.#current.parts };
    let lowest = next.screens.length;
    for (const change of diff.ch) {
      const index = applyChange(next, change);
      if (index < 0) return this.#enterDivergence(this.#current);
      lowest = Math.min(lowest, index);
    }
    const computed = updateChecksums(this.#screenChecksums, next.screens, next.parts, lowest);
    if (computed !== diff.dig.slice(0, 8)) {
      return this.#enterDivergence({ rev: diff.rev, dig: computed + diff.dig.slice(8) });
    }
    this.#replaceCurrent({
      ...next, rev: diff.rev, dig: diff.dig, resolved: diff.resolved ?? next.resolved, receivedAt,
    });
    const state = this.#stateFor(diff);
    return { kind: "state", how: "applied", state };
  }

  #receiveMark([, rev, dig]) {
    if (this.#phase === "idle" || this.#phase === "awaiting") return IGNORED;
    // A mark names only watches to which the daemon has sent everything.
    if (this.#phase === "snapshot" || this.#snapshotScreens) return this.#enterDivergence(this.#current);
    const isRight = rev < this.#current.rev || rev === this.#current.rev && dig === this.#current.dig;
    return isRight ? IGNORED : this.#enterDivergence(this.#current);
  }

  #receiveEnd() {
    this.#current = this.#badPosition = null;
    this.#hasDiverged = false;
    this.#snapshotScreens = this.#snapshotHead = null;
    this.#screenChecksums = [];
    if (this.#phase === "awaiting") return IGNORED;
    this.#phase = "idle";
    return { kind: "ended" };
  }

  /** Notes that revisions are missing: the mirror is right, and the next watch resumes from it. */
  #enterGap() {
    this.#phase = "awaiting";
    return DIVERGED;
  }

  /** Notes that the mirror differs from the nav: only a snapshot repairs it. */
  #enterDivergence(position) {
    this.#hasDiverged = true;
    this.#badPosition = position && { rev: position.rev, dig: position.dig };
    this.#snapshotScreens = this.#snapshotHead = null;
    this.#phase = "awaiting";
    return DIVERGED;
  }

  #replaceCurrent(now) {
    Object.freeze(now.screens);
    Object.freeze(now.parts);
    this.#current = Object.freeze(now);
  }

  /** The state object that `for await` loops over the nav get. */
  #stateFor(change, receivedAt = this.#current.receivedAt) {
    const { kind, epoch, rev, dig, screens, parts, resolved } = this.#current;
    const { cause = null, by = null, ev = EMPTY_LIST, animated = false } = change;
    const { isResynchronised = false } = change;
    const presented = parts.presented?.chain ?? EMPTY_LIST;
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
const INCOMPLETE = Object.freeze({ kind: "part" });
const EMPTY_LIST = Object.freeze([]);

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

function pickMembers(source, names) {
  const result = Object.create(null);
  for (const name of names) if (source[name] !== undefined) result[name] = source[name];
  return result;
}
