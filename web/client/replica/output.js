import { NavigationError } from "../errors.js";
import { encode, utf8 } from "./json.js";

/** How many octets a line may have. */
const MAXIMUM_LINE_OCTETS = 65536;
/** The number of octets that an op leaves free for its member `again`. */
const AGAIN_MEMBER_OCTETS = 32;

/**
 * The outgoing side of a session: its actions, and which wish each message id belongs to.
 *
 * A wish is a watch, delegate role or lease: the session requests it, and again after each loss. It has a `key`, a
 * `nav`, the count of its `faults`, and `retryAt`; `isDue` says that it is to be sent after a hold.
 */
export class SessionOutput {
  #actions = [];
  #random;
  #maximumMessageOctets = MAXIMUM_LINE_OCTETS;
  /** The keys of the wishes that have no answer yet, by message id. */
  #wishKeysByID = new Map();
  /** The next id, and the rows seen; the sessions of one client share them. */
  sharedIDs;
  /** The phase of the session: "unconnected", then "greeting" and "open", and at the end "closed". */
  phase = "unconnected";
  /** The navs that no daemon serves yet, with the time until which the session sends nothing about them. */
  heldNavs = new Map();

  constructor(ids, random) {
    this.sharedIDs = ids;
    this.#random = random;
  }

  get isOpen() { return this.phase === "open"; }

  /** Returns the actions since the last call. */
  takeActions() {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  /** Adds an action. */
  addAction(action) { this.#actions.push(action); }

  send(verb, body, id = null) { this.addAction({ kind: "send", line: `["${verb}",${body}]\n`, id }); }

  // The size of messages.

  /** Notes the size that the daemon accepts. */
  limitMessageOctets(octets) { this.#maximumMessageOctets = Math.min(MAXIMUM_LINE_OCTETS, octets ?? MAXIMUM_LINE_OCTETS); }

  /** Throws if a message is too large: the daemon could not name it in its error. */
  checkSize(verb, body) {
    if (!this.isTooLarge(verb, body)) return;
    const message = `the ${verb} has ${utf8(body).length} octets, more than the daemon accepts`;
    throw new NavigationError("limit", message, { reason: "size" });
  }

  isTooLarge(verb, body) {
    const room = verb === "op" ? AGAIN_MEMBER_OCTETS : 0;
    return utf8(body).length + verb.length + 6 + room > this.#maximumMessageOctets;
  }

  // Wishes.

  /** Sends a wish, unless its nav is held; `members` returns what follows `id` and `nav`. */
  sendWish(wish, verb, members) {
    const { key, nav } = wish;
    this.ignoreAnswer(key);
    Object.assign(wish, { retryAt: Infinity, isDue: this.heldNavs.has(nav) });
    if (wish.isDue) return;
    const id = this.sharedIDs.next++;
    this.#wishKeysByID.set(id, key);
    this.send(verb, encode({ id, nav, ...members() }));
  }

  /** Ignores the answer to a wish that is under way. */
  ignoreAnswer(key) { for (const [id, asked] of this.#wishKeysByID) if (asked === key) this.#wishKeysByID.delete(id); }

  isWishSent(key) { return [...this.#wishKeysByID.values()].includes(key); }

  /** The ids of the wishes without an answer. */
  get sentWishIDs() { return this.#wishKeysByID.keys(); }

  /** Handles an answer: returns the key of its wish. */
  takeWishKey(id) {
    const key = this.#wishKeysByID.get(id);
    this.#wishKeysByID.delete(id);
    return key;
  }

  postponeWish(wish, now, least = 0) {
    wish.mirror?.disconnect();
    wish.retryAt = now + Math.max(least, this.backOff(wish.faults++));
  }

  /** A random pause from 0 to a bound, which doubles from 100 ms up to 5 s. */
  backOff(attempt) { return this.#random() * Math.min(5000, 100 * 2 ** Math.min(attempt, 16)); }

  noteSessionEnd() {
    if (this.phase !== "closed") this.phase = "unconnected";
    this.#wishKeysByID.clear();
  }
}

export function isDueAfterHold(wish, nav) { return wish.nav === nav && wish.isDue; }
