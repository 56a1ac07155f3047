// Beside the device: the connection, the display, another window, and a log of the last changes.

import { el, bdiText } from "./view/dom.js";
import { authorName, chainOf } from "./view/model.js";
import { whatHappened } from "./words.js";

const KEPT = 60;
const LATER = 50;
const TITLES = 256;
const STATUS = {
  connecting: "Connecting…", connected: "Connected", disconnected: "Connection lost. Taps do nothing until it is back.",
  waiting: "Four other windows of this browser are connected. Close one.", unauthorized: "The session has ended. Open a new link.", closed: "Closed",
};
const BRIEF = { connecting: "Connecting", connected: "Connected", waiting: "Waiting", closed: "Closed" };

/** What is said about the connection and the rights. */
export function statusText({ status, canWrite, holds, owner }) {
  if (status !== "connected") return STATUS[status] ?? status;
  if (canWrite === false) return "Connected, viewing only";
  if (holds) return "Connected, driving the display";
  return owner ? "Connected. Another window drives the display." : "Connected";
}

export class Panel {
  #root;
  #log;
  #newest = null;
  #titles = new Map();
  #rev = 0;
  #waiting = [];

  constructor(root, { openWindow }) {
    this.#root = root;
    this.#log = root.querySelector("[data-part=log]");
    root.querySelector("[data-part=open]").addEventListener("click", openWindow);
    const drawer = document.querySelector("[data-part=drawer]");
    drawer.addEventListener("click", () => this.toggle());
    root.querySelector("[data-part=close]").addEventListener("click", () => this.toggle(false));
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.toggle(false);
    });
  }

  /** On narrow windows the panel is a drawer over the device. */
  toggle(isOpen = !this.#root.classList.contains("open")) {
    if (this.#root.classList.contains("open") === isOpen) return;
    this.#root.classList.toggle("open", isOpen);
    const drawer = document.querySelector("[data-part=drawer]");
    drawer.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.#root.querySelector("[data-part=close]").focus();
    else drawer.focus();
  }

  show({ status, canWrite, holds, owner, rev, nav }) {
    const text = statusText({ status, canWrite, holds, owner });
    const place = this.#root.querySelector("[data-part=status]");
    if (place.textContent !== text) place.textContent = text;
    const brief = document.querySelector("[data-part=brief]");
    const short = status === "connected" && canWrite === false ? "Viewing" : BRIEF[status] ?? "Offline";
    if (brief.textContent !== short) brief.textContent = short;
    document.documentElement.dataset.status = status;
    document.documentElement.dataset.rights = canWrite === null ? "unknown" : canWrite ? "write" : "read";
    document.documentElement.dataset.display = holds ? "mine" : owner ? "other" : "free";
    this.#root.querySelector("[data-part=where]").replaceChildren(bdiText(nav), rev === undefined ? "" : `, revision ${rev}`);
    const banner = document.querySelector("[data-part=banner]");
    const isOld = !["connected", "connecting"].includes(status);
    banner.hidden = !isOld;
    if (banner.textContent !== text) banner.textContent = isOld ? text : "";
  }

  /** Somebody pressed something while navd cannot be reached. */
  nudge(text) {
    const banner = document.querySelector("[data-part=banner]");
    banner.animate([0, -8, 8, -5, 0].map((x) => ({ translate: `${x}px` })), { duration: 300 });
    this.note(text);
  }

  /** Adds what a revision, or the events of one, did. */
  add(state) {
    const key = `${state.epoch}.${state.rev}`;
    const isNew = this.#newest !== key;
    this.#newest = key;
    const lines = whatHappened(state, (id) => this.#titles.get(id) ?? id, isNew);
    for (const screen of [...state.screens, ...chainOf(state).map((entry) => entry.screen)]) this.#name(screen);
    const who = authorName(state);
    this.#rev = state.rev;
    if (!lines.length && !this.#waiting.length) this.#log.dataset.rev = String(state.rev);
    for (const { before = "", title, after = "" } of lines) {
      this.#write(() => el(
        "li", { class: "log-line", "data-rev": state.rev }, el("span", { class: "log-what" }, before, bdiText(title), after),
        who === null ? null : el("span", { class: "log-who" }, "by ", el("span", { class: "log-author", "data-author": who }, bdiText(who)), `, revision ${state.rev}`)));
    }
  }

  // A screen that has gone is still called by its title.
  #name(screen) {
    this.#titles.delete(screen.id);
    this.#titles.set(screen.id, screen.title ?? screen.item?.title ?? screen.id);
    if (this.#titles.size > TITLES) this.#titles.delete(this.#titles.keys().next().value);
  }

  note(text) {
    this.#write(() => el("li", { class: "log-line log-note" }, bdiText(text)));
  }

  // The log can wait until a frame has shown what changed. Of many lines only the newest are drawn.
  #write(line) {
    this.#waiting.push(line);
    if (this.#waiting.length > KEPT) this.#waiting.shift();
    if (this.#waiting.length === 1) setTimeout(() => this.#draw(), LATER);
  }

  #draw() {
    this.#log.dataset.rev = String(this.#rev);
    this.#log.prepend(...this.#waiting.splice(0).reverse().map((line) => line()));
    while (this.#log.childElementCount > KEPT) this.#log.lastElementChild.remove();
  }
}
