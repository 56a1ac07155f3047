/** How many octets the lines of one post may have. */
const POST_OCTETS = 131072;
const MOST_TRIES = 5;

/** The numbered posts of one stream: which lines go next, and what an answer means. */
export class Outbox {
  #n;
  #lines = [];
  #batch = null;
  #isPosted = false;
  /** Whether a post of this batch had no answer, so that the gateway may have accepted it. */
  #mayBeTaken = false;
  #tries = 0;
  /** How many lines are posted one at a time after a refused batch, so that only the faulty one fails. */
  #alone = 0;

  constructor(next = 1) { this.#n = next; }

  add(text, id = null) { this.#lines.push({ text, id }); }

  /** Removes the line of a request; returns whether the gateway cannot have accepted the line. */
  withdraw(id) {
    for (const lines of this.#unsentBatches) {
      const index = lines.findIndex((line) => line.id === id);
      if (index >= 0) return lines.splice(index, 1).length > 0;
    }
    return false;
  }

  /** The ids of the requests whose lines the gateway cannot have accepted. */
  unposted() { return this.#unsentBatches.flat().map(({ id }) => id).filter((id) => id !== null); }

  /** The lists of lines that the gateway cannot have accepted. */
  get #unsentBatches() {
    const isHere = this.#batch && !this.#isPosted && !this.#mayBeTaken;
    return isHere ? [this.#batch, this.#lines] : [this.#lines];
  }

  /** The post to send, the same one until it is answered; null without lines. */
  next() {
    if (!this.#batch?.length) this.#beginBatch();
    if (!this.#batch.length) return null;
    this.#isPosted = true;
    return { n: this.#n, body: this.#batch.map((line) => line.text).join("") };
  }

  #beginBatch() {
    this.#batch = this.#fillBatch();
    this.#mayBeTaken = false;
  }

  #fillBatch() {
    const most = this.#alone > 0 ? 1 : this.#lines.length;
    if (this.#alone > 0) this.#alone--;
    let octets = 0;
    let count = 0;
    for (; count < most && this.#lines[count]; count++) {
      // UTF-8 has at most three octets for each unit of a text.
      octets += 3 * this.#lines[count].text.length;
      if (count && octets > POST_OCTETS) break;
    }
    return this.#lines.splice(0, count);
  }

  /**
   * Handles the answer to the post; status 0 means that none came.
   *
   * @returns {{kind: "taken" | "again" | "refused" | "over" | "unauthorized", wait?: number}}
   */
  answered({ status, next, after = 0 }, random = Math.random) {
    this.#isPosted = false;
    if (status === 0) this.#mayBeTaken = true;
    if (status === 200 && next > this.#n) return this.#confirmTaken(next);
    if (status === 400 || status === 413) return this.#isolateRefused();
    if (status === 401) return { kind: "unauthorized" };
    const mayRecover = status === 503 || status === 0 && this.#tries < MOST_TRIES;
    if (!mayRecover) return { kind: "over" };
    const pause = random() * Math.min(5000, 100 * 2 ** Math.min(this.#tries++, 16));
    return { kind: "again", wait: Math.max(after, pause, 1) };
  }

  #confirmTaken(next) {
    this.#n = next;
    this.#batch = null;
    this.#tries = 0;
    return { kind: "taken" };
  }

  #isolateRefused() {
    const batch = this.#batch;
    this.#batch = null;
    if (batch.length > 1) {
      this.#lines.unshift(...batch);
      this.#alone = batch.length;
      return { kind: "again" };
    }
    // Without its `hello` or a `credit`, a stream is of no use.
    return batch[0].id === null ? { kind: "over" } : { kind: "refused", id: batch[0].id };
  }
}
