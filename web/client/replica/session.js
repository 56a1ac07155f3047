import { NavigationError } from "../errors.js";
import { RolesAndLeases } from "./duties.js";
import { PendingRequests, isPostponed } from "./flights.js";
import { encode } from "./json.js";
import { SessionOutput } from "./output.js";
import { SeenJournalRows } from "./seen.js";
import { Watches } from "./watches.js";

const CREDIT_VERBS = new Set(["snap", "diff", "diffs", "latest", "event", "traced"]);

/**
 * The state machine of one client: watches, requests, duties, credit and liveness.
 *
 * Callers pass each event with the time in milliseconds of a monotonic clock, and then perform
 * the actions that `take` returns, in order. Each action has a `kind`:
 * `send`, `reconnect`, `opened`, `closed`, `answered`, `queued`, `state`, `watchEnded`,
 * `asked`, `settled`, `duty`, `moved`.
 */
export class Session {
  #output;
  #watches;
  /** Delegate roles and leases to hold in every session. */
  #rolesAndLeases;
  #pendingRequests;
  /** The next id, and the rows seen; the sessions of one client share them. */
  #sharedIDs;
  #helloMembers;
  #random;
  #helloNonce = "";
  #heartbeatMilliseconds;
  #creditWindow;
  #usedCredit = 0;
  #grantedCredit = 0;
  #lastReceivedAt = 0;
  #isLossSuspected = false;
  #failedAttempts = 0;

  /**
   * @param {{client: string, name?: string, window?: number, hb?: number,
   *   random?: () => number, wall?: () => number, ids?: {next: number, seen?: SeenJournalRows}}} options `client`
   *   is new for each run of the page; `ids` has the next id and the rows seen, for all sessions of the client
   */
  constructor({
    client, name = "", window = 65536, hb = 5000, random = Math.random, wall = Date.now,
    ids = { next: 1 },
  }) {
    this.#sharedIDs = ids;
    ids.seen ??= new SeenJournalRows();
    this.#creditWindow = clamp(window, 16384, 1048576);
    this.#heartbeatMilliseconds = clamp(hb, 1000, 60000);
    this.#helloMembers = { client, name, window: this.#creditWindow, hb: this.#heartbeatMilliseconds };
    this.#random = random;
    this.#output = new SessionOutput(ids, random);
    this.#watches = new Watches(this.#output);
    this.#rolesAndLeases = new RolesAndLeases(this.#output);
    this.#pendingRequests = new PendingRequests(this.#output, wall);
  }

  /** Returns the actions since the last call. */
  takeActions() { return this.#output.takeActions(); }

  /** The time of the next `tick`; infinite while nothing has a deadline. */
  get wakeAt() {
    const at = this.#pendingRequests.nextExpiryAt;
    if (!this.#isStreaming) return at;
    const held = this.isOpen ? this.#output.heldNavs.values() : [];
    return Math.min(at, this.#silentAt, this.#watches.wakeAt, this.#rolesAndLeases.wakeAt,
      this.#pendingRequests.wakeAt, ...held);
  }

  get #silentAt() { return this.#lastReceivedAt + (this.#isLossSuspected ? 2000 : 3 * this.#heartbeatMilliseconds); }

  get #isStreaming() { return this.#output.phase === "greeting" || this.isOpen; }

  /** Handles a new stream: says `hello`. */
  connected(now) {
    if (this.#output.phase === "closed") return;
    this.#noteSessionEnd();
    this.#output.phase = "greeting";
    this.#heartbeatMilliseconds = this.#helloMembers.hb;
    this.#noteReceived(now);
    this.#helloNonce = Math.floor(this.#random() * 2 ** 48).toString(16);
    this.#output.send("hello", encode({ ver: [1, 1], ...this.#helloMembers, nonce: this.#helloNonce }));
  }

  /** Handles the loss of a stream, or a failed attempt to open one. */
  lost(now, leastPause = 0) {
    if (this.#output.phase === "closed") return;
    this.#noteSessionEnd();
    const at = now + Math.max(leastPause, this.#output.backOff(this.#failedAttempts++));
    this.#output.addAction({ kind: "reconnect", at, least: leastPause });
  }

  /** Handles deadlines: silence, postponed requests, and questions that nobody settled. */
  tick(now) {
    this.#pendingRequests.failExpired(now);
    if (now >= this.#silentAt && this.#isStreamLost(now)) return this.lost(now);
    if (!this.isOpen) return;
    this.#rolesAndLeases.voidLateQuestions(now);
    this.#watches.tick(now);
    this.#rolesAndLeases.tick(now);
    this.#pendingRequests.tick(now);
    for (const [nav, until] of this.#output.heldNavs) {
      if (until > now) continue;
      this.#pendingRequests.failUnsendable(this.#pendingRequests.unsentOf(nav), now);
      this.#sendHeld(nav);
    }
    this.#pendingRequests.sendUnsent();
  }

  /**
   * Whether the stream is lost.
   *
   * A tick that comes late means that the page was frozen or its timers were throttled. Then the
   * session waits two more seconds, in which the page reads what has arrived meanwhile.
   */
  #isStreamLost(now) {
    if (!this.#isStreaming) return false;
    if (this.#isLossSuspected || now < this.#silentAt + 500) return true;
    this.#noteReceived(now);
    this.#isLossSuspected = true;
    return false;
  }

  #noteReceived(now) {
    this.#lastReceivedAt = now;
    this.#isLossSuspected = false;
  }

  /** Handles a message; `octets` is the length of its body in UTF-8. */
  receive(verb, body, octets, now) {
    if (!this.#isStreaming) return;
    this.#noteReceived(now);
    if (!this.isOpen) return this.#receiveGreeting(verb, body, now);
    if (CREDIT_VERBS.has(verb)) this.#usedCredit += octets;
    const { nav } = body;
    switch (verb) {
      case "ok": return this.#receiveOk(body, now);
      case "err": return this.#receiveErr(body, now);
      case "queued":
        this.#output.addAction({ kind: "queued", id: body.id, pos: body.pos });
        return this.#pendingRequests.noteNavServed(nav);
      case "snap": case "diff":
        this.#sharedIDs.seen.noteRow(nav, body.seq);
        return this.#watches.applyToMirror(nav, verb, body, now);
      case "diffs":
        for (const diff of body.list) {
          this.#sharedIDs.seen.noteRow(diff.nav ?? nav, diff.seq);
          this.#watches.applyToMirror(diff.nav ?? nav, "diff", diff, now);
        }
        break;
      case "mark":
        this.#sharedIDs.seen.noteRows(body.seq ?? []);
        for (const entry of body.at) this.#watches.applyToMirror(entry[0], verb, entry, now);
        break;
      case "event": return this.#watches.receiveEvent(body, now);
      case "latest": return this.#watches.receiveLatest(body, now);
      case "ask": return this.#rolesAndLeases.receiveAsk(body, this.#heartbeatMilliseconds, now);
      case "settled": return this.#rolesAndLeases.voidQuestion(body.ask);
      case "lost": return this.#rolesAndLeases.receiveLost(body);
      case "end":
        if (body.why === "moved") return this.#receiveMove(body);
        return this.#watches.receiveEnd(body, now);
      case "bye": return this.#receiveBye(body, now);
    }
  }

  /** Sends `credit` if half of the window is used; call it after the actions are performed. */
  grantCreditIfDue() {
    if (!this.isOpen || this.#usedCredit + this.#creditWindow / 2 <= this.#grantedCredit) return;
    this.#grantedCredit = this.#usedCredit + this.#creditWindow;
    this.#output.send("credit", encode({ upto: this.#grantedCredit }));
  }

  // What users ask for.

  get isOpen() { return this.#output.isOpen; }

  /** The mirror of a full watch; null without one. */
  mirror(nav) { return this.#watches.of(nav)?.mirror ?? null; }

  /** Whether an answer has reported a later revision; without credit, it comes before the diff. */
  isBehind(state) { return this.#watches.isBehind(state); }

  /** The newest state of a watch; null while its digest is not verified. */
  current(nav, view) { return this.#watches.currentState(nav, view); }

  /** Starts a watch; sends a running one again if it waited for a missing nav and shall no longer wait. */
  watch(nav, view = "full", waits = false) { this.#watches.begin(nav, view, waits); }

  unwatch(nav, view = "full") { this.#watches.end(nav, view); }

  /**
   * Sends an `op` or a `get`, and again after each loss until it is answered; returns its id.
   *
   * After `within` milliseconds, a request that is not under way fails as `expired`.
   *
   * @throws {NavigationError} `limit` if it is too large
   */
  request(verb, nav, members, within = null, now = 0) {
    return this.#pendingRequests.request(verb, nav, members, within, now);
  }

  /** Drops a request; returns in how many sessions it was sent: if above 0, the daemon may have performed it. */
  forget(id) { return this.#pendingRequests.forget(id); }

  /** Notes that the line of a request was not posted on a stream that has ended. */
  noteUnposted(id) { this.#pendingRequests.noteUnposted(id); }

  /** Handles a line that the gateway refused for its form or its size. */
  refusedByGateway(id, status) { this.#pendingRequests.refusedByGateway(id, status); }

  /** Registers roles; null ends them. Throws if they cannot be sent. */
  delegate(nav, wanted) { this.#rolesAndLeases.delegate(nav, wanted); }

  /** Requests the lease on a display, also from another holder if `force` is true; null releases it. */
  lease(nav, force) { this.#rolesAndLeases.lease(nav, force); }

  /** Answers a question, unless it is void; throws if the answer cannot be sent. */
  answer(ask, value) { this.#rolesAndLeases.answer(ask, value); }

  /** Ends the session for good. */
  leave() {
    if (this.isOpen) this.#output.send("bye", encode({ id: this.#sharedIDs.next++ }));
    this.#output.phase = "closed";
  }

  // What the daemon sends.

  #receiveGreeting(verb, body, now) {
    if (verb === "welcome" && body.nonce === this.#helloNonce) return this.#openSession(body, now);
    // The error to a `hello` that the daemon cannot read has no nonce.
    if (verb !== "err" || (body.nonce ?? this.#helloNonce) !== this.#helloNonce) return undefined;
    if (isPostponed(body)) return this.lost(now, body.after);
    return this.#closeWithError(NavigationError.from(body));
  }

  #openSession(welcome, now) {
    this.#output.phase = "open";
    this.#failedAttempts = 0;
    this.#heartbeatMilliseconds = welcome.hb ?? this.#heartbeatMilliseconds;
    this.#creditWindow = Math.min(this.#helloMembers.window, welcome.limits?.window ?? this.#helloMembers.window);
    this.#usedCredit = 0;
    this.#grantedCredit = this.#creditWindow;
    this.#output.limitMessageOctets(welcome.limits?.message);
    this.#sharedIDs.next = Math.max(this.#sharedIDs.next, (welcome.ops?.last ?? 0) + 1);
    this.#output.addAction({ kind: "opened", welcome });
    const isOneOfSeveral = welcome.features?.includes("shards") ?? false;
    this.#sharedIDs.seen.receiveWelcome(welcome.ops?.seq ?? [], isOneOfSeveral);
    this.#pendingRequests.receiveWelcome(welcome, isOneOfSeveral, now);
    // Watches first, so that the diff of an op comes before its answer. Then roles and leases,
    // without which an op may not be permitted.
    this.#watches.sendAll();
    this.#rolesAndLeases.sendAll();
    this.#pendingRequests.sendUnsent();
  }

  #receiveOk(body, now) {
    const { id } = body;
    this.#pendingRequests.takeStaleAnswer(id);
    this.#sharedIDs.seen.noteRow(body.nav, body.seq);
    const key = this.#output.takeWishKey(id);
    const watch = this.#watches.get(key);
    const duty = this.#rolesAndLeases.get(key);
    if (watch) this.#watches.receiveOk(watch, body, now);
    if (duty) this.#rolesAndLeases.noteGranted(duty);
    if (watch || duty) return this.#pendingRequests.noteNavServed((watch ?? duty).nav);
    const request = this.#pendingRequests.get(id);
    if (!request) return;
    this.#watches.noteAnsweredRevision(body);
    this.#pendingRequests.receiveOk(request, body);
  }

  #receiveErr(body, now) {
    const { id } = body;
    // The daemon does not know the session. A new stream asks for everything again.
    if (body.code === "no-session") return this.lost(now);
    // One with a verb answers a message that has no id.
    if (id == null) return body.verb === undefined ? this.#failUnanswered(body, now) : undefined;
    const key = this.#output.takeWishKey(id);
    const watch = this.#watches.get(key);
    const duty = this.#rolesAndLeases.get(key);
    const wish = watch ?? duty;
    const request = this.#pendingRequests.get(id);
    const isLate = this.#pendingRequests.takeStaleAnswer(id);
    if (isNavElsewhere(body)) return isLate ? undefined : this.#handleMissingNav(wish, request, body);
    if (wish && isPostponed(body)) return this.#output.postponeWish(wish, now, body.after);
    if (watch) return this.#watches.noteRefused(watch, body);
    if (duty) return this.#rolesAndLeases.noteRefused(duty, body);
    if (request) this.#pendingRequests.receiveErr(request, body, now);
  }

  /** Fails all messages without an answer: an `err` without id answers one of them, and the daemon could not read which. */
  #failUnanswered(err, now) {
    const open = [...this.#output.sentWishIDs, ...this.#pendingRequests.sentIDs];
    for (const id of open.sort((a, b) => a - b)) {
      this.#receiveErr({ ...err, id, effect: "unknown" }, now);
    }
  }

  #receiveBye({ why, after = 0 }, now) {
    if (why !== "fenced" && why !== "revoked") return this.lost(now, after);
    this.#closeWithError(new NavigationError("closed", `navd ended the session: ${why}`, { reason: why }));
  }

  // Navs that another daemon has.

  /** Handles the error that another daemon, or no daemon, owns the nav of a wish or a request. */
  #handleMissingNav(wish, request, { nav, web, endpoint, after = 0, code }) {
    if (!wish && !request) return;
    wish?.mirror?.disconnect();
    if (wish) Object.assign(wish, { isDue: true, isHeld: false });
    if (request) this.#pendingRequests.markUnsent(request);
    const hasOwner = code === "moved";
    this.#reportMove({ nav: (wish ?? request).nav ?? nav, hasOwner, web, endpoint, after });
  }

  /** Handles the end of a watch, of roles or of a lease whose nav moves away. */
  #receiveMove({ nav, view = "full", web, endpoint }) {
    const watch = this.#watches.of(nav, view);
    const duties = [...this.#rolesAndLeases.values()].filter((duty) => duty.nav === nav && duty.isHeld);
    // It may end an earlier watch; then the answer to the present one says where the nav is.
    if (![watch, ...duties].some((wish) => wish && !this.#output.isWishSent(wish.key))) return;
    watch?.mirror?.disconnect();
    if (watch) Object.assign(watch, { latest: null, isDue: true });
    const hasOwner = web !== undefined || endpoint !== undefined;
    this.#reportMove({ nav, hasOwner, web, endpoint, after: 0 });
  }

  #reportMove(move) {
    this.#pendingRequests.noteNavNotServed(move.nav);
    this.#output.addAction({ kind: "moved", ...move });
  }

  get #watchesRolesRequests() { return [this.#watches, this.#rolesAndLeases, this.#pendingRequests]; }

  /** The navs that watches, duties and requests are about; null for the daemon itself. */
  get navs() {
    return new Set(this.#watchesRolesRequests.flatMap((part) => [...part.values()].map(({ nav }) => nav)));
  }

  /** Whether there is nothing that the session is needed for. */
  get isIdle() { return this.#watchesRolesRequests.every(({ size }) => !size); }

  /** Whether nothing is sent about the nav at present. */
  isHolding(nav) { return this.#output.heldNavs.has(nav); }

  /** Sends nothing about a nav until a time; then everything, oldest first. */
  hold(nav, until) {
    this.#output.heldNavs.set(nav, until);
    this.#suspend(nav);
  }

  /** Voids the questions about a nav; requests its watches, roles and leases again later. */
  #suspend(nav) {
    this.#watches.suspend(nav);
    this.#rolesAndLeases.suspend(nav);
  }

  #sendHeld(nav) {
    this.#output.heldNavs.delete(nav);
    this.#watches.sendAfterHold(nav);
    this.#rolesAndLeases.sendAfterHold(nav);
  }

  /** Removes and returns everything about a nav, for `adopt` in the session that continues with it. */
  surrender(nav) {
    this.#suspend(nav);
    this.#output.heldNavs.delete(nav);
    return {
      watches: this.#watches.surrender(nav), duties: this.#rolesAndLeases.surrender(nav),
      requests: this.#pendingRequests.surrender(nav),
    };
  }

  /** Continues with what another session surrendered: at once, or from the time `from`. */
  adopt(nav, { watches, duties, requests }, now, from = now) {
    this.#watches.adopt(watches);
    this.#rolesAndLeases.adopt(duties);
    this.#pendingRequests.adopt(requests);
    if (from > now) return this.hold(nav, from);
    if (!this.isOpen) return;
    this.#pendingRequests.failUnsendable(requests, now);
    this.#sendHeld(nav);
    this.#pendingRequests.sendUnsent();
  }

  /** Fails everything about a nav. */
  abandon(nav, { code, message, endpoint, retry }) {
    const { watches, duties, requests } = this.surrender(nav);
    const err = { code, msg: message, nav, endpoint, effect: "none", retry };
    this.#watches.abandon(watches, err);
    this.#rolesAndLeases.abandon(duties, err);
    this.#pendingRequests.abandon(requests, err);
  }

  // The end of a session.

  #noteSessionEnd() {
    this.#rolesAndLeases.noteSessionEnd();
    this.#watches.noteSessionEnd();
    this.#pendingRequests.noteSessionEnd();
    this.#output.noteSessionEnd();
  }

  #closeWithError(error) {
    this.#noteSessionEnd();
    this.#output.phase = "closed";
    this.#output.addAction({ kind: "closed", error });
  }
}

/** Whether the daemon does not own the nav; with `no-owner`, it knows of no daemon that does. */
function isNavElsewhere(err) {
  return err.code === "moved" || err.code === "busy" && err.reason === "no-owner";
}

function clamp(value, least, greatest) {
  return Math.min(Math.max(Math.floor(value), least), greatest);
}
