// The clock of the daemon, for ages. The clock of the page may be wrong by any span.

/** The resolution of the HTTP header `Date`, which has whole seconds. */
const DATE_HEADER_STEP_MS = 1000;

/** Reads the clock of the inspector's server, which runs beside the daemon. */
export class Clock {
  /** How far the clock of the daemon is ahead of that of the page, in milliseconds. */
  aheadMilliseconds = 0;
  #requestFrame;

  /** @param {any} source @param {() => void} schedule asks for a frame */
  constructor(source, schedule) {
    this.#requestFrame = schedule;
    if (source.kind !== "live") return;
    // A machine that slept, or whose clock was set, connects anew.
    source.onStatus(({ phase }) => { if (phase === "connected") this.#readServerTime(); });
    if (source.status.phase === "connected") this.#readServerTime();
  }

  /** The time of the daemon, in milliseconds since 1970. */
  get now() { return Date.now() + this.aheadMilliseconds; }

  // The client for browsers has no `ping`, whose answer would have the time of navd itself.
  async #readServerTime() {
    const sent = Date.now();
    try {
      const { headers, body } = await fetch(location.origin + location.pathname, { cache: "no-store" });
      const received = Date.now();
      body?.cancel().catch(() => {});
      const time = Date.parse(headers.get("date") ?? "");
      if (!Number.isFinite(time)) return;
      const [least, most] = [time - received, time + DATE_HEADER_STEP_MS - sent];
      // A clock that the header does not contradict is better than a guess within a second.
      this.aheadMilliseconds = least <= 0 && most >= 0 ? 0 : (least + most) / 2;
      this.#requestFrame();
    } catch {
      // Without an answer the connection is lost, and the next one asks again.
    }
  }
}
