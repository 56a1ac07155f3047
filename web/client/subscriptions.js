import { Channel } from "./channel.js";
import { NavigationError } from "./errors.js";

/** The loops over the states of navs. */
export class StateLoops {
  #runner;
  #channels = new Set();

  /** @param {import("./engine.js").ClusterRunner} runner */
  constructor(runner) { this.#runner = runner; }

  /** Iterates over the states of a nav; with `waits`, also before and after the nav exists. */
  channel(nav, view, { waits, keepsAll, signal }) {
    const subscription = new Channel({
      keepsAll, signal,
      open: (channel) => this.#open(channel), close: (channel) => this.#close(channel),
    });
    return Object.assign(subscription, { nav, view, waits });
  }

  #open(subscription) {
    if (this.#runner.endError) return subscription.finish(this.#runner.endError);
    const { nav, view, waits } = subscription;
    const state = this.#runner.cluster.current(nav, view);
    this.#channels.add(subscription);
    if (state) subscription.offer(state);
    else this.#runner.update((cluster) => cluster.watch(nav, view, waits));
  }

  #close(subscription) {
    if (!this.#channels.delete(subscription)) return;
    const { nav, view } = subscription;
    if (!this.#channelsOf(nav, view).length) this.#runner.update((cluster) => cluster.unwatch(nav, view));
  }

  #channelsOf(nav, view) {
    return [...this.#channels].filter((each) => each.nav === nav && each.view === view);
  }

  offer({ nav, view, state, isResumed, isEvent }) {
    for (const subscription of this.#channelsOf(nav, view)) {
      // A resumed watch shows nothing new; an event says nothing without the state before it.
      if (isResumed && !subscription.awaitsFirstValue || isEvent && subscription.awaitsFirstValue) continue;
      subscription.offer(state);
    }
  }

  noteWatchEnd({ nav, view, why, err }) {
    const error = why === "closed" ? null
      : err ? NavigationError.from(err) : new NavigationError(why, "the watch is over", { nav });
    const isGone = why === "closed" || err?.code === "no-nav";
    const loops = this.#channelsOf(nav, view);
    const over = loops.filter(({ waits }) => !(isGone && waits));
    for (const subscription of over) {
      this.#channels.delete(subscription);
      subscription.finish(error);
    }
    if (over.length < loops.length) this.#runner.update((cluster) => cluster.watch(nav, view, true));
  }

  /** Ends all loops with an error. */
  endAll(error) {
    const channels = [...this.#channels];
    this.#channels.clear();
    for (const channel of channels) channel.finish(error);
  }
}
