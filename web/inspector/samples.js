// Samples of the statistics: differences between two readings of `get stats`. Pure functions and one ring.

/** How long samples are kept, in milliseconds. */
const KEPT_SAMPLES_MS = 3_600_000;
const MAXIMUM_SAMPLES = 3600;

/**
 * A quantile of a histogram, as the range of its bucket. The last bucket ends at Infinity.
 *
 * @typedef {[number, number]|null} Bucket
 */

/**
 * @typedef {object} Sample
 * @property {number} t milliseconds since 1970
 * @property {boolean} isBreak whether the daemon started anew, so that nothing can be compared
 * @property {number} ok per second, as the next two
 * @property {number} unchanged
 * @property {number} refused
 * @property {Bucket} commit50 nanoseconds, as the next five
 * @property {Bucket} commit99
 * @property {Bucket} commitMax
 * @property {Bucket} fanOut50
 * @property {Bucket} fanOut99
 * @property {Bucket} fanOutMax
 * @property {Bucket} batch50 records
 * @property {Bucket} batch99
 * @property {Bucket} batchMax
 * @property {number} lagMax revisions
 * @property {number} lagging watches
 */

/**
 * The bucket with a quantile of the values that came between two readings; null without values.
 *
 * @param {{bounds: number[], counts: number[]}} now
 * @param {{counts: number[]}} before
 * @param {number} quantile above 0; 1 is the greatest value
 * @param {boolean} [isWhole] whether the values are whole numbers, so that a bucket begins after the bound
 * @returns {Bucket}
 */
export function quantileBucket(now, before, quantile, isWhole = false) {
  const counts = now.counts.map((value, index) => value - (before.counts[index] ?? 0));
  const total = counts.reduce((sum, value) => sum + value, 0);
  if (total <= 0) return null;
  let left = Math.ceil(total * quantile);
  for (const [index, value] of counts.entries()) {
    left -= value;
    if (left > 0) continue;
    const low = index === 0 ? now.bounds[0] / 2 : now.bounds[index - 1];
    return [isWhole ? Math.floor(low) + 1 : low, now.bounds[index] ?? Infinity];
  }
  return null;
}

const sumOperations = (operations) => {
  const { ok = 0, unchanged = 0, repeated = 0, ...codes } = operations;
  return { ok, unchanged: unchanged + repeated, refused: Object.values(codes).reduce((all, value) => all + value, 0) };
};

/**
 * The rates and quantiles between two readings of the statistics.
 *
 * @param {any} now
 * @param {any} before
 * @param {number} t
 * @param {number} seconds between them
 * @returns {Sample}
 */
export function sampleBetween(now, before, t, seconds) {
  const isBreak = now.boot !== before.boot;
  const [one, other] = [sumOperations(now.operations), sumOperations(before.operations)];
  const rate = (name) => (isBreak ? NaN : (one[name] - other[name]) / seconds);
  const range = (name, quantile) => (isBreak ? null : quantileBucket(now[name], before[name], quantile, name === "batch"));
  return {
    t, isBreak, ok: rate("ok"), unchanged: rate("unchanged"), refused: rate("refused"),
    commit50: range("commit", 0.5), commit99: range("commit", 0.99), commitMax: range("commit", 1),
    fanOut50: range("fanOut", 0.5), fanOut99: range("fanOut", 0.99), fanOutMax: range("fanOut", 1),
    batch50: range("batch", 0.5), batch99: range("batch", 0.99), batchMax: range("batch", 1),
    lagMax: now.lag?.max ?? 0, lagging: now.lag?.watches ?? 0,
  };
}

/** The samples of the last hour. */
export class Samples {
  /**
   * The samples, oldest first.
   *
   * @type {Sample[]}
   */
  list = [];
  #lastReading = null;

  /**
   * Adds the sample between the last reading and this one.
   *
   * @param {any} now
   * @param {number} t milliseconds since 1970
   */
  take(now, t) {
    const before = this.#lastReading;
    this.#lastReading = { now, t };
    if (!before) return;
    const seconds = (t - before.t) / 1000;
    // A page that was hidden, or a clock that was set, leaves a gap.
    if (seconds <= 0 || seconds > 5) {
      const { list } = this;
      if (list.length) list.push({ ...sampleBetween(now, { ...before.now, boot: null }, t, 1), isBreak: true });
      return;
    }
    this.list.push(sampleBetween(now, before.now, t, seconds));
    const first = this.list.findIndex((sample) => sample.t > t - KEPT_SAMPLES_MS);
    if (first > 0) this.list.splice(0, first);
    if (this.list.length > MAXIMUM_SAMPLES) this.list.splice(0, this.list.length - MAXIMUM_SAMPLES);
  }
}
