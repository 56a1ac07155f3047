import { encode } from "./json.js";
import { MOST_ROUTES } from "./gateways.js";

/** Ops and reads without an answer, oldest first, which are sent again in each session. */
export class PendingRequests {
  #out;
  /** Returns the wall-clock time. */
  #wall;
  #all = new Map();
  #most = 64;
  /** The client's name in the rules of a cluster; null if the daemon is alone. */
  #principal = null;
  /** How many answers may still come about requests that another session sends again. */
  #departed = new Map();
  /** Whether the daemon is one of several, so that it may not have a nav. */
  #isDivided = false;
  /** The navs that the daemon serves, by its answers in this session. */
  #confirmed = new Set();

  /**
   * @param {import("./output.js").Output} out
   * @param {() => number} wall
   */
  constructor(out, wall) {
    this.#out = out;
    this.#wall = wall;
  }

  get size() { return this.#all.size; }

  values() { return this.#all.values(); }

  get(id) { return this.#all.get(id); }

  get sentIds() {
    return [...this.#all.values()].filter((flight) => flight.isSent).map((flight) => flight.id);
  }

  /** When the next unsent request exceeds its time limit. */
  get lateAt() {
    let at = Infinity;
    for (const { isSent, until } of this.#all.values()) if (!isSent) at = Math.min(at, until);
    return at;
  }

  get wakeAt() {
    let at = Infinity;
    for (const { retryAt } of this.#all.values()) at = Math.min(at, retryAt);
    return at;
  }

  // What users ask for.

  /** Adds a request, and sends it as soon as it may be; throws if it is too large. */
  request(verb, nav, members, within, now) {
    const { ids } = this.#out;
    const id = ids.next;
    const body = encode({ id, ...(nav === null ? {} : { nav }), ...members });
    this.#out.checkSize(verb, body);
    ids.next++;
    this.#all.set(id, {
      id, verb, nav, body, isSent: false, sends: 0, sentAs: null, seen: 0, retryAt: Infinity,
      begun: { now, wall: this.#wall() }, within, until: within === null ? Infinity : now + within,
    });
    this.sendWaiting();
    return id;
  }

  forget(id) {
    const flight = this.#all.get(id);
    if (this.#all.delete(id)) this.sendWaiting();
    return flight?.sends ?? 0;
  }

  noteUnposted(id) {
    const flight = this.#all.get(id);
    if (flight) flight.sends--;
  }

  refuse(id, status) {
    if (!this.#all.has(id)) return;
    const code = status === 413 ? "limit" : "invalid-argument";
    this.#fail(id, { id, code, msg: "the gateway refused the line", effect: "none", retry: "no" });
    this.sendWaiting();
  }

  // Sending.

  /** Handles a `welcome`. */
  begin({ limits, you }, isOfSeveral, now) {
    this.#most = limits?.inflight ?? 64;
    this.#principal = you?.principal ?? null;
    this.#isDivided ||= isOfSeveral;
    this.drop(this.#all.values(), now);
  }

  /** Ends the requests that this session cannot send any more. */
  drop(all, now) {
    const flights = [...all];
    this.dropLate(now, flights);
    for (const { id, verb, body, sends, sentAs } of flights) {
      if (!this.#all.has(id)) continue;
      // Daemons remember ops by principal, so this one may perform it again.
      if (verb === "op" && sends && sentAs && this.#principal && sentAs !== this.#principal) {
        this.#fail(id, { code: "op-too-old", effect: "unknown", retry: "resync",
          msg: `the operation was sent as ${sentAs}, and may have been performed` });
      } else if (this.#out.isTooLarge(verb, body)) {
        this.#fail(id, { code: "limit", reason: "size", retry: "no", effect: sends ? "unknown" : "none",
          msg: `the ${verb} has more octets than the daemon accepts` });
      }
    }
  }

  /** Fails the requests whose time is up, except those that are under way. */
  dropLate(now, flights = this.#all.values()) {
    for (const { id, isSent, sends, begun, within } of [...flights]) {
      if (isSent || within === null || this.#age(begun, now) < within) continue;
      this.#fail(id, { code: "expired", effect: sends ? "unknown" : "none", retry: "no",
        msg: "there was no connection in time, and the request is not sent any more" });
    }
  }

  /**
   * The age of a time. The clock of the page may stand still while the machine sleeps, and that of
   * the wall may be set back, so the greater one counts.
   */
  #age(since, now) { return Math.max(now - since.now, this.#wall() - since.wall); }

  #fail(id, err) {
    this.#all.delete(id);
    this.#out.note({ kind: "answered", id, err });
  }

  /** Ends the pauses of requests that were postponed. */
  tick(now) {
    for (const flight of this.#all.values()) if (flight.retryAt <= now) flight.retryAt = Infinity;
  }

  /**
   * Sends requests that were not sent yet, oldest first, up to the limit of those in flight.
   *
   * Until a daemon of several has confirmed a nav, one request about it is under way. Otherwise a
   * daemon that takes the nav over at this moment could refuse one and perform the next.
   */
  sendWaiting() {
    const { held, ids, isOpen } = this.#out;
    if (!isOpen) return;
    let count = 0;
    const probed = new Set();
    for (const flight of this.#all.values()) {
      const { nav } = flight;
      if (held.has(nav) && !flight.isSent) continue;
      if (this.#isDivided && nav !== null && !this.#confirmed.has(nav)) {
        if (probed.has(nav)) continue;
        probed.add(nav);
      }
      if (++count > this.#most) return;
      if (flight.isSent || flight.retryAt < Infinity) continue;
      this.#send(flight, ids.seen.row(nav));
    }
  }

  #send(flight, row) {
    flight.isSent = true;
    if (flight.sends === 0) Object.assign(flight, { sentAs: this.#principal, seen: row });
    // An op that is sent again says what the client had seen when it sent it first. Rows that the
    // daemon has lost since do not date it.
    flight.seen = Math.min(flight.seen, row);
    const isAgain = flight.sends++ > 0 && flight.verb === "op";
    const { id, verb, body, seen } = flight;
    this.#out.send(verb, isAgain ? `${body.slice(0, -1)},"again":${seen}}` : body, id);
  }

  // What the daemon sends.

  receiveOk({ id, nav }, body) {
    this.#all.delete(id);
    this.#out.note({ kind: "answered", id, ok: body });
    this.confirm(nav);
    this.sendWaiting();
  }

  receiveErr(flight, err, now) {
    // The daemon looks at the load before it looks at what it remembers: it may have performed the
    // op in an earlier session.
    if (err.code === "busy" && flight.sends > 1) {
      Object.assign(flight, { isSent: false, retryAt: now + (err.after ?? 200) });
    } else {
      this.#fail(flight.id, err);
      if (!isPostponed(err)) this.confirm(flight.nav);
    }
    this.sendWaiting();
  }

  /** Notes that the daemon serves a nav, and sends the requests that waited for that. */
  confirm(nav) {
    if (!this.#isDivided || nav == null || this.#confirmed.has(nav)) return;
    if (this.#confirmed.size >= MOST_ROUTES) this.#confirmed.clear();
    this.#confirmed.add(nav);
    this.sendWaiting();
  }

  forgetSession() {
    this.#departed.clear();
    this.#confirmed.clear();
    for (const flight of this.#all.values()) {
      Object.assign(flight, { isSent: false, retryAt: Infinity });
    }
  }

  // Navs that another daemon has.

  /** Notes that the daemon does not serve a nav. */
  noteElsewhere(nav) {
    this.#isDivided = true;
    this.#confirmed.delete(nav);
  }

  /** Notes that the daemon has not performed a request, because it does not serve the nav. */
  markUnsent(flight) {
    flight.isSent = false;
    flight.sends--;
  }

  /** Whether an answer is to a request that was sent before another session took the nav over. */
  isFromEarlierOwner(id) {
    const count = this.#departed.get(id);
    if (count === undefined) return false;
    if (count > 1) this.#departed.set(id, count - 1);
    else this.#departed.delete(id);
    return true;
  }

  /** Takes out the requests about a nav, for `adopt` of another session. */
  surrender(nav) {
    const flights = [...this.#all.values()].filter((flight) => flight.nav === nav);
    for (const flight of flights) {
      const { id, isSent } = flight;
      if (isSent) this.#departed.set(id, (this.#departed.get(id) ?? 0) + 1);
      Object.assign(flight, { isSent: false, retryAt: Infinity });
      this.#all.delete(id);
    }
    this.sendWaiting();
    return flights;
  }

  adopt(flights) {
    this.#isDivided = true;
    for (const flight of flights) this.#all.set(flight.id, flight);
  }

  abandon(flights, err) {
    for (const { id, sends } of flights) {
      this.#fail(id, { ...err, effect: sends ? "unknown" : "none" });
    }
  }
}

export function isPostponed(err) { return err.retry === "later" || err.retry === "same"; }
