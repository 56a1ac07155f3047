// The difference of two revisions: both drawings on the stage, what a person sees that differs, then screens, parts and the bar as JSON.

import { el } from "../../view/dom.js";
import { compare, refusalOf, refuse } from "../compare.js";
import { changedFacts } from "../facts.js";
import { bdi, count, counted, mark, visible, write } from "../text.js";
import { Pair } from "./pair.js";

/** The elements that a page may have when the list is drawn. A change has some 8 and each of its members as many. */
const MOST_ELEMENTS = 1400;
const ELEMENTS_OF_ONE = 8;
/** The most changes, and the most members of one, that are drawn; the copy has all. */
const MOST_CHANGES = 60;
const MOST_MEMBERS = 12;
const LONGEST = 160;
const PARTS = Object.freeze({
  bar: "Bar", toolbar: "Toolbar", presented: "Presented screens", transition: "Transition", environment: "Environment", settings: "Settings",
});

/** How long a comparison in live stands before the next is read. */
const REST_MS = 400;

/** Compares the revision on the stage with another one. */
export class Compare {
  #root;
  #stage = /** @type {HTMLElement} */ (document.querySelector("[data-view=stage]"));
  #context;
  #past;
  #with = /** @type {HTMLInputElement} */ (el("input", {
    type: "number", "data-part": "with", min: 0, step: 1, "aria-label": "Compare with revision", placeholder: "previous" }));
  #to = el("output", { "data-part": "compare-to" });
  #swap = button("compare-swap", "Swap", "Exchange the two revisions");
  #previous = button("compare-previous", "Previous", "Compare with the revision before");
  #copy = button("compare-copy", "JSON", "Copy the difference as JSON");
  #pair = new Pair();
  #body = el("div", { class: "compare-body", "aria-live": "off" });
  #key = "";
  #restUntil = 0;
  #isReading = false;
  #result = null;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context @param {import("../past.js").Past} past */
  constructor(root, context, past) {
    this.#root = root;
    this.#context = context;
    this.#past = past;
    root.append(
      el("div", { class: "compare-head" }, el("label", {}, "From revision ", this.#with), el("span", {}, " to ", this.#to), this.#previous, this.#swap, this.#copy),
      this.#body);
    // The stage has the room in which a drawing can be read.
    this.#stage.append(this.#pair.root);
    this.#with.addEventListener("change", () => {
      const text = this.#with.value.trim();
      context.store.set({ compareWith: text === "" ? null : Math.max(0, Math.floor(Number(text))) });
    });
    this.#previous.addEventListener("click", () => context.store.set({ compareWith: null }));
    this.#swap.addEventListener("click", () => this.#exchange());
    this.#copy.addEventListener("click", () => {
      if (this.#result) context.copy(JSON.stringify(this.#result, (_, value) => value === undefined ? null : value, 2), "JSON", this.#copy);
    });
  }

  /** @param {import("../shell.js").Model} model */
  update(model) {
    const { store } = this.#context;
    mark(this.#stage, "data-compare", store.tab === "compare" && this.#pair.isShown ? "" : null);
    if (store.tab !== "compare") return;
    const { state } = model;
    const other = store.compareWith;
    if (document.activeElement !== this.#with) this.#with.value = other === null ? "" : String(other);
    write(this.#to, state ? count(state.rev) : "–");
    this.#swap.disabled = other === null || !state;
    mark(this.#previous, "aria-pressed", String(other === null));
    const key = state ? `${state.nav} ${state.epoch} ${state.rev} ${other} ${this.#past.history?.floor}` : "none";
    if (key === this.#key || this.#isReading || performance.now() < this.#restUntil) return;
    this.#key = key;
    if (state) this.#compare(state, other ?? state.rev - 1, other === null);
    else this.#show(el("p", { class: "empty" }, "There is no state to compare. Choose a nav and a revision: what differs from the one before stands here."));
  }

  /** Shows a text in place of a comparison. */
  #show(element) {
    this.#pair.hide();
    this.#body.replaceChildren(element);
  }

  /** While one comparison is under way, the newest choice waits. */
  async #compare(state, rev, isPrevious) {
    const { store } = this.#context;
    this.#isReading = true;
    const waiting = setTimeout(() => this.#show(el("progress", { "aria-label": "Reading the other revision" })), 300);
    const { old, result } = await this.#find(state, rev);
    clearTimeout(waiting);
    this.#isReading = false;
    // A busy nav that is compared live would be read without a pause.
    if (store.at === null) this.#rest();
    this.#result = result.refused ? null : result;
    // A drawing measures its texts, so it waits until it is in sight.
    if (store.tab === "compare") this.#draw(state, old, rev, result, isPrevious);
    else this.#forget();
    // Something else may have been chosen meanwhile.
    this.#context.schedule();
  }

  /** Lets the next update compare again; the source keeps what was read. */
  #forget() {
    this.#key = "";
    this.#show(el("p", { class: "empty" }));
  }

  #rest() {
    this.#restUntil = performance.now() + REST_MS;
    setTimeout(() => this.#context.schedule(), REST_MS);
  }

  async #find(state, rev) {
    if (rev < 1) return { old: null, result: refuse("first", "There is no revision before the first one.") };
    try {
      const old = await this.#context.source.stateAt(state.nav, rev, state.epoch);
      return { old, result: compare(old, state) };
    } catch (error) {
      return { old: null, result: refusalOf(error, rev) };
    }
  }

  #exchange() {
    const { store } = this.#context;
    const { history, position } = this.#past;
    const shown = history?.at(position);
    if (shown && store.compareWith !== null) store.set({ at: store.compareWith, epoch: shown.epoch.startsWith("before ") ? null : shown.epoch, compareWith: shown.rev });
  }

  // --- Drawing ----------------------------------------------------------------------------------

  #draw(state, old, rev, result, isPrevious) {
    mark(this.#root, "data-a", result.refused ? null : rev);
    mark(this.#root, "data-b", result.refused ? null : state.rev);
    if (result.refused) {
      const { reason, message, floor } = result.refused;
      this.#show(el("p", { class: "refused", "data-part": "compare-refused", "data-reason": reason, "data-floor": floor }, bdi(message)));
      return;
    }
    this.#body.replaceChildren();
    mark(this.#stage, "data-compare", "");
    this.#pair.draw(old, state);
    const title = isPrevious ? `Revision ${count(state.rev)} changed` : `From revision ${count(rev)} to ${count(state.rev)}`;
    const bar = result.shown.slice(0, MOST_MEMBERS);
    const facts = changedFacts(old, state);
    const changes = rowsOf(result);
    const shown = changes.slice(0, roomFor(changes, bar.length + facts.length));
    this.#body.replaceChildren(
      el("h2", {}, title),
      facts.length ? el("dl", { class: "fact-changes", "data-part": "compare-facts" }, ...facts.map(factOf)) : el("p", { "data-part": "compare-facts" }, "The device shows the same."),
      el("h3", {}, "Screens and parts"),
      el("p", { class: "faint" }, summaryOf(result)),
      ...shown.map(({ make }) => make()),
      ...(changes.length > shown.length ? [el("p", { class: "faint" }, `${counted(changes.length - shown.length, "more change")}: copy them as JSON.`)] : []),
      ...(bar.length ? [el("details", {}, el("summary", {}, "The bar as JSON"), el("dl", { class: "members", "data-part": "compare-shown" }, ...bar.map(memberOf)))] : []));
  }
}

function button(part, text, title) {
  return /** @type {HTMLButtonElement} */ (el("button", { type: "button", class: "act", "data-part": part, title }, text));
}

function summaryOf({ screens, parts, renewed, isEmpty }) {
  const words = [[screens.added, "added"], [screens.removed, "removed"], [screens.moved, "moved"], [screens.changed, "changed"]];
  const texts = words.filter(([list]) => list.length).map(([list, word]) => `${counted(list.length, "screen")} ${word}`);
  if (parts.length) texts.push(counted(parts.length, "part"));
  if (isEmpty) texts.push("Nothing differs in screens and parts");
  const versions = screens.renewed.length + renewed.length;
  if (versions) texts.push(`${counted(versions, "new version")} of equal contents`);
  return texts.join(" · ");
}

/** How many changes there is room for: clients choose how many there are, and the page stays small. */
function roomFor(changes, others) {
  let room = MOST_ELEMENTS - document.getElementsByTagName("*").length - ELEMENTS_OF_ONE * others;
  const fits = ({ members }) => (room -= ELEMENTS_OF_ONE * (1 + Math.min(members, MOST_MEMBERS))) >= 0;
  const first = changes.findIndex((change) => !fits(change));
  return Math.min(MOST_CHANGES, first < 0 ? changes.length : first);
}

/** A function for each change that makes its element, with the number of its members. */
function rowsOf({ screens, parts, presented }) {
  const place = (at) => `at ${at}`;
  const row = (change, id, text, more = {}) => ({ members: more.members?.length ?? 0, make: () => rowOf(change, id, text, more) });
  return [
    ...screens.added.map(({ id, at, record }) => row("added", id, place(at), { title: record.title })),
    ...screens.removed.map(({ id, at, record }) => row("removed", id, `was ${place(at)}`, { title: record.title })),
    ...screens.moved.map(({ id, from, to }) => row("moved", id, `${from} → ${to}`)),
    ...screens.changed.map(({ id, at, members }) => row("changed", id, place(at), { members })),
    ...presented.added.map(({ id, at, record }) => row("added", id, `presented ${place(at)}`, { title: record.screen.title, isPresented: true })),
    ...presented.removed.map(({ id, at, record }) => row("removed", id, `was presented ${place(at)}`, { title: record.screen.title, isPresented: true })),
    ...parts.map(({ part, members }) => row("part", part, PARTS[part], part === "presented" ? chainOf(members, presented) : { members })),
  ];
}

/** The chain is shown by its screens. */
function chainOf(members, { moved, changed }) {
  const rest = members.filter(({ path }) => path[0] !== "chain");
  const each = changed.flatMap(({ id, members: own }) => own.map((member) => ({ ...member, path: ["chain", id, ...member.path] })));
  return { members: [...rest, ...each], text: moved.length ? `Moved: ${moved.map(({ id }) => id).join(", ")}` : "" };
}

/**
 * @param {string} change @param {string} id @param {string} place
 * @param {{title?: string, members?: any[], isPresented?: boolean, text?: string}} [more]
 */
function rowOf(change, id, place, more = {}) {
  const { title, members = [], isPresented = false, text = "" } = more;
  const shown = members.slice(0, MOST_MEMBERS);
  const names = [...new Set(members.map(({ path }) => path[0]))].sort();
  const data = { "data-change": change, "data-id": id, "data-presented": isPresented ? "true" : null, "data-members": names.join(" ") || null };
  return el("section", { class: "change", ...data },
    el("h3", {}, el("span", { class: "change-word" }, change), " ", bdi(id, { class: "id" }), " ", el("span", { class: "faint" }, place),
      ...(title === undefined ? [] : [" ", bdi(title, { class: "change-title" })])),
    ...(text ? [el("p", { class: "faint" }, bdi(text))] : []),
    ...(shown.length ? [el("dl", { class: "members" }, ...shown.map(memberOf))] : []),
    ...(members.length > shown.length ? [el("p", { class: "faint" }, counted(members.length - shown.length, "more member"))] : []));
}

/** A member: its path, the old value, and the new one. */
function memberOf({ path, old, new: value }) {
  const side = (tag, part, side) => side === undefined
    ? el("span", { class: "none", "data-part": part }, "absent") : el(tag, { "data-part": part }, bdi(textOf(side)));
  return el("div", { "data-member": path[0] ?? "value" },
    el("dt", {}, bdi(path.length ? path.join(" › ") : "value")), el("dd", {}, side("del", "before", old), " → ", side("ins", "after", value)));
}

/** A fact as a person reads it: its name, what it was, and what it is. */
function factOf({ slot, label, old, new: next }) {
  const side = (part, texts) => el("span", { "data-part": part }, ...(texts.length ? texts.flatMap((text, at) => (at ? [" · ", bdi(text, { most: LONGEST })] : [bdi(text, { most: LONGEST })])) : [el("span", { class: "none" }, "none")]));
  return el("div", { "data-fact": slot }, el("dt", {}, label), el("dd", {}, side("was", old), " → ", side("is", next)));
}

function textOf(value) {
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${visible(text, LONGEST)} (${count(text.length)} characters)` : text;
}
