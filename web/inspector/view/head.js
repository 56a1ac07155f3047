// The head: the status of the connection, and the position that the stage shows, with its proof.

import { el } from "../../view/dom.js";
import { checksum } from "../../client/index.js";
import { bdi, navctlCommand, timeOfDay, updateAttribute, visibleText, writeText } from "../text.js";

const PROOF_TOOLTIP = "The page has computed the first 8 digits from the ids and versions of all screens and parts. They prove order and identity. The others name the history.";

/** The head of the page: shows the connection, the nav and the revision, and copies the state. */
export class HeadBar {
  #page;
  #context;
  #positionElement = partElement("position");
  #statusElement = partElement("status");
  #statusText = partElement("status-text");
  #notice = partElement("notice");
  #stagedState = null;
  #isProven = false;
  #drawnKey = "";
  #announcedStatus = "";
  #announcedScreen = "";

  /** @param {HTMLElement} page @param {import("../shell.js").Context} context */
  constructor(page, context) {
    this.#page = page;
    this.#context = context;
    partElement("copy-json").addEventListener("click", () => this.copyJSON());
    partElement("copy-navctl").addEventListener("click", () => this.copyCommand());
  }

  /** Copies the state on the stage as JSON. */
  copyJSON() {
    const state = this.#stagedState;
    if (!state) return this.#context.announce("There is no state to copy");
    const { nav, kind, epoch, rev, dig, screens, parts, bar } = state;
    this.#context.copy(JSON.stringify({ nav, kind, epoch, rev, dig, screens, ...parts, resolved: bar }, null, 2), "JSON", partElement("copy-json"));
  }

  /** Copies the command of navctl that shows the same state. */
  copyCommand() {
    const { nav, at } = this.#context.store;
    if (nav === null) return this.#context.announce("No nav is chosen");
    this.#context.copy(navctlCommand(nav, at), "Command", partElement("copy-navctl"));
  }

  /** @param {import("../shell.js").Model} model */
  update(model) {
    const { status, state, live } = model;
    const { at, nav } = this.#context.store;
    const phase = this.#statusOf(status, at);
    updateAttribute(this.#page, "data-state", phase);
    updateAttribute(this.#statusElement, "title", status.message ?? null);
    writeText(this.#statusText, statusTextOf(phase, status));
    this.#showExpiry(status);
    this.#announceChange(phase, state, nav);
    if (state !== this.#stagedState) {
      this.#stagedState = state;
      // A recording may also know that a step before this one was not proven.
      this.#isProven = state !== null && state["isProven"] !== false && state.dig.startsWith(checksum(state.screens, state.parts));
    }
    // What was proven may have changed since.
    const since = phase === "stale" || phase === "expired" ? timeOfDay(status.since) : null;
    const key = state ? `${nav} ${state.epoch} ${state.rev} ${state.dig} ${this.#isProven} ${live?.rev ?? ""} ${at} ${since}` : `${nav}`;
    if (key === this.#drawnKey) return;
    this.#drawnKey = key;
    this.#drawPosition(state, live, nav, since);
  }

  #statusOf(status, at) {
    if (this.#context.source.kind === "recording") return "recording";
    if (status.phase === "expired") return "expired";
    if (status.phase === "connecting") return "connecting";
    if (status.phase !== "connected") return "stale";
    return at === null ? "live" : "past";
  }

  /** Announces a new status, nav or visible screen to screen readers, but none while the slider announces revisions. */
  #announceChange(phase, state, nav) {
    const screen = state?.visible;
    const seen = `${nav}: ${screen ? visibleText(screen.title ?? screen.item?.title ?? screen.id, 80) : "no screen"}`;
    if (phase !== this.#announcedStatus && ["stale", "expired"].includes(phase)) this.#context.announce(this.#statusText.textContent ?? "");
    else if (phase !== this.#announcedStatus && ["stale", "connecting"].includes(this.#announcedStatus)) this.#context.announce("Connected");
    else if (state && seen !== this.#announcedScreen && phase === "live") this.#context.announce(seen);
    this.#announcedStatus = phase;
    if (state) this.#announcedScreen = seen;
  }

  #showExpiry(status) {
    const isExpired = status.phase === "expired";
    if (this.#notice.hidden === !isExpired) return;
    this.#notice.hidden = !isExpired;
    if (isExpired) this.#notice.replaceChildren(el("p", { "data-part": "expired" }, `The session has ended (${visibleText(status.message ?? "the token is not valid any more")}). What you see is old. Run `, el("code", {}, "navctl inspect"), " again."));
  }

  #drawPosition(state, live, nav, since) {
    const output = this.#positionElement;
    for (const [name, value] of Object.entries({ nav: nav ?? "", epoch: state?.epoch ?? "", rev: state?.rev ?? "", dig: state?.dig ?? "", proven: state ? String(this.#isProven) : "false" })) updateAttribute(output, `data-${name}`, value);
    updateAttribute(output, "title", state ? PROOF_TOOLTIP : null);
    if (!state) return output.replaceChildren(...(nav === null ? [] : [bdi(nav, { class: "position-nav" })]));
    const newest = Math.max(live?.rev ?? state.rev, state.rev);
    // What is no digest could imitate a proof.
    const text = /^[0-9a-f]{24}$/.test(state.dig) ? state.dig : "";
    // This is a live region, and nobody wants to hear 24 digits.
    const digits = el("span", { "aria-hidden": "true" }, text);
    const proof = el("span", { class: "proof", "data-part": "proof", "data-stale": since }, this.#isProven ? "proven ✓ " : "unproven ✗ ", since === null ? "" : `stale since ${since} `, digits);
    output.replaceChildren(bdi(nav ?? "", { class: "position-nav" }), " ", `revision ${state.rev} of ${newest}`, " · ", proof);
    return undefined;
  }
}

const partElement = (name) => /** @type {HTMLElement} */ (document.querySelector(`[data-part=${name}]`));

function statusTextOf(phase, status) {
  const since = timeOfDay(status.since);
  const texts = {
    connecting: status.message ? `Waiting: ${status.message}` : "Connecting…", live: "Live", past: "Past", stale: `Stale since ${since}`,
    recording: "Recording", expired: "Session expired",
  };
  return texts[phase];
}
