// The past of the chosen nav: its history for timeline, slider and comparison, and the files and links that lead there.

import { REVISION_FLAG } from "./columns.js";
import { historyOf } from "./history.js";
import { RecordingOpener } from "./opening.js";
import { VerifiedDigests } from "./proofs.js";
import { numberText } from "./text.js";
import { BookmarkControls } from "./view/bookmarks.js";
import { ComparePanel } from "./view/compare.js";
import { Timeline } from "./view/timeline.js";
import { TravelBar } from "./view/travel.js";

/** @typedef {import("./history.js").History} History */

/** Follows the history of the chosen nav, and draws the timeline, the slider and the comparison. */
export class HistoryViews {
  /** @type {History|null} */
  history = null;
  /** The position of the revision on the stage; −1 if the history does not have it. */
  position = -1;
  /** A warning about the shown revisions, such as that they are unproven; empty without one. */
  notice = "";
  /** @type {VerifiedDigests} */
  proofs;
  #context;
  #views;
  #unsubscribe = null;
  #nav = null;
  /** The nav whose first state the stage has drawn. */
  #stagedNav = null;
  /** How many frames these views still skip, so that the stage can draw first. */
  #framesToSkip = 0;

  /** @param {import("./shell.js").Context} context */
  constructor(context) {
    this.#context = context;
    this.proofs = new VerifiedDigests(context.source);
    new RecordingOpener(context.signal);
    const place = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));
    this.#views = [
      new TravelBar(place("[data-mount=travel]"), context, this), new Timeline(place("[data-mount=timeline]"), context, this),
      new ComparePanel(place("[data-view=compare]"), context, this), new BookmarkControls(place(".travel-buttons"), context),
    ];
  }

  /** @param {import("./shell.js").Model} model */
  update(model) {
    const { source, store } = this.#context;
    if (store.nav !== this.#nav) this.#chooseNav(store.nav);
    // Who looks at the past keeps the epoch that they look at.
    if (this.history?.successor && store.at === null) this.#chooseNav(store.nav);
    const { history } = this;
    if (history && model.live?.nav === store.nav) {
      history.start();
      history.follow(model.live);
    }
    // The stage has the first two frames of a nav. Both in one frame took up to 70 ms.
    if (model.state && this.#stagedNav !== store.nav) {
      this.#stagedNav = store.nav;
      this.#framesToSkip = 2;
    }
    if (this.#framesToSkip > 0) {
      this.#framesToSkip--;
      return this.#context.schedule();
    }
    const { floor } = /** @type {any} */ (model.error) ?? {};
    if (source.kind === "live" && floor) history?.noteFloor(floor);
    this.proofs.noteStates([...model.arrivals, model.state]);
    this.position = this.chosenPosition();
    this.notice = history ? noticeText(history, source, store.at, this.position, chosenEpoch(store)) : "";
    for (const view of this.#views) view.update(model);
  }

  /** The position of the chosen revision; −1 if the history does not have it. */
  chosenPosition() {
    const { history } = this;
    const { store } = this.#context;
    if (!history) return -1;
    return store.at === null ? history.length - 1 : history.positionOf(store.at, chosenEpoch(store));
  }

  /** Chooses the revision at a position for the stage; null follows the newest revision. @param {number|null} position */
  travelTo(position) {
    const { store } = this.#context;
    const entry = position === null ? null : this.history?.at(position);
    if (position !== null && !entry) return;
    // A link does not name an epoch that the journal does not.
    const epoch = entry?.epoch.startsWith("before ") ? null : entry?.epoch;
    store.set(/** @type {any} */ (entry ? { at: entry.rev, epoch } : { at: null }));
  }

  #chooseNav(nav) {
    this.#unsubscribe?.();
    // What is loaded stays; the rest is loaded when the nav is chosen again.
    this.history?.stop();
    this.#nav = nav;
    this.history = nav === null ? null : historyOf(this.#context.source, nav);
    this.#unsubscribe = this.history?.subscribe(this.#context.schedule) ?? null;
    this.history?.start();
  }
}

/** The epoch of the chosen revision; null if only its number is known. */
const chosenEpoch = (store) => /** @type {any} */ (store).epoch ?? null;

/** @param {History} history @param {any} source @param {number|null} at @param {number} position @param {string|null} epoch */
function noticeText(history, source, at, position, epoch) {
  const parts = [];
  if (source.facts) parts.push(...recordingNotices(source.facts, history, position));
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
  if (history.successor && history.successorEpoch === history.epoch) {
    parts.push(`The list is full at ${numberText(history.length)} revisions. It goes on with a new one when you go live.`);
  } else if (history.successor) {
    parts.push(`The nav has a new epoch, ${history.successorEpoch}. You look at epoch ${history.epoch}; what is loaded stays until you go live.`);
  }
  if (history.error && history.error.code !== "no-nav") parts.push(`The history cannot be read: ${history.error.message}`);
  return parts.join(" ");
}

function recordingNotices(facts, history, position) {
  const parts = [];
  if (facts.problem) parts.push(facts.problem.message);
  if (facts.redacted) parts.push("Contents were replaced when the recording was made.");
  const doubt = facts.unproven.find(({ from, to }) => from <= position && position <= to);
  if (doubt) parts.push(`Unproven from revision ${history.at(doubt.from)?.rev} on: ${doubt.reason}.`);
  else if (facts.unproven.length) parts.push(`${facts.unproven.reduce((sum, { from, to }) => sum + to - from + 1, 0)} revisions are not proven.`);
  const flags = position >= 0 ? history.at(position)?.flags ?? 0 : 0;
  if (flags & REVISION_FLAG.closed) parts.push("The nav was closed here.");
  return parts;
}
