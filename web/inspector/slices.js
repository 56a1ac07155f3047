// Long work in slices, so that the page answers between two of them.

/** The length of a slice of work, in milliseconds. A task above 50 ms would delay input. */
const SLICE_MS = 12;

const scheduler = /** @type {any} */ (globalThis).scheduler;
const messageChannel = new MessageChannel();
/** @type {(() => void)[]} */
const waitingCallbacks = [];
messageChannel.port1.onmessage = () => waitingCallbacks.shift()?.();

/** Lets the browser handle events before the caller continues in a later task. @returns {Promise<void>} */
export function yieldToBrowser() {
  if (scheduler?.yield) return scheduler.yield();
  // A timer would wait 4 ms after a few turns.
  return new Promise((resolve) => {
    waitingCallbacks.push(() => resolve(undefined));
    messageChannel.port2.postMessage(null);
  });
}

/** Divides long work into slices, between which the browser handles input. */
export class WorkSlices {
  #sliceEndsAt = performance.now() + SLICE_MS;

  /** Whether the slice is over, so that the work must wait for `nextSlice`. */
  get isOver() { return performance.now() >= this.#sliceEndsAt; }

  /** Lets the browser handle events, and begins the next slice. @param {AbortSignal} [signal] */
  async nextSlice(signal) {
    await yieldToBrowser();
    signal?.throwIfAborted();
    this.#sliceEndsAt = performance.now() + SLICE_MS;
  }
}
