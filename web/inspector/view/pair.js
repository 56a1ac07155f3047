// Two revisions as a device draws them, side by side.

import { el } from "../../view/dom.js";
import { numberText, writeText } from "../text.js";
import { DeviceDrawing } from "./drawing.js";

/** The maximum of elements in the page with both drawings; the rest of the page needs the others. */
const MAXIMUM_PAGE_ELEMENTS = 1200;

/** Draws the two compared states side by side. */
export class DrawingPair {
  root = el("div", { class: "pair", "data-part": "compare-pair", hidden: true });
  #tooLargeNote = el("p", { class: "note", hidden: true }, "The two states are too large to be drawn side by side.");
  #sides = ["before", "after"].map((name) => {
    const caption = el("figcaption");
    const drawing = new DeviceDrawing(`Drawing of the revision ${name}`);
    return { caption, drawing, root: el("figure", { "data-side": name }, caption, drawing.root) };
  });

  constructor() {
    this.root.append(this.#tooLargeNote, ...this.#sides.map(({ root }) => root));
  }

  /** Whether there is a comparison. */
  get isShown() { return !this.root.hidden; }

  /** Removes both drawings. */
  hide() {
    this.root.hidden = true;
    for (const { drawing } of this.#sides) drawing.clear();
  }

  /** @param {import("../source.js").State} old @param {import("../source.js").State} next */
  draw(old, next) {
    this.root.hidden = false;
    this.#tooLargeNote.hidden = true;
    for (const [at, state] of [old, next].entries()) {
      const { caption, drawing, root } = this.#sides[at];
      root.hidden = false;
      writeText(caption, `Revision ${numberText(state.rev)}`);
      if (state.bar) drawing.draw(state, { isPast: true, isStill: true });
      else drawing.clear();
    }
    // What a state has, its client chose. The list of differences needs no drawing.
    if (document.getElementsByTagName("*").length <= MAXIMUM_PAGE_ELEMENTS) return;
    for (const { drawing, root } of this.#sides) {
      drawing.clear();
      root.hidden = true;
    }
    this.#tooLargeNote.hidden = false;
  }
}
