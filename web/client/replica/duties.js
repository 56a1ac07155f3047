import { encode } from "./json.js";
import { isDueAfterHold } from "./output.js";

/** The delegate roles and leases of a session, and its open questions. */
export class RolesAndLeases {
  #output;
  /** The roles and leases by kind and nav. */
  #byKey = new Map();
  /** The open questions of this session: the nav and the time at which each is void. */
  #openQuestions = new Map();

  /** @param {import("./output.js").SessionOutput} output */
  constructor(output) { this.#output = output; }

  get size() { return this.#byKey.size; }

  values() { return this.#byKey.values(); }

  get(key) { return this.#byKey.get(key); }

  get wakeAt() {
    let at = Infinity;
    for (const { retryAt } of this.#byKey.values()) at = Math.min(at, retryAt);
    for (const { until } of this.#openQuestions.values()) at = Math.min(at, until);
    return at;
  }

  // What users ask for.

  /** Registers roles; null ends them. Throws if they cannot be sent. */
  delegate(nav, wanted) { this.#requestOrResign("delegate", nav, wanted, { roles: [] }); }

  /** Requests the lease on a display, also from another holder if `force` is true; null releases it. */
  lease(nav, force) {
    this.#requestOrResign("lease", nav, force === null ? null : { take: true, ...(force && { force }) },
      { take: false });
  }

  #requestOrResign(kind, nav, wanted, resignation) {
    const output = this.#output;
    const key = `${kind} ${nav}`;
    if (wanted) output.checkSize(kind, encode({ id: output.sharedIDs.next, nav, ...wanted }));
    output.ignoreAnswer(key);
    if (kind === "delegate") this.#voidQuestionsOf(nav);
    if (wanted) {
      const duty = {
        key, kind, nav, wanted, isHeld: false, faults: 0, retryAt: Infinity, isDue: false,
      };
      this.#byKey.set(key, duty);
      if (output.isOpen) this.#send(duty);
    } else if (this.#byKey.delete(key) && output.isOpen) {
      output.send(kind, encode({ id: output.sharedIDs.next++, nav, ...resignation }));
    }
  }

  /** Answers a question, unless it is void; throws if the answer cannot be sent. */
  answer(ask, value) {
    const open = this.#openQuestions.get(ask);
    if (!this.#output.isOpen || !open || open.isAnswered) return;
    const body = encode({ ask, value });
    this.#output.checkSize("answer", body);
    open.isAnswered = true;
    this.#output.send("answer", body);
  }

  // Sending.

  #send(duty) { this.#output.sendWish(duty, duty.kind, () => duty.wanted); }

  sendAll() { for (const duty of this.#byKey.values()) this.#send(duty); }

  /** Sends the requests about a nav that no longer waits for an owner. */
  sendAfterHold(nav) { for (const duty of this.#byKey.values()) if (isDueAfterHold(duty, nav)) this.#send(duty); }

  tick(now) { for (const duty of this.#byKey.values()) if (duty.retryAt <= now) this.#send(duty); }

  // What the daemon sends.

  noteGranted(duty) {
    Object.assign(duty, { isHeld: true, faults: 0 });
    if (duty.kind === "lease") duty.wanted = { take: true };
    this.#output.addAction({ kind: "duty", duty: duty.kind, nav: duty.nav });
  }

  noteRefused({ key, kind, nav }, err) {
    this.#byKey.delete(key);
    this.#output.addAction({ kind: "duty", duty: kind, nav, err });
  }

  /**
   * Ends the roles or the lease that the daemon took from a session that goes on.
   *
   * If a request about them is under way, its answer decides.
   */
  receiveLost({ nav, of, code, msg, owner }) {
    const key = `${of} ${nav}`;
    const duty = this.#byKey.get(key);
    if (!duty?.isHeld) return;
    duty.isHeld = false;
    if (this.#output.isWishSent(key)) return;
    if (of === "delegate") this.#voidQuestionsOf(nav);
    this.noteRefused(duty, { code, msg, nav, effect: "none", retry: "resync", ...(owner && { owner }) });
  }

  /** Handles a question of the daemon; its `settled` may arrive `hb` milliseconds after the deadline. */
  receiveAsk(body, hb, now) {
    const { ask, nav, within } = body;
    if (!this.#byKey.has(`delegate ${nav}`) || this.#openQuestions.has(ask)) return;
    this.#openQuestions.set(ask, { nav, until: now + within + hb, isAnswered: false });
    this.#output.addAction({ kind: "asked", nav, body });
  }

  #voidQuestionsOf(nav) {
    for (const [ask, open] of this.#openQuestions) if (open.nav === nav) this.voidQuestion(ask);
  }

  /** Ends the questions that nobody settled. */
  voidLateQuestions(now) { for (const [ask, { until }] of this.#openQuestions) if (until <= now) this.voidQuestion(ask); }

  voidQuestion(ask) {
    const open = this.#openQuestions.get(ask);
    if (!this.#openQuestions.delete(ask)) return;
    this.#output.addAction({ kind: "settled", nav: open.nav, ask });
  }

  /** Forgets what belongs to the lost session; call it before `noteSessionEnd` of the output. */
  noteSessionEnd() {
    for (const duty of this.#byKey.values()) {
      // Force counts once, also if its answer was lost: another client may have the display since.
      if (duty.kind === "lease" && this.#output.isWishSent(duty.key)) duty.wanted = { take: true };
      Object.assign(duty, { isHeld: false, retryAt: Infinity });
    }
    for (const ask of this.#openQuestions.keys()) this.voidQuestion(ask);
  }

  // Navs that another daemon has.

  /** Voids the questions about a nav whose daemon has changed; requests its roles and leases again when the nav has an owner. */
  suspend(nav) {
    for (const duty of this.#byKey.values()) {
      if (duty.nav !== nav) continue;
      Object.assign(duty, { isDue: true, isHeld: false, retryAt: Infinity });
    }
    this.#voidQuestionsOf(nav);
  }

  /** Removes and returns the roles and leases of a nav, for `adopt` in another session. */
  surrender(nav) {
    const duties = [...this.#byKey.values()].filter((duty) => duty.nav === nav);
    for (const { key } of duties) {
      this.#output.ignoreAnswer(key);
      this.#byKey.delete(key);
    }
    return duties;
  }

  adopt(duties) { for (const duty of duties) this.#byKey.set(duty.key, duty); }

  abandon(duties, err) {
    for (const { kind, nav } of duties) this.#output.addAction({ kind: "duty", duty: kind, nav, err });
  }
}
