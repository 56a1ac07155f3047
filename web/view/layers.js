// The layers of the navigation bar: one at rest, and two during a transition.

import { barModel, dressBar, drawLayer, fitBack, titleOf } from "./bar.js";
import { el, morph } from "./dom.js";
import { screenOf, topOf } from "./model.js";
import { setColour } from "./palette.js";

const KEPT = 128;

export class Layers {
  /** The layer of the top. @type {HTMLElement|null} */
  shown = null;
  /** During a transition, the layer that comes under a finger, or the one that leaves. @type {HTMLElement|null} */
  other = null;

  #root;
  #bar;
  #place;
  #models = new Map();
  #look = "";
  #unfitted = new Set();

  /** @param {HTMLElement} root @param {Record<string, HTMLElement>} parts */
  constructor(root, { bar, layers }) {
    this.#root = root;
    this.#bar = bar;
    this.#place = layers;
  }

  /** The bar of a screen as it was when that screen was the top; undefined if it never was. */
  modelOf = (id) => this.#models.get(id);

  /** Draws the bar of the top. @param {number} room the width of the bar */
  draw(state, room) {
    const model = this.#remember(state);
    dressBar(this.#bar, model);
    this.#root.dataset.title = titleOf(model);
    setColour(this.#root, "--status-text", model.layoutHeight === 0 ? null : model.colours.text);
    const look = lookOf(model, room);
    if (look === this.#look) return;
    this.#look = look;
    const next = drawLayer(model);
    if (this.shown) {
      next.className = this.shown.className;
      morph(this.shown, next);
      this.#unfitted.add(this.shown);
    } else {
      this.shown = this.#add(next);
    }
  }

  /** Adds the layer of the new top. From now on it is the bar, so changes of the item during the transition reach it. */
  change(state, room) {
    const model = this.#remember(state);
    const next = this.#add(drawLayer(model));
    this.other = this.shown;
    this.shown = next;
    this.other?.setAttribute("aria-hidden", "true");
    this.#look = lookOf(model, room);
    return next;
  }

  /**
   * Adds the layer below a finger. navd resolves the bar of the top only, so it shows the bar as it was when that screen was the
   * top. If the screen has changed since, the layer is empty.
   */
  preview(id, state) {
    const model = this.#models.get(id);
    const isKnown = model && model.ver === screenOf(state, id)?.ver;
    this.other = this.#add(isKnown ? drawLayer({ ...model, tint: state.bar.tintColor }) : el("div", { class: "bar-layer" }));
    this.other.setAttribute("aria-hidden", "true");
    return this.other;
  }

  /** The finger finished: the layer below it is the bar now. */
  swap() {
    [this.shown, this.other] = [this.other, this.shown];
    this.shown.removeAttribute("aria-hidden");
    this.other.setAttribute("aria-hidden", "true");
    this.#look = "";
  }

  /** Removes the layer of the other screen after a transition. */
  rest() {
    this.other?.remove();
    this.#unfitted.delete(this.other);
    this.other = null;
  }

  /** Chooses the texts of the back buttons. It measures, so it comes after everything that draws. */
  fit() {
    for (const layer of this.#unfitted) fitBack(layer);
    this.#unfitted.clear();
  }

  #add(layer) {
    this.#place.append(layer);
    this.#unfitted.add(layer);
    return layer;
  }

  #remember(state) {
    const model = { ...barModel(state), ver: topOf(state)?.ver };
    this.#models.set(model.top, model);
    if (this.#models.size > KEPT) this.#models.delete(this.#models.keys().next().value);
    return model;
  }
}

// Two equal texts look the same.
function lookOf({ ver, ...model }, room) {
  return JSON.stringify([model, room]);
}
