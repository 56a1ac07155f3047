import { setTimer } from "./timers.js";

/** Runs a `Cluster`: performs its actions, and calls its `tick` at each deadline. */
export class Engine {
  #perform;
  #timer = 0;
  #wakeAt = Infinity;
  cluster;
  /** The error with which the client ended; null until then. */
  end = null;

  /**
   * @param {import("./replica/cluster.js").Cluster} cluster
   * @param {(action: object) => void} perform
   */
  constructor(cluster, perform) {
    this.cluster = cluster;
    this.#perform = perform;
  }

  /** Lets the cluster decide, and performs its actions. */
  do(decide) {
    if (this.end) return;
    decide(this.cluster);
    this.act();
  }

  act() {
    for (const action of this.cluster.take()) this.#perform(action);
    this.#schedule();
  }

  /** Sets the timer, but keeps one that fires too early, since most messages only postpone the deadline. */
  #schedule() {
    const at = this.cluster.wakeAt;
    if (this.end || at >= this.#wakeAt) return;
    clearTimeout(this.#timer);
    this.#wakeAt = at;
    this.#timer = setTimer(() => this.#wake(), at - performance.now());
  }

  #wake() {
    this.#wakeAt = Infinity;
    this.do((cluster) => cluster.tick(performance.now()));
  }

  throwIfEnded() { if (this.end) throw this.end; }

  stop() { clearTimeout(this.#timer); }
}
