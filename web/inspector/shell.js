// The shell: follows the chosen nav and the chosen revision, and lets the views draw once a frame.

import { Announcer } from "../view/focus.js";
import { Clock } from "./clock.js";
import { Copying } from "./copying.js";
import { Dividers } from "./dividers.js";
import { Permalink } from "./permalink.js";
import { breathe } from "./slices.js";
import { clockWidth } from "./text.js";
import { Head } from "./view/head.js";
import { Tabs } from "./view/tabs.js";
import { Tree } from "./view/tree.js";

/** @typedef {import("./source.js").State} State */

/**
 * What the views draw.
 *
 * @typedef {object} Model
 * @property {import("./source.js").Row[]|null} rows the navs; null before they are known
 * @property {State|null} live the newest state of the chosen nav
 * @property {State|null} state the state on the stage; null while it is read, or if there is none
 * @property {Error|null} error why there is no state
 * @property {Error|null} listError why there are no rows
 * @property {boolean} isClosed whether the chosen nav was closed
 * @property {State[]} arrivals the states of the watch since the last frame, oldest first
 * @property {import("./source.js").SourceStatus} status
 */

/**
 * What a view gets.
 *
 * @typedef {object} Context
 * @property {import("./store.js").Store} store
 * @property {any} source
 * @property {AbortSignal} signal aborted when another source takes the page
 * @property {() => void} schedule asks for a frame
 * @property {(text: string) => void} announce reports to screen readers, at most once a second
 * @property {(text: string, what: string, button: Element) => void} copy
 * @property {Clock} clock
 */

/** The arrivals that one frame gets; what is more counts as folded. */
const MOST_ARRIVALS = 200;
/** The least time between two frames for states that arrive. */
const CALM_MS = 80;
/** How long the stage may show the revision before while the chosen one is read. */
const GLANCE_MS = 300;

/** The running inspector. */
export class Shell {
  /** @type {Model} */
  model;
  /** @type {Context} */
  context;
  #store;
  #source;
  #views = [];
  #life = new AbortController();
  #watch = new AbortController();
  #isScheduled = false;
  #later = 0;
  /** When the last frame was drawn. */
  #drawn = 0;
  #isTravelling = false;
  /** Why the watch of the chosen nav ended. @type {Error|null} */
  #watchError = null;
  /** Whether all views are added; until then, arriving states wait for the stream view. */
  #isComplete = false;
  /** The revision of the past that `model.state` is for. */
  #shown = null;

  /**
   * @param {any} source a LiveSource or a RecordingSource
   * @param {import("./store.js").Store} store
   */
  constructor(source, store) {
    this.#source = source;
    this.#store = store;
    this.model = {
      rows: null, live: null, state: null, error: null, listError: null, isClosed: false, arrivals: [], status: source.status,
    };
    const announcer = new Announcer(part("live-region"));
    const copying = new Copying(part("copy-dialog"), (text) => announcer.say(text));
    this.context = {
      store, source, signal: this.#life.signal, schedule: () => this.schedule(), announce: (text) => announcer.say(text),
      copy: (text, what, button) => copying.copy(text, what, button), clock: new Clock(source, () => this.schedule()),
    };
  }

  /**
   * Adds a view, which draws in each frame.
   *
   * @param {{update: (model: Model) => void}} view
   */
  add(view) {
    this.#views.push(view);
    return view;
  }

  /** Makes the views, and begins. */
  start() {
    const { context } = this;
    new Permalink(context.store, context.signal);
    new Dividers(context.signal);
    // Columns of times are as wide as the times of the locale.
    document.documentElement.style.setProperty("--clock", `${clockWidth()}rem`);
    this.add(new Head(document.documentElement, context));
    const tree = this.add(new Tree(place("tree"), context));
    this.add(new Tabs(document.querySelector("[role=tablist]"), context));
    this.#store.subscribe((_, changed) => this.#changed(changed));
    this.#source.onStatus?.((status) => {
      this.model.status = status;
      this.schedule();
    });
    document.addEventListener("visibilitychange", () => this.#visibilityChanged(), { signal: context.signal });
    this.#visibilityChanged();
    this.#list();
    this.#follow();
    this.schedule();
    this.#addOtherViews(tree);
  }

  /** Makes the other views. They are in files of their own, so that the tree does not wait for them. */
  async #addOtherViews(tree) {
    try {
      const { addViews } = await import("./views.js");
      await addViews(this, tree);
    } catch (error) {
      this.#notice(`A part of the page cannot be shown: ${error.message}. Load it again, or run navctl inspect again.`);
    }
    this.#isComplete = true;
    this.schedule();
  }

  /** Shows what a person must know in place of a view. @param {string} text */
  #notice(text) {
    const notice = part("notice");
    notice.replaceChildren(Object.assign(document.createElement("p"), { textContent: text }));
    notice.hidden = false;
  }

  /** Ends the shell, so that another one can have the page. */
  stop() {
    this.#life.abort();
    this.#watch.abort();
    this.#source.pause?.();
  }

  /** Closes the connection while the page is hidden. */
  #visibilityChanged() {
    if (document.hidden) this.#source.pause?.();
    else this.#source.resume?.();
  }

  #changed(changed) {
    if (changed.has("nav")) this.#follow();
    else if (changed.has("at") || changed.has("epoch")) this.#travel();
    this.schedule();
  }

  /** Asks for a frame after a pause, for what comes faster than anyone can read. */
  #scheduleSoon() {
    if (this.#isScheduled || this.#later) return;
    this.#later = setTimeout(() => {
      this.#later = 0;
      this.schedule();
    }, Math.max(0, this.#drawn + CALM_MS - performance.now()));
  }

  /** Asks for a frame. */
  schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame((now) => {
      this.#isScheduled = false;
      this.#drawn = now;
      if (this.#life.signal.aborted) return;
      // A record of an odd form must not keep the other views from being drawn.
      for (const view of this.#views) {
        try {
          view.update(this.model);
        } catch (error) {
          this.#notice(`A view cannot show this state: ${error.message}`);
        }
      }
      if (this.#isComplete) this.model.arrivals = [];
    });
  }

  /** Asks for a frame, and waits until it is drawn. */
  async drawn() {
    this.schedule();
    await new Promise((resolve) => { requestAnimationFrame(resolve); });
    await breathe();
  }

  // --- What is followed -------------------------------------------------------------------------

  async #list() {
    try {
      for await (const rows of this.#source.rows({ signal: this.#life.signal })) {
        this.model.rows = rows;
        this.#chooseNewest(rows);
        this.#scheduleSoon();
      }
    } catch (error) {
      this.model.listError = error;
      this.schedule();
    }
  }

  /** Without a choice, the stage shows the nav that changed last. */
  #chooseNewest(rows) {
    const { nav } = this.#store;
    if (nav === null && rows.length) {
      const newest = rows.reduce((best, row) => ((row.t ?? 0) > (best.t ?? 0) ? row : best));
      this.#store.set({ nav: newest.nav });
    } else if (nav !== null && (this.model.isClosed || this.model.error?.["code"] === "no-nav")) {
      // A nav of that name was made again.
      if (rows.some((row) => row.nav === nav)) this.#follow();
    }
  }

  async #follow() {
    this.#watch.abort();
    const watch = this.#watch = new AbortController();
    const { nav } = this.#store;
    Object.assign(this.model, { live: null, state: null, error: null, isClosed: false, arrivals: [] });
    this.#shown = this.#watchError = null;
    this.schedule();
    if (nav === null) return;
    this.#travel();
    try {
      for await (const state of this.#source.states(nav, { signal: watch.signal })) {
        if (watch.signal.aborted) return;
        this.#takeState(state);
      }
      if (!watch.signal.aborted) this.model.isClosed = true;
    } catch (error) {
      if (!watch.signal.aborted) this.model.error = this.#watchError = error;
    }
    this.schedule();
  }

  /** @param {State} state */
  #takeState(state) {
    const { model } = this;
    model.live = state;
    model.arrivals.push(state);
    if (model.arrivals.length > MOST_ARRIVALS) model.arrivals.shift();
    if (this.#store.at === null) Object.assign(model, { state, error: null });
    this.#scheduleSoon();
  }

  /** Reads the chosen revision. While one read is under way, the newest choice waits. */
  async #travel() {
    if (this.#store.at === null) {
      this.#shown = null;
      Object.assign(this.model, { state: this.model.live, error: this.#watchError });
      return;
    }
    if (this.#isTravelling) return;
    this.#isTravelling = true;
    while (this.#store.at !== null && this.#key() !== this.#shown) {
      const { nav, at, epoch } = this.#store;
      const key = this.#key();
      let found;
      // What is on the stage is another revision: it goes if the answer takes longer than a glance.
      const waiting = setTimeout(() => {
        this.model.state = null;
        this.schedule();
      }, GLANCE_MS);
      try {
        found = { state: await this.#source.stateAt(nav, at, epoch), error: null };
      } catch (error) {
        found = { state: null, error };
      }
      clearTimeout(waiting);
      if (this.#store.at === null || this.#store.nav !== nav) continue;
      this.#shown = key;
      Object.assign(this.model, found);
      this.schedule();
    }
    this.#isTravelling = false;
  }

  #key() { return `${this.#store.at} ${this.#store.epoch} ${this.#store.nav}`; }
}

const part = (name) => /** @type {HTMLElement} */ (document.querySelector(`[data-part=${name}]`));
const place = (name) => /** @type {HTMLElement} */ (document.querySelector(`[data-view=${name}]`));
