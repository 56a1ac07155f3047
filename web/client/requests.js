import { checkTimeLimit, throwIfAborted } from "./arguments.js";
import { NavigationError } from "./errors.js";
import { deferred, setTimer } from "./timers.js";

/** The promises of the ops and reads without an answer. */
export class RequestPromises {
  #runner;
  #streams;
  #byID = new Map();

  /**
   * @param {import("./engine.js").ClusterRunner} runner
   * @param {import("./connection/streams.js").Streams} streams
   */
  constructor(runner, streams) {
    this.#runner = runner;
    this.#streams = streams;
  }

  /** Sends a request; it fails after `within` milliseconds, or after `postWithin` if it is not posted by then. */
  send(verb, nav, members, { within, signal, onQueued, postWithin = null } = {}) {
    checkTimeLimit(within);
    throwIfAborted(signal);
    this.#runner.throwIfEnded();
    const { promise, resolve, reject } = deferred();
    const over = new AbortController();
    const id = this.#runner.cluster.request(verb, nav, members, postWithin, performance.now());
    // Later and apart, so that an error of the caller's function is not one of the stream.
    const report = (position) => Promise.resolve(position).then(onQueued);
    this.#byID.set(id, { resolve, reject, over, onQueued: report });
    const fail = (code, message) => this.#failAndForget(id, new NavigationError(code, message, { nav }));
    if (within != null) {
      const timer = setTimer(() => fail("expired", "no answer in time"), within);
      over.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    if (postWithin != null) {
      const timer = setTimer(() => {
        // The cluster fails what it has not sent. This line it has sent, and it is not posted.
        if (this.#streams.isUnposted(id)) fail("expired", "it was not posted in time");
      }, postWithin);
      over.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    signal?.addEventListener("abort", () => fail("aborted", "the caller aborted the request"),
      { signal: over.signal });
    this.#runner.performActions();
    return promise;
  }

  queued({ id, pos }) { this.#byID.get(id)?.onQueued(pos); }

  settle({ id, ok, err }) {
    const request = this.#remove(id);
    if (ok) request?.resolve(ok);
    else request?.reject(NavigationError.from(err));
  }

  /** Fails a request, which is not sent again; if it was never posted, the daemon has not performed it. */
  #failAndForget(id, error) {
    const withdrawn = this.#streams.withdrawLines(id);
    error.mayHaveHappened = this.#runner.cluster.forget(id) > withdrawn;
    if (error.mayHaveHappened) error.effect = "unknown";
    this.#remove(id)?.reject(error);
    this.#runner.performActions();
  }

  #remove(id) {
    const request = this.#byID.get(id);
    this.#byID.delete(id);
    request?.over.abort();
    return request;
  }

  /** Fails all requests. */
  failAll({ code, message, reason }) {
    for (const id of [...this.#byID.keys()]) {
      this.#failAndForget(id, new NavigationError(code, message, { reason }));
    }
  }
}
