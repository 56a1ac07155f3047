import { setTimer } from "./timers.js";

/** Runs a `Cluster`: performs its actions, and calls its `tick` at each deadline. */
export class ClusterRunner {
  #performAction;
  #timer = 0;
  #timerAt = Infinity;
  cluster;
  /** The error with which the client ended; null until then. */
  endError = null;

  /**
   * @param {import("./replica/cluster.js").Cluster} cluster
   * @param {(action: object) => void} performAction
   */
  constructor(cluster, performAction) {
    this.cluster = cluster;
    this.#performAction = performAction;
  }

  /** Calls `changeCluster` with the cluster, and performs the actions that result. */
  update(changeCluster) {
    if (this.endError) return;
    changeCluster(this.cluster);
    this.performActions();
  }

  performActions() {
    for (const action of this.cluster.takeActions()) this.#performAction(action);
    this.#scheduleTick();
  }

  /** Sets the timer for the next tick; keeps a timer that fires earlier, since most messages only postpone the deadline. */
  #scheduleTick() {
    const at = this.cluster.wakeAt;
    if (this.endError || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimer(() => this.#tick(), at - performance.now());
  }

  #tick() {
    this.#timerAt = Infinity;
    this.update((cluster) => cluster.tick(performance.now()));
  }

  throwIfEnded() { if (this.endError) throw this.endError; }

  stop() { clearTimeout(this.#timer); }
}
