import { checkTimeLimit, throwIfAborted } from "./arguments.js";
import { NavigationError } from "./errors.js";
import { deferred, setTimer } from "./timers.js";

/** The delegate roles and leases that callers asked for. */
export class RoleAndLeaseCalls {
  #runner;
  #byKind = { delegate: new Map(), lease: new Map() };

  /** @param {import("./engine.js").ClusterRunner} runner */
  constructor(runner) { this.#runner = runner; }

  /** Registers roles, whose questions `answer` answers; replaces those of an earlier call. */
  delegate(nav, wanted, answer, options) {
    return this.#register("delegate", nav, {
      wish: (cluster) => cluster.delegate(nav, wanted),
      resign: (cluster) => cluster.delegate(nav, null), answer, asks: new Map(),
    }, options);
  }

  /** Takes the lease on the display; replaces the lease of an earlier call. */
  lease(nav, force, options) {
    return this.#register("lease", nav, {
      wish: (cluster) => cluster.lease(nav, force), resign: (cluster) => cluster.lease(nav, null),
    }, options);
  }

  #register(kind, nav, members, { within, signal }) {
    checkTimeLimit(within);
    throwIfAborted(signal);
    this.#runner.throwIfEnded();
    this.#runner.update(members.wish);
    const duties = this.#byKind[kind];
    this.#endWithCode(duties.get(nav), "replaced", "another call replaced this one");
    const [granted, end, over] = [deferred(), deferred(), new AbortController()];
    const { promise: ready } = granted;
    const { promise: lost, resolve: lose } = end;
    const duty = { ...members, duties, nav, granted, ready, lost, lose, over };
    duties.set(nav, duty);
    signal?.addEventListener("abort", () => this.end(duty, "aborted", "the caller aborted it"),
      { signal: over.signal });
    if (within != null) {
      const timer = setTimer(() => this.end(duty, "expired", "no answer in time"), within);
      const stop = () => clearTimeout(timer);
      granted.promise.then(stop, stop);
    }
    return duty;
  }

  /** Ends a delegate role or a lease, and reports that to the daemon. */
  end(duty, code = "closed", message = "released") {
    if (duty.duties.get(duty.nav) !== duty) return;
    this.#endWithCode(duty, code, message);
    this.#runner.update(duty.resign);
  }

  #endWithCode(duty, code, message) {
    if (duty) this.#endWithError(duty, new NavigationError(code, message, { nav: duty.nav }));
  }

  #endWithError(duty, error) {
    duty.duties.delete(duty.nav);
    duty.over.abort();
    duty.granted.reject(error);
    duty.lose(error);
    for (const ask of duty.asks?.values() ?? []) ask.abort();
  }

  /** Handles that the daemon has granted or ended a delegate role or a lease. */
  noteGrantOrEnd({ nav, duty, err }) {
    const changed = this.#byKind[duty].get(nav);
    if (err && changed) this.#endWithError(changed, NavigationError.from(err));
    else changed?.granted.resolve();
  }

  /** Calls the delegate's function with a question of the daemon, and sends the answer. */
  async passQuestion({ nav, body }) {
    const delegate = this.#byKind.delegate.get(nav);
    if (!delegate) return;
    const over = new AbortController();
    delegate.asks.set(body.ask, over);
    try {
      const value = await delegate.answer(delegateQuestion(body, over.signal));
      if (value === undefined || over.signal.aborted) return;
      this.#runner.update((cluster) => cluster.answer(nav, body.ask, value));
    } catch (error) {
      if (over.signal.aborted) return;
      // No verdict: the nav's `veto.policy` decides at once.
      this.#runner.update((cluster) => cluster.answer(nav, body.ask, null));
      // Node.js lacks the function of pages.
      (globalThis.reportError ?? console.error)(error);
    }
  }

  abortQuestion({ nav, ask }) {
    const asks = this.#byKind.delegate.get(nav)?.asks;
    asks?.get(ask)?.abort();
    asks?.delete(ask);
  }

  /** Ends all roles and leases with an error. */
  endAll(error) {
    for (const duties of [this.#byKind.delegate, this.#byKind.lease]) {
      for (const duty of [...duties.values()]) this.#endWithError(duty, error);
    }
  }
}

/** Turns an `ask` into the question that a delegate gets. */
function delegateQuestion({ ask, nav, epoch, rev, within, q }, signal) {
  const [kind] = Object.keys(q);
  const deadline = performance.now() + within;
  const details = q[kind];
  return Object.freeze({ ask, nav, epoch, rev, within, deadline, kind, details, q, signal });
}
