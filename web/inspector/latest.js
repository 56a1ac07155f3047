// The newest of several values, for one loop.

/** An iterator over the newest value: a value that comes while the loop is busy replaces the waiting one. */
export class Latest {
  #value;
  #has = false;
  #end = null;
  #reader = null;
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
    if (this.#end) return;
    if (this.#reader) return this.#answer({ value, done: false });
    this.#value = value;
    this.#has = true;
  }

  /**
   * Ends the loop with an error.
   *
   * @param {Error} error
   */
  fail(error) {
    if (this.#end) return;
    this.#end = { error };
    this.#controller.abort();
    this.#reader?.reject(error);
    this.#reader = null;
  }

  [Symbol.asyncIterator]() { return this; }

  async next() {
    if (this.#has) {
      this.#has = false;
      return { value: this.#value, done: false };
    }
    if (this.#end?.error) throw this.#end.error;
    if (this.#end) return { value: undefined, done: true };
    return new Promise((resolve, reject) => { this.#reader = { resolve, reject }; });
  }

  async return() {
    if (!this.#end) {
      this.#end = {};
      this.#controller.abort();
      this.#answer({ value: undefined, done: true });
    }
    return { value: undefined, done: true };
  }

  #answer(result) {
    this.#reader?.resolve(result);
    this.#reader = null;
  }
}
