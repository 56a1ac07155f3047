import { NavigationError } from "../errors.js";
import { gatewayOf } from "./gateways.js";
import { Members } from "./members.js";
import { LONGEST_MOVE_MS, movePause, Routes } from "./routes.js";
import { Session } from "./session.js";

/** How long a session that no nav needs stays open, in milliseconds. */
const IDLE_MS = 10_000;
/** How long after a `hello` of this client its daemon may end another session of the client, in milliseconds. */
const OWN_FENCE_MS = 30_000;

/**
 * The sessions of one client, one for each gateway, and which of them has which nav (§17).
 *
 * A nav is asked for at the base, the gateway that the client is connected to first. `moved` leads
 * to another gateway; everything about the nav goes there, and nothing else. Callers use it as a
 * `Session`, with the address of the gateway. Besides the kinds of a session, an action can be
 * `open` (a stream at `gateway`), `drop` (end that stream) or `status`.
 */
export class Cluster {
  #actions = [];
  #options;
  #random;
  #ids = { next: 1 };
  /** The address of the gateway for the navs whose gateway is not known. */
  #base;
  #members;
  #routes = new Routes();
  /** When the client said `hello` last, by address. */
  #greetings = new Map();
  #isStarted = false;
  #isClosed = false;
  #hasWelcomed = false;
  #status = "connecting";
  #now = 0;

  /** @param {object} options those of `Session`, and `gateways`, the addresses to begin with */
  constructor({ gateways, random = Math.random, ...options }) {
    this.#options = { ...options, random, ids: this.#ids };
    this.#random = random;
    this.#members = new Members(gateways);
    this.#base = gateways[0];
  }

  /** Returns the actions since the last call. */
  take() {
    this.#collectActions();
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  /** The time of the next `tick`; infinite while nothing has a deadline. */
  get wakeAt() {
    let at = Infinity;
    if (!this.#isStarted || this.#isClosed) return at;
    for (const { session, openAt, idleAt } of this.#members) {
      at = Math.min(at, session.wakeAt, openAt, idleAt);
    }
    return at;
  }

  /** Whether there are gateways besides the base. */
  get hasOthers() { return this.#members.candidates.length > 1; }

  // Events.

  /** Begins, or goes on after `stop`: opens streams at the base and where navs are. */
  start(now) {
    this.#now = now;
    this.#isStarted = true;
    this.#ensureConnected(this.#member(this.#base));
    for (const member of this.#members) {
      if (this.#isNeeded(member)) this.#open(member);
    }
  }

  /** Ends all sessions, to go on later. */
  stop(now) {
    this.#now = now;
    this.#isStarted = false;
    for (const member of this.#members) {
      member.session.lost(now);
      member.session.take().forEach((action) => this.#forward(action));
      Object.assign(member, { phase: "idle", openAt: Infinity, notBefore: 0 });
    }
    this.#reportStatus();
  }

  /** Handles a new stream. */
  connected(address, now) {
    this.#now = now;
    this.#greetings.set(address, now);
    this.#members.get(address)?.session.connected(now);
  }

  /** Handles the loss of a stream, or a failed attempt to open one. */
  lost(address, now, least = 0) {
    this.#now = now;
    this.#members.get(address)?.session.lost(now, least);
  }

  /** Handles a gateway that does not know the token. */
  refused(address, error, now) {
    this.#now = now;
    const member = this.#members.get(address);
    if (!member) return;
    this.#members.refuse(address, error);
    this.#endRejected(member, error);
  }

  /** Handles a message of the daemon behind a gateway. */
  receive(address, verb, body, octets, now) {
    this.#now = now;
    const member = this.#members.get(address);
    if (verb === "bye" && body.why === "fenced" && this.#isOwnFence(address)) this.#continueElsewhere(member);
    else member?.session.receive(verb, body, octets, now);
    this.#collectActions();
  }

  /** Sends `credit` if half of the window is used; call it after the actions are performed. */
  applied(address) { this.#members.get(address)?.session.applied(); }

  /** Handles deadlines. */
  tick(now) {
    this.#now = now;
    if (!this.#isStarted) return;
    for (const member of [...this.#members]) {
      if (member.openAt <= now) this.#open(member);
      if (member.idleAt <= now) this.#endUnused(member);
      else member.session.tick(now);
    }
  }

  /** Ends all sessions for good. */
  leave() {
    for (const { session } of this.#members) session.leave();
    this.#collectActions();
    this.#isClosed = true;
  }

  // What users ask for.

  mirror(nav) { return this.#find(nav)?.mirror(nav) ?? null; }

  /** Whether there is no session with the daemon of a nav. */
  isLost(nav) { return !this.#find(nav)?.isOpen; }

  isBehind(state) { return this.#find(state.nav)?.isBehind(state) ?? false; }

  current(nav, view) { return this.#find(nav)?.current(nav, view) ?? null; }

  watch(nav, view = "full", waits = false) { this.#sessionFor(nav).watch(nav, view, waits); }

  unwatch(nav, view = "full") { this.#find(nav)?.unwatch(nav, view); }

  request(verb, nav, members, within = null, now = 0) {
    const id = this.#sessionFor(nav).request(verb, nav, members, within, now);
    this.#routes.noteRequest(id, nav);
    return id;
  }

  /** Drops a request; returns in how many sessions it was sent, so that it may have happened. */
  forget(id) {
    const sends = this.#sessionOf(id)?.forget(id) ?? 0;
    this.#routes.forgetRequest(id);
    return sends;
  }

  noteUnposted(id) { this.#sessionOf(id)?.noteUnposted(id); }

  refuse(id, status) { this.#sessionOf(id)?.refuse(id, status); }

  delegate(nav, wanted) { this.#sessionFor(nav).delegate(nav, wanted); }

  lease(nav, force) { this.#sessionFor(nav).lease(nav, force); }

  answer(nav, ask, value) { this.#find(nav)?.answer(ask, value); }

  // Which session has which nav.

  /** The session that has a nav; undefined if there is none yet. */
  #find(nav) { return this.#members.get(this.#addressOf(nav))?.session; }

  #addressOf(nav) { return this.#routes.address(nav) ?? this.#base; }

  #sessionOf(id) {
    return this.#routes.hasRequest(id) ? this.#find(this.#routes.navOf(id)) : undefined;
  }

  /** The session for a nav; connects it if necessary. */
  #sessionFor(nav) {
    const member = this.#member(this.#addressOf(nav));
    this.#ensureConnected(member);
    return member.session;
  }

  #route(nav) {
    return this.#routes.route(nav, this.#base,
      (each, address) => this.#members.get(address)?.session.navs.has(each));
  }

  /** Moves everything about a nav from one session to another. */
  #move(nav, from, to, at = this.#now) {
    to.session.adopt(nav, from.session.surrender(nav), this.#now, at);
    this.#ensureConnected(to);
  }

  /** Handles `moved`, also as the end of a watch, and that a nav has no owner. */
  #followMove(member, { nav, hasOwner, web, endpoint, after }) {
    const route = this.#route(nav);
    if (!hasOwner) {
      if (member.session.isHolding(nav)) return;
      route.moves = 0;
      // Not longer each time: the daemon says when to ask. A random part spreads the clients.
      const wait = after + this.#random() * (after / 4 + 10);
      return member.session.hold(nav, this.#now + wait);
    }
    const address = gatewayOf(web);
    const refusal = address === null
      ? new NavigationError("moved", "the daemon that has the nav has no gateway",
        { endpoint, retry: "same" })
      : this.#members.refusal(address);
    if (refusal) {
      this.#routes.forget(nav);
      return member.session.abandon(nav, refusal);
    }
    route.moves++;
    const wait = movePause(route, this.#random);
    route.address = address;
    const target = this.#member(address);
    if (target !== member) return this.#move(nav, member, target, this.#now + wait);
    // The stream leads to another daemon than that of its gateway. The next one may lead there.
    member.session.hold(nav, this.#now + wait);
    if (route.moves > 1) member.session.lost(this.#now, wait);
  }

  // Gateways.

  #member(address) {
    return this.#members.get(address) ?? this.#members.add(address, new Session(this.#options));
  }

  #isNeeded({ address, session }) { return address === this.#base || !session.isIdle; }

  /** Opens the stream of a member, unless it is open or a timer will open it. */
  #ensureConnected(member) {
    member.idleAt = Infinity;
    if (!this.#isStarted || member.phase === "opening" || member.phase === "open") return;
    // A gateway that was lost is always left to the timer, so that no failure causes the next one.
    if (member.phase === "idle") this.#open(member);
    else member.openAt = member.notBefore;
  }

  #open(member) {
    if (member.phase === "opening" || member.phase === "open") return;
    Object.assign(member, { openAt: Infinity, phase: "opening" });
    this.#actions.push({ kind: "open", gateway: member.address });
  }

  /** Ends a session that no nav needs. */
  #endUnused(member) {
    this.#members.remove(member);
    this.#actions.push({ kind: "drop", gateway: member.address });
  }

  /** Handles the loss of a session that the client will resume. */
  #handleLoss(member, { at, least = 0 }) {
    const hasFailed = member.phase !== "open";
    // Until the lease of its daemon ends, the others name it. So while they answer, no pause may
    // delay the answer of the one that takes over.
    if (this.#members.isAnyOtherOpen(member)) {
      at = Math.min(at, this.#now + Math.max(least, LONGEST_MOVE_MS));
    }
    Object.assign(member, { phase: "lost", notBefore: at, openAt: Infinity });
    this.#actions.push({ kind: "drop", gateway: member.address });
    // After a loss, it is asked again itself, unless it wants to be left alone for some time.
    if (hasFailed || at - this.#now > 100) this.#askOthers(member);
    if (this.#isNeeded(member)) this.#ensureConnected(member);
    this.#reportStatus();
  }

  /** Asks another gateway about the navs of one that cannot be reached. */
  #askOthers(member) {
    const address = this.#members.insteadOf(member);
    if (address === undefined) return;
    if (this.#base === member.address) this.#base = address;
    const target = this.#member(address);
    this.#moveAll(member, target);
    this.#ensureConnected(this.#member(this.#base));
  }

  /**
   * Whether another session of this client may have ended the one at an address.
   *
   * Two gateways can have one daemon, which keeps the session with the last `hello`.
   */
  #isOwnFence(address) {
    return [...this.#greetings].some(([each, at]) => each !== address && this.#now < at + OWN_FENCE_MS);
  }

  /** Continues in the session that is being opened; if there is none, connects again. */
  #continueElsewhere(member) {
    if (!member) return;
    const newer = [...this.#members].find((each) => each !== member && each.phase === "opening");
    if (newer) this.#moveToNewer(member, newer);
    else member.session.lost(this.#now);
  }

  /** Joins older sessions with the same run of a daemon, which it has ended, to a new one. */
  #joinOlder(member) {
    for (const each of [...this.#members]) {
      const isSame = each.boot !== undefined && each.boot === member.boot;
      if (isSame && each !== member && each.phase === "open") this.#moveToNewer(each, member);
    }
  }

  /** Moves everything from a session that a newer one of this client has ended. */
  #moveToNewer(member, target) {
    if (this.#base === member.address) this.#base = target.address;
    this.#moveAll(member, target);
    for (const action of member.session.take()) this.#forward(action);
    this.#endUnused(member);
    this.#reportStatus();
  }

  #moveAll(member, target) {
    for (const nav of member.session.navs) {
      this.#routes.lead(nav, target.address);
      this.#move(nav, member, target);
    }
  }

  /** Ends the session with a gateway that rejects the client; without another gateway, ends the client. */
  #endRejected(member, error) {
    const { address, session } = member;
    // Another process has the identity of the client.
    if (error.reason === "fenced") {
      this.leave();
      this.#actions.push({ kind: "closed", error });
      return;
    }
    if (this.#members.candidates.every((each) => each === address)) {
      this.#isClosed = true;
      this.#actions.push({ kind: "closed", error });
      return;
    }
    // A daemon that knows the client by another gateway may send its navs back here, in a circle.
    for (const nav of session.navs) if (nav !== null) this.#route(nav).moves++;
    member.phase = "lost";
    this.#askOthers(member);
    for (const action of session.take()) this.#forward(action);
    this.#endUnused(member);
    this.#reportStatus();
  }

  // Actions.

  /** Handles the actions of all sessions, which may cause others. */
  #collectActions() {
    for (let isDone = false; !isDone;) {
      isDone = true;
      for (const member of [...this.#members]) {
        for (const action of member.session.take()) {
          isDone = false;
          this.#handleAction(member, action);
        }
      }
    }
    for (const member of this.#members) {
      if (this.#isNeeded(member)) member.idleAt = Infinity;
      else if (member.idleAt === Infinity) member.idleAt = this.#now + IDLE_MS;
    }
  }

  #handleAction(member, action) {
    const { kind } = action;
    // What a session still sends after its gateway was given up goes nowhere.
    if (!this.#members.has(member) || this.#isClosed) return this.#forward(action);
    if (kind === "send") {
      this.#actions.push({ ...action, gateway: member.address });
    } else if (kind === "opened") {
      Object.assign(member, { phase: "open", notBefore: 0, boot: action.welcome.boot });
      this.#hasWelcomed = true;
      this.#actions.push(action);
      this.#joinOlder(member);
      this.#reportStatus();
    } else if (kind === "reconnect") {
      this.#handleLoss(member, action);
    } else if (kind === "closed") {
      if (action.error.reason === "revoked") this.#members.refuse(member.address, action.error);
      this.#endRejected(member, action.error);
    } else if (kind === "moved") {
      this.#followMove(member, action);
    } else {
      this.#forward(action);
    }
  }

  /** Forwards an action about a nav to the client; the action proves that the nav has an owner again. */
  #forward(action) {
    const { kind, id } = action;
    if (["send", "reconnect", "closed", "moved"].includes(kind)) return;
    const nav = kind === "answered" ? this.#routes.navOf(id) : action.nav;
    if (kind === "answered") this.#routes.forgetRequest(id);
    if (["answered", "state", "duty"].includes(kind) && !action.isEvent) this.#routes.arrive(nav);
    this.#actions.push(action);
  }

  #reportStatus() {
    const isLost = [...this.#members].some((each) => each.phase === "lost" && this.#isNeeded(each));
    const status = this.#members.isAnyOpen && !isLost ? "connected"
      : this.#hasWelcomed ? "disconnected" : "connecting";
    if (status === this.#status) return;
    this.#status = status;
    this.#actions.push({ kind: "status", status });
  }
}
