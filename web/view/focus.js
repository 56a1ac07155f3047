// Keyboard and screen reader: where the focus goes when screens change, and what is announced.

import { setLanguage } from "./dom.js";
import { labelOf, languageOf, visibleTitle, visibleID, visibleOf } from "./model.js";

/** How long a screen reader takes to notice a change of a live region, in milliseconds. */
const NOTICE_MS = 60;

/** Announces texts to screen readers: at most one a second, and the newest of several. */
export class Announcer {
  #liveRegion;
  #waitingText = null;
  #timer = null;
  #lastWrittenAt = -Infinity;

  constructor(region) {
    this.#liveRegion = region;
  }

  /** @param {string} text @param {string|null} [language] of the text; null is that of the page */
  say(text, language = null) {
    this.#waitingText = { text, language };
    this.#timer ??= setTimeout(() => this.#writeRegion(), Math.max(NOTICE_MS, 1000 - (performance.now() - this.#lastWrittenAt)));
  }

  #writeRegion() {
    const { text, language } = this.#waitingText;
    // A text is said when it comes into the region, so one that is there goes first.
    const isThere = text !== "" && this.#liveRegion.textContent === text;
    this.#timer = isThere ? setTimeout(() => this.#writeRegion(), NOTICE_MS) : null;
    if (!isThere) this.#lastWrittenAt = performance.now();
    setLanguage(this.#liveRegion, language);
    this.#liveRegion.textContent = isThere ? "" : text;
  }
}

const spokenTitle = (state) => labelOf(visibleOf(state)) ?? visibleTitle(state);

export class FocusKeeper {
  #root;
  #announce;
  #rowKeyByScreen = new Map();
  #visibleScreenID = null;
  #announcedTitle = null;

  constructor(root, announce) {
    this.#root = root;
    this.#announce = announce;
  }

  noteFirstState(state) {
    this.#visibleScreenID = visibleID(state);
    this.#announcedTitle = spokenTitle(state);
  }

  /** Remembers which row of a screen has the focus, before the screen is left. */
  rememberFocus(place) {
    /** @type {HTMLElement|null} */
    const held = place.contains(document.activeElement) ? document.activeElement.closest("[data-key]") : null;
    if (held) this.noteRowKey(place.dataset.screen, held.dataset.key);
  }

  noteRowKey(screen, key) {
    this.#rowKeyByScreen.set(screen, key);
    if (this.#rowKeyByScreen.size > 128) this.#rowKeyByScreen.delete(this.#rowKeyByScreen.keys().next().value);
  }

  /**
   * Moves the focus to the visible screen, if another screen has become visible.
   *
   * On a screen that was shown before, the focus goes to the row that had it, on a new one to the title. A focus outside of the
   * device stays: somebody else may have moved the screens while this person reads the log. A screen reader reads the title once:
   * because the title or its dialog gets the focus, or else from the live region.
   */
  followVisibleScreen(state, place) {
    const [visible, title] = [visibleID(state), spokenTitle(state)];
    const isOther = visible !== this.#visibleScreenID;
    if (!isOther && title === this.#announcedTitle) return;
    [this.#visibleScreenID, this.#announcedTitle] = [visible, title];
    // Nothing in an inert device can have the focus, and to try lays out the page.
    const active = document.activeElement;
    const isElsewhere = active && active !== document.body && !this.#root.contains(active);
    if (!isOther || this.#root.inert || isElsewhere) {
      this.#announce(title, languageOf(visibleOf(state)));
      return;
    }
    const key = this.#rowKeyByScreen.get(visible);
    const row = key && place ? [...place.querySelectorAll("[data-key]")].find((element) => element.dataset.key === key) : null;
    const box = place?.querySelector(".sheet-box");
    const target = row ?? box?.querySelector("input, .clock") ?? box ?? this.#root.querySelector(".bar:not(.hidden) .bar-layer:not([inert]) [data-slot=title]") ?? place?.querySelector("button");
    if (!target || target === row || !box && target.dataset.slot !== "title") this.#announce(title, languageOf(visibleOf(state)));
    target?.focus({ preventScroll: !row });
    if (target?.localName === "input") target.setSelectionRange(target.value.length, target.value.length);
  }
}
