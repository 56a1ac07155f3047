// When navd ends what is in flight, as far as a page can know.

import { historyOf } from "./history.js";

/** Follows the transition of the live state. */
export class Deadline {
  #tid = null;
  /** From when the deadline counts, by the clock of `performance`; null if the page did not see it. */
  #from = null;

  /** Reads the states that have arrived, oldest first. @param {import("./source.js").State[]} states */
  take(states) {
    for (const { parts, ev, receivedAt } of states) {
      const { tid = null } = parts.transition ?? /** @type {any} */ ({});
      const has = (name) => ev.some((event) => event[name]?.tid === tid);
      if (tid !== this.#tid) this.#from = has("transitionBegan") ? receivedAt : null;
      this.#tid = tid;
      if (tid !== null && has("transitionProgress")) this.#from = receivedAt;
    }
  }

  /**
   * How long it is until navd ends the transition, in milliseconds; null if that is not known.
   *
   * @param {import("./source.js").State} state the live one
   * @param {import("./shell.js").Context} context
   */
  left(state, { source, clock }) {
    const { tid, deadline, phase } = state.parts.transition ?? /** @type {any} */ ({});
    if (tid === undefined || !Number.isFinite(deadline)) return null;
    if (tid === this.#tid && this.#from !== null) return Math.max(0, this.#from + deadline - performance.now());
    // The log does not have the movements of a gesture.
    if (source.kind !== "live" || phase === "interactive") return null;
    const history = historyOf(source, state.nav);
    const began = history.at(history.positionOf(tid, state.epoch))?.t;
    return began ? Math.max(0, began + deadline - clock.now) : null;
  }
}
