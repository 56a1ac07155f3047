const PACE_BURST = 65536;

/** Limits the octets of watches that a client takes in a second, after a burst of 64 KiB. */
export class Pace {
  #rate;
  #room = PACE_BURST;
  #at = 0;

  /** @param {number} rate octets a second */
  constructor(rate) { this.#rate = rate; }

  /** Counts octets. */
  take(octets, now) {
    this.#room = Math.min(PACE_BURST, this.#room + (now - this.#at) * this.#rate / 1000) - octets;
    this.#at = now;
  }

  /** The milliseconds until there is room again. */
  wait(now) {
    this.take(0, now);
    return this.#rate === Infinity ? 0 : -this.#room * 1000 / this.#rate;
  }
}
