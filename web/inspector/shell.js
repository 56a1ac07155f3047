// The shell: follows the chosen nav and the chosen revision, and lets the views draw once a frame.

import { Announcer } from "../view/focus.js";
import { Clock } from "./clock.js";
import { ClipboardCopier } from "./copying.js";
import { Dividers } from "./dividers.js";
import { Permalink } from "./permalink.js";
import { yieldToBrowser } from "./slices.js";
import { clockWidth } from "./text.js";
import { HeadBar } from "./view/head.js";
import { TabBar } from "./view/tabs.js";
import { NavTree } from "./view/tree.js";

/** @typedef {import("./source.js").State} State */

/**
 * The data that the views draw.
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
 * The services of the shell that each view gets.
 *
 * @typedef {object} Context
 * @property {import("./store.js").ChoiceStore} store
 * @property {any} source
 * @property {AbortSignal} signal aborted when another source takes the page
 * @property {() => void} schedule asks for a frame
 * @property {(text: string) => void} announce reports to screen readers, at most once a second
 * @property {(text: string, what: string, button: Element) => void} copy
 * @property {Clock} clock
 */

/** The maximum of states that one frame gets; the stream shows older ones as folded. */
const MAXIMUM_ARRIVALS = 200;
/** The minimum time between two frames for arriving states. */
const FRAME_INTERVAL_MS = 80;
/** How long the stage still shows the previous revision while the chosen one is read. */
const OLD_REVISION_SHOWN_MS = 300;

/** Connects a source, the choices of the person and the views of the inspector. */
export class InspectorShell {
  /** @type {Model} */
  model;
  /** @type {Context} */
  context;
  #store;
  #source;
  #views = [];
  #endController = new AbortController();
  #watchController = new AbortController();
  #isFrameScheduled = false;
  #frameTimer = 0;
  /** When the last frame was drawn, as `performance.now()`. */
  #lastFrameAt = 0;
  #isReadingRevision = false;
  /** Why the watch of the chosen nav ended. @type {Error|null} */
  #watchError = null;
  /** Whether all views are added; until then, arriving states wait for the stream view. */
  #areViewsAdded = false;
  /** The revision of the past that `model.state` is for. */
  #shownKey = null;

  /**
   * @param {any} source a LiveSource or a RecordingSource
   * @param {import("./store.js").ChoiceStore} store
   */
  constructor(source, store) {
    this.#source = source;
    this.#store = store;
    this.model = {
      rows: null, live: null, state: null, error: null, listError: null, isClosed: false, arrivals: [], status: source.status,
    };
    const announcer = new Announcer(partElement("live-region"));
    const copying = new ClipboardCopier(partElement("copy-dialog"), (text) => announcer.say(text));
    this.context = {
      store, source, signal: this.#endController.signal, schedule: () => this.schedule(), announce: (text) => announcer.say(text),
      copy: (text, what, button) => copying.copy(text, what, button), clock: new Clock(source, () => this.schedule()),
    };
  }

  /**
   * Adds a view; the shell calls its `update` in each frame.
   *
   * @param {{update: (model: Model) => void}} view
   */
  addView(view) {
    this.#views.push(view);
    return view;
  }

  /** Makes the first views, and follows the source. */
  start() {
    const { context } = this;
    new Permalink(context.store, context.signal);
    new Dividers(context.signal);
    // Columns of times are as wide as the times of the locale.
    document.documentElement.style.setProperty("--clock", `${clockWidth()}rem`);
    this.addView(new HeadBar(document.documentElement, context));
    const tree = this.addView(new NavTree(viewElement("tree"), context));
    this.addView(new TabBar(document.querySelector("[role=tablist]"), context));
    this.#store.subscribe((_, changed) => this.#onChoiceChange(changed));
    this.#source.onStatus?.((status) => {
      this.model.status = status;
      this.schedule();
    });
    document.addEventListener("visibilitychange", () => this.#visibilityChanged(), { signal: context.signal });
    this.#visibilityChanged();
    this.#followNavLists();
    this.#followNav();
    this.schedule();
    this.#addOtherViews(tree);
  }

  /** Loads and makes the other views. They are in separate files, so that the tree does not wait for them. */
  async #addOtherViews(tree) {
    try {
      const { addViews } = await import("./views.js");
      await addViews(this, tree);
    } catch (error) {
      this.#showNotice(`A part of the page cannot be shown: ${error.message}. Load it again, or run navctl inspect again.`);
    }
    this.#areViewsAdded = true;
    this.schedule();
  }

  /** Shows a message in place of a view. @param {string} text */
  #showNotice(text) {
    const notice = partElement("notice");
    notice.replaceChildren(Object.assign(document.createElement("p"), { textContent: text }));
    notice.hidden = false;
  }

  /** Stops the shell, so that another one can use the page. */
  stop() {
    this.#endController.abort();
    this.#watchController.abort();
    this.#source.pause?.();
  }

  /** Closes the connection while the page is hidden. */
  #visibilityChanged() {
    if (document.hidden) this.#source.pause?.();
    else this.#source.resume?.();
  }

  #onChoiceChange(changed) {
    if (changed.has("nav")) this.#followNav();
    else if (changed.has("at") || changed.has("epoch")) this.#readChosenRevision();
    this.schedule();
  }

  /** Requests a frame after a pause, since states arrive faster than anyone can read. */
  #scheduleSoon() {
    if (this.#isFrameScheduled || this.#frameTimer) return;
    this.#frameTimer = setTimeout(() => {
      this.#frameTimer = 0;
      this.schedule();
    }, Math.max(0, this.#lastFrameAt + FRAME_INTERVAL_MS - performance.now()));
  }

  /** Requests an animation frame, in which all views draw. */
  schedule() {
    if (this.#isFrameScheduled) return;
    this.#isFrameScheduled = true;
    requestAnimationFrame((now) => {
      this.#isFrameScheduled = false;
      this.#lastFrameAt = now;
      if (this.#endController.signal.aborted) return;
      // A record of an odd form must not keep the other views from being drawn.
      for (const view of this.#views) {
        try {
          view.update(this.model);
        } catch (error) {
          this.#showNotice(`A view cannot show this state: ${error.message}`);
        }
      }
      if (this.#areViewsAdded) this.model.arrivals = [];
    });
  }

  /** Requests a frame, and waits until it is drawn. */
  async frameDrawn() {
    this.schedule();
    await new Promise((resolve) => { requestAnimationFrame(resolve); });
    await yieldToBrowser();
  }

  // --- What is followed -------------------------------------------------------------------------

  async #followNavLists() {
    try {
      for await (const rows of this.#source.navLists({ signal: this.#endController.signal })) {
        this.model.rows = rows;
        this.#chooseNewestNav(rows);
        this.#scheduleSoon();
      }
    } catch (error) {
      this.model.listError = error;
      this.schedule();
    }
  }

  /** Chooses the nav that changed last if the person has chosen none. */
  #chooseNewestNav(rows) {
    const { nav } = this.#store;
    if (nav === null && rows.length) {
      const newest = rows.reduce((best, row) => ((row.t ?? 0) > (best.t ?? 0) ? row : best));
      this.#store.set({ nav: newest.nav });
    } else if (nav !== null && (this.model.isClosed || this.model.error?.["code"] === "no-nav")) {
      // A nav of that name was made again.
      if (rows.some((row) => row.nav === nav)) this.#followNav();
    }
  }

  async #followNav() {
    this.#watchController.abort();
    const watch = this.#watchController = new AbortController();
    const { nav } = this.#store;
    Object.assign(this.model, { live: null, state: null, error: null, isClosed: false, arrivals: [] });
    this.#shownKey = this.#watchError = null;
    this.schedule();
    if (nav === null) return;
    this.#readChosenRevision();
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
    if (model.arrivals.length > MAXIMUM_ARRIVALS) model.arrivals.shift();
    if (this.#store.at === null) Object.assign(model, { state, error: null });
    this.#scheduleSoon();
  }

  /** Reads the state of the chosen revision. During a read, the newest choice waits. */
  async #readChosenRevision() {
    if (this.#store.at === null) {
      this.#shownKey = null;
      Object.assign(this.model, { state: this.model.live, error: this.#watchError });
      return;
    }
    if (this.#isReadingRevision) return;
    this.#isReadingRevision = true;
    while (this.#store.at !== null && this.#choiceKey() !== this.#shownKey) {
      const { nav, at, epoch } = this.#store;
      const key = this.#choiceKey();
      let found;
      // What is on the stage is another revision: it goes if the answer takes longer than a glance.
      const waiting = setTimeout(() => {
        this.model.state = null;
        this.schedule();
      }, OLD_REVISION_SHOWN_MS);
      try {
        found = { state: await this.#source.stateAt(nav, at, epoch), error: null };
      } catch (error) {
        found = { state: null, error };
      }
      clearTimeout(waiting);
      if (this.#store.at === null || this.#store.nav !== nav) continue;
      this.#shownKey = key;
      Object.assign(this.model, found);
      this.schedule();
    }
    this.#isReadingRevision = false;
  }

  #choiceKey() { return `${this.#store.at} ${this.#store.epoch} ${this.#store.nav}`; }
}

const partElement = (name) => /** @type {HTMLElement} */ (document.querySelector(`[data-part=${name}]`));
const viewElement = (name) => /** @type {HTMLElement} */ (document.querySelector(`[data-view=${name}]`));
