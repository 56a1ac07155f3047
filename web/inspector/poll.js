// Reading again and again while a tab is open.

/** Calls a function that reads again and again, with a pause between two calls, while the result is wanted. */
export class Poll {
  #read;
  #pauseMilliseconds;
  #isWanted = false;
  #isBusy = false;
  #timer = 0;

  /**
   * @param {() => Promise<void>} read
   * @param {number} pause in milliseconds
   * @param {AbortSignal} signal ends the reading
   */
  constructor(read, pause, signal) {
    this.#read = read;
    this.#pauseMilliseconds = pause;
    document.addEventListener("visibilitychange", () => this.#readIfWanted(), { signal });
    signal.addEventListener("abort", () => this.setWanted(false));
  }

  /**
   * Starts or stops the calls.
   *
   * @param {boolean} isWanted
   */
  setWanted(isWanted) {
    if (isWanted === this.#isWanted) return;
    this.#isWanted = isWanted;
    clearTimeout(this.#timer);
    if (isWanted) this.#readIfWanted();
  }

  async #readIfWanted() {
    clearTimeout(this.#timer);
    if (!this.#isWanted || this.#isBusy || document.hidden) return;
    this.#isBusy = true;
    const began = performance.now();
    await this.#read().catch(() => {});
    this.#isBusy = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#readIfWanted(), Math.max(100, this.#pauseMilliseconds - (performance.now() - began)));
  }
}
