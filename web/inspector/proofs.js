// Which revisions the page has proven: the mirror of the client computes the digest of each state that it delivers.

import { REVISION_FLAG } from "./columns.js";

/** The maximum of digests that are remembered; each takes some 100 octets. */
const MAXIMUM_DIGESTS = 8192;

/** @typedef {"proven"|"unproven"|"unchecked"} Proof */

/** Remembers the digests of the states that the page has had; its mirror computed them. */
export class VerifiedDigests {
  /** A counter that rises with each revision whose digest was verified. */
  changeCount = 0;
  #isRecording;
  /** The digests by epoch and revision, the oldest first. */
  #digests = new Map();
  #nav = null;
  #lastState = null;

  /** @param {any} source */
  constructor(source) { this.#isRecording = source.kind === "recording"; }

  /** Notes the digests of the states that the page has now. @param {(import("./source.js").State|null)[]} states */
  noteStates(states) {
    // A recording has been replayed whole, and the columns have what was wrong.
    if (this.#isRecording) return;
    for (const state of states) {
      if (!state || state === this.#lastState) continue;
      this.#lastState = state;
      if (state.nav !== this.#nav) this.#digests.clear();
      this.#nav = state.nav;
      const key = `${state.epoch} ${state.rev}`;
      if (this.#digests.has(key)) continue;
      this.#digests.set(key, state.dig);
      if (this.#digests.size > MAXIMUM_DIGESTS) this.#digests.delete(this.#digests.keys().next().value);
      this.changeCount++;
    }
  }

  /** Whether the page has verified the digest that the log names for a revision. @param {import("./history.js").Entry} entry @returns {Proof} */
  proofOf({ rev, epoch, flags, digest: named }) {
    if (this.#isRecording) return flags & REVISION_FLAG.unproven ? "unproven" : "proven";
    const own = this.#digests.get(`${epoch} ${rev}`);
    if (own === undefined || named === null) return "unchecked";
    return own === named ? "proven" : "unproven";
  }
}
