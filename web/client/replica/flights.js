import { encode } from "./json.js";
import { MAXIMUM_ROUTES } from "./gateways.js";

/** Ops and reads without an answer, oldest first, which are sent again in each session. */
export class PendingRequests {
  #output;
  /** Returns the wall-clock time. */
  #wallClock;
  #byID = new Map();
  #maximumInFlight = 64;
  /** The principal of the client in a cluster, as `welcome` names it; null if the daemon is alone. */
  #clientPrincipal = null;
  /** By request id: how many answers may still arrive to a request that has moved to another session. */
  #staleAnswerCounts = new Map();
  /** Whether the daemon is one of a cluster, so that another daemon may own a nav. */
  #isOneOfSeveral = false;
  /** The navs that the daemon serves, by its answers in this session. */
  #servedNavs = new Set();

  /**
   * @param {import("./output.js").SessionOutput} output
   * @param {() => number} wallClock
   */
  constructor(output, wallClock) {
    this.#output = output;
    this.#wallClock = wallClock;
  }

  get size() { return this.#byID.size; }

  values() { return this.#byID.values(); }

  get(id) { return this.#byID.get(id); }

  unsentOf(nav) { return [...this.#byID.values()].filter((request) => request.nav === nav && !request.isSent); }

  get sentIDs() { return [...this.#byID.values()].filter((request) => request.isSent).map((request) => request.id); }

  /** When the next unsent request exceeds its time limit. */
  get nextExpiryAt() {
    let at = Infinity;
    for (const { isSent, until } of this.#byID.values()) if (!isSent) at = Math.min(at, until);
    return at;
  }

  get wakeAt() {
    let at = Infinity;
    for (const { retryAt } of this.#byID.values()) at = Math.min(at, retryAt);
    return at;
  }

  // What users ask for.

  /** Adds a request, and sends it as soon as it may be; throws if it is too large. */
  request(verb, nav, members, within, now) {
    const { sharedIDs: ids } = this.#output;
    const id = ids.next;
    const body = encode({ id, ...(nav === null ? {} : { nav }), ...members });
    this.#output.checkSize(verb, body);
    ids.next++;
    this.#byID.set(id, {
      id, verb, nav, body, isSent: false, sends: 0, sentAs: null, seen: 0, retryAt: Infinity,
      begun: { now, wall: this.#wallClock() }, within, until: within === null ? Infinity : now + within,
    });
    this.sendUnsent();
    return id;
  }

  forget(id) {
    const request = this.#byID.get(id);
    if (this.#byID.delete(id)) this.sendUnsent();
    return request?.sends ?? 0;
  }

  noteUnposted(id) {
    const request = this.#byID.get(id);
    if (request) request.sends--;
  }

  refusedByGateway(id, status) {
    if (!this.#byID.has(id)) return;
    const code = status === 413 ? "limit" : "invalid-argument";
    this.#fail(id, { id, code, msg: "the gateway refused the line", effect: "none", retry: "no" });
    this.sendUnsent();
  }

  // Sending.

  /** Handles a `welcome`. */
  receiveWelcome({ limits, you }, isOneOfSeveral, now) {
    this.#maximumInFlight = limits?.inflight ?? 64;
    this.#clientPrincipal = you?.principal ?? null;
    this.#isOneOfSeveral ||= isOneOfSeveral;
    this.failUnsendable(this.#byID.values(), now);
  }

  /** Fails the requests whose time is up, and those that this session may not send, for the first time or again. */
  failUnsendable(all, now) {
    const requests = [...all];
    this.failExpired(now, requests);
    for (const { id, verb, body, sends, sentAs } of requests) {
      if (!this.#byID.has(id)) continue;
      // Daemons remember ops by principal, so this one may perform it again.
      if (verb === "op" && sends && sentAs && this.#clientPrincipal && sentAs !== this.#clientPrincipal) {
        this.#fail(id, { code: "op-too-old", effect: "unknown", retry: "resync",
          msg: `the operation was sent as ${sentAs}, and may have been performed` });
      } else if (this.#output.isTooLarge(verb, body)) {
        this.#fail(id, { code: "limit", reason: "size", retry: "no", effect: sends ? "unknown" : "none",
          msg: `the ${verb} has more octets than the daemon accepts` });
      }
    }
  }

  /** Fails the requests whose time is up, except those that are under way. */
  failExpired(now, requests = this.#byID.values()) {
    for (const { id, isSent, sends, begun, within } of [...requests]) {
      if (isSent || within === null || this.#age(begun, now) < within) continue;
      this.#fail(id, { code: "expired", effect: sends ? "unknown" : "none", retry: "no",
        msg: "there was no connection in time, and the request is not sent any more" });
    }
  }

  /**
   * The age of a time. The clock of the page may stand still while the machine sleeps, and that of
   * the wall may be set back, so the greater one counts.
   */
  #age(since, now) { return Math.max(now - since.now, this.#wallClock() - since.wall); }

  #fail(id, err) {
    this.#byID.delete(id);
    this.#output.addAction({ kind: "answered", id, err });
  }

  /** Ends the pauses of requests that were postponed. */
  tick(now) {
    for (const request of this.#byID.values()) if (request.retryAt <= now) request.retryAt = Infinity;
  }

  /**
   * Sends requests that were not sent yet, oldest first, up to the limit of those in flight.
   *
   * Until a daemon of several has confirmed a nav, one request about it is under way. Otherwise a
   * daemon that takes the nav over at this moment could refuse one and perform the next.
   */
  sendUnsent() {
    const { heldNavs, sharedIDs, isOpen } = this.#output;
    if (!isOpen) return;
    let count = 0;
    const probed = new Set();
    for (const request of this.#byID.values()) {
      const { nav } = request;
      if (heldNavs.has(nav) && !request.isSent) continue;
      if (this.#isOneOfSeveral && nav !== null && !this.#servedNavs.has(nav)) {
        if (probed.has(nav)) continue;
        probed.add(nav);
      }
      if (++count > this.#maximumInFlight) return;
      if (request.isSent || request.retryAt < Infinity) continue;
      this.#send(request, sharedIDs.seen.row(nav));
    }
  }

  #send(request, row) {
    request.isSent = true;
    if (request.sends === 0) Object.assign(request, { sentAs: this.#clientPrincipal, seen: row });
    // An op that is sent again says what the client had seen when it sent it first.
    const isAgain = request.sends++ > 0 && request.verb === "op";
    const { id, verb, body, seen } = request;
    this.#output.send(verb, isAgain ? `${body.slice(0, -1)},"again":${seen}}` : body, id);
  }

  // What the daemon sends.

  receiveOk({ id, nav }, body) {
    this.#byID.delete(id);
    this.#output.addAction({ kind: "answered", id, ok: body });
    this.noteNavServed(nav);
    this.sendUnsent();
  }

  receiveErr(request, err, now) {
    // The daemon looks at the load before it looks at what it remembers: it may have performed the
    // op in an earlier session.
    if (err.code === "busy" && request.sends > 1) {
      Object.assign(request, { isSent: false, retryAt: now + (err.after ?? 200) });
    } else {
      this.#fail(request.id, err);
      if (!isPostponed(err)) this.noteNavServed(request.nav);
    }
    this.sendUnsent();
  }

  /** Notes that the daemon serves a nav, and sends the requests that waited for that. */
  noteNavServed(nav) {
    if (!this.#isOneOfSeveral || nav == null || this.#servedNavs.has(nav)) return;
    if (this.#servedNavs.size >= MAXIMUM_ROUTES) this.#servedNavs.clear();
    this.#servedNavs.add(nav);
    this.sendUnsent();
  }

  noteSessionEnd() {
    this.#staleAnswerCounts.clear();
    this.#servedNavs.clear();
    for (const request of this.#byID.values()) {
      Object.assign(request, { isSent: false, retryAt: Infinity });
    }
  }

  // Navs that another daemon has.

  /** Notes that the daemon does not serve a nav. */
  noteNavNotServed(nav) {
    this.#isOneOfSeveral = true;
    this.#servedNavs.delete(nav);
  }

  /** Notes that the daemon has not performed a request, because it does not serve the nav. */
  markUnsent(request) {
    request.isSent = false;
    request.sends--;
  }

  /** Counts off an answer to a request that has moved to another session since; returns whether it is one. */
  takeStaleAnswer(id) {
    const count = this.#staleAnswerCounts.get(id);
    if (count === undefined) return false;
    if (count > 1) this.#staleAnswerCounts.set(id, count - 1);
    else this.#staleAnswerCounts.delete(id);
    return true;
  }

  /** Removes and returns the requests about a nav, for `adopt` in another session. */
  surrender(nav) {
    const requests = [...this.#byID.values()].filter((request) => request.nav === nav);
    for (const request of requests) {
      const { id, isSent } = request;
      if (isSent) this.#staleAnswerCounts.set(id, (this.#staleAnswerCounts.get(id) ?? 0) + 1);
      Object.assign(request, { isSent: false, retryAt: Infinity });
      this.#byID.delete(id);
    }
    this.sendUnsent();
    return requests;
  }

  adopt(requests) {
    this.#isOneOfSeveral = true;
    for (const request of requests) this.#byID.set(request.id, request);
  }

  abandon(requests, err) {
    for (const { id, sends } of requests) {
      this.#fail(id, { ...err, effect: sends ? "unknown" : "none" });
    }
  }
}

export function isPostponed(err) { return err.retry === "later" || err.retry === "same"; }
