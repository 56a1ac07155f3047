import { encode } from "./json.js";
import { Mirror } from "./mirror.js";
import { isDueAfterHold } from "./output.js";

/** The watches of a session. */
export class Watches {
  #output;
  #byKey = new Map();

  /** @param {import("./output.js").SessionOutput} output */
  constructor(output) { this.#output = output; }

  get size() { return this.#byKey.size; }

  values() { return this.#byKey.values(); }

  get(key) { return this.#byKey.get(key); }

  of(nav, view = "full") { return this.#byKey.get(watchKey(nav, view)); }

  get wakeAt() {
    let at = Infinity;
    for (const { retryAt } of this.#byKey.values()) at = Math.min(at, retryAt);
    return at;
  }

  // What users ask for.

  /** The newest state of a watch; null while its digest is not verified. */
  currentState(nav, view) {
    const watch = this.of(nav, view);
    if (view !== "full") return this.#output.isOpen ? watch?.latest ?? null : null;
    return watch?.mirror.isSynced ? watch.mirror.state : null;
  }

  /** Whether an answer has reported a later revision; without credit, it comes before the diff. */
  isBehind(state) { return isLaterRevision(this.of(state.nav)?.answered, state); }

  /** Starts a watch; sends a running one again if it waited for a missing nav and shall no longer wait. */
  begin(nav, view, waitsForNav) {
    const key = watchKey(nav, view);
    const known = this.#byKey.get(key);
    if (known && (waitsForNav || !known.waits)) return;
    const mirror = view === "full" ? new Mirror(nav) : null;
    const watch = known ?? {
      key, nav, view, mirror, latest: null, hasShown: false, faults: 0, retryAt: Infinity,
      isDue: false,
    };
    watch.waits = waitsForNav;
    this.#byKey.set(key, watch);
    if (this.#output.isOpen) this.#send(watch);
  }

  end(nav, view) {
    const key = watchKey(nav, view);
    if (!this.#byKey.delete(key)) return;
    this.#output.ignoreAnswer(key);
    if (this.#output.isOpen) this.#output.send("unwatch", encode({ id: this.#output.sharedIDs.next++, nav, view }));
  }

  // Sending.

  #send(watch) {
    const { view, mirror, waits } = watch;
    const wait = waits ? { wait: true } : {};
    this.#output.sendWish(watch, "watch", () => ({ view, ...wait, ...mirror?.beginWatch() }));
  }

  sendAll() { for (const watch of this.#byKey.values()) this.#send(watch); }

  /** Sends the watches of a nav that no longer waits for an owner. */
  sendAfterHold(nav) { for (const watch of this.#byKey.values()) if (isDueAfterHold(watch, nav)) this.#send(watch); }

  tick(now) { for (const watch of this.#byKey.values()) if (watch.retryAt <= now) this.#send(watch); }

  // What the daemon sends.

  receiveOk(watch, body, now) {
    if (!watch.mirror) return;
    this.#noteRevision(watch, body);
    this.applyToMirror(watch.nav, "ok", body, now);
  }

  /** Notes that an answer has reported a revision. */
  noteAnsweredRevision(body) {
    const follower = this.of(body.nav);
    if (follower) this.#noteRevision(follower, body);
  }

  /** A read of an earlier revision must not hide a later one. */
  #noteRevision(watch, body) { if (!isLaterRevision(watch.answered, body)) watch.answered = body; }

  /** Passes a message to the mirror of a full watch, and acts as the mirror decides. */
  applyToMirror(nav, verb, body, now) {
    const watch = this.of(nav);
    if (!watch) return;
    const result = watch.mirror.apply(verb, body, now);
    if (result.kind === "state") {
      // A snapshot is right by itself. Only a change shows that the mirror follows again.
      if (result.how === "applied") watch.faults = 0;
      watch.hasShown = true;
      const isResumed = result.how === "resumed";
      this.#output.addAction({ kind: "state", nav, view: "full", state: result.state, isResumed });
    } else if (result.kind === "diverged") {
      // At once for the first fault. After repeated faults, the pauses grow.
      if (watch.faults++ === 0) this.#send(watch);
      else watch.retryAt = now + this.#output.backOff(watch.faults - 1);
    } else if (verb === "mark" && watch.mirror.isSynced) {
      watch.faults = 0;
    }
  }

  receiveEvent(body, now) {
    const state = this.of(body.nav)?.mirror.stateWithEvents(body, now);
    if (!state) return;
    this.#output.addAction({ kind: "state", nav: body.nav, view: "full", state, isEvent: true });
  }

  receiveLatest(body, now) {
    const { nav, view } = body;
    const watch = this.of(nav, view);
    if (!watch) return;
    watch.hasShown = true;
    watch.latest = Object.freeze({ ...body, receivedAt: now });
    watch.faults = 0;
    this.#output.addAction({ kind: "state", nav, view, state: watch.latest });
  }

  receiveEnd(body, now) {
    const { nav, view = "full", why } = body;
    const watch = this.of(nav, view);
    if (!watch) return;
    // It may end an earlier watch; then the answer to the present one is still to come.
    const isEarlier = watch.mirror
      ? watch.mirror.apply("end", body, now).kind === "ignored"
      : this.#output.isWishSent(watch.key);
    if (isEarlier) return;
    this.#byKey.delete(watch.key);
    this.#output.ignoreAnswer(watch.key);
    this.#output.addAction({ kind: "watchEnded", nav, view, why });
    if (why !== "closed" || !watch.waits) return;
    Object.assign(watch, { latest: null, answered: undefined });
    this.#byKey.set(watch.key, watch);
    this.#send(watch);
  }

  noteRefused({ key, nav, view, hasShown }, err) {
    this.#byKey.delete(key);
    // A nav that the watch has shown was closed meanwhile.
    const why = hasShown && err.code === "no-nav" ? "closed" : undefined;
    this.#output.addAction({ kind: "watchEnded", nav, view, why, err });
  }

  noteSessionEnd() {
    for (const watch of this.#byKey.values()) {
      watch.mirror?.disconnect();
      Object.assign(watch, { latest: null, retryAt: Infinity });
    }
  }

  // Navs that another daemon has.

  /** Lets the watches of a nav wait until a daemon serves the nav again. */
  suspend(nav) {
    for (const watch of this.#byKey.values()) {
      if (watch.nav === nav) Object.assign(watch, { isDue: true, retryAt: Infinity });
    }
  }

  /** Removes and returns the watches of a nav, for `adopt` in another session. */
  surrender(nav) {
    const watches = [...this.#byKey.values()].filter((watch) => watch.nav === nav);
    for (const watch of watches) {
      this.#output.ignoreAnswer(watch.key);
      watch.mirror?.disconnect();
      watch.latest = null;
      this.#byKey.delete(watch.key);
    }
    return watches;
  }

  adopt(watches) { for (const watch of watches) this.#byKey.set(watch.key, watch); }

  abandon(watches, err) {
    for (const { nav, view } of watches) this.#output.addAction({ kind: "watchEnded", nav, view, err });
  }
}

function watchKey(nav, view) { return `${view} ${nav}`; }

function isLaterRevision(one, other) { return one?.epoch === other.epoch && one?.rev > other.rev; }
