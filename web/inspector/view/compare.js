// The difference of two revisions: screens, parts, and what the bar shows.

import { el } from "../../../demo/kiosk/dom.js";
import { compare, refusalOf, refuse } from "../compare.js";
import { bdi, count, counted, mark, visible, write } from "../text.js";

/** The most changes, and the most members of one, that are drawn; the copy has all. */
const MOST_CHANGES = 60;
const MOST_MEMBERS = 12;
const LONGEST = 160;
const PARTS = Object.freeze({
  bar: "Bar", toolbar: "Toolbar", presented: "Presented screens", transition: "Transition", environment: "Environment", settings: "Settings",
});

/** Compares the revision on the stage with another one. */
export class Compare {
  #context;
  #past;
  #with = /** @type {HTMLInputElement} */ (el("input", { type: "number", "data-part": "with", min: 0, step: 1, "aria-label": "Compare with revision", placeholder: "previous" }));
  #to = el("output", { "data-part": "compare-to" });
  #swap = button("compare-swap", "Swap", "Exchange the two revisions");
  #previous = button("compare-previous", "Previous", "Compare with the revision before");
  #copy = button("compare-copy", "JSON", "Copy the difference as JSON");
  #body = el("div", { class: "compare-body", "aria-live": "off" });
  #key = "";
  #isReading = false;
  #result = null;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context @param {import("../past.js").Past} past */
  constructor(root, context, past) {
    this.#context = context;
    this.#past = past;
    root.append(
      el("div", { class: "compare-head" }, el("label", {}, "From revision ", this.#with), el("span", {}, " to ", this.#to), this.#previous, this.#swap, this.#copy),
      this.#body);
    this.#with.addEventListener("change", () => {
      const text = this.#with.value.trim();
      context.store.set({ compareWith: text === "" ? null : Math.max(0, Math.floor(Number(text))) });
    });
    this.#previous.addEventListener("click", () => context.store.set({ compareWith: null }));
    this.#swap.addEventListener("click", () => this.#exchange());
    this.#copy.addEventListener("click", () => {
      if (this.#result) context.copy(JSON.stringify(this.#result, (_, value) => value === undefined ? null : value, 2), "JSON");
    });
  }

  /** @param {import("../shell.js").Model} model */
  update(model) {
    const { store } = this.#context;
    if (store.tab !== "compare") return;
    const { state } = model;
    const other = store.compareWith;
    if (document.activeElement !== this.#with) this.#with.value = other === null ? "" : String(other);
    write(this.#to, state ? count(state.rev) : "–");
    this.#swap.disabled = other === null || !state;
    mark(this.#previous, "aria-pressed", String(other === null));
    const key = state ? `${state.nav} ${state.epoch} ${state.rev} ${other} ${this.#past.history?.floor}` : "";
    if (key === this.#key || this.#isReading) return;
    this.#key = key;
    if (state) this.#compare(state, other ?? state.rev - 1, other === null);
    else this.#body.replaceChildren(el("p", { class: "empty" }, "There is no state to compare."));
  }

  /** While one comparison is under way, the newest choice waits. */
  async #compare(state, rev, isPrevious) {
    this.#isReading = true;
    const waiting = setTimeout(() => this.#body.replaceChildren(el("progress", { "aria-label": "Reading the other revision" })), 300);
    const result = await this.#find(state, rev);
    clearTimeout(waiting);
    this.#isReading = false;
    this.#result = result.refused ? null : result;
    this.#draw(state, rev, result, isPrevious);
    // Something else may have been chosen meanwhile.
    this.#context.schedule();
  }

  async #find(state, rev) {
    const { history } = this.#past;
    if (rev < 1) return refuse("first", "There is no revision before the first one.");
    try {
      const epochs = [rev, state.rev].map((each) => history?.positionOf(each, each === state.rev ? state.epoch : null) ?? -1);
      if (epochs[0] >= 0 && epochs[1] >= 0 && history.isAcross(epochs[0], epochs[1])) {
        const [old, next] = epochs.map((position) => history.at(position).epoch);
        return compare({ ...state, rev, epoch: old }, { ...state, epoch: next });
      }
      const old = await this.#context.source.stateAt(state.nav, rev, state.epoch);
      return compare(old, state);
    } catch (error) {
      return refusalOf(error, rev);
    }
  }

  #exchange() {
    const { store } = this.#context;
    const { history, position } = this.#past;
    const shown = history?.at(position);
    if (shown && store.compareWith !== null) store.set({ at: store.compareWith, compareWith: shown.rev });
  }

  // --- Drawing ----------------------------------------------------------------------------------

  #draw(state, rev, result, isPrevious) {
    if (result.refused) {
      const { reason, message, floor } = result.refused;
      this.#body.replaceChildren(el("p", { class: "refused", "data-part": "compare-refused", "data-reason": reason, "data-floor": floor }, bdi(message)));
      return;
    }
    const title = isPrevious ? `Revision ${count(state.rev)} changed` : `From revision ${count(rev)} to ${count(state.rev)}`;
    const changes = rowsOf(result);
    const shown = changes.slice(0, MOST_CHANGES);
    const bar = result.shown.slice(0, MOST_MEMBERS);
    this.#body.replaceChildren(
      el("h2", {}, title),
      el("p", { class: "faint" }, result.isEmpty ? "Nothing differs in screens and parts." : summaryOf(result)),
      ...shown.map((make) => make()),
      ...(changes.length > shown.length ? [el("p", { class: "faint" }, `${counted(changes.length - shown.length, "more change")}: copy them as JSON.`)] : []),
      ...(bar.length ? [el("h3", {}, "What the bar shows"), el("dl", { class: "members", "data-part": "compare-shown" }, ...bar.flatMap(memberOf))] : []));
  }
}

function button(part, text, title) {
  return /** @type {HTMLButtonElement} */ (el("button", { type: "button", class: "act", "data-part": part, title }, text));
}

function summaryOf({ screens, parts }) {
  const words = [[screens.added, "added"], [screens.removed, "removed"], [screens.moved, "moved"], [screens.changed, "changed"]];
  const texts = words.filter(([list]) => list.length).map(([list, word]) => `${counted(list.length, "screen")} ${word}`);
  if (parts.length) texts.push(counted(parts.length, "part"));
  return texts.join(" · ");
}

/** A function for each change that makes its element. */
function rowsOf({ screens, parts, presented }) {
  const place = (at) => `at ${at}`;
  return [
    ...screens.added.map(({ id, at, record }) => () => rowOf("added", id, place(at), record.title)),
    ...screens.removed.map(({ id, at, record }) => () => rowOf("removed", id, `was ${place(at)}`, record.title)),
    ...screens.moved.map(({ id, from, to }) => () => rowOf("moved", id, `${from} → ${to}`)),
    ...screens.changed.map(({ id, at, members }) => () => rowOf("changed", id, place(at), undefined, members)),
    ...parts.map(({ part, members }) => () => part === "presented"
      ? rowOf("part", part, PARTS[part], undefined, members.filter(({ path }) => path[0] !== "chain"), chainOf(presented))
      : rowOf("part", part, PARTS[part], undefined, members)),
  ];
}

function rowOf(change, id, place, title, members = [], more = []) {
  const shown = members.slice(0, MOST_MEMBERS);
  return el("section", { class: "change", "data-change": change, "data-id": id },
    el("h3", {}, el("span", { class: "change-word" }, change), " ", bdi(id, { class: "id" }), " ", el("span", { class: "faint" }, place),
      ...(title === undefined ? [] : [" ", bdi(title, { class: "change-title" })])),
    ...more,
    ...(shown.length ? [el("dl", { class: "members" }, ...shown.flatMap(memberOf))] : []),
    ...(members.length > shown.length ? [el("p", { class: "faint" }, counted(members.length - shown.length, "more member"))] : []));
}

/** A member: its path, the old value, and the new one. */
function memberOf({ path, old, new: value }) {
  const isVersion = path.length === 1 && path[0] === "ver";
  return [
    el("dt", { "data-member": path.join("."), class: isVersion ? "faint" : null }, bdi(path.length ? path.join(" › ") : "value")),
    el("dd", { class: isVersion ? "faint" : null },
      old === undefined ? el("span", { class: "none" }, "absent") : el("del", { "data-old": "" }, bdi(textOf(old))), " → ",
      value === undefined ? el("span", { class: "none" }, "absent") : el("ins", { "data-new": "" }, bdi(textOf(value)))),
  ];
}

function chainOf({ added, removed, moved, changed }) {
  const rows = [
    ...added.map(({ id }) => ["presented", id]), ...removed.map(({ id }) => ["dismissed", id]), ...moved.map(({ id }) => ["moved", id]),
    ...changed.map(({ id, members }) => ["changed", id, members]),
  ].slice(0, MOST_MEMBERS);
  return rows.map(([word, id, members]) => el("div", { class: "chain", "data-presented": word }, `${word} `, bdi(id, { class: "id" }),
    ...(members ? [el("dl", { class: "members" }, ...members.slice(0, MOST_MEMBERS).flatMap(memberOf))] : [])));
}

function textOf(value) {
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${visible(text, LONGEST)} (${count(text.length)} characters)` : text;
}
