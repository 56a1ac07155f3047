import { checkLimit, throwIfAborted } from "./arguments.js";
import { NavigationError } from "./errors.js";
import { deferred, setTimer } from "./timers.js";

/** The delegate roles and leases that callers asked for. */
export class ClientDuties {
  #engine;
  #all = { delegate: new Map(), lease: new Map() };

  /** @param {import("./engine.js").Engine} engine */
  constructor(engine) { this.#engine = engine; }

  /** Registers roles, whose questions `answer` answers; replaces those of an earlier call. */
  delegate(nav, wanted, answer, options) {
    return this.#begin("delegate", nav, {
      wish: (cluster) => cluster.delegate(nav, wanted),
      resign: (cluster) => cluster.delegate(nav, null), answer, asks: new Map(),
    }, options);
  }

  /** Takes the display; replaces the lease of an earlier call. */
  lease(nav, force, options) {
    return this.#begin("lease", nav, {
      wish: (cluster) => cluster.lease(nav, force), resign: (cluster) => cluster.lease(nav, null),
    }, options);
  }

  #begin(kind, nav, members, { within, signal }) {
    checkLimit(within);
    throwIfAborted(signal);
    this.#engine.throwIfEnded();
    this.#engine.do(members.wish);
    const duties = this.#all[kind];
    this.#remove(duties.get(nav), "replaced", "another call replaced this one");
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
    this.#remove(duty, code, message);
    this.#engine.do(duty.resign);
  }

  #remove(duty, code, message) {
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
  change({ nav, duty, err }) {
    const changed = this.#all[duty].get(nav);
    if (err && changed) this.#endWithError(changed, NavigationError.from(err));
    else changed?.granted.resolve();
  }

  /** Passes a question to its delegate, and the answer to the daemon. */
  async ask({ nav, body }) {
    const delegate = this.#all.delegate.get(nav);
    if (!delegate) return;
    const over = new AbortController();
    delegate.asks.set(body.ask, over);
    try {
      const value = await delegate.answer(questionOf(body, over.signal));
      if (value === undefined || over.signal.aborted) return;
      this.#engine.do((cluster) => cluster.answer(nav, body.ask, value));
    } catch (error) {
      if (over.signal.aborted) return;
      // No verdict: the nav's `veto.policy` decides at once.
      this.#engine.do((cluster) => cluster.answer(nav, body.ask, null));
      // Node.js lacks the function of pages.
      (globalThis.reportError ?? console.error)(error);
    }
  }

  settle({ nav, ask }) {
    const asks = this.#all.delegate.get(nav)?.asks;
    asks?.get(ask)?.abort();
    asks?.delete(ask);
  }

  /** Ends all duties with an error. */
  finish(error) {
    for (const duties of [this.#all.delegate, this.#all.lease]) {
      for (const duty of [...duties.values()]) this.#endWithError(duty, error);
    }
  }
}

/** Turns an `ask` into the question that a delegate gets. */
function questionOf({ ask, nav, epoch, rev, within, q }, signal) {
  const [kind] = Object.keys(q);
  const deadline = performance.now() + within;
  const details = q[kind];
  return Object.freeze({ ask, nav, epoch, rev, within, deadline, kind, details, q, signal });
}
