/** How many octets the lines of one post may have. */
const MAXIMUM_POST_OCTETS = 131072;
const MAXIMUM_RETRIES = 5;

/** The numbered posts of one stream: which lines go next, and what an answer means. */
export class Outbox {
  #nextPostNumber;
  #waitingLines = [];
  #batch = null;
  #isInFlight = false;
  /** Whether a post of this batch had no answer, so that the gateway may have accepted it. */
  #mayBeAccepted = false;
  #retries = 0;
  /** How many lines are posted one at a time after a refused batch, so that only the faulty one fails. */
  #singleLinesLeft = 0;

  constructor(next = 1) { this.#nextPostNumber = next; }

  add(text, id = null) { this.#waitingLines.push({ text, id }); }

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
    const isHere = this.#batch && !this.#isInFlight && !this.#mayBeAccepted;
    return isHere ? [this.#batch, this.#waitingLines] : [this.#waitingLines];
  }

  /** The post to send, the same one until it is answered; null without lines. */
  next() {
    if (!this.#batch?.length) this.#beginBatch();
    if (!this.#batch.length) return null;
    this.#isInFlight = true;
    return { n: this.#nextPostNumber, body: this.#batch.map((line) => line.text).join("") };
  }

  #beginBatch() {
    this.#batch = this.#fillBatch();
    this.#mayBeAccepted = false;
  }

  #fillBatch() {
    const most = this.#singleLinesLeft > 0 ? 1 : this.#waitingLines.length;
    if (this.#singleLinesLeft > 0) this.#singleLinesLeft--;
    let octets = 0;
    let count = 0;
    for (; count < most && this.#waitingLines[count]; count++) {
      // UTF-8 has at most three octets for each unit of a text.
      octets += 3 * this.#waitingLines[count].text.length;
      if (count && octets > MAXIMUM_POST_OCTETS) break;
    }
    return this.#waitingLines.splice(0, count);
  }

  /**
   * Handles the answer to the post; status 0 means that none came.
   *
   * @returns {{kind: "taken" | "again" | "refused" | "over" | "unauthorized", wait?: number}}
   */
  answered({ status, next, after = 0 }, random = Math.random) {
    this.#isInFlight = false;
    if (status === 0) this.#mayBeAccepted = true;
    if (status === 200 && next > this.#nextPostNumber) return this.#confirmAccepted(next);
    if (status === 400 || status === 413) return this.#retryLinesSingly();
    if (status === 401) return { kind: "unauthorized" };
    const mayRecover = status === 503 || status === 0 && this.#retries < MAXIMUM_RETRIES;
    if (!mayRecover) return { kind: "over" };
    const pause = random() * Math.min(5000, 100 * 2 ** Math.min(this.#retries++, 16));
    return { kind: "again", wait: Math.max(after, pause, 1) };
  }

  #confirmAccepted(next) {
    this.#nextPostNumber = next;
    this.#batch = null;
    this.#retries = 0;
    return { kind: "taken" };
  }

  #retryLinesSingly() {
    const batch = this.#batch;
    this.#batch = null;
    if (batch.length > 1) {
      this.#waitingLines.unshift(...batch);
      this.#singleLinesLeft = batch.length;
      return { kind: "again" };
    }
    // Without its `hello` or a `credit`, a stream is of no use.
    return batch[0].id === null ? { kind: "over" } : { kind: "refused", id: batch[0].id };
  }
}
