import { Channel } from "./channel.js";

/** The status of a client, and the loops over it. */
export class StatusLoops {
  #channels = new Set();
  #isOver = false;
  status = "connecting";

  /** Iterates over the present status and its changes; a slow loop gets the newest one. */
  channel() {
    return new Channel({
      open: (channel) => this.#open(channel),
      close: (channel) => this.#channels.delete(channel),
    });
  }

  #open(channel) {
    channel.offer(this.status);
    if (this.#isOver) channel.finish(null);
    else this.#channels.add(channel);
  }

  report(status) {
    if (this.#isOver || status === this.status) return;
    this.status = status;
    for (const channel of this.#channels) channel.offer(status);
  }

  /** Reports the last status; the loops end with `endAll`. */
  reportLast(status) {
    this.report(status);
    this.#isOver = true;
  }

  endAll() { for (const channel of [...this.#channels]) channel.finish(null); }
}
