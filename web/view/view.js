// Draws the contents of a screen from its groups of rows.

import { el, bdiText } from "./dom.js";
import { icon } from "./icons.js";
import { setColour } from "./palette.js";

/** Makes an element with the contents of a screen; device.js changes the shown element to match it. */
export function drawContent(groups, screenID) {
  const root = el("div", { class: "content" });
  for (const group of groups) root.append(...drawGroup(group, screenID));
  return root;
}

function drawGroup(group, screenID) {
  const special = layoutDrawers[group.layout];
  if (special) return [special(group)];
  const label = `${screenID}-${group.key}`.replace(/[^\w-]/g, "_");
  const header = group.header && el("h2", { class: "group-header", id: label, "data-key": `${group.key}-header` }, bdiText(group.header));
  const list = el("div", {
    class: "group", "data-key": `group-${group.key}`, role: group.radio ? "radiogroup" : "list", "aria-labelledby": header ? label : null,
  });
  for (const row of group.rows) list.append(drawRow(row, group.radio ? null : "listitem"));
  const footer = group.footer && el("p", { class: "group-footer", "data-key": `${group.key}-footer` }, group.footer);
  return [header, list, footer].filter(Boolean);
}

function drawRow(row, role) {
  const draw = rowDrawers[row.kind];
  const element = draw(row);
  // A list has list items only, so that a screen reader can say how many there are; what can be pressed is inside.
  return role ? el("div", { role, class: "item", "data-key": `${row.key}-item` }, element) : element;
}

const titleElement = (row) => el("span", { class: "row-title" }, bdiText(row.title));
const valueElement = (row) => (row.value === undefined || row.value === null || row.value === "" ? null : el("span", { class: "row-value" }, bdiText(row.value)));

function badgeElement(row) {
  if (row.swatch) return withTint(el("span", { class: "swatch", "aria-hidden": "true" }), row.swatch);
  return row.icon ? withTint(el("span", { class: "badge" }, icon(row.icon)), row.tint) : null;
}

function withTint(element, name) {
  setColour(element, "--badge", name);
  return element;
}

const pressableAttributes = (row, more = {}) => ({ type: "button", class: `row row-${row.kind}`, "data-key": row.key, "data-act": row.act, "data-arg": row.arg, disabled: row.disabled, ...more });

const rowDrawers = {
  link: (row) => el("button", pressableAttributes(row), badgeElement(row), titleElement(row), valueElement(row), icon("disclosure")),
  value: (row) => el("div", { class: "row row-value-only", "data-key": row.key }, badgeElement(row), titleElement(row), valueElement(row)),
  choice: (row) => el(
    "button", pressableAttributes(row, { role: "radio", "aria-checked": row.on ? "true" : "false" }), badgeElement(row), titleElement(row), valueElement(row), icon("check")),
  switch: (row) => el("button", pressableAttributes(row, { role: "switch", "aria-checked": row.on ? "true" : "false" }), titleElement(row), el("span", { class: "switch" })),
  button: (row) => el("button", pressableAttributes(row, { class: `row row-button ${row.style ?? ""}` }), titleElement(row)),
  tile: (row) => el("button", pressableAttributes(row, { class: "tile" }), badgeElement(row), titleElement(row)),
  code: (row) => el("pre", { class: "row row-code", "data-key": row.key, tabindex: "0" }, bdiText(row.text)),
  field: (row) => el(
    "label", { class: "row row-field", "data-key": `${row.key}-field` }, titleElement(row),
    el("input", {
      class: "row-input", "data-key": row.key, "data-field": row.key, value: row.value, autocomplete: "off", spellcheck: "false", maxlength: 64,
      inputmode: row.numeric ? "numeric" : null, "data-least": row.least, "data-most": row.most,
    })),
};

const layoutDrawers = {
  tiles: (group) => el("div", { class: "tiles", "data-key": `group-${group.key}` }, ...group.rows.map((row) => drawRow(row, null))),
  text: (group) => el("p", { class: "text", "data-key": `group-${group.key}` }, group.text),
  alert: (group) => el(
    "div", { class: "alert-content", "data-key": `group-${group.key}` }, el("p", { class: "alert-text", id: "alert-text" }, group.text),
    el("div", { class: "alert-buttons", "data-key": "buttons" }, ...group.rows.map((row) => drawRow(row, null)))),
  photo: (group) => el(
    "div", { class: "photo", "data-key": `group-${group.key}` },
    el("div", { class: "photo-picture", role: "img", "aria-label": "Hills at sunset" }, el("span", { class: "photo-sun" }), el("span", { class: "photo-far" }), el("span", { class: "photo-near" })),
    ...group.rows.map((row) => drawRow(row, null))),
  clock: (group) => el(
    "button", { class: "clock", type: "button", "data-key": group.key, "data-act": "close", "aria-label": "End the screensaver" },
    el("span", { class: "clock-time", "data-clock": "time" }), el("span", { class: "clock-date", "data-clock": "date" }),
    el("span", { class: "clock-hint" }, "Tap to return")),
  keypad: drawKeypad,
};

function drawKeypad(group) {
  const dots = el("div", { class: `dots${group.wrong ? " wrong" : ""}`, "data-key": "dots", role: "img", "aria-label": `${group.typed} of 4 digits` });
  for (let at = 0; at < 4; at += 1) dots.append(el("span", { class: at < group.typed ? "dot filled" : "dot" }));
  const keys = el("div", { class: "keys", "data-key": "keys" });
  for (const digit of ["1", "2", "3", "4", "5", "6", "7", "8", "9", "", "0", "erase"]) {
    if (digit === "") keys.append(el("span"));
    else keys.append(el(
      "button", { type: "button", class: "key", "data-key": `key-${digit}`, "data-pin": digit, "aria-label": digit === "erase" ? "Delete" : null },
      digit === "erase" ? icon("erase") : digit));
  }
  return el("div", { class: "keypad", "data-key": `group-${group.key}` }, dots, keys, el("p", { class: "group-footer" }, "The PIN of this demo is 1234."));
}

// Making a format takes longer than using it.
let cachedFormats = null;

function clockFormats(locale) {
  if (cachedFormats?.locale !== locale) {
    const [known] = supportedLocales(locale);
    const format = (options) => new Intl.DateTimeFormat(known, options);
    cachedFormats = { locale, time: format({ hour: "numeric", minute: "2-digit" }), date: format({ weekday: "long", day: "numeric", month: "long" }) };
  }
  return cachedFormats;
}

// A client may set any text as the locale.
function supportedLocales(locale) {
  try {
    return /** @type {any} */ (Intl).getCanonicalLocales(locale);
  } catch {
    return ["en"];
  }
}

/** The direction in which a language is written: "rtl" or "ltr". */
export function directionOf(locale) {
  /** @type {any} */
  const known = new Intl.Locale(supportedLocales(locale)[0] ?? "en");
  return (known.getTextInfo?.() ?? known.textInfo)?.direction ?? "ltr";
}

/** Writes the time into all elements that show it. */
export function drawClocks(root, now, locale) {
  const formats = clockFormats(locale);
  for (const place of root.querySelectorAll("[data-clock]")) {
    const text = formats[place.dataset.clock].format(now);
    if (place.textContent !== text) place.textContent = text;
  }
}
