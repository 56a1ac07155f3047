// When navd ends what is in flight, as far as a page can know.

import { historyOf } from "./history.js";

/** Computes how long the transition of the live state may still take. */
export class TransitionDeadline {
  #transitionID = null;
  /** When the deadline began to run, as `performance.now()`; null if the page did not see it. */
  #countedFrom = null;

  /** Reads the states that have arrived, oldest first. @param {import("./source.js").State[]} states */
  noteStates(states) {
    for (const { parts, ev, receivedAt } of states) {
      const { tid = null } = parts.transition ?? /** @type {any} */ ({});
      const has = (name) => ev.some((event) => event[name]?.tid === tid);
      if (tid !== this.#transitionID) this.#countedFrom = has("transitionBegan") ? receivedAt : null;
      this.#transitionID = tid;
      if (tid !== null && has("transitionProgress")) this.#countedFrom = receivedAt;
    }
  }

  /**
   * The milliseconds until navd ends the transition; null if unknown.
   *
   * @param {import("./source.js").State} state the live one
   * @param {import("./shell.js").Context} context
   */
  millisecondsLeft(state, { source, clock }) {
    const { tid, deadline, phase } = state.parts.transition ?? /** @type {any} */ ({});
    if (tid === undefined || !Number.isFinite(deadline)) return null;
    if (tid === this.#transitionID && this.#countedFrom !== null) return Math.max(0, this.#countedFrom + deadline - performance.now());
    // The log does not have the movements of a gesture.
    if (source.kind !== "live" || phase === "interactive") return null;
    const history = historyOf(source, state.nav);
    const began = history.at(history.positionOf(tid, state.epoch))?.t;
    return began ? Math.max(0, began + deadline - clock.now) : null;
  }
}
