// A link to a moment: `#nav=NAME&rev=42&with=40`. A fragment never reaches a server, so no log has it.
//
// Pins and bookmarks are in it as the filter is: a reload keeps them, and a link brings them to somebody else, which the
// storage of one browser could not. A link without them leaves those of the page.

import { MAXIMUM_ITEMS, parseBookmark } from "./bookmarks.js";
import { TABS } from "./store.js";

/** @typedef {import("./store.js").ChoiceStore} Store */

/** How long after the last move of the slider the page writes its address, which costs some milliseconds. */
const WRITE_DELAY_MS = 300;

/**
 * The choices that a link to the page names.
 *
 * @typedef {object} Place
 * @property {string|null} nav
 * @property {number|null} at
 * @property {string|null} epoch
 * @property {number|null} compareWith
 * @property {string} filter
 * @property {string|null} tab null leaves it as it is
 * @property {readonly string[]|null} pins null leaves them, as the next one
 * @property {readonly string[]|null} bookmarks
 */

/**
 * The choices of a fragment that also has a launch code, such as `nav=kiosk` of `#c=CODE&nav=kiosk`. The client takes
 * the whole fragment as the code, so this file removes the choices first.
 */
let placeBesideLaunchCode = takePlaceBesideLaunchCode();

function takePlaceBesideLaunchCode() {
  const [, launch, place] = /^#([ct]=[^&]*)&(.*)$/s.exec(globalThis.location?.hash ?? "") ?? [];
  if (launch) history.replaceState(history.state, "", `#${launch}`);
  return place ?? "";
}

/** Writes the URL fragment for the choices, each value percent-encoded once. @param {Partial<Place>} place */
export function formatLink({ nav, at, epoch, compareWith, filter, tab, pins, bookmarks }) {
  if (nav == null) return "";
  const members = [["nav", nav], ["rev", at], ["epoch", at == null ? null : epoch], ["with", compareWith],
    ["filter", filter || null], ["tab", tab === (compareWith == null ? "stream" : "compare") ? null : tab],
    ...(pins ?? []).map((pin) => ["pin", pin]), ...(bookmarks ?? []).map((text) => ["mark", text])];
  return `#${members.filter(([, value]) => value != null).map(([name, value]) => `${name}=${encodeValue(String(value))}`).join("&")}`;
}

// A lone surrogate cannot be encoded, and navd has none.
const encodeValue = (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd")).replaceAll("'", "%27");

/** Reads a fragment; null if it names no nav. @param {string} fragment @returns {Place|null} */
export function parseLink(fragment) {
  const values = new Map();
  const lists = { pin: new Set(), mark: new Set() };
  for (const member of fragment.replace(/^#/, "").split("&")) {
    const [, name, value] = /^([^=]*)=(.*)$/s.exec(member) ?? [];
    const text = name === undefined ? null : decodeValue(value);
    if (text && Object.hasOwn(lists, name)) lists[name].add(text);
    else if (text !== null && !values.has(name)) values.set(name, text);
  }
  if (!values.get("nav")) return null;
  const tab = values.get("tab");
  const listOf = (set) => set.size ? [...set].slice(0, MAXIMUM_ITEMS) : null;
  return {
    nav: values.get("nav"), at: parseRevision(values.get("rev")), epoch: values.get("epoch") ?? null,
    compareWith: parseRevision(values.get("with")), filter: values.get("filter") ?? "",
    tab: TABS.includes(/** @type {any} */ (tab)) ? tab : values.has("with") ? "compare" : null,
    pins: listOf(lists.pin), bookmarks: listOf(new Set([...lists.mark].filter(parseBookmark))),
  };
}

function decodeValue(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function parseRevision(text) {
  const number = /^\d{1,16}$/.test(text ?? "") ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : null;
}

/** Keeps the fragment of the page's address and the store equal. */
export class Permalink {
  #store;
  #writeTimer = 0;
  /** The address of the page when the fragment was last read or written. */
  #lastAddress = "";

  /** @param {Store} store @param {AbortSignal} signal ends it */
  constructor(store, signal) {
    this.#store = store;
    this.#readAddress();
    addEventListener("hashchange", () => this.#readAddress(), { signal });
    const end = store.subscribe(() => this.#scheduleWrite());
    this.#scheduleWrite();
    signal.addEventListener("abort", () => {
      clearTimeout(this.#writeTimer);
      end();
    });
  }

  /** The link to what is shown now. */
  get href() { return location.href.replace(/#.*/s, "") + formatLink(/** @type {any} */ (this.#store)); }

  #readAddress() {
    this.#lastAddress = location.href;
    const place = parseLink(location.hash) ?? parseLink(placeBesideLaunchCode);
    placeBesideLaunchCode = "";
    if (!place) return;
    const left = ["tab", "pins", "bookmarks"];
    const members = Object.entries(place).filter(([name, value]) => value !== null || !left.includes(name));
    this.#store.set(/** @type {any} */ (Object.fromEntries(members)));
  }

  #scheduleWrite() {
    clearTimeout(this.#writeTimer);
    this.#writeTimer = setTimeout(() => {
      // A link was followed, and its event is still to come: its place must not be overwritten.
      if (location.href !== this.#lastAddress) return;
      const { href } = this;
      if (href !== location.href) history.replaceState(history.state, "", href);
      this.#lastAddress = location.href;
    }, WRITE_DELAY_MS);
  }
}
