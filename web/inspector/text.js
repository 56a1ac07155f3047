// Texts of clients. They reach the page through these functions only, and never as markup.

import { el } from "../view/dom.js";

/** Control characters, format characters such as bidi overrides, and lone surrogates. */
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
const MAXIMUM_TEXT_LENGTH = 400;

/**
 * Returns any JSON value as a text of one line, with invisible characters as `\u{…}`.
 *
 * @param {any} value
 * @param {number} [most] the length after which the text is cut
 */
export function visibleText(value, most = MAXIMUM_TEXT_LENGTH) {
  const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replace(INVISIBLE_CHARACTERS, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
}

/**
 * Makes an element `bdi` for a text of a client; `bdi` keeps its direction from changing the texts beside it.
 *
 * @param {any} value
 * @param {Record<string, unknown>} [attributes] `most` is the length after which the text is cut
 */
export function bdi(value, attributes = {}) {
  const { most, ...others } = attributes;
  const element = el("bdi", others);
  element.textContent = visibleText(value, /** @type {number} */ (most) ?? MAXIMUM_TEXT_LENGTH);
  // Escapes are for eyes; programs that read the page want the text itself.
  if (typeof value === "string" && element.textContent !== value) element.dataset.raw = value;
  return element;
}

/**
 * Sets the text of an element, if it differs.
 *
 * @param {Element} element
 * @param {string} text
 */
export function writeText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Sets an attribute if it differs, or removes it for null, undefined or false.
 *
 * @param {Element} element
 * @param {string} name
 * @param {any} value
 */
export function updateAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) {
    element.setAttribute(name, String(value));
  }
}

/** The page formats times and numbers in the locale of the browser, except revisions in links and commands. */
const TIME_OPTIONS = /** @type {const} */ ({ hour: "numeric", minute: "2-digit", second: "2-digit" });
const DATE_FORMATS = {
  clock: new Intl.DateTimeFormat(undefined, { ...TIME_OPTIONS, fractionalSecondDigits: 3 }), hour: new Intl.DateTimeFormat(undefined, TIME_OPTIONS),
  moment: new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" }),
};
const NUMBER_FORMAT = new Intl.NumberFormat();
const PERCENT_FORMAT = new Intl.NumberFormat(undefined, { style: "percent" });
const THREE_DIGITS_FORMAT = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
const ONE_DECIMAL_FORMAT = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const formatTime = (name, t) => Number.isFinite(t) && Math.abs(t) <= 8.64e15 ? DATE_FORMATS[name].format(t) : "";

/** A time of the day with milliseconds. @param {number} t milliseconds since 1970 */
export const timeWithMilliseconds = (t) => formatTime("clock", t);

/** A time of the day. @param {number} t milliseconds since 1970 */
export const timeOfDay = (t) => formatTime("hour", t);

/** A day and a time. @param {number} t milliseconds since 1970 */
export const dateAndTime = (t) => formatTime("moment", t);

/** The width of the widest time with milliseconds, in `rem`: it measures both halves of the day and all digits. */
export function clockWidth() {
  const times = [10, 22].flatMap((hour) => Array.from({ length: 10 }, (_, digit) => {
    const of60 = digit < 6 ? 11 * digit : 50 + digit;
    return timeWithMilliseconds(new Date(2000, 11, 28, hour, of60, of60, 111 * digit).getTime());
  }));
  const probe = el("span", { class: "unseen" }, times.join("\n"));
  probe.style.setProperty("white-space", "pre");
  document.body.append(probe);
  const width = (probe.scrollWidth + 1) / parseFloat(getComputedStyle(document.documentElement).fontSize);
  probe.remove();
  return width;
}

/** A share of 1 in percent. @param {number} share */
export const percentText = (share) => PERCENT_FORMAT.format(share);

/** A number with three significant digits. @param {number} number */
export const threeDigits = (number) => THREE_DIGITS_FORMAT.format(number);

/** A number with one digit behind the separator. @param {number} number */
export const oneDecimal = (number) => ONE_DECIMAL_FORMAT.format(number);

/**
 * How long ago something was, in steps of ten seconds: a text that changes each second would distract.
 *
 * @param {number} milliseconds
 */
export function ageText(milliseconds) {
  const seconds = Math.floor(milliseconds / 10_000) * 10;
  if (seconds < 10) return "now";
  const units = /** @type {[number, string][]} */ ([[86_400, "d"], [3600, "h"], [60, "min"], [1, "s"]]);
  const [unit, name] = units.find(([each]) => seconds >= each);
  return `${numberText(Math.floor(seconds / unit))} ${name}`;
}

/**
 * A number as text with group separators.
 *
 * @param {number} number
 */
export const numberText = (number) => NUMBER_FORMAT.format(number);

/**
 * "1 revision", "2 revisions".
 *
 * @param {number} number
 * @param {string} noun
 */
export const countedNoun = (number, noun) => `${numberText(number)} ${noun}${number === 1 ? "" : "s"}`;

/**
 * Quotes a text as one word of a shell command.
 *
 * @param {string} text
 */
export const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * The command of navctl that shows the same nav and revision as the stage.
 *
 * @param {string} nav
 * @param {number|null} at
 */
export function navctlCommand(nav, at) {
  return at === null ? `navctl show ${shellQuoted(nav)}` : `navctl history ${shellQuoted(nav)} --at ${at}`;
}

/**
 * The principal of an entry of the log or of a session: proven by the kernel, or by a key.
 *
 * @param {any} by
 */
export function principalText(by) {
  if (by?.principal !== undefined) return visibleText(by.principal);
  if (by?.uid !== undefined) return `uid:${by.uid}`;
  return by?.key === undefined ? "" : `key:${visibleText(by.key, 12)}`;
}

/**
 * Puts spaces between elements or texts.
 *
 * @param {(Node|string)[]} parts
 */
export const withSpaces = (parts) => parts.flatMap((part, index) => (index ? [" ", part] : [part]));

/**
 * The author of a change: the principal that navd has proven, then the name that the client claims.
 *
 * @param {any} by
 * @returns {(Node|string)[]}
 */
export function authorElements(by) {
  if (!by) return [];
  const principal = principalText(by);
  const pid = by.pid === undefined ? "" : `pid ${Number(by.pid)}`;
  // Each part has the words of all, since a narrow place cuts the last ones.
  const title = [
    principal && `${principal}, proven by the kernel or by a key`, by.name === undefined ? "" : `“${visibleText(by.name)}”, a name that the client chose`, pid,
  ].filter(Boolean).join("\n");
  return [
    ...(principal ? [el("span", { "data-author": "proven", title }, bdi(principal))] : []),
    ...(by.name === undefined ? [] : [el("span", { "data-author": "claimed", title }, bdi(by.name))]),
    ...(pid ? [el("span", { class: "faint", title }, pid)] : []),
  ];
}

/**
 * Explains an error in words for the person.
 *
 * @param {any} error
 */
export function errorText(error) {
  const known = {
    "no-nav": "There is no nav of that name.", forbidden: "You have no right to read this.",
    compacted: error?.future ? "This revision does not exist yet." : `This revision is no longer in the journal. The oldest is ${error?.floor ?? "unknown"}.`,
    limit: "This state is too large for one answer. Its live form comes in parts.",
    closed: "The connection was closed.", unauthorized: "The session has expired.",
    absent: "This is not in a recording.",
  };
  const text = error?.code && Object.hasOwn(known, error.code) ? known[error.code] : "";
  return text || visibleText(error?.message ?? String(error));
}
