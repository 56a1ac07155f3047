/** Passes values from the client to one `for await` loop. */
export class Channel {
  #source;
  #values = [];
  #readers = [];
  #end = null;
  #isOpen = false;
  #leave = () => this.return();
  /** Whether nothing was offered yet. */
  isFresh = true;

  /** @param {{open: Function, close: Function, keepsAll?: boolean, signal?: AbortSignal}} source */
  constructor(source) { this.#source = source; }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next() {
    this.#begin();
    if (this.#values.length) return { value: this.#values.shift(), done: false };
    if (!this.#end) {
      return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
    }
    const { error } = this.#end;
    this.#end = DONE;
    if (error) throw error;
    return { value: undefined, done: true };
  }

  /** Ends the iteration when the loop is left; a waiting `next` ends too. */
  async return(value) {
    this.#isOpen = true;
    this.#values = [];
    this.finish(null);
    return { value, done: true };
  }

  #begin() {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { signal, open } = this.#source;
    if (signal?.aborted) return this.finish(null);
    signal?.addEventListener("abort", this.#leave);
    open(this);
  }

  offer(value) {
    if (this.#end) return;
    this.isFresh = false;
    const reader = this.#readers.shift();
    if (reader) return reader.resolve({ value, done: false });
    const { keepsAll } = this.#source;
    if (keepsAll && this.#values.length < 4096) return this.#values.push(value);
    // Events of a newest state add up. A loop of every revision that is 4096 behind skips them.
    const last = this.#values.at(-1);
    this.#values = [keepsAll ? skipped(value) : last?.ev ? joined(last, value) : value];
  }

  finish(error) {
    if (this.#end) return;
    this.#end = error ? { error } : DONE;
    for (const { resolve, reject } of this.#readers.splice(0)) {
      if (this.#end.error) reject(this.#end.error);
      else resolve({ value: undefined, done: true });
      this.#end = DONE;
    }
    this.#source.signal?.removeEventListener("abort", this.#leave);
    this.#source.close(this);
  }
}

const DONE = Object.freeze({ error: null });

function joined(last, state) {
  const all = [...last.ev, ...state.ev];
  const ev = all.slice(-4096);
  const isShortened = ev.length < all.length;
  const isResynchronised = last.isResynchronised || state.isResynchronised || isShortened;
  return Object.freeze({ ...state, ev, isResynchronised });
}

function skipped(value) {
  return value.ev ? Object.freeze({ ...value, isResynchronised: true }) : value;
}
