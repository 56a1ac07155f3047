import { Channel } from "./channel.js";
import { NavigationError } from "./errors.js";

/** The loops over the states of navs. */
export class Subscriptions {
  #engine;
  #all = new Set();

  /** @param {import("./engine.js").Engine} engine */
  constructor(engine) { this.#engine = engine; }

  /** Iterates over the states of a nav; with `waits`, also before and after the nav exists. */
  channel(nav, view, { waits, keepsAll, signal }) {
    const subscription = new Channel({
      keepsAll, signal,
      open: (channel) => this.#open(channel), close: (channel) => this.#close(channel),
    });
    return Object.assign(subscription, { nav, view, waits });
  }

  #open(subscription) {
    if (this.#engine.end) return subscription.finish(this.#engine.end);
    const { nav, view, waits } = subscription;
    const state = this.#engine.cluster.current(nav, view);
    this.#all.add(subscription);
    if (state) subscription.offer(state);
    else this.#engine.do((cluster) => cluster.watch(nav, view, waits));
  }

  #close(subscription) {
    if (!this.#all.delete(subscription)) return;
    const { nav, view } = subscription;
    if (!this.#of(nav, view).length) this.#engine.do((cluster) => cluster.unwatch(nav, view));
  }

  #of(nav, view) {
    return [...this.#all].filter((each) => each.nav === nav && each.view === view);
  }

  offer({ nav, view, state, isResumed, isEvent }) {
    for (const subscription of this.#of(nav, view)) {
      // A resumed watch shows nothing new; an event says nothing without the state before it.
      if (isResumed && !subscription.isFresh || isEvent && subscription.isFresh) continue;
      subscription.offer(state);
    }
  }

  end({ nav, view, why, err }) {
    const error = why === "closed" ? null
      : err ? NavigationError.from(err) : new NavigationError(why, "the watch is over", { nav });
    const isGone = why === "closed" || err?.code === "no-nav";
    const loops = this.#of(nav, view);
    const over = loops.filter(({ waits }) => !(isGone && waits));
    for (const subscription of over) {
      this.#all.delete(subscription);
      subscription.finish(error);
    }
    if (over.length < loops.length) this.#engine.do((cluster) => cluster.watch(nav, view, true));
  }

  /** Ends all loops with an error. */
  finish(error) {
    const channels = [...this.#all];
    this.#all.clear();
    for (const channel of channels) channel.finish(error);
  }
}
