// Why the visible screen is here: which change brought it, with its author.

import { el } from "../../view/dom.js";
import { reasonsOf } from "../reasons.js";
import { authorElements, bdi, timeWithMilliseconds, errorText, visibleText } from "../text.js";

/** How long a screen stays visible before its reasons are read, in milliseconds. */
const SETTLE_MS = 250;

/** The panel that shows which changes brought the visible screen. */
export class WhyPanel {
  #context;
  #body = el("div", { class: "why" });
  #reasonsKey = "";
  #settleTimer = 0;
  #nav = undefined;
  #searchController = new AbortController();

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#context = context;
    root.append(this.#body);
  }

  /** @param {import("../shell.js").Model} model */
  update({ state, error }) {
    if (this.#context.store.tab !== "why") return;
    const screen = state?.visible;
    const key = screen ? JSON.stringify([state.nav, state.epoch, screen.id, screen.ver, this.#context.store.at]) : `none ${error?.message}`;
    if (key === this.#reasonsKey) return;
    this.#reasonsKey = key;
    // The answer about another nav must not be taken for one about this.
    if (state?.nav !== this.#nav) this.#body.replaceChildren();
    this.#nav = state?.nav;
    this.#searchController.abort();
    clearTimeout(this.#settleTimer);
    if (!screen) {
      this.#body.replaceChildren(el("p", { class: "faint" }, error ? errorText(error) : state ? "The stack is empty, so no screen is visible. The next push has its author here." : "No state is chosen. Choose a nav: the change that brought its visible screen stands here."));
      return;
    }
    const search = this.#searchController = new AbortController();
    this.#settleTimer = setTimeout(() => this.#readReasons(state, search.signal), SETTLE_MS);
  }

  async #readReasons(state, signal) {
    try {
      const { source } = this.#context;
      const reasons = source.why ? await source.why(state.nav, state.visible.id, state) : await reasonsOf(source, state, signal);
      if (!signal.aborted && reasons) this.#drawReasons(state, reasons);
    } catch (error) {
      if (!signal.aborted) this.#body.replaceChildren(el("p", { class: "faint" }, errorText(error)));
    }
  }

  /** @param {import("../source.js").State} state @param {import("../reasons.js").Reasons} reasons */
  #drawReasons(state, { brought, shown, changed, floor }) {
    const { visible: screen } = state;
    const title = screen.title ?? screen.item?.title;
    const head = el("h2", {}, "Why is ", bdi(title ?? screen.id), title === undefined ? "" : " (", title === undefined ? "" : bdi(screen.id, { class: "id" }), title === undefined ? " here?" : ") here?");
    const steps = [];
    if (brought) steps.push(this.#drawReason("Brought by", brought, state.epoch));
    else steps.push(el("section", { class: "why-step" }, el("p", {}, `It came before revision ${floor}, the oldest in the journal.`)));
    if (shown) steps.push(this.#drawReason("Visible since", shown, state.epoch));
    if (changed) steps.push(this.#drawReason("Changed last by", changed, state.epoch));
    this.#body.replaceChildren(head, ...steps);
  }

  #drawReason(label, entry, epoch) {
    const link = el("button", { type: "button", class: "link", "data-part": "why-travel", "data-rev": entry.rev }, `revision ${entry.rev}`);
    link.addEventListener("click", () => this.#context.store.set({ at: entry.rev, epoch }));
    const what = (entry.do ?? []).map((name) => visibleText(name, 60)).join(", ") || entry.cause;
    const marks = [
      entry.override && "without a guard", entry.vetoSkipped && "veto skipped", entry.sender !== undefined && `sender ${visibleText(entry.sender, 80)}`,
    ].filter(Boolean);
    return el(
      "section", { class: "why-step", "data-why": label, "data-rev": entry.rev }, el("h3", {}, label),
      el("p", {}, link, el("span", { class: "why-what" }, bdi(what)), el("span", { class: "faint" }, `cause ${visibleText(entry.cause ?? "", 40)}`)),
      el("p", {}, ...(entry.by ? authorElements(entry.by) : [el("span", { class: "faint" }, "navd itself")]), el("span", { class: "faint" }, timeWithMilliseconds(entry.t))),
      ...(marks.length ? [el("p", { class: "faint" }, bdi(marks.join(" · ")))] : []));
  }
}
