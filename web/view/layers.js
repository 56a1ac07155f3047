// The layers of the navigation bar: one at rest, and two during a transition.

import { barModel, styleBar, drawLayer, fitBackButton, barTitleText } from "./bar.js";
import { el, morph } from "./dom.js";
import { screenOf, topOf } from "./model.js";
import { setColour } from "./palette.js";

const MAXIMUM_MODELS = 128;

export class BarLayers {
  /** The layer of the top screen. @type {HTMLElement|null} */
  topLayer = null;
  /** The second layer during a transition: that of the screen below in a gesture, else that of the old top screen. @type {HTMLElement|null} */
  otherLayer = null;

  #root;
  #bar;
  #layerContainer;
  #modelByScreen = new Map();
  #drawnLook = "";
  #unfittedLayers = new Set();

  /** @param {HTMLElement} root @param {Record<string, HTMLElement>} parts */
  constructor(root, { bar, layers }) {
    this.#root = root;
    this.#bar = bar;
    this.#layerContainer = layers;
  }

  /** The bar model of a screen from when it was the top screen; undefined if it never was. */
  modelOf = (id) => this.#modelByScreen.get(id);

  /** Draws the bar of the top screen. @param {number} room the width of the bar */
  draw(state, room) {
    const model = this.#rememberModel(state);
    styleBar(this.#bar, model);
    this.#root.dataset.title = barTitleText(model);
    setColour(this.#root, "--status-text", model.layoutHeight === 0 ? null : model.colours.text);
    const look = lookKey(model, room);
    if (look === this.#drawnLook) return;
    this.#drawnLook = look;
    const next = drawLayer(model);
    if (this.topLayer) {
      next.className = this.topLayer.className;
      morph(this.topLayer, next);
      this.#unfittedLayers.add(this.topLayer);
    } else {
      this.topLayer = this.#appendLayer(next);
    }
  }

  /** Adds the layer of a new top screen as the top layer, so that changes of its item during the transition reach it. */
  addTopLayer(state, room) {
    const model = this.#rememberModel(state);
    const next = this.#appendLayer(drawLayer(model));
    this.otherLayer = this.topLayer;
    this.topLayer = next;
    this.otherLayer?.setAttribute("aria-hidden", "true");
    this.#drawnLook = lookKey(model, room);
    return next;
  }

  /**
   * Adds the layer of the screen that a gesture uncovers. navd resolves only the bar of the top screen, so the layer shows the bar
   * from when that screen was the top. It is empty if the screen has changed since.
   */
  addPreviewLayer(id, state) {
    const model = this.#modelByScreen.get(id);
    const isKnown = model && model.ver === screenOf(state, id)?.ver;
    this.otherLayer = this.#appendLayer(isKnown ? drawLayer({ ...model, tint: state.bar.tintColor }) : el("div", { class: "bar-layer" }));
    this.otherLayer.setAttribute("aria-hidden", "true");
    return this.otherLayer;
  }

  /** Makes the uncovered layer the top layer, after a completed gesture. */
  swapLayers() {
    [this.topLayer, this.otherLayer] = [this.otherLayer, this.topLayer];
    this.topLayer.removeAttribute("aria-hidden");
    this.otherLayer.setAttribute("aria-hidden", "true");
    this.#drawnLook = "";
  }

  /** Removes the layer of the other screen after a transition. */
  removeOtherLayer() {
    this.otherLayer?.remove();
    this.#unfittedLayers.delete(this.otherLayer);
    this.otherLayer = null;
  }

  /** Chooses the texts of the back buttons. It measures elements, so callers call it after all drawing. */
  fitBackButtons() {
    for (const layer of this.#unfittedLayers) fitBackButton(layer);
    this.#unfittedLayers.clear();
  }

  #appendLayer(layer) {
    this.#layerContainer.append(layer);
    this.#unfittedLayers.add(layer);
    return layer;
  }

  #rememberModel(state) {
    const model = { ...barModel(state), ver: topOf(state)?.ver };
    this.#modelByScreen.set(model.top, model);
    if (this.#modelByScreen.size > MAXIMUM_MODELS) this.#modelByScreen.delete(this.#modelByScreen.keys().next().value);
    return model;
  }
}

// Two equal texts look the same.
function lookKey({ ver, ...model }, room) {
  return JSON.stringify([model, room]);
}
