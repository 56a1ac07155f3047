// The difference of two revisions: both drawings on the stage, what a person sees that differs, then screens, parts and the bar as JSON.

import { el } from "../../view/dom.js";
import { compare, refusalForError, makeRefusal } from "../compare.js";
import { changedFacts } from "../facts.js";
import { bdi, numberText, countedNoun, updateAttribute, visibleText, writeText } from "../text.js";
import { DrawingPair } from "./pair.js";

/** The maximum of elements in the page with the list of changes. A change takes some 8, and each of its members as many. */
const MAXIMUM_PAGE_ELEMENTS = 1400;
const ELEMENTS_PER_CHANGE = 8;
/** The maximum of changes, and of members of a change, that are drawn; the copied JSON has all. */
const MAXIMUM_CHANGES = 60;
const MAXIMUM_MEMBERS = 12;
const MAXIMUM_VALUE_LENGTH = 160;
const PART_TITLES = Object.freeze({
  bar: "Bar", toolbar: "Toolbar", presented: "Presented screens", transition: "Transition", environment: "Environment", settings: "Settings",
});

/** The pause between two comparisons while the stage follows the newest revision. */
const LIVE_PAUSE_MS = 400;

/** The panel that compares the revision on the stage with another one. */
export class ComparePanel {
  #root;
  #stage = /** @type {HTMLElement} */ (document.querySelector("[data-view=stage]"));
  #context;
  #past;
  #olderRevisionInput = /** @type {HTMLInputElement} */ (el("input", {
    type: "number", "data-part": "with", min: 0, step: 1, "aria-label": "Compare with revision", placeholder: "previous" }));
  #newerRevision = el("output", { "data-part": "compare-to" });
  #swapButton = makeButton("compare-swap", "Swap", "Exchange the two revisions");
  #previousButton = makeButton("compare-previous", "Previous", "Compare with the revision before");
  #copyButton = makeButton("compare-copy", "JSON", "Copy the difference as JSON");
  #drawings = new DrawingPair();
  #body = el("div", { class: "compare-body", "aria-live": "off" });
  #comparedKey = "";
  #pausedUntil = 0;
  #isReading = false;
  #lastDifference = null;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context @param {import("../past.js").HistoryViews} past */
  constructor(root, context, past) {
    this.#root = root;
    this.#context = context;
    this.#past = past;
    root.append(
      el("div", { class: "compare-head" }, el("label", {}, "From revision ", this.#olderRevisionInput), el("span", {}, " to ", this.#newerRevision), this.#previousButton, this.#swapButton, this.#copyButton),
      this.#body);
    // The stage has the room in which a drawing can be read.
    this.#stage.append(this.#drawings.root);
    this.#olderRevisionInput.addEventListener("change", () => {
      const text = this.#olderRevisionInput.value.trim();
      context.store.set({ compareWith: text === "" ? null : Math.max(0, Math.floor(Number(text))) });
    });
    this.#previousButton.addEventListener("click", () => context.store.set({ compareWith: null }));
    this.#swapButton.addEventListener("click", () => this.#swapRevisions());
    this.#copyButton.addEventListener("click", () => {
      if (this.#lastDifference) context.copy(JSON.stringify(this.#lastDifference, (_, value) => value === undefined ? null : value, 2), "JSON", this.#copyButton);
    });
  }

  /** @param {import("../shell.js").Model} model */
  update(model) {
    const { store } = this.#context;
    updateAttribute(this.#stage, "data-compare", store.tab === "compare" && this.#drawings.isShown ? "" : null);
    if (store.tab !== "compare") return;
    const { state } = model;
    const other = store.compareWith;
    if (document.activeElement !== this.#olderRevisionInput) this.#olderRevisionInput.value = other === null ? "" : String(other);
    writeText(this.#newerRevision, state ? numberText(state.rev) : "–");
    this.#swapButton.disabled = other === null || !state;
    updateAttribute(this.#previousButton, "aria-pressed", String(other === null));
    const key = state ? `${state.nav} ${state.epoch} ${state.rev} ${other} ${this.#past.history?.floor}` : "none";
    if (key === this.#comparedKey || this.#isReading || performance.now() < this.#pausedUntil) return;
    this.#comparedKey = key;
    if (state) this.#compareWithRevision(state, other ?? state.rev - 1, other === null);
    else this.#showInstead(el("p", { class: "empty" }, "There is no state to compare. Choose a nav and a revision: what differs from the one before stands here."));
  }

  /** Shows an element in place of a comparison. */
  #showInstead(element) {
    this.#drawings.hide();
    this.#body.replaceChildren(element);
  }

  /** Reads another revision and draws the difference. Meanwhile, the newest choice waits. */
  async #compareWithRevision(state, rev, isPrevious) {
    const { store } = this.#context;
    this.#isReading = true;
    const waiting = setTimeout(() => this.#showInstead(el("progress", { "aria-label": "Reading the other revision" })), 300);
    const { old, result } = await this.#readAndCompare(state, rev);
    clearTimeout(waiting);
    this.#isReading = false;
    // A busy nav that is compared live would be read without a pause.
    if (store.at === null) this.#pauseLiveComparison();
    this.#lastDifference = result.refused ? null : result;
    // A drawing measures its texts, so it waits until it is in sight.
    if (store.tab === "compare") this.#drawDifference(state, old, rev, result, isPrevious);
    else this.#discardComparison();
    // Something else may have been chosen meanwhile.
    this.#context.schedule();
  }

  /** Discards the comparison, so that the next update makes it again. */
  #discardComparison() {
    this.#comparedKey = "";
    this.#showInstead(el("p", { class: "empty" }));
  }

  #pauseLiveComparison() {
    this.#pausedUntil = performance.now() + LIVE_PAUSE_MS;
    setTimeout(() => this.#context.schedule(), LIVE_PAUSE_MS);
  }

  async #readAndCompare(state, rev) {
    if (rev < 1) return { old: null, result: makeRefusal("first", "There is no revision before the first one.") };
    try {
      const old = await this.#context.source.stateAt(state.nav, rev, state.epoch);
      return { old, result: compare(old, state) };
    } catch (error) {
      return { old: null, result: refusalForError(error, rev) };
    }
  }

  #swapRevisions() {
    const { store } = this.#context;
    const { history, position } = this.#past;
    const shown = history?.at(position);
    if (shown && store.compareWith !== null) store.set({ at: store.compareWith, epoch: shown.epoch.startsWith("before ") ? null : shown.epoch, compareWith: shown.rev });
  }

  // --- Drawing ----------------------------------------------------------------------------------

  #drawDifference(state, old, rev, result, isPrevious) {
    updateAttribute(this.#root, "data-a", result.refused ? null : rev);
    updateAttribute(this.#root, "data-b", result.refused ? null : state.rev);
    if (result.refused) {
      const { reason, message, floor } = result.refused;
      this.#showInstead(el("p", { class: "refused", "data-part": "compare-refused", "data-reason": reason, "data-floor": floor }, bdi(message)));
      return;
    }
    this.#body.replaceChildren();
    updateAttribute(this.#stage, "data-compare", "");
    this.#drawings.draw(old, state);
    const title = isPrevious ? `Revision ${numberText(state.rev)} changed` : `From revision ${numberText(rev)} to ${numberText(state.rev)}`;
    const bar = result.shown.slice(0, MAXIMUM_MEMBERS);
    const facts = changedFacts(old, state);
    const changes = changeRows(result);
    const shown = changes.slice(0, drawableCount(changes, bar.length + facts.length));
    this.#body.replaceChildren(
      el("h2", {}, title),
      facts.length ? el("dl", { class: "fact-changes", "data-part": "compare-facts" }, ...facts.map(factElement)) : el("p", { "data-part": "compare-facts" }, "The device shows the same."),
      el("h3", {}, "Screens and parts"),
      el("p", { class: "faint" }, differenceSummary(result)),
      ...shown.map(({ make }) => make()),
      ...(changes.length > shown.length ? [el("p", { class: "faint" }, `${countedNoun(changes.length - shown.length, "more change")}: copy them as JSON.`)] : []),
      ...(bar.length ? [el("details", {}, el("summary", {}, "The bar as JSON"), el("dl", { class: "members", "data-part": "compare-shown" }, ...bar.map(memberElement)))] : []));
  }
}

function makeButton(part, text, title) {
  return /** @type {HTMLButtonElement} */ (el("button", { type: "button", class: "act", "data-part": part, title }, text));
}

function differenceSummary({ screens, parts, renewed, isEmpty }) {
  const words = [[screens.added, "added"], [screens.removed, "removed"], [screens.moved, "moved"], [screens.changed, "changed"]];
  const texts = words.filter(([list]) => list.length).map(([list, word]) => `${countedNoun(list.length, "screen")} ${word}`);
  if (parts.length) texts.push(countedNoun(parts.length, "part"));
  if (isEmpty) texts.push("Nothing differs in screens and parts");
  const versions = screens.renewed.length + renewed.length;
  if (versions) texts.push(`${countedNoun(versions, "new version")} of equal contents`);
  return texts.join(" · ");
}

/** How many changes the limit of elements permits to draw, since clients choose how many there are. */
function drawableCount(changes, others) {
  let room = MAXIMUM_PAGE_ELEMENTS - document.getElementsByTagName("*").length - ELEMENTS_PER_CHANGE * others;
  const fits = ({ members }) => (room -= ELEMENTS_PER_CHANGE * (1 + Math.min(members, MAXIMUM_MEMBERS))) >= 0;
  const first = changes.findIndex((change) => !fits(change));
  return Math.min(MAXIMUM_CHANGES, first < 0 ? changes.length : first);
}

/** Returns, for each change, a function that makes its element, and the number of its members. */
function changeRows({ screens, parts, presented }) {
  const place = (at) => `at ${at}`;
  const row = (change, id, text, more = {}) => ({ members: more.members?.length ?? 0, make: () => changeElement(change, id, text, more) });
  return [
    ...screens.added.map(({ id, at, record }) => row("added", id, place(at), { title: record.title })),
    ...screens.removed.map(({ id, at, record }) => row("removed", id, `was ${place(at)}`, { title: record.title })),
    ...screens.moved.map(({ id, from, to }) => row("moved", id, `${from} → ${to}`)),
    ...screens.changed.map(({ id, at, members }) => row("changed", id, place(at), { members })),
    ...presented.added.map(({ id, at, record }) => row("added", id, `presented ${place(at)}`, { title: record.screen.title, isPresented: true })),
    ...presented.removed.map(({ id, at, record }) => row("removed", id, `was presented ${place(at)}`, { title: record.screen.title, isPresented: true })),
    ...parts.map(({ part, members }) => row("part", part, PART_TITLES[part], part === "presented" ? presentedChanges(members, presented) : { members })),
  ];
}

/** The changes of the presented chain, by the ids of its screens. */
function presentedChanges(members, { moved, changed }) {
  const rest = members.filter(({ path }) => path[0] !== "chain");
  const each = changed.flatMap(({ id, members: own }) => own.map((member) => ({ ...member, path: ["chain", id, ...member.path] })));
  return { members: [...rest, ...each], text: moved.length ? `Moved: ${moved.map(({ id }) => id).join(", ")}` : "" };
}

/**
 * @param {string} change @param {string} id @param {string} place
 * @param {{title?: string, members?: any[], isPresented?: boolean, text?: string}} [more]
 */
function changeElement(change, id, place, more = {}) {
  const { title, members = [], isPresented = false, text = "" } = more;
  const shown = members.slice(0, MAXIMUM_MEMBERS);
  const names = [...new Set(members.map(({ path }) => path[0]))].sort();
  const data = { "data-change": change, "data-id": id, "data-presented": isPresented ? "true" : null, "data-members": names.join(" ") || null };
  return el("section", { class: "change", ...data },
    el("h3", {}, el("span", { class: "change-word" }, change), " ", bdi(id, { class: "id" }), " ", el("span", { class: "faint" }, place),
      ...(title === undefined ? [] : [" ", bdi(title, { class: "change-title" })])),
    ...(text ? [el("p", { class: "faint" }, bdi(text))] : []),
    ...(shown.length ? [el("dl", { class: "members" }, ...shown.map(memberElement))] : []),
    ...(members.length > shown.length ? [el("p", { class: "faint" }, countedNoun(members.length - shown.length, "more member"))] : []));
}

/** Makes the element of a changed member: path, old value and new value. */
function memberElement({ path, old, new: value }) {
  const side = (tag, part, side) => side === undefined
    ? el("span", { class: "none", "data-part": part }, "absent") : el(tag, { "data-part": part }, bdi(jsonText(side)));
  return el("div", { "data-member": path[0] ?? "value" },
    el("dt", {}, bdi(path.length ? path.join(" › ") : "value")), el("dd", {}, side("del", "before", old), " → ", side("ins", "after", value)));
}

/** Makes the element of a changed fact: its label, the old texts and the new ones. */
function factElement({ slot, label, old, new: next }) {
  const side = (part, texts) => el("span", { "data-part": part }, ...(texts.length ? texts.flatMap((text, at) => (at ? [" · ", bdi(text, { most: MAXIMUM_VALUE_LENGTH })] : [bdi(text, { most: MAXIMUM_VALUE_LENGTH })])) : [el("span", { class: "none" }, "none")]));
  return el("div", { "data-fact": slot }, el("dt", {}, label), el("dd", {}, side("was", old), " → ", side("is", next)));
}

function jsonText(value) {
  const text = JSON.stringify(value);
  return text.length > MAXIMUM_VALUE_LENGTH ? `${visibleText(text, MAXIMUM_VALUE_LENGTH)} (${numberText(text.length)} characters)` : text;
}
