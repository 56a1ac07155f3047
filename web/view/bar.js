// The navigation bar and the toolbar, drawn from `resolved` alone.

import { el, bdiText } from "./dom.js";
import { buttonFace, hasIcon, icon, customViewText } from "./icons.js";
import { barColours, cssColour, setColour } from "./palette.js";
import { appearanceObject, languageOf, promptOf, topID, topOf } from "./model.js";

/** Collects what the drawing of the bar depends on. Bars with equal models look the same. */
export function barModel(state) {
  const bar = state.bar;
  return {
    top: topID(state), height: bar.height, layoutHeight: bar.layoutHeight, metrics: bar.metrics, prompt: promptOf(state), language: languageOf(topOf(state)), left: bar.left, middle: bar.middle ?? null,
    right: bar.right, tint: bar.tintColor, translucent: bar.translucent, colours: barColours(bar, appearanceObject(state)),
    hairline: bar.shadow?.hairline ?? (bar.appearance ? "1/2" : null), titleOffset: bar.titleOffset ?? 0,
  };
}

/** The title in the middle of the bar; empty if there is none. */
export const barTitleText = (model) => (model.middle?.customView !== undefined ? customViewText(model.middle.customView) : model.middle?.title ?? "");

/**
 * Chooses the back button's text: the first candidate with which the left side, the title and the right side fit.
 *
 * @param {number[]} widths the width of the left side with each candidate
 */
export function chooseBackTitle(widths, titleWidth, rightWidth, room) {
  // The title gives way down to a third of the bar, before a shorter text is taken.
  const needed = Math.min(titleWidth, room / 3);
  const at = widths.findIndex((left) => left + needed + rightWidth <= room && left <= room / 2);
  return at < 0 ? widths.length - 1 : at;
}

/** Draws one layer of the bar. During a transition there are two layers: those of the old and the new top screen. */
export function drawLayer(model) {
  const layer = el("div", { class: "bar-layer", "data-top": model.top });
  if (model.prompt) layer.append(el("div", { class: "bar-prompt", "data-slot": "prompt", "data-key": "prompt", lang: model.language }, bdiText(model.prompt)));
  const left = el("div", { class: "bar-side bar-left", "data-key": "left" }, ...model.left.map((slot) => (slot.back ? drawBack(slot.back) : drawButton(slot, "left"))));
  // The right side comes right-most first.
  const right = el("div", { class: "bar-side bar-right", "data-key": "right" }, ...[...model.right].reverse().map((slot) => drawButton(slot, "right")));
  const isLarge = model.middle?.placement === "large";
  const text = barTitleText(model);
  const menu = model.middle?.menu ? { "aria-haspopup": "menu", "aria-expanded": "false" } : {};
  const heading = (large) => el(
    large ? "h1" : isLarge ? "span" : "h1",
    { ...(isLarge === large ? menu : {}), class: large ? "bar-title-large" : "bar-title", "data-slot": isLarge === large ? "title" : null, "data-placement": isLarge === large ? (large ? "large" : "inline") : null, tabindex: isLarge === large ? "-1" : null, "aria-hidden": isLarge === large ? null : "true", "aria-label": model.middle?.accessibilityLabel, lang: model.middle?.language },
    bdiText(large ? model.middle.large?.title ?? text : text));
  const below = (large) => drawSubtitle(large ? model.middle.large ?? model.middle : model.middle, isLarge === large);
  layer.append(el("div", { class: "bar-row", "data-key": "row" }, left, el("div", { class: `bar-middle${model.middle?.alignment ? ` ${model.middle.alignment}` : ""}`, "data-key": "middle" }, heading(false), below(false)), right));
  if (isLarge) layer.append(el("div", { class: "bar-large", "data-key": "large" }, heading(true), below(true)));
  const attribute = model.middle?.attributes?.color;
  layer.style.setProperty("--title-offset", String(Number(model.titleOffset) || 0));
  setColour(layer, "--bar-text", attribute ?? model.colours.text);
  setColour(layer, "--tint", model.tint);
  return layer;
}

function drawSubtitle(place, isShown) {
  const text = place?.subtitleView !== undefined ? customViewText(place.subtitleView) : place?.subtitle;
  if (text === undefined) return null;
  return el("span", { class: "bar-subtitle", "data-slot": isShown ? "subtitle" : null, "aria-hidden": isShown ? null : "true" }, bdiText(text));
}

function drawBadge(badge) {
  if (badge === undefined) return null;
  return el("span", { class: `bar-badge${badge === true ? " indicator" : ""}`, "data-slot": "badge" }, badge === true ? null : bdiText(String(badge)));
}

// What a screen reader says of a slot, and by what a test rig finds it.
const accessibilityAttributes = (slot, name) => ({ "aria-label": name, "aria-description": slot.accessibilityHint, "data-testid": slot.accessibilityIdentifier });

function drawBack(back) {
  const picture = back.indicatorImage && hasIcon(back.indicatorImage) ? back.indicatorImage : "chevron";
  const image = back.image !== undefined;
  const text = image ? (hasIcon(back.image) ? null : back.title ?? back.image) : back.text;
  const name = back.accessibilityLabel ?? back.title ?? text;
  const hasMenu = Array.isArray(back.menu) && back.menu.length > 0;
  return el(
    "button",
    {
      type: "button", class: "bar-button back", "data-slot": "back", "data-key": "back", "data-source": back.source, "data-generic": back.generic ? "true" : null,
      "data-candidates": JSON.stringify(image ? [] : back.candidates ?? []), "data-text": back.text ?? "",
      ...accessibilityAttributes(back, name && name !== "Back" ? `Back, ${name}` : "Back"), lang: back.language, "aria-haspopup": hasMenu ? "menu" : null, "aria-expanded": hasMenu ? "false" : null,
      "aria-keyshortcuts": hasMenu ? "ArrowDown" : null,
    },
    icon(picture, "indicator"),
    image && hasIcon(back.image) ? icon(back.image, "image") : el("span", { class: "back-text", "data-key": "text" }, bdiText(text ?? "")));
}

function drawButton(slot, side) {
  const look = buttonFace(slot);
  if (look.space) return el("span", { class: `space space-${look.space}`, "aria-hidden": "true" });
  const button = el(
    "button",
    {
      type: "button", class: `bar-button${slot.style ? ` ${slot.style}` : ""}${slot.tintApplies === false ? " untinted" : ""}`, "data-slot": "button",
      "data-side": side, "data-button": slot.button, "data-key": `button-${slot.button}`, "data-action": slot.action, ...accessibilityAttributes(slot, slot.accessibilityLabel ?? (look.picture ? look.label : null)),
      "aria-disabled": slot.isEnabled === false ? "true" : null, "aria-pressed": slot.isSelected ? "true" : null, "aria-haspopup": slot.menu ? "menu" : null, "aria-expanded": slot.menu ? "false" : null,
    },
    look.picture ? icon(look.picture) : bdiText(look.text), drawBadge(slot.badge));
  return button;
}

/**
 * Gives the back button the longest text that fits. The layer must be in the document. It measures
 * all candidates at once, so that the browser lays out once.
 */
export function fitBackButton(layer) {
  const back = layer.querySelector("[data-slot=back]");
  const text = back?.querySelector(".back-text");
  const candidates = text ? JSON.parse(back.dataset.candidates) : [];
  if (!candidates.length) return;
  const trials = candidates.map((candidate) => el("span", { class: "back-text trial", "aria-hidden": "true" }, bdiText(candidate ?? "")));
  back.append(...trials);
  const row = layer.querySelector(".bar-row");
  const { paddingInlineStart, paddingInlineEnd } = getComputedStyle(row);
  const room = row.clientWidth - parseFloat(paddingInlineStart) - parseFloat(paddingInlineEnd);
  const around = contentWidth(layer.querySelector(".bar-left")) - text.offsetWidth;
  const title = layer.querySelector(".bar-large") ? 0 : layer.querySelector(".bar-title bdi").getBoundingClientRect().width + 12;
  const at = chooseBackTitle(trials.map((trial) => around + trial.offsetWidth), title, contentWidth(layer.querySelector(".bar-right")), room);
  for (const trial of trials) trial.remove();
  text.firstChild.textContent = candidates[at] ?? "";
  back.dataset.candidate = String(at);
}

// The width of what is inside. The element itself is as wide as its column.
const contentWidth = (side) => [...side.children].reduce((sum, child) => sum + child.offsetWidth, 0);

/** Sets the height and the background of the bar, in front of which the layers are. */
export function styleBar(element, model) {
  element.style.setProperty("--bar-height", String(model.height));
  element.dataset.height = String(model.height);
  element.dataset.layoutHeight = String(model.layoutHeight);
  element.dataset.metrics = model.metrics;
  element.classList.toggle("hidden", model.layoutHeight === 0);
  element.classList.toggle("opaque", !model.translucent);
  setColour(element, "--bar-background", model.colours.background);
  const shadow = cssColour(model.colours.shadow);
  element.classList.toggle("no-hairline", model.hairline === null || shadow === "transparent");
  element.classList.toggle("thin-hairline", model.hairline === "1/3");
}

/** Draws the buttons of the toolbar. */
export function drawToolbar(bar) {
  const items = el("div", { class: "toolbar-items" }, ...bar.toolbar.items.map((slot) => drawButton(slot, "toolbar")));
  setColour(items, "--tint", bar.tintColor);
  return items;
}
