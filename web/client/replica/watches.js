import { encode } from "./json.js";
import { Mirror } from "./mirror.js";
import { isDue } from "./output.js";

/** The watches of a session. */
export class Watches {
  #out;
  #all = new Map();

  /** @param {import("./output.js").Output} out */
  constructor(out) { this.#out = out; }

  get size() { return this.#all.size; }

  values() { return this.#all.values(); }

  get(key) { return this.#all.get(key); }

  of(nav, view = "full") { return this.#all.get(watchKey(nav, view)); }

  get wakeAt() {
    let at = Infinity;
    for (const { retryAt } of this.#all.values()) at = Math.min(at, retryAt);
    return at;
  }

  // What users ask for.

  /** The state of a watch, if it is known to be right; otherwise null. */
  current(nav, view) {
    const watch = this.of(nav, view);
    if (view !== "full") return this.#out.isOpen ? watch?.latest ?? null : null;
    return watch?.mirror.isSynced ? watch.mirror.state : null;
  }

  /** Whether an answer has reported a later revision; without credit, it comes before the diff. */
  isBehind(state) { return isLater(this.of(state.nav)?.answered, state); }

  /** Watches a nav; begins again if a watch that waits for its nav waits no more. */
  begin(nav, view, waits) {
    const key = watchKey(nav, view);
    const known = this.#all.get(key);
    if (known && (waits || !known.waits)) return;
    const mirror = view === "full" ? new Mirror(nav) : null;
    const watch = known ?? {
      key, nav, view, mirror, latest: null, hasShown: false, faults: 0, retryAt: Infinity,
      isDue: false,
    };
    watch.waits = waits;
    this.#all.set(key, watch);
    if (this.#out.isOpen) this.#send(watch);
  }

  end(nav, view) {
    const key = watchKey(nav, view);
    if (!this.#all.delete(key)) return;
    this.#out.unask(key);
    if (this.#out.isOpen) this.#out.send("unwatch", encode({ id: this.#out.ids.next++, nav, view }));
  }

  // Sending.

  #send(watch) {
    const { view, mirror, waits } = watch;
    const wait = waits ? { wait: true } : {};
    this.#out.ask(watch, "watch", () => ({ view, ...wait, ...mirror?.watching() }));
  }

  sendAll() { for (const watch of this.#all.values()) this.#send(watch); }

  /** Sends the watches of a nav that no longer waits for an owner. */
  sendDue(nav) { for (const watch of this.#all.values()) if (isDue(watch, nav)) this.#send(watch); }

  tick(now) { for (const watch of this.#all.values()) if (watch.retryAt <= now) this.#send(watch); }

  // What the daemon sends.

  receiveOk(watch, body, now) {
    if (!watch.mirror) return;
    this.#note(watch, body);
    this.replicate(watch.nav, "ok", body, now);
  }

  /** Notes that an answer has reported a revision. */
  noteAnswer(body) {
    const follower = this.of(body.nav);
    if (follower) this.#note(follower, body);
  }

  /** A read of an earlier revision must not hide a later one. */
  #note(watch, body) { if (!isLater(watch.answered, body)) watch.answered = body; }

  /** Passes a message to the mirror of a full watch, and acts as the mirror decides. */
  replicate(nav, verb, body, now) {
    const watch = this.of(nav);
    if (!watch) return;
    const result = watch.mirror.apply(verb, body, now);
    if (result.kind === "state") {
      // A snapshot is right by itself. Only a change shows that the mirror follows again.
      if (result.how === "applied") watch.faults = 0;
      watch.hasShown = true;
      const isResumed = result.how === "resumed";
      this.#out.note({ kind: "state", nav, view: "full", state: result.state, isResumed });
    } else if (result.kind === "diverged") {
      // At once for the first fault. After repeated faults, the pauses grow.
      if (watch.faults++ === 0) this.#send(watch);
      else watch.retryAt = now + this.#out.backOff(watch.faults - 1);
    } else if (verb === "mark" && watch.mirror.isSynced) {
      watch.faults = 0;
    }
  }

  receiveEvent(body, now) {
    const state = this.of(body.nav)?.mirror.withEvents(body, now);
    if (!state) return;
    this.#out.note({ kind: "state", nav: body.nav, view: "full", state, isEvent: true });
  }

  receiveLatest(body, now) {
    const { nav, view } = body;
    const watch = this.of(nav, view);
    if (!watch) return;
    watch.hasShown = true;
    watch.latest = Object.freeze({ ...body, receivedAt: now });
    watch.faults = 0;
    this.#out.note({ kind: "state", nav, view, state: watch.latest });
  }

  receiveEnd(body, now) {
    const { nav, view = "full", why } = body;
    const watch = this.of(nav, view);
    if (!watch) return;
    // It may end an earlier watch; then the answer to the present one is still to come.
    const isEarlier = watch.mirror
      ? watch.mirror.apply("end", body, now).kind === "ignored"
      : this.#out.isAsked(watch.key);
    if (isEarlier) return;
    this.#all.delete(watch.key);
    this.#out.unask(watch.key);
    this.#out.note({ kind: "watchEnded", nav, view, why });
    if (why !== "closed" || !watch.waits) return;
    Object.assign(watch, { latest: null, answered: undefined });
    this.#all.set(watch.key, watch);
    this.#send(watch);
  }

  refuse({ key, nav, view, hasShown }, err) {
    this.#all.delete(key);
    // A nav that the watch has shown was closed meanwhile.
    const why = hasShown && err.code === "no-nav" ? "closed" : undefined;
    this.#out.note({ kind: "watchEnded", nav, view, why, err });
  }

  forgetSession() {
    for (const watch of this.#all.values()) {
      watch.mirror?.disconnect();
      Object.assign(watch, { latest: null, retryAt: Infinity });
    }
  }

  // Navs that another daemon has.

  /** Lets the watches of a nav wait until a daemon serves the nav again. */
  suspend(nav) {
    for (const watch of this.#all.values()) {
      if (watch.nav === nav) Object.assign(watch, { isDue: true, retryAt: Infinity });
    }
  }

  /** Takes out the watches of a nav, for `adopt` of another session. */
  surrender(nav) {
    const watches = [...this.#all.values()].filter((watch) => watch.nav === nav);
    for (const watch of watches) {
      this.#out.unask(watch.key);
      watch.mirror?.disconnect();
      watch.latest = null;
      this.#all.delete(watch.key);
    }
    return watches;
  }

  adopt(watches) { for (const watch of watches) this.#all.set(watch.key, watch); }

  abandon(watches, err) {
    for (const { nav, view } of watches) this.#out.note({ kind: "watchEnded", nav, view, err });
  }
}

function watchKey(nav, view) { return `${view} ${nav}`; }

function isLater(one, other) { return one?.epoch === other.epoch && one?.rev > other.rev; }
