// The newest of several values, for one loop.

/** An async iterator over the newest value: a value that comes while the loop is busy replaces the waiting one. */
export class LatestValueIterator {
  #value;
  #hasValue = false;
  #outcome = null;
  #waitingRead = null;
  #controller = new AbortController();

  /** @param {AbortSignal} [signal] ends the loop */
  constructor(signal) {
    if (signal?.aborted) this.return();
    signal?.addEventListener("abort", () => this.return());
  }

  /** Aborted when the loop has ended. */
  get signal() { return this.#controller.signal; }

  /**
   * Gives the loop a value.
   *
   * @param {any} value
   */
  offer(value) {
    if (this.#outcome) return;
    if (this.#waitingRead) return this.#resolveRead({ value, done: false });
    this.#value = value;
    this.#hasValue = true;
  }

  /**
   * Ends the loop with an error.
   *
   * @param {Error} error
   */
  fail(error) {
    if (this.#outcome) return;
    this.#outcome = { error };
    this.#controller.abort();
    this.#waitingRead?.reject(error);
    this.#waitingRead = null;
  }

  [Symbol.asyncIterator]() { return this; }

  async next() {
    if (this.#hasValue) {
      this.#hasValue = false;
      return { value: this.#value, done: false };
    }
    if (this.#outcome?.error) throw this.#outcome.error;
    if (this.#outcome) return { value: undefined, done: true };
    return new Promise((resolve, reject) => { this.#waitingRead = { resolve, reject }; });
  }

  async return() {
    if (!this.#outcome) {
      this.#outcome = {};
      this.#controller.abort();
      this.#resolveRead({ value: undefined, done: true });
    }
    return { value: undefined, done: true };
  }

  #resolveRead(result) {
    this.#waitingRead?.resolve(result);
    this.#waitingRead = null;
  }
}
