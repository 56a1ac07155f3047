import { NavigationError } from "../errors.js";
import { gatewayAddress } from "./gateways.js";
import { GatewayMembers } from "./members.js";
import { LONGEST_MOVE_PAUSE_MS, movePauseMilliseconds, Routes } from "./routes.js";
import { Session } from "./session.js";

/** How long a session that no nav needs stays open, in milliseconds. */
const UNUSED_SESSION_MS = 10_000;
/** How long after a `hello` of this client, in milliseconds, the daemon may end the client's other session. */
const OWN_FENCE_WINDOW_MS = 30_000;

/**
 * The sessions of one client, one for each gateway, and which session has which nav (docs/protocol.md, §17).
 *
 * The client asks its base, the gateway that it connects to first, about each nav. If the daemon
 * there answers `moved`, the client sends everything about that nav to the gateway that the answer
 * names. Callers use a cluster like a `Session`, and pass the gateway's address with each event.
 * Its actions are those of a session and three more: `open` and `drop`, with which the caller opens or
 * closes the stream of a gateway, and `status`.
 */
export class Cluster {
  #actions = [];
  #sessionOptions;
  #random;
  #sharedIDs = { next: 1 };
  /** The address of the gateway for the navs whose gateway is not known. */
  #baseAddress;
  #members;
  #routes = new Routes();
  /** When the client said `hello` last, by address. */
  #helloTimes = new Map();
  #isStarted = false;
  #isClosed = false;
  #hasWelcomed = false;
  #status = "connecting";
  #lastEventAt = 0;

  /** @param {object} options those of `Session`, and `gateways`, the addresses to begin with */
  constructor({ gateways, random = Math.random, ...options }) {
    this.#sessionOptions = { ...options, random, ids: this.#sharedIDs };
    this.#random = random;
    this.#members = new GatewayMembers(gateways);
    this.#baseAddress = gateways[0];
  }

  /** Returns the actions since the last call. */
  takeActions() {
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
  get hasOtherGateways() { return this.#members.candidateAddresses.length > 1; }

  // Events.

  /** Starts, or resumes after `stop`: opens streams to the base and to the gateways of known navs. */
  start(now) {
    this.#lastEventAt = now;
    this.#isStarted = true;
    this.#ensureConnected(this.#memberAt(this.#baseAddress));
    for (const member of this.#members) {
      if (this.#isNeeded(member)) this.#openStream(member);
    }
  }

  /** Ends all sessions until `start` resumes them. */
  stop(now) {
    this.#lastEventAt = now;
    this.#isStarted = false;
    for (const member of this.#members) {
      member.session.lost(now);
      member.session.takeActions().forEach((action) => this.#forwardToClient(action));
      Object.assign(member, { phase: "idle", openAt: Infinity, notBefore: 0 });
    }
    this.#reportStatus();
  }

  /** Handles a new stream. */
  connected(address, now) {
    this.#lastEventAt = now;
    this.#helloTimes.set(address, now);
    this.#members.get(address)?.session.connected(now);
  }

  /** Handles the loss of a stream, or a failed attempt to open one. */
  lost(address, now, leastPause = 0) {
    this.#lastEventAt = now;
    this.#members.get(address)?.session.lost(now, leastPause);
  }

  /** Handles that a gateway has rejected the token. */
  refused(address, error, now) {
    this.#lastEventAt = now;
    const member = this.#members.get(address);
    if (!member) return;
    this.#members.noteRejection(address, error);
    this.#endRejectedSession(member, error);
  }

  /** Handles a message of the daemon behind a gateway. */
  receive(address, verb, body, octets, now) {
    this.#lastEventAt = now;
    const member = this.#members.get(address);
    if (verb === "bye" && body.why === "fenced" && this.#mayBeOwnFence(address)) this.#continueElsewhere(member);
    else member?.session.receive(verb, body, octets, now);
    this.#collectActions();
  }

  /** Sends `credit` if half of the window is used; call it after the actions are performed. */
  grantCreditIfDue(address) { this.#members.get(address)?.session.grantCreditIfDue(); }

  /** Handles deadlines. */
  tick(now) {
    this.#lastEventAt = now;
    if (!this.#isStarted) return;
    for (const member of [...this.#members]) {
      if (member.openAt <= now) this.#openStream(member);
      if (member.idleAt <= now) this.#endUnusedSession(member);
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

  mirror(nav) { return this.#sessionServing(nav)?.mirror(nav) ?? null; }

  /** Whether there is no session with the daemon of a nav. */
  isLost(nav) { return !this.#sessionServing(nav)?.isOpen; }

  isBehind(state) { return this.#sessionServing(state.nav)?.isBehind(state) ?? false; }

  current(nav, view) { return this.#sessionServing(nav)?.current(nav, view) ?? null; }

  watch(nav, view = "full", waits = false) { this.#connectedSessionFor(nav).watch(nav, view, waits); }

  unwatch(nav, view = "full") { this.#sessionServing(nav)?.unwatch(nav, view); }

  request(verb, nav, members, within = null, now = 0) {
    const id = this.#connectedSessionFor(nav).request(verb, nav, members, within, now);
    this.#routes.noteRequest(id, nav);
    return id;
  }

  /** Drops a request; returns in how many sessions it was sent: if above 0, the daemon may have performed it. */
  forget(id) {
    const sends = this.#sessionOfRequest(id)?.forget(id) ?? 0;
    this.#routes.forgetRequest(id);
    return sends;
  }

  noteUnposted(id) { this.#sessionOfRequest(id)?.noteUnposted(id); }

  refusedByGateway(id, status) { this.#sessionOfRequest(id)?.refusedByGateway(id, status); }

  delegate(nav, wanted) { this.#connectedSessionFor(nav).delegate(nav, wanted); }

  lease(nav, force) { this.#connectedSessionFor(nav).lease(nav, force); }

  answer(nav, ask, value) { this.#sessionServing(nav)?.answer(ask, value); }

  // Which session has which nav.

  /** The session that has a nav; undefined if there is none yet. */
  #sessionServing(nav) { return this.#members.get(this.#addressOf(nav))?.session; }

  #addressOf(nav) { return this.#routes.address(nav) ?? this.#baseAddress; }

  #sessionOfRequest(id) {
    return this.#routes.hasRequest(id) ? this.#sessionServing(this.#routes.navOf(id)) : undefined;
  }

  /** The session for a nav; connects it if necessary. */
  #connectedSessionFor(nav) {
    const member = this.#memberAt(this.#addressOf(nav));
    this.#ensureConnected(member);
    return member.session;
  }

  #route(nav) {
    return this.#routes.route(nav, this.#baseAddress,
      (each, address) => this.#members.get(address)?.session.navs.has(each));
  }

  /** Moves everything about a nav from one session to another. */
  #moveNav(nav, from, to, at = this.#lastEventAt) {
    to.session.adopt(nav, from.session.surrender(nav), this.#lastEventAt, at);
    this.#ensureConnected(to);
  }

  /** Handles the message that another daemon owns a nav, or that no daemon owns it now. */
  #followMove(member, { nav, hasOwner, web, endpoint, after }) {
    const route = this.#route(nav);
    if (!hasOwner) {
      if (member.session.isHolding(nav)) return;
      route.moves = 0;
      // Not longer each time: the daemon says when to ask. A random part spreads the clients.
      const wait = after + this.#random() * (after / 4 + 10);
      return member.session.hold(nav, this.#lastEventAt + wait);
    }
    const address = gatewayAddress(web);
    const refusal = address === null
      ? new NavigationError("moved", "the daemon that has the nav has no gateway",
        { endpoint, retry: "same" })
      : this.#members.rejection(address);
    if (refusal) {
      this.#routes.forget(nav);
      return member.session.abandon(nav, refusal);
    }
    route.moves++;
    const wait = movePauseMilliseconds(route, this.#random);
    route.address = address;
    const target = this.#memberAt(address);
    if (target !== member) return this.#moveNav(nav, member, target, this.#lastEventAt + wait);
    // The stream leads to another daemon than that of its gateway. The next one may lead there.
    member.session.hold(nav, this.#lastEventAt + wait);
    if (route.moves > 1) member.session.lost(this.#lastEventAt, wait);
  }

  // Gateways.

  #memberAt(address) {
    return this.#members.get(address) ?? this.#members.add(address, new Session(this.#sessionOptions));
  }

  #isNeeded({ address, session }) { return address === this.#baseAddress || !session.isIdle; }

  /** Opens the stream of a member, unless it is open or a timer will open it. */
  #ensureConnected(member) {
    member.idleAt = Infinity;
    if (!this.#isStarted || member.phase === "opening" || member.phase === "open") return;
    // A gateway that was lost is always left to the timer, so that no failure causes the next one.
    if (member.phase === "idle") this.#openStream(member);
    else member.openAt = member.notBefore;
  }

  #openStream(member) {
    if (member.phase === "opening" || member.phase === "open") return;
    Object.assign(member, { openAt: Infinity, phase: "opening" });
    this.#actions.push({ kind: "open", gateway: member.address });
  }

  /** Ends a session that no nav needs. */
  #endUnusedSession(member) {
    this.#members.remove(member);
    this.#actions.push({ kind: "drop", gateway: member.address });
  }

  /** Handles the loss of a session that the client will resume. */
  #handleLoss(member, { at, least = 0 }) {
    const hasFailed = member.phase !== "open";
    // Until the lease of its daemon ends, the others name it. So while they answer, no pause may
    // delay the answer of the one that takes over.
    if (this.#members.isAnyOtherOpen(member)) {
      at = Math.min(at, this.#lastEventAt + Math.max(least, LONGEST_MOVE_PAUSE_MS));
    }
    Object.assign(member, { phase: "lost", notBefore: at, openAt: Infinity });
    this.#actions.push({ kind: "drop", gateway: member.address });
    // After a loss, it is asked again itself, unless it wants to be left alone for some time.
    if (hasFailed || at - this.#lastEventAt > 100) this.#moveToOtherGateway(member);
    if (this.#isNeeded(member)) this.#ensureConnected(member);
    this.#reportStatus();
  }

  /** Moves the navs of a gateway that cannot be reached to another gateway. */
  #moveToOtherGateway(member) {
    const address = this.#members.alternativeTo(member);
    if (address === undefined) return;
    if (this.#baseAddress === member.address) this.#baseAddress = address;
    const target = this.#memberAt(address);
    this.#moveAllNavs(member, target);
    this.#ensureConnected(this.#memberAt(this.#baseAddress));
  }

  /**
   * Whether another session of this client may have ended the session at an address.
   *
   * Two gateways can have one daemon, which keeps the session with the last `hello`.
   */
  #mayBeOwnFence(address) {
    return [...this.#helloTimes].some(([each, at]) => each !== address && this.#lastEventAt < at + OWN_FENCE_WINDOW_MS);
  }

  /** Moves the navs of a session to the one that is being opened; without one, connects again. */
  #continueElsewhere(member) {
    if (!member) return;
    const newer = [...this.#members].find((each) => each !== member && each.phase === "opening");
    if (newer) this.#moveToNewerSession(member, newer);
    else member.session.lost(this.#lastEventAt);
  }

  /** Moves the navs of older sessions with the same daemon process, which it has ended, to a new session. */
  #absorbOlderSessions(member) {
    for (const each of [...this.#members]) {
      const isSame = each.boot !== undefined && each.boot === member.boot;
      if (isSame && each !== member && each.phase === "open") this.#moveToNewerSession(each, member);
    }
  }

  /** Moves everything from a session to a newer one of this client, for which the daemon ended the older one. */
  #moveToNewerSession(member, target) {
    if (this.#baseAddress === member.address) this.#baseAddress = target.address;
    this.#moveAllNavs(member, target);
    for (const action of member.session.takeActions()) this.#forwardToClient(action);
    this.#endUnusedSession(member);
    this.#reportStatus();
  }

  #moveAllNavs(member, target) {
    for (const nav of member.session.navs) {
      this.#routes.setGateway(nav, target.address);
      this.#moveNav(nav, member, target);
    }
  }

  /** Ends the session with a gateway that rejects the client; without another gateway, ends the client. */
  #endRejectedSession(member, error) {
    const { address, session } = member;
    // Another process has the identity of the client.
    if (error.reason === "fenced") {
      this.leave();
      this.#actions.push({ kind: "closed", error });
      return;
    }
    if (this.#members.candidateAddresses.every((each) => each === address)) {
      this.#isClosed = true;
      this.#actions.push({ kind: "closed", error });
      return;
    }
    // A daemon that knows the client by another gateway may send its navs back here, in a circle.
    for (const nav of session.navs) if (nav !== null) this.#route(nav).moves++;
    member.phase = "lost";
    this.#moveToOtherGateway(member);
    for (const action of session.takeActions()) this.#forwardToClient(action);
    this.#endUnusedSession(member);
    this.#reportStatus();
  }

  // Actions.

  /** Handles the actions of all sessions until none is left, since an action may cause others. */
  #collectActions() {
    for (let isDone = false; !isDone;) {
      isDone = true;
      for (const member of [...this.#members]) {
        for (const action of member.session.takeActions()) {
          isDone = false;
          this.#handleAction(member, action);
        }
      }
    }
    for (const member of this.#members) {
      if (this.#isNeeded(member)) member.idleAt = Infinity;
      else if (member.idleAt === Infinity) member.idleAt = this.#lastEventAt + UNUSED_SESSION_MS;
    }
  }

  #handleAction(member, action) {
    const { kind } = action;
    // What a session still sends after its gateway was given up goes nowhere.
    if (!this.#members.has(member) || this.#isClosed) return this.#forwardToClient(action);
    if (kind === "send") {
      this.#actions.push({ ...action, gateway: member.address });
    } else if (kind === "opened") {
      Object.assign(member, { phase: "open", notBefore: 0, boot: action.welcome.boot });
      this.#hasWelcomed = true;
      this.#actions.push(action);
      this.#absorbOlderSessions(member);
      this.#reportStatus();
    } else if (kind === "reconnect") {
      this.#handleLoss(member, action);
    } else if (kind === "closed") {
      if (action.error.reason === "revoked") this.#members.noteRejection(member.address, action.error);
      this.#endRejectedSession(member, action.error);
    } else if (kind === "moved") {
      this.#followMove(member, action);
    } else {
      this.#forwardToClient(action);
    }
  }

  /** Forwards an action about a nav to the client; the action proves that the nav has an owner again. */
  #forwardToClient(action) {
    const { kind, id } = action;
    if (["send", "reconnect", "closed", "moved"].includes(kind)) return;
    const nav = kind === "answered" ? this.#routes.navOf(id) : action.nav;
    if (kind === "answered") this.#routes.forgetRequest(id);
    if (["answered", "state", "duty"].includes(kind) && !action.isEvent) this.#routes.noteServed(nav);
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
