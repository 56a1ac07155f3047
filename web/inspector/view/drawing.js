// A state as a device draws it.
//
// The device is that of the kiosk. Here it is inert, so nothing in it can be pressed, and no module that sends is loaded.

import { Device, drawKioskContents } from "../../view/device.js";
import { el } from "../../view/dom.js";
import { drawClocks, drawContent } from "../../view/view.js";
import { updateAttribute, visibleText } from "../text.js";

/** Draws states of a nav as a device shows them. */
export class DeviceDrawing {
  /** The element that contains the device. */
  root = el("div", { class: "case" });
  #label;
  #device = null;
  #deviceElement = null;
  #isPast = false;

  /** @param {string} label what screen readers call the drawing */
  constructor(label) {
    this.#label = label;
  }

  /** Makes an empty device if there is none yet; returns whether it did. */
  makeIfMissing() {
    if (this.#device) return false;
    this.#makeDevice();
    return true;
  }

  /** Removes the device. */
  clear() {
    this.#device = this.#deviceElement = null;
    this.root.replaceChildren();
  }

  /**
   * Draws a state that has a bar. `events` are those since the last call. `isStill` draws it without its transition.
   *
   * @param {import("../source.js").State} state
   * @param {{events?: any[], isPast: boolean, isStill: boolean}} how
   */
  draw(state, { events = [], isPast, isStill }) {
    // The way between a state of the past and the newest one is not shown, so each begins with a device at rest.
    if (!this.#device || isPast !== this.#isPast) this.#makeDevice();
    this.#isPast = isPast;
    const frame = this.#deviceElement;
    const { orientation = "portrait", idiom = "phone" } = state.parts.environment ?? /** @type {any} */ ({});
    updateAttribute(frame, "data-idiom", idiom === "pad" ? "pad" : "phone");
    const isTurned = orientation.startsWith("landscape");
    updateAttribute(frame, "data-turned", isTurned ? "" : null);
    try {
      const scale = this.#device.pointPixels;
      this.#device.draw(isStill ? withoutTransition(state) : state, isStill ? [] : events);
      // The scale and the height of the status bar, in points, for programs that measure the drawing.
      updateAttribute(frame, "data-scale", scale);
      updateAttribute(this.#device.parts.bar, "data-status", isTurned ? 20 : 44);
      // The clock of the past is not known.
      if (isPast) frame.querySelectorAll("[data-clock]").forEach((place) => place.replaceChildren());
      else drawClocks(frame, new Date(), state.parts.environment?.locale ?? "en");
    } catch (error) {
      // Records are hostile; a drawing that fails must leave the facts.
      this.clear();
      this.root.append(el("p", { class: "empty" }, `This state cannot be drawn: ${visibleText(error.message)}`));
    }
  }

  #makeDevice() {
    this.#deviceElement = makeDeviceElement(this.#label);
    this.root.replaceChildren(this.#deviceElement);
    this.#device = new Device(this.#deviceElement, { moved: () => {}, announce: () => {}, contents: drawScreenContents });
  }
}

/** The state without its open transition. */
function withoutTransition(state) {
  const { transition } = state.parts;
  return transition?.tid === undefined ? state : { ...state, parts: { ...state.parts, transition: { ver: transition.ver } } };
}

/** Draws the contents of a screen as the kiosk does, or its route and arguments if the kiosk does not know it. */
function drawScreenContents(screen, state, local) {
  try {
    return drawKioskContents(screen, state, local);
  } catch {
    // A client may use a route of the kiosk with arguments of any type.
    const rows = [
      { kind: "value", key: "id", title: "Screen", value: visibleText(screen.id) }, { kind: "value", key: "route", title: "Route", value: visibleText(screen.route) },
      { kind: "code", key: "args", text: visibleText(screen.args ?? null, 4000) },
    ];
    return drawContent([{ key: "unknown", header: "Unexpected arguments", rows }], screen.id);
  }
}

/** Makes the elements in which `Device` of the kiosk draws. */
function makeDeviceElement(label) {
  const div = (name, attributes = {}, ...children) => el("div", { class: name, "data-part": name, ...attributes }, ...children);
  const bar = el("header", { class: "bar", "data-part": "bar", "data-slot": "bar" }, el("div", { class: "bar-back" }), div("layers"));
  const toolbar = div("toolbar", { "data-slot": "toolbar" }, el("div", { class: "toolbar-items" }));
  const status = el("div", { class: "status-bar" }, el("span", { class: "status-time", "data-clock": "time" }));
  const glass = div("glass", {}, div("stack", { "data-slot": "stack" }, bar, div("pages"), toolbar), div("sheets"), status);
  const device = el("div", { class: "device", "data-device": "", role: "group", "aria-label": label }, glass);
  device.inert = true;
  return device;
}
