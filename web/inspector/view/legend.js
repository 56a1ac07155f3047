// The legend of the strip: what its colours, heights and signs mean, and which colour each author has.

import { el } from "../../view/dom.js";
import { authorElements } from "../text.js";
import { authorColour } from "./strip.js";

const KIND_TEXTS = [["program", "program"], ["person", "person"], ["daemon", "navd"]];
const SIGN_TEXTS = [
  ["program", "A program asked for it."], ["person", "A back button or a gesture."], ["daemon", "A deadline, a lease or a recovery."],
  ["height", "Height: revisions a second, by powers of ten."], ["faint", "Grey: left out by the filter, or not loaded."],
  ["author", "The line below: its author."], ["mark", "The revision on the stage."], ["with", "The revision that it is compared with."],
  ["border", "A new epoch begins."], ["bad", "A client reported another digest."], ["unproven", "Unproven: its digest differs."],
  ["pause", "Nothing happened for so long, or the clock was set back (red)."],
];
/** The maximum of authors in the list, which has the newest. */
const MAXIMUM_AUTHORS = 6;

/** The legend that explains the strip of the timeline. */
export class StripLegend {
  #authorList = el("ul", { class: "legend-authors", "aria-label": "Authors" });
  #history = null;
  #authorCount = 0;
  root = /** @type {HTMLDetailsElement} */ (el(
    "details", { class: "legend", "data-part": "legend" },
    el("summary", { title: "What the strip shows" }, ...KIND_TEXTS.map(([kind, text]) => el("span", { "data-kind": kind }, text)), " Legend"),
    el("div", { class: "legend-body" }, el("ul", {}, ...SIGN_TEXTS.map(([kind, text]) => el("li", { "data-kind": kind }, text))), this.#authorList)));

  constructor() {
    this.root.addEventListener("toggle", () => this.#drawAuthors());
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.root.open = false;
      this.root.querySelector("summary")?.focus();
    });
  }

  /** @param {import("../history.js").History} history */
  update(history) {
    const known = history.authors.list.length;
    if (history === this.#history && known === this.#authorCount) return;
    [this.#history, this.#authorCount] = [history, known];
    if (this.root.open) this.#drawAuthors();
  }

  /** Draws the list of authors while the legend is open, so that the page stays small. */
  #drawAuthors() {
    const list = this.root.open ? this.#history?.authors.list.filter((author) => author !== null) ?? [] : [];
    // The colour is that of the principal; processes of one differ in the number only.
    const own = new Map(list.map((author) => [`${author.principal} ${author.name}`, author]));
    this.#authorList.replaceChildren(...[...own.values()].slice(-MAXIMUM_AUTHORS).map((author) => {
      const row = el("li", { "data-kind": "author" }, ...authorElements({ ...author, pid: undefined }));
      row.style.setProperty("--kind", authorColour(author));
      return row;
    }));
  }
}
