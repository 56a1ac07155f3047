import { NavigationError } from "../errors.js";
import { Duties } from "./duties.js";
import { PendingRequests, isPostponed } from "./flights.js";
import { encode } from "./json.js";
import { Output } from "./output.js";
import { SeenRows } from "./seen.js";
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
  #out;
  #watches;
  /** Delegate roles and leases to hold in every session. */
  #duties;
  #flights;
  /** The next id, and the rows seen; the sessions of one client share them. */
  #ids;
  #hello;
  #random;
  #nonce = "";
  #hb;
  #window;
  #used = 0;
  #upto = 0;
  #heard = 0;
  #isDoubted = false;
  #attempts = 0;

  /**
   * @param {{client: string, name?: string, window?: number, hb?: number,
   *   random?: () => number, wall?: () => number, ids?: {next: number, seen?: SeenRows}}} options `client`
   *   is new for each run of the page; `ids` has the next id and the rows seen, for all sessions of the client
   */
  constructor({
    client, name = "", window = 65536, hb = 5000, random = Math.random, wall = Date.now,
    ids = { next: 1 },
  }) {
    this.#ids = ids;
    ids.seen ??= new SeenRows();
    this.#window = clamp(window, 16384, 1048576);
    this.#hb = clamp(hb, 1000, 60000);
    this.#hello = { client, name, window: this.#window, hb: this.#hb };
    this.#random = random;
    this.#out = new Output(ids, random);
    this.#watches = new Watches(this.#out);
    this.#duties = new Duties(this.#out);
    this.#flights = new PendingRequests(this.#out, wall);
  }

  /** Returns the actions since the last call. */
  take() { return this.#out.take(); }

  /** The time of the next `tick`; infinite while nothing has a deadline. */
  get wakeAt() {
    const at = this.#flights.lateAt;
    if (!this.#isStreaming) return at;
    const held = this.isOpen ? this.#out.held.values() : [];
    return Math.min(at, this.#silentAt, this.#watches.wakeAt, this.#duties.wakeAt,
      this.#flights.wakeAt, ...held);
  }

  get #silentAt() { return this.#heard + (this.#isDoubted ? 2000 : 3 * this.#hb); }

  get #isStreaming() { return this.#out.phase === "greeting" || this.isOpen; }

  /** Handles a new stream: says `hello`. */
  connected(now) {
    if (this.#out.phase === "closed") return;
    this.#forgetSession();
    this.#out.phase = "greeting";
    this.#hb = this.#hello.hb;
    this.#noteReceived(now);
    this.#nonce = Math.floor(this.#random() * 2 ** 48).toString(16);
    this.#out.send("hello", encode({ ver: [1, 1], ...this.#hello, nonce: this.#nonce }));
  }

  /** Handles the loss of a stream, or a failed attempt to open one. */
  lost(now, least = 0) {
    if (this.#out.phase === "closed") return;
    this.#forgetSession();
    const at = now + Math.max(least, this.#out.backOff(this.#attempts++));
    this.#out.note({ kind: "reconnect", at, least });
  }

  /** Handles deadlines: silence, postponed requests, and questions that nobody settled. */
  tick(now) {
    this.#flights.dropLate(now);
    if (now >= this.#silentAt && this.#isSilent(now)) return this.lost(now);
    if (!this.isOpen) return;
    this.#duties.voidLate(now);
    this.#watches.tick(now);
    this.#duties.tick(now);
    this.#flights.tick(now);
    for (const [nav, until] of this.#out.held) {
      if (until > now) continue;
      this.#flights.drop([...this.#flights.values()].filter((each) => each.nav === nav && !each.isSent), now);
      this.#sendHeld(nav);
    }
    this.#flights.sendWaiting();
  }

  /**
   * Whether the stream is lost.
   *
   * A tick that comes late says that the page was frozen or its timers were throttled. Then two
   * seconds decide, in which the page reads what has arrived meanwhile.
   */
  #isSilent(now) {
    if (!this.#isStreaming) return false;
    if (this.#isDoubted || now < this.#silentAt + 500) return true;
    this.#noteReceived(now);
    this.#isDoubted = true;
    return false;
  }

  #noteReceived(now) {
    this.#heard = now;
    this.#isDoubted = false;
  }

  /** Handles a message; `octets` is the length of its body in UTF-8. */
  receive(verb, body, octets, now) {
    if (!this.#isStreaming) return;
    this.#noteReceived(now);
    if (!this.isOpen) return this.#receiveGreeting(verb, body, now);
    if (CREDIT_VERBS.has(verb)) this.#used += octets;
    const { nav } = body;
    switch (verb) {
      case "ok": return this.#receiveOk(body, now);
      case "err": return this.#receiveErr(body, now);
      case "queued":
        this.#out.note({ kind: "queued", id: body.id, pos: body.pos });
        return this.#flights.confirm(nav);
      case "snap": case "diff":
        this.#ids.seen.note(nav, body.seq);
        return this.#watches.replicate(nav, verb, body, now);
      case "diffs":
        for (const diff of body.list) {
          this.#ids.seen.note(diff.nav ?? nav, diff.seq);
          this.#watches.replicate(diff.nav ?? nav, "diff", diff, now);
        }
        break;
      case "mark":
        this.#ids.seen.noteRows(body.seq ?? []);
        for (const entry of body.at) this.#watches.replicate(entry[0], verb, entry, now);
        break;
      case "event": return this.#watches.receiveEvent(body, now);
      case "latest": return this.#watches.receiveLatest(body, now);
      case "ask": return this.#duties.receiveAsk(body, this.#hb, now);
      case "settled": return this.#duties.void(body.ask);
      case "lost": return this.#duties.receiveLost(body);
      case "end":
        if (body.why === "moved") return this.#receiveMove(body);
        return this.#watches.receiveEnd(body, now);
      case "bye": return this.#receiveBye(body, now);
    }
  }

  /** Sends `credit` if half of the window is used; call it after the actions are performed. */
  applied() {
    if (!this.isOpen || this.#used + this.#window / 2 <= this.#upto) return;
    this.#upto = this.#used + this.#window;
    this.#out.send("credit", encode({ upto: this.#upto }));
  }

  // What users ask for.

  get isOpen() { return this.#out.isOpen; }

  /** The mirror of a full watch; null without one. */
  mirror(nav) { return this.#watches.of(nav)?.mirror ?? null; }

  /** Whether an answer has reported a later revision; without credit, it comes before the diff. */
  isBehind(state) { return this.#watches.isBehind(state); }

  /** The state of a watch, if it is known to be right; otherwise null. */
  current(nav, view) { return this.#watches.current(nav, view); }

  /** Watches a nav; begins again if a watch that waits for its nav waits no more. */
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
    return this.#flights.request(verb, nav, members, within, now);
  }

  /** Drops a request; returns in how many sessions it was sent, so that it may have happened. */
  forget(id) { return this.#flights.forget(id); }

  /** Notes that the line of a request was not posted on a stream that has ended. */
  noteUnposted(id) { this.#flights.noteUnposted(id); }

  /** Handles a line that the gateway refused for its form or its size. */
  refuse(id, status) { this.#flights.refuse(id, status); }

  /** Registers roles; null ends them. Throws if they cannot be sent. */
  delegate(nav, wanted) { this.#duties.delegate(nav, wanted); }

  /** Takes the display, by `force` if that is true; null gives it back. */
  lease(nav, force) { this.#duties.lease(nav, force); }

  /** Answers a question, unless it is void; throws if the answer cannot be sent. */
  answer(ask, value) { this.#duties.answer(ask, value); }

  /** Ends the session for good. */
  leave() {
    if (this.isOpen) this.#out.send("bye", encode({ id: this.#ids.next++ }));
    this.#out.phase = "closed";
  }

  // What the daemon sends.

  #receiveGreeting(verb, body, now) {
    if (verb === "welcome" && body.nonce === this.#nonce) return this.#open(body, now);
    // The error to a `hello` that the daemon cannot read has no nonce.
    if (verb !== "err" || (body.nonce ?? this.#nonce) !== this.#nonce) return undefined;
    if (isPostponed(body)) return this.lost(now, body.after);
    return this.#close(NavigationError.from(body));
  }

  #open(welcome, now) {
    this.#out.phase = "open";
    this.#attempts = 0;
    this.#hb = welcome.hb ?? this.#hb;
    this.#window = Math.min(this.#hello.window, welcome.limits?.window ?? this.#hello.window);
    this.#used = 0;
    this.#upto = this.#window;
    this.#out.limit(welcome.limits?.message);
    this.#ids.next = Math.max(this.#ids.next, (welcome.ops?.last ?? 0) + 1);
    this.#out.note({ kind: "opened", welcome });
    const isOfSeveral = welcome.features?.includes("shards") ?? false;
    this.#ids.seen.begin(welcome.ops?.seq ?? [], isOfSeveral);
    this.#flights.begin(welcome, isOfSeveral, now);
    // Watches first, so that the diff of an op comes before its answer. Then roles and leases,
    // without which an op may not be permitted.
    this.#watches.sendAll();
    this.#duties.sendAll();
    this.#flights.sendWaiting();
  }

  #receiveOk(body, now) {
    const { id } = body;
    this.#flights.isFromEarlierOwner(id);
    this.#ids.seen.note(body.nav, body.seq);
    const key = this.#out.answered(id);
    const watch = this.#watches.get(key);
    const duty = this.#duties.get(key);
    if (watch) this.#watches.receiveOk(watch, body, now);
    if (duty) this.#duties.grant(duty);
    if (watch || duty) return this.#flights.confirm((watch ?? duty).nav);
    const flight = this.#flights.get(id);
    if (!flight) return;
    this.#watches.noteAnswer(body);
    this.#flights.receiveOk(flight, body);
  }

  #receiveErr(body, now) {
    const { id } = body;
    // The daemon does not know the session. A new stream asks for everything again.
    if (body.code === "no-session") return this.lost(now);
    // One with a verb answers a message that has no id.
    if (id == null) return body.verb === undefined ? this.#failUnanswered(body, now) : undefined;
    const key = this.#out.answered(id);
    const watch = this.#watches.get(key);
    const duty = this.#duties.get(key);
    const wish = watch ?? duty;
    const flight = this.#flights.get(id);
    const isLate = this.#flights.isFromEarlierOwner(id);
    if (isElsewhere(body)) return isLate ? undefined : this.#handleMissingNav(wish, flight, body);
    if (wish && isPostponed(body)) return this.#out.postpone(wish, now, body.after);
    if (watch) return this.#watches.refuse(watch, body);
    if (duty) return this.#duties.refuse(duty, body);
    if (flight) this.#flights.receiveErr(flight, body, now);
  }

  /** Fails what is open: an `err` without id answers one of them, and the daemon could not read which. */
  #failUnanswered(err, now) {
    const open = [...this.#out.openIds, ...this.#flights.sentIds];
    for (const id of open.sort((a, b) => a - b)) {
      this.#receiveErr({ ...err, id, effect: "unknown" }, now);
    }
  }

  #receiveBye({ why, after = 0 }, now) {
    if (why !== "fenced" && why !== "revoked") return this.lost(now, after);
    this.#close(new NavigationError("closed", `navd ended the session: ${why}`, { reason: why }));
  }

  // Navs that another daemon has.

  /** Handles an error by which the daemon does not have the nav, or nobody has it. */
  #handleMissingNav(wish, flight, { nav, web, endpoint, after = 0, code }) {
    if (!wish && !flight) return;
    wish?.mirror?.disconnect();
    if (wish) Object.assign(wish, { isDue: true, isHeld: false });
    if (flight) this.#flights.markUnsent(flight);
    const hasOwner = code === "moved";
    this.#moveAway({ nav: (wish ?? flight).nav ?? nav, hasOwner, web, endpoint, after });
  }

  /** Handles the end of a watch, of roles or of a lease whose nav moves away. */
  #receiveMove({ nav, view = "full", web, endpoint }) {
    const watch = this.#watches.of(nav, view);
    const duties = [...this.#duties.values()].filter((duty) => duty.nav === nav && duty.isHeld);
    // It may end an earlier watch; then the answer to the present one says where the nav is.
    if (![watch, ...duties].some((wish) => wish && !this.#out.isAsked(wish.key))) return;
    watch?.mirror?.disconnect();
    if (watch) Object.assign(watch, { latest: null, isDue: true });
    const hasOwner = web !== undefined || endpoint !== undefined;
    this.#moveAway({ nav, hasOwner, web, endpoint, after: 0 });
  }

  #moveAway(move) {
    this.#flights.noteElsewhere(move.nav);
    this.#out.note({ kind: "moved", ...move });
  }

  get #parts() { return [this.#watches, this.#duties, this.#flights]; }

  /** The navs that watches, duties and requests are about; null for the daemon itself. */
  get navs() {
    return new Set(this.#parts.flatMap((part) => [...part.values()].map(({ nav }) => nav)));
  }

  /** Whether there is nothing that the session is needed for. */
  get isIdle() { return this.#parts.every(({ size }) => !size); }

  /** Whether nothing is sent about the nav at present. */
  isHolding(nav) { return this.#out.held.has(nav); }

  /** Sends nothing about a nav until a time; then everything, oldest first. */
  hold(nav, until) {
    this.#out.held.set(nav, until);
    this.#suspend(nav);
  }

  /** Ends what the daemon had of a nav: roles, displays and questions. */
  #suspend(nav) {
    this.#watches.suspend(nav);
    this.#duties.suspend(nav);
  }

  #sendHeld(nav) {
    this.#out.held.delete(nav);
    this.#watches.sendDue(nav);
    this.#duties.sendDue(nav);
  }

  /** Takes out everything about a nav, for `adopt` of the session that goes on with it. */
  surrender(nav) {
    this.#suspend(nav);
    this.#out.held.delete(nav);
    return {
      watches: this.#watches.surrender(nav), duties: this.#duties.surrender(nav),
      flights: this.#flights.surrender(nav),
    };
  }

  /** Goes on with what another session surrendered: at once, or from a time on. */
  adopt(nav, { watches, duties, flights }, now, from = now) {
    this.#watches.adopt(watches);
    this.#duties.adopt(duties);
    this.#flights.adopt(flights);
    if (from > now) return this.hold(nav, from);
    if (!this.isOpen) return;
    this.#flights.drop(flights, now);
    this.#sendHeld(nav);
    this.#flights.sendWaiting();
  }

  /** Fails everything about a nav. */
  abandon(nav, { code, message, endpoint, retry }) {
    const { watches, duties, flights } = this.surrender(nav);
    const err = { code, msg: message, nav, endpoint, effect: "none", retry };
    this.#watches.abandon(watches, err);
    this.#duties.abandon(duties, err);
    this.#flights.abandon(flights, err);
  }

  // The end of a session.

  #forgetSession() {
    this.#duties.forgetSession();
    this.#watches.forgetSession();
    this.#flights.forgetSession();
    this.#out.forgetSession();
  }

  #close(error) {
    this.#forgetSession();
    this.#out.phase = "closed";
    this.#out.note({ kind: "closed", error });
  }
}

/** Whether the daemon does not have the nav; `no-owner` says that nobody has it that it knows of. */
function isElsewhere(err) {
  return err.code === "moved" || err.code === "busy" && err.reason === "no-owner";
}

function clamp(value, least, greatest) {
  return Math.min(Math.max(Math.floor(value), least), greatest);
}
