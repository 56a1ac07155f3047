// Presented screens: sheets, covers, popovers and alerts, one above the other as in the chain of the state.

import { el, morph, bdiText, setLanguage } from "./dom.js";
import { icon } from "./icons.js";
import { chainOf, labelOf, languageOf } from "./model.js";
import { fadeIn } from "./transition.js";

// How each style looks here. navd does not read styles, except for `ui.dismiss` and what they cover.
const FORM_BY_STYLE = {
  pageSheet: "page", automatic: "page", formSheet: "form", popover: "popover", alert: "alert", fullScreen: "full", overFullScreen: "full",
  currentContext: "full", overCurrentContext: "full",
};

/** How this page draws a modal presentation style: as `page`, `form`, `popover`, `alert` or `full`. */
export const sheetForm = (style) => (Object.hasOwn(FORM_BY_STYLE, style ?? "") ? FORM_BY_STYLE[style] : "page");

/** Whether a sheet follows the finger when a person pulls it down; navd decides whether the pull dismisses it. */
export const canPullDown = (entry) => sheetForm(entry.style) !== "full" && entry.screen.modalInPresentation !== true;

export class Sheets {
  #root;
  #stack;
  #sheetByScreen = new Map();
  #leavingSheets = [];
  #enteringSheets = [];
  #doesStackRecede = false;
  #pullOffset = 0;

  constructor(root, stack) {
    this.#root = root;
    this.#stack = stack;
  }

  sheetElement(id) {
    return this.#sheetByScreen.get(id) ?? null;
  }

  /** Whether a presented screen covers the stack, so that nobody can use it; a popover covers nothing. */
  coverStack = (state) => chainOf(state).some((entry) => sheetForm(entry.style) !== "popover");

  /** Adds, updates and removes sheets to match the presented chain. With `keepsLeaving`, a dismissed sheet stays for its animation. */
  update(state, content, keepsLeaving) {
    const chain = chainOf(state);
    const ids = new Set(chain.map(({ screen }) => screen.id));
    this.#enteringSheets = [];
    for (const [id, element] of this.#sheetByScreen) {
      if (ids.has(id)) continue;
      this.#sheetByScreen.delete(id);
      if (keepsLeaving) this.#leavingSheets.push(element);
      else element.remove();
    }
    for (const [at, entry] of chain.entries()) {
      const sheet = this.#sheetByScreen.get(entry.screen.id) ?? this.#makeSheet(entry);
      fillSheet(sheet, entry, content(entry.screen));
      sheet.inert = at < chain.length - 1;
      if (sheetForm(entry.style) === "popover") this.#placePopover(sheet, entry);
    }
    const isReceded = chain.some(({ style }) => sheetForm(style) === "page");
    this.#doesStackRecede = isReceded !== this.#stack.classList.contains("receded");
    this.#stack.classList.toggle("receded", isReceded);
  }

  // A popover covers nothing. What the others cover is inert too; the panel beside the device is not, for a pointer.
  #makeSheet(entry) {
    const form = sheetForm(entry.style);
    const sheet = el(
      "div", { class: `sheet sheet-${form}`, "data-slot": "sheet", "data-screen": entry.screen.id, "data-style": entry.style ?? "automatic" },
      el("div", { class: "shade", "data-slot": "shade" }),
      el(
        "div", { class: "sheet-box", role: form === "alert" ? "alertdialog" : "dialog", "aria-modal": form === "popover" ? null : "true", tabindex: "-1" },
        el("div", { class: "sheet-head", "data-slot": "sheet-head" }), el("div", { class: "scroller" }, el("div", { class: "content" }))));
    this.#sheetByScreen.set(entry.screen.id, sheet);
    this.#enteringSheets.push(sheet);
    this.#root.append(sheet);
    return sheet;
  }

  /** Adds the sheets of a presentation or a dismissal to its motion, after `update`. */
  addToMotion(motion, op) {
    const moving = op === "present" ? this.#enteringSheets : this.#leavingSheets;
    for (const sheet of moving) {
      const box = sheet.querySelector(".sheet-box");
      const flat = motion.fade ? "fade" : sheet.className;
      motion.addFrames(sheet.querySelector(".shade"), fadeIn);
      motion.addFrames(box, sheetFrames(flat, op === "dismiss" ? this.#pullOffset : 0));
    }
    this.#pullOffset = 0;
    if (this.#doesStackRecede && !motion.fade) motion.addFrames(this.#stack, [{ transform: "none", clipPath: "inset(0 round 0px)" }, RECEDED_STACK]);
  }

  /** Moves a sheet down by `offset` pixels while a finger pulls it. */
  pull(sheet, offset) {
    this.#pullOffset = offset;
    sheet.querySelector(".sheet-box").style.setProperty("--pull", `${offset}px`);
    sheet.querySelector(".shade").style.setProperty("--pulled", String(Math.min(1, Math.max(0, offset / 600))));
  }

  /** Animates a pulled sheet back to its place. */
  springBack(sheet) {
    const box = sheet.querySelector(".sheet-box");
    const from = this.#pullOffset;
    this.pull(sheet, 0);
    box.animate([{ transform: `translate3d(0, ${from}px, 0)` }, { transform: "none" }], { duration: 320, easing: "cubic-bezier(0.3, 1.4, 0.5, 1)" });
  }

  removeLeavingSheets() {
    for (const sheet of this.#leavingSheets.splice(0)) sheet.remove();
  }

  // A popover stands at the button that it is about, inside the edges of the screen.
  #placePopover(sheet, entry) {
    const box = sheet.querySelector(".sheet-box");
    const screen = this.#root.getBoundingClientRect();
    const name = typeof entry.screen.args?.anchor === "string" ? entry.screen.args.anchor : "";
    const anchor = [...this.#stack.querySelectorAll("[data-button]")].find((button) => button.dataset.button === name)?.getBoundingClientRect();
    const width = box.offsetWidth;
    const middle = anchor ? anchor.left + anchor.width / 2 - screen.left : screen.width / 2;
    const left = Math.min(Math.max(8, middle - width / 2), Math.max(8, screen.width - width - 8));
    box.style.setProperty("--left", `${left}px`);
    box.style.setProperty("--top", `${anchor ? anchor.bottom - screen.top + 10 : screen.height / 3}px`);
    box.style.setProperty("--arrow", `${Math.min(Math.max(18, middle - left), width - 18)}px`);
    box.classList.toggle("free", !anchor);
  }
}

const RECEDED_STACK = { transform: "translate3d(0, calc(var(--status) - 3 * var(--pt)), 0) scale(0.92)", clipPath: "inset(0 round calc(12 * var(--pt)))" };

function sheetFrames(form, offset) {
  if (form.includes("popover")) return [{ opacity: 0, transform: "scale(0.7)" }, { opacity: 1, transform: "scale(1)" }];
  if (form.includes("alert")) return [{ opacity: 0, transform: "scale(1.12)" }, { opacity: 1, transform: "scale(1)" }];
  if (form === "fade") return fadeIn;
  return [{ transform: "translate3d(0, 110%, 0)" }, { transform: `translate3d(0, ${offset}px, 0)` }];
}

function fillSheet(sheet, entry, content) {
  const title = `sheet-${entry.screen.id}`;
  const form = sheetForm(entry.style);
  const box = sheet.querySelector(".sheet-box");
  box.setAttribute("aria-labelledby", title);
  sheet.dataset.modal = String(!canPullDown(entry));
  const head = el("div", { class: "sheet-head", "data-slot": "sheet-head" });
  if (form === "page" || form === "form") head.append(el("span", { class: "grabber", "data-key": "grabber", "aria-hidden": "true" }));
  head.append(el("h2", { class: "sheet-title", id: title, "data-slot": "sheet-title", "data-key": "title", "aria-label": labelOf(entry.screen), lang: languageOf(entry.screen) }, bdiText(entry.screen.title ?? entry.screen.item?.title ?? entry.screen.id)));
  if (form === "page" || form === "form") {
    head.append(el("button", { type: "button", class: "bar-button done sheet-close", "data-slot": "sheet-close", "data-key": "close" }, form === "page" ? "Done" : "Cancel"));
  } else if (form === "popover") {
    head.append(el("button", { type: "button", class: "bar-button sheet-close", "data-slot": "sheet-close", "data-key": "close", "aria-label": "Close" }, icon("cross")));
  }
  morph(sheet.querySelector(".sheet-head"), head);
  morph(sheet.querySelector(".content"), content);
  setLanguage(sheet, entry.screen.language);
}

