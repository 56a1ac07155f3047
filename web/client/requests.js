import { checkLimit, throwIfAborted } from "./arguments.js";
import { NavigationError } from "./errors.js";
import { deferred, setTimer } from "./timers.js";

/** The promises of the ops and reads without an answer. */
export class Requests {
  #engine;
  #streams;
  #all = new Map();

  /**
   * @param {import("./engine.js").Engine} engine
   * @param {import("./connection/streams.js").Streams} streams
   */
  constructor(engine, streams) {
    this.#engine = engine;
    this.#streams = streams;
  }

  /** Sends a request, or fails: after `within` in any case, after `begins` if it was not posted. */
  begin(verb, nav, members, { within, signal, onQueued, begins = null } = {}) {
    checkLimit(within);
    throwIfAborted(signal);
    this.#engine.throwIfEnded();
    const { promise, resolve, reject } = deferred();
    const over = new AbortController();
    const id = this.#engine.cluster.request(verb, nav, members, begins, performance.now());
    // Later and apart, so that an error of the caller's function is not one of the stream.
    const report = (position) => Promise.resolve(position).then(onQueued);
    this.#all.set(id, { resolve, reject, over, onQueued: report });
    const fail = (code, message) => this.#abandon(id, new NavigationError(code, message, { nav }));
    if (within != null) {
      const timer = setTimer(() => fail("expired", "no answer in time"), within);
      over.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    if (begins != null) {
      const timer = setTimer(() => {
        // The cluster fails what it has not sent. This line it has sent, and it is not posted.
        if (this.#streams.isUnposted(id)) fail("expired", "it was not posted in time");
      }, begins);
      over.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    signal?.addEventListener("abort", () => fail("aborted", "the caller aborted the request"),
      { signal: over.signal });
    this.#engine.act();
    return promise;
  }

  queued({ id, pos }) { this.#all.get(id)?.onQueued(pos); }

  answer({ id, ok, err }) {
    const request = this.#remove(id);
    if (ok) request?.resolve(ok);
    else request?.reject(NavigationError.from(err));
  }

  /** Fails a request, which is not sent again; if it was never posted, the daemon has not performed it. */
  #abandon(id, error) {
    const withdrawn = this.#streams.withdraw(id);
    error.mayHaveHappened = this.#engine.cluster.forget(id) > withdrawn;
    if (error.mayHaveHappened) error.effect = "unknown";
    this.#remove(id)?.reject(error);
    this.#engine.act();
  }

  #remove(id) {
    const request = this.#all.get(id);
    this.#all.delete(id);
    request?.over.abort();
    return request;
  }

  /** Fails all requests. */
  finish({ code, message, reason }) {
    for (const id of [...this.#all.keys()]) {
      this.#abandon(id, new NavigationError(code, message, { reason }));
    }
  }
}
