// Long work in slices, so that the page answers between two of them.

/** How long a slice lasts, in milliseconds. A task above 50 ms would delay what a person does. */
const SLICE_MS = 12;

const scheduler = /** @type {any} */ (globalThis).scheduler;
const channel = new MessageChannel();
/** @type {(() => void)[]} */
const waiting = [];
channel.port1.onmessage = () => waiting.shift()?.();

/** Lets the browser handle events before the caller continues in a later task. @returns {Promise<void>} */
export function breathe() {
  if (scheduler?.yield) return scheduler.yield();
  // A timer would wait 4 ms after a few turns.
  return new Promise((resolve) => {
    waiting.push(() => resolve(undefined));
    channel.port2.postMessage(null);
  });
}

/** Measures the slices of one piece of work. */
export class Slices {
  #end = performance.now() + SLICE_MS;

  /** Whether the slice is over, so that the work must `rest` now. */
  get isOver() { return performance.now() >= this.#end; }

  /** Ends the slice and begins the next one. @param {AbortSignal} [signal] */
  async rest(signal) {
    await breathe();
    signal?.throwIfAborted();
    this.#end = performance.now() + SLICE_MS;
  }
}
