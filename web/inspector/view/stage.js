// The stage: the chosen nav as on the device, its slots as text, and its stack.

import { el } from "../../view/dom.js";
import { Deadline } from "../deadline.js";
import { factsOf } from "../facts.js";
import { Rows } from "../rows.js";
import { bdi, counted, explain, mark, visible, write } from "../text.js";
import { Drawing } from "./drawing.js";

/** How often the time that remains of a deadline is drawn, in milliseconds. */
const TICK_MS = 250;
const MOST_RECORD = 6000;
/** The texts of one slot, and the length of each. */
const MOST_VALUES = 24;
const MOST_TEXT = 4000;
const UNSEEN_IN_JSON = /[\p{Cf}\u2028\u2029\u0080-\u009f]/gu;

/** Draws the state on the stage. */
export class Stage {
  #root;
  #context;
  #drawing = new Drawing("Drawing of the device");
  #facts = el("dl", { class: "facts", "data-part": "facts" });
  #values = new Map();
  #stack;
  #record = el("pre", { class: "record", "data-part": "record", tabindex: "0", "aria-label": "The chosen screen as JSON" });
  #recordTitle = el("h3", {});
  #notice = el("p", { class: "empty", "data-part": "stage-notice" });
  #nav = null;
  #drawn = null;
  #isPast = false;
  #progress = null;
  #deadline = new Deadline();
  #tick = 0;
  #picked = null;
  #screens = [];
  #reduced = matchMedia("(prefers-reduced-motion: reduce)");

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#root = root;
    this.#context = context;
    const list = el("div", { class: "stack-list pool", "data-part": "screens", role: "list", "aria-label": "The stack, top first", tabindex: "-1" });
    this.#stack = new Rows(list, { make: () => makeScreen((index) => this.#pick(index)), fill: (row, index) => this.#fillScreen(row, index), most: 40, keyOf: (index) => this.#screens[index].screen.id });
    root.append(
      this.#drawing.root, el(
        "div", { class: "about" }, this.#notice, el("h2", { class: "unseen" }, "What the device shows"), this.#facts,
        el("h3", { "data-part": "stack-title" }, "Stack"), list, this.#recordTitle, this.#record));
  }

  /** @param {import("../shell.js").Model} model */
  update(model) {
    const { state, arrivals } = model;
    const { nav, at } = this.#context.store;
    if (nav !== this.#nav) this.#forget(nav);
    const events = at === null ? arrivals.flatMap((each) => each.ev) : [];
    for (const { transitionProgress, transitionBegan } of events) {
      if (transitionProgress) this.#progress = transitionProgress.value;
      if (transitionBegan) this.#progress = null;
    }
    this.#explain(model);
    this.#deadline.take(arrivals);
    if (!state) return;
    // A recording is of the past, whatever was chosen in it.
    const isPast = at !== null || this.#context.source.kind === "recording";
    if (!isPast) this.#countDown(state);
    if (state === this.#drawn && isPast === this.#isPast) return;
    // The first layout of the device and the first drawing in it took 60 ms in one frame.
    const isFirst = state.bar && this.#drawing.prepare();
    if (isFirst) this.#context.schedule();
    else this.#drawn = state;
    // Travel shows states, not ways between them.
    if (state.bar && !isFirst) this.#drawing.draw(state, { events, isPast, isStill: isPast || this.#reduced.matches });
    this.#isPast = isPast;
    this.#drawFacts(state, isPast ? null : this.#deadline.left(state, this.#context));
    this.#drawStack(state);
  }

  /** Draws the time that remains while something moves. */
  #countDown(state) {
    const left = this.#deadline.left(state, this.#context);
    if (left === null) return;
    if (state === this.#drawn) this.#drawFacts(state, left);
    this.#tick ||= setTimeout(() => {
      this.#tick = 0;
      this.#context.schedule();
    }, TICK_MS);
  }

  #forget(nav) {
    this.#nav = nav;
    this.#drawn = this.#picked = this.#progress = null;
    this.#drawing.clear();
  }

  #explain({ state, error, isClosed, rows }) {
    const { nav } = this.#context.store;
    const wait = rows && !rows.length ? "There is no nav yet. Make one with “navctl create NAV --root home”." : nav === null ? "Choose a nav." : "Reading…";
    const text = error?.["code"] === "no-nav" ? `There is no nav “${visible(nav ?? "", 80)}”. Choose one from the list. This page shows that one as soon as it is made.` : error ? explain(error) : isClosed ? "This nav was closed. This is its last state." : state ? "" : wait;
    write(this.#notice, text);
    this.#notice.hidden = text === "";
    mark(this.#root, "data-empty", state ? null : "");
    // What is shown no longer holds if it could not be read.
    this.#drawing.root.hidden = state === null;
  }

  // --- Facts ------------------------------------------------------------------------------------

  #drawFacts(state, left) {
    for (const { slot, label, values } of factsOf(state, this.#progress, left)) {
      let place = this.#values.get(slot);
      if (!place) {
        place = { value: el("dd"), text: null };
        this.#values.set(slot, place);
        this.#facts.append(el("div", {}, el("dt", {}, label), place.value));
      }
      const text = JSON.stringify(values);
      if (text === place.text) continue;
      place.text = text;
      place.value.replaceChildren(...values.slice(0, MOST_VALUES).map(({ text: value, button, screen, phase }) => (
        el("span", { "data-slot-name": slot, "data-button": button, "data-screen": screen, "data-phase": phase }, bdi(value, { most: MOST_TEXT })))),
      ...(values.length > MOST_VALUES ? [`and ${values.length - MOST_VALUES} more`] : []));
      place.value.parentElement.hidden = values.length === 0;
    }
  }

  // --- The stack --------------------------------------------------------------------------------

  #drawStack(state) {
    this.#screens = [
      ...state.presented.map((entry) => ({ screen: entry.screen, over: true })), ...state.screens.map((screen) => ({ screen, over: false })),
    ].reverse();
    if (state.presented.length) {
      const over = this.#screens.filter((each) => each.over);
      this.#screens = [...over, ...this.#screens.filter((each) => !each.over)];
    }
    write(this.#root.querySelector("[data-part=stack-title]"), `Stack · ${counted(state.screens.length, "screen")}${state.presented.length ? `, ${state.presented.length} presented` : ""}`);
    this.#stack.update(this.#screens.length);
    this.#drawRecord();
  }

  #pick(index) {
    this.#picked = this.#screens[index]?.screen.id ?? null;
    this.#stack.draw();
    this.#drawRecord();
  }

  #shownRecord() {
    return this.#screens.find(({ screen }) => screen.id === this.#picked)?.screen ?? this.#screens[0]?.screen ?? null;
  }

  #drawRecord() {
    const record = this.#shownRecord();
    write(this.#recordTitle, record ? `Record · ${visible(record.id, 60)}` : "Record");
    const text = record ? JSON.stringify(record, null, 2) : "";
    const cut = text.length > MOST_RECORD ? `${text.slice(0, MOST_RECORD)}\n… ${text.length - MOST_RECORD} more` : text;
    write(this.#record, cut.replace(UNSEEN_IN_JSON, (one) => `\\u{${one.codePointAt(0).toString(16)}}`));
  }

  #fillScreen(row, index) {
    const { screen, over } = this.#screens[index];
    const [title, id, ver] = row.firstChild.children;
    write(title, visible(screen.title ?? screen.item?.title ?? "", 80) || "(no title)");
    write(id, visible(screen.id, 60));
    write(ver, `rev ${screen.ver}`);
    mark(row, "aria-setsize", this.#screens.length);
    mark(row, "aria-posinset", index + 1);
    mark(row, "data-id", screen.id);
    mark(row, "data-over", over ? "" : null);
    mark(row.firstChild, "aria-pressed", String(screen === this.#shownRecord()));
  }
}

function makeScreen(pick) {
  const row = el(
    "div", { role: "listitem", class: "stack-row" },
    el("button", { type: "button" }, el("bdi", { class: "stack-title" }), el("bdi", { class: "id" }), el("span", { class: "faint", title: "The revision that changed this screen last" })));
  row.addEventListener("click", () => pick(Number(row.dataset.index)));
  return row;
}
