// The past of the chosen nav: its history for timeline, slider and comparison, and the files and links that lead there.

import { FLAG } from "./columns.js";
import { historyOf } from "./history.js";
import { Opening } from "./opening.js";
import { Proofs } from "./proofs.js";
import { count } from "./text.js";
import { Bookmarks } from "./view/bookmarks.js";
import { Compare } from "./view/compare.js";
import { Timeline } from "./view/timeline.js";
import { Travel } from "./view/travel.js";

/** @typedef {import("./history.js").History} History */

/** Follows the history of the chosen nav, and draws the timeline, the slider and the comparison. */
export class Past {
  /** @type {History|null} */
  history = null;
  /** The position on the stage; −1 if the history does not have it. */
  position = -1;
  /** What the person must know about the revisions in sight; empty if there is nothing. */
  notice = "";
  /** @type {Proofs} */
  proofs;
  #context;
  #views;
  #end = null;
  #nav = null;
  /** The nav whose first state was drawn. */
  #staged = null;
  /** The frames that are left to the stage. */
  #waiting = 0;

  /** @param {import("./shell.js").Context} context */
  constructor(context) {
    this.#context = context;
    this.proofs = new Proofs(context.source);
    new Opening(context.signal);
    const place = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));
    this.#views = [
      new Travel(place("[data-mount=travel]"), context, this), new Timeline(place("[data-mount=timeline]"), context, this),
      new Compare(place("[data-view=compare]"), context, this), new Bookmarks(place(".travel-buttons"), context),
    ];
  }

  /** @param {import("./shell.js").Model} model */
  update(model) {
    const { source, store } = this.#context;
    if (store.nav !== this.#nav) this.#choose(store.nav);
    // Who looks at the past keeps the epoch that they look at.
    if (this.history?.successor && store.at === null) this.#choose(store.nav);
    const { history } = this;
    if (history && model.live?.nav === store.nav) {
      history.start();
      history.follow(model.live);
    }
    // The stage has the first two frames of a nav. Both in one frame took up to 70 ms.
    if (model.state && this.#staged !== store.nav) {
      this.#staged = store.nav;
      this.#waiting = 2;
    }
    if (this.#waiting > 0) {
      this.#waiting--;
      return this.#context.schedule();
    }
    const { floor } = /** @type {any} */ (model.error) ?? {};
    if (source.kind === "live" && floor) history?.prune(floor);
    this.proofs.take([...model.arrivals, model.state]);
    this.position = this.chosen();
    this.notice = history ? noticeOf(history, source, store.at, this.position, epochOf(store)) : "";
    for (const view of this.#views) view.update(model);
  }

  /** The position of what was chosen; −1 if the history does not have it. */
  chosen() {
    const { history } = this;
    const { store } = this.#context;
    if (!history) return -1;
    return store.at === null ? history.length - 1 : history.positionOf(store.at, epochOf(store));
  }

  /** Travels to a position; null follows the newest revision. @param {number|null} position */
  travel(position) {
    const { store } = this.#context;
    const entry = position === null ? null : this.history?.at(position);
    if (position !== null && !entry) return;
    // A link does not name an epoch that the journal does not.
    const epoch = entry?.epoch.startsWith("before ") ? null : entry?.epoch;
    store.set(/** @type {any} */ (entry ? { at: entry.rev, epoch } : { at: null }));
  }

  #choose(nav) {
    this.#end?.();
    // What is loaded stays; the rest is loaded when the nav is chosen again.
    this.history?.stop();
    this.#nav = nav;
    this.history = nav === null ? null : historyOf(this.#context.source, nav);
    this.#end = this.history?.subscribe(this.#context.schedule) ?? null;
    this.history?.start();
  }
}

/** The epoch that a revision was chosen of; null if only its number is known. */
const epochOf = (store) => /** @type {any} */ (store).epoch ?? null;

/** @param {History} history @param {any} source @param {number|null} at @param {number} position @param {string|null} epoch */
function noticeOf(history, source, at, position, epoch) {
  const parts = [];
  if (source.facts) parts.push(...factsOf(source.facts, history, position));
  if (at !== null && history.length) {
    const found = position < 0 ? "" : history.at(position)?.epoch ?? "";
    if (found && epoch && found !== epoch && !found.startsWith("before ")) {
      parts.push(`The link is of epoch ${epoch}, which the history does not have. Revision ${at} here is another state.`);
    }
    if (at < history.floor) {
      parts.push(`Revision ${at} is no longer in the journal: the oldest is ${history.floor}. What is loaded stays.`);
    }
  }
  if (at !== null && at >= history.floor && at < history.oldest) {
    parts.push(`Revision ${at} is older than those listed, of which ${history.oldest} is the oldest.`);
  }
  if (history.successor && history.nextEpoch === history.epoch) {
    parts.push(`The list is full at ${count(history.length)} revisions. It goes on with a new one when you go live.`);
  } else if (history.successor) {
    parts.push(`The nav has a new epoch, ${history.nextEpoch}. You look at epoch ${history.epoch}; what is loaded stays until you go live.`);
  }
  if (history.error && history.error.code !== "no-nav") parts.push(`The history cannot be read: ${history.error.message}`);
  return parts.join(" ");
}

function factsOf(facts, history, position) {
  const parts = [];
  if (facts.problem) parts.push(facts.problem.message);
  if (facts.redacted) parts.push("Contents were replaced when the recording was made.");
  const doubt = facts.unproven.find(({ from, to }) => from <= position && position <= to);
  if (doubt) parts.push(`Unproven from revision ${history.at(doubt.from)?.rev} on: ${doubt.reason}.`);
  else if (facts.unproven.length) parts.push(`${facts.unproven.reduce((sum, { from, to }) => sum + to - from + 1, 0)} revisions are not proven.`);
  const flags = position >= 0 ? history.at(position)?.flags ?? 0 : 0;
  if (flags & FLAG.closed) parts.push("The nav was closed here.");
  return parts;
}
