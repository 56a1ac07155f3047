// The legend of the strip: what its colours, heights and signs mean, and which colour each author has.

import { el } from "../../view/dom.js";
import { authorOf } from "../text.js";
import { colourOf } from "./strip.js";

const KINDS = [["program", "program"], ["person", "person"], ["daemon", "navd"]];
const SIGNS = [
  ["program", "A program asked for it."], ["person", "A back button or a gesture."], ["daemon", "A deadline, a lease or a recovery."],
  ["height", "Height: revisions a second, by powers of ten."], ["faint", "Grey: left out by the filter, or not loaded."],
  ["author", "The line below: its author."], ["mark", "The revision on the stage."], ["with", "The revision that it is compared with."],
  ["border", "A new epoch begins."], ["bad", "A client reported another digest."], ["unproven", "Unproven: its digest differs."],
  ["pause", "Nothing happened for so long, or the clock was set back (red)."],
];
/** The authors that are listed, the newest ones. */
const MOST_AUTHORS = 6;

/** Explains the strip. */
export class Legend {
  #authors = el("ul", { class: "legend-authors", "aria-label": "Authors" });
  #history = null;
  #known = 0;
  root = /** @type {HTMLDetailsElement} */ (el(
    "details", { class: "legend", "data-part": "legend" },
    el("summary", { title: "What the strip shows" }, ...KINDS.map(([kind, text]) => el("span", { "data-kind": kind }, text)), " Legend"),
    el("div", { class: "legend-body" }, el("ul", {}, ...SIGNS.map(([kind, text]) => el("li", { "data-kind": kind }, text))), this.#authors)));

  constructor() {
    this.root.addEventListener("toggle", () => this.#draw());
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.root.open = false;
      this.root.querySelector("summary")?.focus();
    });
  }

  /** @param {import("../history.js").History} history */
  update(history) {
    const known = history.authors.list.length;
    if (history === this.#history && known === this.#known) return;
    [this.#history, this.#known] = [history, known];
    if (this.root.open) this.#draw();
  }

  /** The list is in the document while it is open only, so that the page stays small. */
  #draw() {
    const list = this.root.open ? this.#history?.authors.list.filter((author) => author !== null) ?? [] : [];
    // The colour is that of the principal; processes of one differ in the number only.
    const own = new Map(list.map((author) => [`${author.principal} ${author.name}`, author]));
    this.#authors.replaceChildren(...[...own.values()].slice(-MOST_AUTHORS).map((author) => {
      const row = el("li", { "data-kind": "author" }, ...authorOf({ ...author, pid: undefined }));
      row.style.setProperty("--kind", colourOf(author));
      return row;
    }));
  }
}
