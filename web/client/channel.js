/** Passes values from the client to one `for await` loop. */
export class Channel {
  #sourceHooks;
  #queuedValues = [];
  #waitingReads = [];
  #outcome = null;
  #isOpen = false;
  #endOnAbort = () => this.return();
  /** Whether no value has been offered yet. */
  awaitsFirstValue = true;

  /** @param {{open: Function, close: Function, keepsAll?: boolean, signal?: AbortSignal}} source */
  constructor(source) { this.#sourceHooks = source; }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next() {
    this.#openSource();
    if (this.#queuedValues.length) return { value: this.#queuedValues.shift(), done: false };
    if (!this.#outcome) {
      return new Promise((resolve, reject) => this.#waitingReads.push({ resolve, reject }));
    }
    const { error } = this.#outcome;
    this.#outcome = DONE;
    if (error) throw error;
    return { value: undefined, done: true };
  }

  /** Ends the iteration when the loop is left; a waiting `next` ends too. */
  async return(value) {
    this.#isOpen = true;
    this.#queuedValues = [];
    this.finish(null);
    return { value, done: true };
  }

  #openSource() {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { signal, open } = this.#sourceHooks;
    if (signal?.aborted) return this.finish(null);
    signal?.addEventListener("abort", this.#endOnAbort);
    open(this);
  }

  offer(value) {
    if (this.#outcome) return;
    this.awaitsFirstValue = false;
    const reader = this.#waitingReads.shift();
    if (reader) return reader.resolve({ value, done: false });
    const { keepsAll } = this.#sourceHooks;
    if (keepsAll && this.#queuedValues.length < 4096) return this.#queuedValues.push(value);
    // Events of a newest state add up. A loop of every revision that is 4096 behind skips them.
    const last = this.#queuedValues.at(-1);
    this.#queuedValues = [keepsAll ? markResynchronised(value) : last?.ev ? joinEvents(last, value) : value];
  }

  finish(error) {
    if (this.#outcome) return;
    this.#outcome = error ? { error } : DONE;
    for (const { resolve, reject } of this.#waitingReads.splice(0)) {
      if (this.#outcome.error) reject(this.#outcome.error);
      else resolve({ value: undefined, done: true });
      this.#outcome = DONE;
    }
    this.#sourceHooks.signal?.removeEventListener("abort", this.#endOnAbort);
    this.#sourceHooks.close(this);
  }
}

const DONE = Object.freeze({ error: null });

function joinEvents(last, state) {
  const all = [...last.ev, ...state.ev];
  const ev = all.slice(-4096);
  const isShortened = ev.length < all.length;
  const isResynchronised = last.isResynchronised || state.isResynchronised || isShortened;
  return Object.freeze({ ...state, ev, isResynchronised });
}

function markResynchronised(value) {
  return value.ev ? Object.freeze({ ...value, isResynchronised: true }) : value;
}
