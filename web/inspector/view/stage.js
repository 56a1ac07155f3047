// The stage: the chosen nav as on the device, its slots as text, and its stack.

import { el } from "../../view/dom.js";
import { TransitionDeadline } from "../deadline.js";
import { displayFacts } from "../facts.js";
import { PooledRows } from "../rows.js";
import { bdi, countedNoun, errorText, updateAttribute, visibleText, writeText } from "../text.js";
import { DeviceDrawing } from "./drawing.js";

/** How often the stage redraws the remaining time of a transition, in milliseconds. */
const COUNTDOWN_MS = 250;
const MAXIMUM_RECORD_LENGTH = 6000;
/** The maximum of texts for one slot, and of characters in each. */
const MAXIMUM_FACT_VALUES = 24;
const MAXIMUM_FACT_LENGTH = 4000;
const INVISIBLE_IN_JSON = /[\p{Cf}\u2028\u2029\u0080-\u009f]/gu;

/** The stage: draws the state of the chosen nav as a device, as texts and as a stack. */
export class StagePanel {
  #root;
  #context;
  #drawing = new DeviceDrawing("Drawing of the device");
  #facts = el("dl", { class: "facts", "data-part": "facts" });
  #factPlaces = new Map();
  #stackRows;
  #recordElement = el("pre", { class: "record", "data-part": "record", tabindex: "0", "aria-label": "The chosen screen as JSON" });
  #recordTitle = el("h3", {});
  #notice = el("p", { class: "empty", "data-part": "stage-notice" });
  #nav = null;
  #drawnState = null;
  #isPast = false;
  #gestureProgress = null;
  #transitionDeadline = new TransitionDeadline();
  #countDownTimer = 0;
  #pickedScreenID = null;
  #screens = [];
  #reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#root = root;
    this.#context = context;
    const list = el("div", { class: "stack-list pool", "data-part": "screens", role: "list", "aria-label": "The stack, top first", tabindex: "-1" });
    this.#stackRows = new PooledRows(list, { make: () => makeScreenRow((index) => this.#pickScreen(index)), fill: (row, index) => this.#fillScreen(row, index), most: 40, keyOf: (index) => this.#screens[index].screen.id });
    root.append(
      this.#drawing.root, el(
        "div", { class: "about" }, this.#notice, el("h2", { class: "unseen" }, "What the device shows"), this.#facts,
        el("h3", { "data-part": "stack-title" }, "Stack"), list, this.#recordTitle, this.#recordElement));
  }

  /** @param {import("../shell.js").Model} model */
  update(model) {
    const { state, arrivals } = model;
    const { nav, at } = this.#context.store;
    if (nav !== this.#nav) this.#reset(nav);
    const events = at === null ? arrivals.flatMap((each) => each.ev) : [];
    for (const { transitionProgress, transitionBegan } of events) {
      if (transitionProgress) this.#gestureProgress = transitionProgress.value;
      if (transitionBegan) this.#gestureProgress = null;
    }
    this.#showNotice(model);
    this.#transitionDeadline.noteStates(arrivals);
    if (!state) return;
    // A recording is of the past, whatever was chosen in it.
    const isPast = at !== null || this.#context.source.kind === "recording";
    if (!isPast) this.#countDown(state);
    if (state === this.#drawnState && isPast === this.#isPast) return;
    // The first layout of the device and the first drawing in it took 60 ms in one frame.
    const isFirst = state.bar && this.#drawing.makeIfMissing();
    if (isFirst) this.#context.schedule();
    else this.#drawnState = state;
    // Travel shows states, not ways between them.
    if (state.bar && !isFirst) this.#drawing.draw(state, { events, isPast, isStill: isPast || this.#reducedMotion.matches });
    this.#isPast = isPast;
    this.#drawFacts(state, isPast ? null : this.#transitionDeadline.millisecondsLeft(state, this.#context));
    this.#drawStack(state);
  }

  /** Redraws the remaining time while a transition is open. */
  #countDown(state) {
    const left = this.#transitionDeadline.millisecondsLeft(state, this.#context);
    if (left === null) return;
    if (state === this.#drawnState) this.#drawFacts(state, left);
    this.#countDownTimer ||= setTimeout(() => {
      this.#countDownTimer = 0;
      this.#context.schedule();
    }, COUNTDOWN_MS);
  }

  #reset(nav) {
    this.#nav = nav;
    this.#drawnState = this.#pickedScreenID = this.#gestureProgress = null;
    this.#drawing.clear();
  }

  #showNotice({ state, error, isClosed, rows }) {
    const { nav } = this.#context.store;
    const wait = rows && !rows.length ? "There is no nav yet. Make one with “navctl create NAV --root home”." : nav === null ? "Choose a nav." : "Reading…";
    const text = error?.["code"] === "no-nav" ? `There is no nav “${visibleText(nav ?? "", 80)}”. Choose one from the list. This page shows that one as soon as it is made.` : error ? errorText(error) : isClosed ? "This nav was closed. This is its last state." : state ? "" : wait;
    writeText(this.#notice, text);
    this.#notice.hidden = text === "";
    updateAttribute(this.#root, "data-empty", state ? null : "");
    // What is shown no longer holds if it could not be read.
    this.#drawing.root.hidden = state === null;
  }

  // --- Facts ------------------------------------------------------------------------------------

  #drawFacts(state, left) {
    for (const { slot, label, values } of displayFacts(state, this.#gestureProgress, left)) {
      let place = this.#factPlaces.get(slot);
      if (!place) {
        place = { value: el("dd"), text: null };
        this.#factPlaces.set(slot, place);
        this.#facts.append(el("div", {}, el("dt", {}, label), place.value));
      }
      const text = JSON.stringify(values);
      if (text === place.text) continue;
      place.text = text;
      place.value.replaceChildren(...values.slice(0, MAXIMUM_FACT_VALUES).map(({ text: value, button, screen, phase }) => (
        el("span", { "data-slot-name": slot, "data-button": button, "data-screen": screen, "data-phase": phase }, bdi(value, { most: MAXIMUM_FACT_LENGTH })))),
      ...(values.length > MAXIMUM_FACT_VALUES ? [`and ${values.length - MAXIMUM_FACT_VALUES} more`] : []));
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
    writeText(this.#root.querySelector("[data-part=stack-title]"), `Stack · ${countedNoun(state.screens.length, "screen")}${state.presented.length ? `, ${state.presented.length} presented` : ""}`);
    this.#stackRows.update(this.#screens.length);
    this.#drawRecord();
  }

  #pickScreen(index) {
    this.#pickedScreenID = this.#screens[index]?.screen.id ?? null;
    this.#stackRows.draw();
    this.#drawRecord();
  }

  #shownRecord() {
    return this.#screens.find(({ screen }) => screen.id === this.#pickedScreenID)?.screen ?? this.#screens[0]?.screen ?? null;
  }

  #drawRecord() {
    const record = this.#shownRecord();
    writeText(this.#recordTitle, record ? `Record · ${visibleText(record.id, 60)}` : "Record");
    const text = record ? JSON.stringify(record, null, 2) : "";
    const cut = text.length > MAXIMUM_RECORD_LENGTH ? `${text.slice(0, MAXIMUM_RECORD_LENGTH)}\n… ${text.length - MAXIMUM_RECORD_LENGTH} more` : text;
    writeText(this.#recordElement, cut.replace(INVISIBLE_IN_JSON, (one) => `\\u{${one.codePointAt(0).toString(16)}}`));
  }

  #fillScreen(row, index) {
    const { screen, over } = this.#screens[index];
    const [title, id, ver] = row.firstChild.children;
    writeText(title, visibleText(screen.title ?? screen.item?.title ?? "", 80) || "(no title)");
    writeText(id, visibleText(screen.id, 60));
    writeText(ver, `rev ${screen.ver}`);
    updateAttribute(row, "aria-setsize", this.#screens.length);
    updateAttribute(row, "aria-posinset", index + 1);
    updateAttribute(row, "data-id", screen.id);
    updateAttribute(row, "data-over", over ? "" : null);
    updateAttribute(row.firstChild, "aria-pressed", String(screen === this.#shownRecord()));
  }
}

function makeScreenRow(pick) {
  const row = el(
    "div", { role: "listitem", class: "stack-row" },
    el("button", { type: "button" }, el("bdi", { class: "stack-title" }), el("bdi", { class: "id" }), el("span", { class: "faint", title: "The revision that changed this screen last" })));
  row.addEventListener("click", () => pick(Number(row.dataset.index)));
  return row;
}
