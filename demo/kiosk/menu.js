// The menus of the bar: of the back button, of other buttons and of the title. A long press, a right click, or an arrow key opens one;
// so does a tap, where nothing else happens on a tap.

import { el, bdiText } from "./view/dom.js";
import { screenOf } from "./view/model.js";

const LONG_PRESS = 450;

/** What has a menu. */
const OWNER = "[aria-haspopup=menu]";

/** The entries of the back button's menu, nearest screen first, from `resolved`. */
export function entriesOf(state) {
  const back = state.bar.left.find((slot) => slot.back)?.back;
  return (back?.menu ?? []).map(({ screen, text, accessibilityLabel, language }) => ({ screen, spoken: accessibilityLabel, language, text: text ?? screenOf(state, screen)?.title ?? "Untitled" }));
}

/** The entries of the menu of a button, or without one of the title: those of submenus stand behind their title. */
export function elementsOf(state, button) {
  const slots = [...state.bar.left, ...state.bar.right, ...state.bar.toolbar.items];
  const menu = button === undefined ? state.bar.middle?.menu : slots.find((slot) => slot.button === button)?.menu;
  const flat = (elements, depth) => elements.flatMap((element) => [
    { ...element, depth, isTitle: element.children !== undefined }, ...flat(element.children ?? [], depth + 1),
  ]);
  return flat(menu ?? [], 0);
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

export class Menus {
  #device;
  #root;
  #chooseScreen;
  #chooseElement;
  #open = null;
  #timer = null;
  #wasLong = false;

  /**
   * @param {(state: object, screen: string) => void} chooseScreen
   * @param {(state: object, button: string | undefined, element: string) => void} chooseElement
   */
  constructor(device, root, chooseScreen, chooseElement) {
    this.#device = device;
    this.#root = root;
    this.#chooseScreen = chooseScreen;
    this.#chooseElement = chooseElement;
    root.addEventListener("contextmenu", (event) => {
      const owner = event.target.closest(OWNER);
      if (!owner) return;
      event.preventDefault();
      this.show(owner);
    });
    root.addEventListener("pointerdown", (event) => this.#down(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) root.addEventListener(name, () => clearTimeout(this.#timer));
    root.addEventListener("keydown", (event) => this.#key(event));
    // The click that ends a long press is no tap on the button. A button without an action opens its menu, and so does the title.
    root.addEventListener("click", (event) => {
      const owner = event.target.closest(OWNER);
      const opens = owner && !this.#wasLong && owner.dataset.slot !== "back" && owner.dataset.action === undefined && owner.ariaDisabled !== "true";
      if (owner && (this.#wasLong || opens)) event.stopImmediatePropagation();
      if (opens) this.show(owner);
      this.#wasLong = false;
    }, { capture: true });
  }

  get isOpen() {
    return this.#open !== null;
  }

  #down(event) {
    this.#wasLong = false;
    if (this.isOpen && !event.target.closest(".menu")) return this.hide();
    const owner = event.target.closest(OWNER);
    if (!owner || event.button !== 0) return undefined;
    this.#timer = setTimeout(() => {
      this.#wasLong = true;
      this.show(owner);
    }, LONG_PRESS);
    return undefined;
  }

  #key(event) {
    const owner = event.target.closest(OWNER);
    if (owner && event.key === "ArrowDown") {
      event.preventDefault();
      return this.show(owner);
    }
    const menu = event.target.closest(".menu");
    if (!menu) return undefined;
    const items = [...menu.querySelectorAll("button")];
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

  /** Opens the menu of the back button, of another button or of the title, in the bar that is shown. */
  show(button) {
    this.hide();
    const state = this.#device.state;
    if (!state || button.closest("[inert]")) return;
    const items = button.dataset.slot === "back" ? this.#screens(state) : this.#elements(state, button.dataset.button);
    if (!items.some((item) => item.matches("button"))) return;
    const isBack = button.dataset.slot === "back";
    const menu = el("div", { class: "menu", role: "menu", "data-slot": isBack ? "back-menu" : "menu", "aria-label": isBack ? "Back to" : button.textContent }, ...items);
    button.setAttribute("aria-expanded", "true");
    this.#open = { menu, button, top: state.screens.at(-1).id };
    // The bar may have a prompt above the button.
    const layers = this.#device.parts.layers.getBoundingClientRect();
    const place = button.getBoundingClientRect();
    menu.style.setProperty("--below", String((place.bottom - layers.top) / this.#device.pointPixels));
    if (place.left > (layers.left + layers.right) / 2) menu.classList.add("trailing");
    if (place.top > layers.top + layers.height * 3) menu.classList.add("above");
    this.#device.parts.stack.append(menu);
    menu.querySelector("button:not([aria-disabled])")?.focus({ preventScroll: true });
  }

  #item(attributes, text, choose) {
    const item = el("button", { type: "button", class: "menu-item", tabindex: "-1", ...attributes }, bdiText(text));
    item.addEventListener("click", (event) => {
      event.stopPropagation();
      if (item.ariaDisabled === "true") return;
      this.hide(true);
      choose();
    });
    return item;
  }

  #screens(state) {
    return entriesOf(state).map((entry) => this.#item(
      { role: "menuitem", "data-slot": "back-menu-entry", "data-screen": entry.screen, "aria-label": entry.spoken, lang: entry.language }, entry.text,
      () => this.#chooseScreen(state, entry.screen)));
  }

  #elements(state, button) {
    return elementsOf(state, button).map((element) => {
      if (element.isTitle) return el("div", { class: "menu-title", role: "presentation", "data-depth": element.depth }, bdiText(element.title));
      const isMarked = element.state !== undefined;
      return this.#item(
        {
          "data-depth": element.depth, role: isMarked ? "menuitemcheckbox" : "menuitem", "data-slot": "menu-element", "data-element": element.id, "data-state": element.state,
          "aria-checked": isMarked ? (element.state === "mixed" ? "mixed" : "true") : null, "aria-disabled": element.isEnabled === false ? "true" : null,
        },
        element.title, () => this.#chooseElement(state, button, element.id));
    });
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
