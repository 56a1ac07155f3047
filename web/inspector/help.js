// The help: keys and signs.

import { el } from "../view/dom.js";
import { areLetterKeysOn, setLetterKeysOn } from "./keys.js";

const KEY_HELP = [
  [["←", "→"], "previous and next revision"], [["Home", "End"], "first and last revision"], [["L"], "back to live"], [["P"], "pause the lists"],
  [["/"], "search navs"], [["J", "K"], "next and previous nav"], [["T"], "pin the nav to the top"], [["B"], "bookmark the revision"], [["1", "…", "6"], "tabs"], [["↑", "↓", "←", "→"], "on a divider: move it; Enter: its own place"], [["?"], "this help"],
];
const SIGN_HELP = [
  [el("span", { "data-author": "proven" }, "uid:1000"), "A principal: the kernel or a key has proven it."],
  [el("span", { "data-author": "claimed" }, "shell"), "A name: the client chose it, and anyone can choose the same."],
  [el("span", { class: "proof" }, "proven ✓"), "This page has computed the first 8 digits of the digest. They prove which screens there are and their order, not their contents."],
  [el("span", { class: "proof", "data-stale": "" }, "stale"), "The connection is lost: it was proven then, and may have changed since."],
  [el("span", { class: "faint" }, "3 folded"), "The page got the newest state only. The timeline has the revisions between."],
];

/** The dialog that explains keys and signs. */
export class HelpDialog {
  #dialog;

  /** @param {HTMLElement} dialog @param {HTMLElement} button */
  constructor(dialog, button) {
    this.#dialog = /** @type {HTMLDialogElement} */ (dialog);
    button.addEventListener("click", () => this.open());
    const close = el("button", { type: "button", class: "act" }, "Close");
    close.addEventListener("click", () => this.#dialog.close());
    const letters = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", "data-part": "letters", checked: areLetterKeysOn() }));
    letters.addEventListener("change", () => setLetterKeysOn(letters.checked));
    dialog.append(
      el("h2", { id: "help-title" }, "Keys and signs"),
      el("dl", { class: "keys-list" }, ...KEY_HELP.map(([keys, text]) => el(
        "div", {}, el("dt", {}, .../** @type {string[]} */ (keys).map((key) => (key === "…" ? "…" : el("kbd", {}, key)))), el("dd", {}, String(text))))),
      el("label", { class: "letters" }, letters, " Letters, digits, / and ? act as keys. Arrows, Home and End always do."),
      el("dl", { class: "signs" }, ...SIGN_HELP.map(([sign, text]) => el("div", {}, el("dt", {}, sign), el("dd", {}, text)))),
      el("p", { class: "faint" }, "The inspector only reads. Travel changes this page, never the nav."), close);
  }

  /** Shows the help. */
  open() {
    if (!this.#dialog.open) this.#dialog.showModal();
  }
}
