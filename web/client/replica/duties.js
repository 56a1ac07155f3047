import { encode } from "./json.js";
import { isDue } from "./output.js";

/** The delegate roles and leases of a session, and its open questions. */
export class Duties {
  #out;
  /** The roles and leases by kind and nav. */
  #all = new Map();
  /** The open questions of this session: the nav and the time at which each is void. */
  #asks = new Map();

  /** @param {import("./output.js").Output} out */
  constructor(out) { this.#out = out; }

  get size() { return this.#all.size; }

  values() { return this.#all.values(); }

  get(key) { return this.#all.get(key); }

  get wakeAt() {
    let at = Infinity;
    for (const { retryAt } of this.#all.values()) at = Math.min(at, retryAt);
    for (const { until } of this.#asks.values()) at = Math.min(at, until);
    return at;
  }

  // What users ask for.

  /** Registers roles; null ends them. Throws if they cannot be sent. */
  delegate(nav, wanted) { this.#want("delegate", nav, wanted, { roles: [] }); }

  /** Takes the display, by `force` if that is true; null gives it back. */
  lease(nav, force) {
    this.#want("lease", nav, force === null ? null : { take: true, ...(force && { force }) },
      { take: false });
  }

  #want(kind, nav, wanted, resignation) {
    const out = this.#out;
    const key = `${kind} ${nav}`;
    if (wanted) out.checkSize(kind, encode({ id: out.ids.next, nav, ...wanted }));
    out.unask(key);
    if (kind === "delegate") this.#voidAsks(nav);
    if (wanted) {
      const duty = {
        key, kind, nav, wanted, isHeld: false, faults: 0, retryAt: Infinity, isDue: false,
      };
      this.#all.set(key, duty);
      if (out.isOpen) this.#send(duty);
    } else if (this.#all.delete(key) && out.isOpen) {
      out.send(kind, encode({ id: out.ids.next++, nav, ...resignation }));
    }
  }

  /** Answers a question, unless it is void; throws if the answer cannot be sent. */
  answer(ask, value) {
    const open = this.#asks.get(ask);
    if (!this.#out.isOpen || !open || open.isAnswered) return;
    const body = encode({ ask, value });
    this.#out.checkSize("answer", body);
    open.isAnswered = true;
    this.#out.send("answer", body);
  }

  // Sending.

  #send(duty) { this.#out.ask(duty, duty.kind, () => duty.wanted); }

  sendAll() { for (const duty of this.#all.values()) this.#send(duty); }

  /** Sends the requests about a nav that no longer waits for an owner. */
  sendDue(nav) { for (const duty of this.#all.values()) if (isDue(duty, nav)) this.#send(duty); }

  tick(now) { for (const duty of this.#all.values()) if (duty.retryAt <= now) this.#send(duty); }

  // What the daemon sends.

  grant(duty) {
    Object.assign(duty, { isHeld: true, faults: 0 });
    if (duty.kind === "lease") duty.wanted = { take: true };
    this.#out.note({ kind: "duty", duty: duty.kind, nav: duty.nav });
  }

  refuse({ key, kind, nav }, err) {
    this.#all.delete(key);
    this.#out.note({ kind: "duty", duty: kind, nav, err });
  }

  /**
   * Ends the roles or the lease that the daemon took from a session that goes on.
   *
   * If a request about them is under way, its answer decides.
   */
  receiveLost({ nav, of, code, msg, owner }) {
    const key = `${of} ${nav}`;
    const duty = this.#all.get(key);
    if (!duty?.isHeld) return;
    duty.isHeld = false;
    if (this.#out.isAsked(key)) return;
    if (of === "delegate") this.#voidAsks(nav);
    this.refuse(duty, { code, msg, nav, effect: "none", retry: "resync", ...(owner && { owner }) });
  }

  /** Handles a question; `hb` is how long after the deadline its `settled` may come. */
  receiveAsk(body, hb, now) {
    const { ask, nav, within } = body;
    if (!this.#all.has(`delegate ${nav}`) || this.#asks.has(ask)) return;
    this.#asks.set(ask, { nav, until: now + within + hb, isAnswered: false });
    this.#out.note({ kind: "asked", nav, body });
  }

  #voidAsks(nav) {
    for (const [ask, open] of this.#asks) if (open.nav === nav) this.void(ask);
  }

  /** Ends the questions that nobody settled. */
  voidLate(now) { for (const [ask, { until }] of this.#asks) if (until <= now) this.void(ask); }

  void(ask) {
    const open = this.#asks.get(ask);
    if (!this.#asks.delete(ask)) return;
    this.#out.note({ kind: "settled", nav: open.nav, ask });
  }

  /** Forgets what belongs to the lost session; call it before `forgetSession` of the output. */
  forgetSession() {
    for (const duty of this.#all.values()) {
      // Force counts once, also if its answer was lost: another client may have the display since.
      if (duty.kind === "lease" && this.#out.isAsked(duty.key)) duty.wanted = { take: true };
      Object.assign(duty, { isHeld: false, retryAt: Infinity });
    }
    for (const ask of this.#asks.keys()) this.void(ask);
  }

  // Navs that another daemon has.

  /** Ends the roles, leases and questions about a nav whose daemon has changed, until the nav has an owner. */
  suspend(nav) {
    for (const duty of this.#all.values()) {
      if (duty.nav !== nav) continue;
      Object.assign(duty, { isDue: true, isHeld: false, retryAt: Infinity });
    }
    this.#voidAsks(nav);
  }

  /** Takes out the duties of a nav, for `adopt` of another session. */
  surrender(nav) {
    const duties = [...this.#all.values()].filter((duty) => duty.nav === nav);
    for (const { key } of duties) {
      this.#out.unask(key);
      this.#all.delete(key);
    }
    return duties;
  }

  adopt(duties) { for (const duty of duties) this.#all.set(duty.key, duty); }

  abandon(duties, err) {
    for (const { kind, nav } of duties) this.#out.note({ kind: "duty", duty: kind, nav, err });
  }
}
