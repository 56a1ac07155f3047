const BURST_OCTETS = 65536;

/** Limits the octets of watches that a client takes in a second, after a burst of 64 KiB. */
export class OctetPace {
  #octetsPerSecond;
  #octetsLeft = BURST_OCTETS;
  #countedAt = 0;

  /** @param {number} rate octets a second */
  constructor(rate) { this.#octetsPerSecond = rate; }

  /** Counts received octets; `now` is in milliseconds. */
  count(octets, now) {
    this.#octetsLeft = Math.min(BURST_OCTETS, this.#octetsLeft + (now - this.#countedAt) * this.#octetsPerSecond / 1000) - octets;
    this.#countedAt = now;
  }

  /** The milliseconds until there is room again. */
  waitMilliseconds(now) {
    this.count(0, now);
    return this.#octetsPerSecond === Infinity ? 0 : -this.#octetsLeft * 1000 / this.#octetsPerSecond;
  }
}
