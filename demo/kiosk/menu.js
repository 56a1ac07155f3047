// The menu of the back button: a long press, a right click, or an arrow key on the button opens it.

import { el, bdiText } from "./view/dom.js";
import { screenOf } from "./view/model.js";

const LONG_PRESS = 450;

/** The entries of the menu, nearest screen first, from `resolved`. */
export function entriesOf(state) {
  const back = state.bar.left.find((slot) => slot.back)?.back;
  return (back?.menu ?? []).map(({ screen, text, accessibilityLabel, language }) => ({ screen, spoken: accessibilityLabel, language, text: text ?? screenOf(state, screen)?.title ?? "Untitled" }));
}

/** Which entry a key chooses from; null for other keys. */
export function stepOf(key, at, count) {
  switch (key) {
    case "ArrowDown": return (at + 1) % count;
    case "ArrowUp": return (at + count - 1) % count;
    case "Home": return 0;
    case "End": return count - 1;
    default: return null;
  }
}

export class BackMenu {
  #device;
  #root;
  #choose;
  #open = null;
  #timer = null;
  #wasLong = false;

  /** @param {(state: object, screen: string) => void} choose */
  constructor(device, root, choose) {
    this.#device = device;
    this.#root = root;
    this.#choose = choose;
    root.addEventListener("contextmenu", (event) => {
      if (!event.target.closest("[data-slot=back]")) return;
      event.preventDefault();
      this.show(event.button === 2 && event.pointerType !== "touch" ? "pointer" : "keyboard");
    });
    root.addEventListener("pointerdown", (event) => this.#down(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) root.addEventListener(name, () => clearTimeout(this.#timer));
    root.addEventListener("keydown", (event) => this.#key(event));
    // The click that ends a long press is no tap on the back button.
    root.addEventListener("click", (event) => {
      if (this.#wasLong && event.target.closest("[data-slot=back]")) event.stopImmediatePropagation();
      this.#wasLong = false;
    }, { capture: true });
  }

  get isOpen() {
    return this.#open !== null;
  }

  #down(event) {
    this.#wasLong = false;
    if (this.isOpen && !event.target.closest("[data-slot=back-menu]")) return this.hide();
    if (!event.target.closest("[data-slot=back]") || event.button !== 0) return undefined;
    this.#timer = setTimeout(() => {
      this.#wasLong = true;
      this.show("pointer");
    }, LONG_PRESS);
    return undefined;
  }

  #key(event) {
    const back = event.target.closest("[data-slot=back]");
    if (back && event.key === "ArrowDown") {
      event.preventDefault();
      return this.show("keyboard");
    }
    const menu = event.target.closest("[data-slot=back-menu]");
    if (!menu) return undefined;
    const items = [...menu.children];
    const next = stepOf(event.key, items.indexOf(event.target), items.length);
    if (next !== null) {
      event.preventDefault();
      return items[next].focus();
    }
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      event.stopPropagation();
      this.hide(true);
    }
    return undefined;
  }

  /** Opens the menu of the bar that is shown. */
  show() {
    this.hide();
    const state = this.#device.state;
    const button = this.#root.querySelector(".bar-layer:not([inert]) [data-slot=back]");
    const entries = state ? entriesOf(state) : [];
    if (!button || !entries.length) return;
    const menu = el("div", { class: "menu", role: "menu", "data-slot": "back-menu", "aria-label": "Back to" });
    for (const entry of entries) {
      const item = el("button", { type: "button", role: "menuitem", class: "menu-item", tabindex: "-1", "data-slot": "back-menu-entry", "data-screen": entry.screen, "aria-label": entry.spoken, lang: entry.language }, bdiText(entry.text));
      item.addEventListener("click", () => {
        this.hide(true);
        this.#choose(state, entry.screen);
      });
      menu.append(item);
    }
    button.setAttribute("aria-expanded", "true");
    this.#open = { menu, button, top: state.screens.at(-1).id };
    // The bar may have a prompt above the button.
    const below = (button.getBoundingClientRect().bottom - this.#device.parts.layers.getBoundingClientRect().top) / this.#device.pointPixels;
    menu.style.setProperty("--below", String(below));
    this.#device.parts.stack.append(menu);
    menu.firstChild.focus({ preventScroll: true });
  }

  hide(focuses = false) {
    const open = this.#open;
    if (!open) return;
    this.#open = null;
    open.menu.remove();
    open.button.setAttribute("aria-expanded", "false");
    if (focuses && open.button.isConnected) open.button.focus({ preventScroll: true });
  }

  /** The menu is of one top. Another top takes it away. */
  follow(state) {
    if (this.#open && state.screens.at(-1)?.id !== this.#open.top) this.hide();
  }
}
