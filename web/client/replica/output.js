import { NavigationError } from "../errors.js";
import { encode, utf8 } from "./json.js";

/** How many octets a line may have. */
const LINE_OCTETS = 65536;
/** How many octets shorter than other messages an op must be, for `again`. */
const AGAIN_OCTETS = 32;

/**
 * The way out of a session: its actions, and what the ids of its messages were for.
 *
 * A wish is a watch or a duty: the session asks for it, and again after each loss. It has a `key`, a
 * `nav`, the count of its `faults`, and `retryAt`; `isDue` says that it is to be sent after a hold.
 */
export class Output {
  #actions = [];
  #random;
  #bodyOctets = LINE_OCTETS;
  /** The key of the wish for which each id of this session was. */
  #asked = new Map();
  /** The next id, and the rows seen; the sessions of one client share them. */
  ids;
  /** The phase of the session: "unconnected", then "greeting" and "open", and at the end "closed". */
  phase = "unconnected";
  /** The navs about which nothing is sent, with the end of that pause: no daemon serves them yet. */
  held = new Map();

  constructor(ids, random) {
    this.ids = ids;
    this.#random = random;
  }

  get isOpen() { return this.phase === "open"; }

  /** Returns the actions since the last call. */
  take() {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  /** Adds an action. */
  note(action) { this.#actions.push(action); }

  send(verb, body, id = null) { this.note({ kind: "send", line: `["${verb}",${body}]\n`, id }); }

  // The size of messages.

  /** Notes the size that the daemon accepts. */
  limit(octets) { this.#bodyOctets = Math.min(LINE_OCTETS, octets ?? LINE_OCTETS); }

  /** Throws if a message is too large: the daemon could not name it in its error. */
  checkSize(verb, body) {
    if (!this.isTooLarge(verb, body)) return;
    const message = `the ${verb} has ${utf8(body).length} octets, more than the daemon accepts`;
    throw new NavigationError("limit", message, { reason: "size" });
  }

  isTooLarge(verb, body) {
    const room = verb === "op" ? AGAIN_OCTETS : 0;
    return utf8(body).length + verb.length + 6 + room > this.#bodyOctets;
  }

  // Wishes.

  /** Sends a wish, unless its nav is held; `members` returns what follows `id` and `nav`. */
  ask(wish, verb, members) {
    const { key, nav } = wish;
    this.unask(key);
    Object.assign(wish, { retryAt: Infinity, isDue: this.held.has(nav) });
    if (wish.isDue) return;
    const id = this.ids.next++;
    this.#asked.set(id, key);
    this.send(verb, encode({ id, nav, ...members() }));
  }

  /** Ignores the answer to a wish that is under way. */
  unask(key) { for (const [id, asked] of this.#asked) if (asked === key) this.#asked.delete(id); }

  isAsked(key) { return [...this.#asked.values()].includes(key); }

  /** The ids of the wishes without an answer. */
  get openIds() { return this.#asked.keys(); }

  /** Handles an answer: returns the key of its wish. */
  answered(id) {
    const key = this.#asked.get(id);
    this.#asked.delete(id);
    return key;
  }

  postpone(wish, now, least = 0) {
    wish.mirror?.disconnect();
    wish.retryAt = now + Math.max(least, this.backOff(wish.faults++));
  }

  /** A random pause from 0 to a bound, which doubles from 100 ms up to 5 s. */
  backOff(attempt) { return this.#random() * Math.min(5000, 100 * 2 ** Math.min(attempt, 16)); }

  forgetSession() {
    if (this.phase !== "closed") this.phase = "unconnected";
    this.#asked.clear();
  }
}

export function isDue(wish, nav) { return wish.nav === nav && wish.isDue; }
