import { Channel } from "./channel.js";

/** The status of a client, and the loops over it. */
export class Statuses {
  #listeners = new Set();
  #isOver = false;
  status = "connecting";

  /** Iterates over the present status and its changes; a slow loop gets the newest one. */
  channel() {
    return new Channel({
      open: (channel) => this.#open(channel),
      close: (channel) => this.#listeners.delete(channel),
    });
  }

  #open(channel) {
    channel.offer(this.status);
    if (this.#isOver) channel.finish(null);
    else this.#listeners.add(channel);
  }

  report(status) {
    if (this.#isOver || status === this.status) return;
    this.status = status;
    for (const listener of this.#listeners) listener.offer(status);
  }

  /** Reports the last status; the loops end with `finish`. */
  end(status) {
    this.report(status);
    this.#isOver = true;
  }

  finish() { for (const listener of [...this.#listeners]) listener.finish(null); }
}
