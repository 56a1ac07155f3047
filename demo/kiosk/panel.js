// Beside the device: the connection, the display, another window, and a log of the last changes.

import { el, said } from "./view/dom.js";
import { author, summary } from "./view/model.js";

const KEPT = 60;
const LATER = 50;
const STATUS = {
  connecting: "Connecting…", connected: "Connected", disconnected: "Connection lost. What is shown may be old.",
  waiting: "Four other windows of this browser are connected. Close one.", unauthorized: "The session has ended. Open a new link.", closed: "Closed",
};

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
    document.documentElement.dataset.status = status;
    document.documentElement.dataset.rights = canWrite === null ? "unknown" : canWrite ? "write" : "read";
    document.documentElement.dataset.display = holds ? "mine" : owner ? "other" : "free";
    this.#root.querySelector("[data-part=where]").replaceChildren(said(nav), rev === undefined ? "" : `, revision ${rev}`);
    const banner = document.querySelector("[data-part=banner]");
    const isOld = !["connected", "connecting"].includes(status);
    banner.hidden = !isOld;
    banner.textContent = isOld ? text : "";
  }

  /** Adds a revision, or the events of one, to the log. */
  add(state) {
    const events = state.ev ?? [];
    if (events.length && events.every((event) => event.transitionProgress)) return;
    const key = `${state.epoch}.${state.rev}`;
    if (this.#newest === key && !events.length) return;
    this.#newest = key;
    const who = author(state);
    this.#write(() => el(
      "li", { class: "log-line", "data-rev": state.rev }, el("span", { class: "log-rev" }, `#${state.rev}`),
      el("span", { class: "log-what" }, said(summary(state))),
      who === null ? null : el("span", { class: "log-who" }, el("span", { class: "log-author", "data-author": who }, said(who)), ` · ${state.cause}`)));
  }

  note(text) {
    this.#newest = null;
    this.#write(() => el("li", { class: "log-line log-note" }, said(text)));
  }

  // The log can wait until a frame has shown what changed. Of many lines only the newest are drawn.
  #write(line) {
    this.#waiting.push(line);
    if (this.#waiting.length > KEPT) this.#waiting.shift();
    if (this.#waiting.length === 1) setTimeout(() => this.#draw(), LATER);
  }

  #draw() {
    this.#log.prepend(...this.#waiting.splice(0).reverse().map((line) => line()));
    while (this.#log.childElementCount > KEPT) this.#log.lastElementChild.remove();
  }
}
