// What a revision did, in words. Pure functions.

import { percentText, visibleText } from "./text.js";

const shortID = (text) => visibleText(text, 60);

/** @type {Record<string, (body: any) => string|null>} */
const EVENT_TEXTS = Object.assign(Object.create(null), {
  didPush: ({ screen }) => `push ${shortID(screen)}`,
  didPop: ({ screen }) => `pop ${shortID(screen)}`,
  didPresent: ({ screen }) => `present ${shortID(screen)}`,
  didDismiss: ({ screen }) => `dismiss ${shortID(screen)}`,
  transitionBegan: ({ op, from, to, interactive }) => (
    `${op} ${[from, to].filter((each) => each !== undefined).map(shortID).join(" → ")} ${interactive ? "begins by a finger" : "begins"}`),
  transitionEnded: ({ outcome }) => `transition ${outcome === "timedOut" ? "timed out" : outcome}`,
  barsVisibilityChanged: ({ bar, toolbar, cause }) => `bar ${bar ? "shows" : "hides"}, toolbar ${toolbar ? "shows" : "hides"} (${cause})`,
  barChange: ({ hidden }) => `bar ${hidden ? "hides" : "shows"}`,
  buttonActivated: ({ button, element, action }) => (
    `${button ? `button ${shortID(button)}` : "the title's menu"}${element ? `, element ${shortID(element)}` : ""}${action ? ` runs ${shortID(action)}` : ""}`),
  backAtRoot: () => "Back at the root",
  popBlocked: ({ screen }) => `pop of ${shortID(screen)} blocked`,
  dismissAttempted: ({ screen }) => `dismissal of ${shortID(screen)} blocked`,
  transitionProgress: ({ value }) => `finger at ${percentText(value)}`,
});

/**
 * What a revision did, in one line: its events, or else the records that it changed.
 *
 * @param {import("./source.js").State} state
 */
export function eventSummary(state) {
  const parts = [];
  for (const event of state.ev) {
    for (const [name, body] of Object.entries(event)) {
      const word = EVENT_TEXTS[name]?.(body);
      if (word) parts.push(word);
    }
  }
  return parts.length ? parts.slice(0, 8).join(", ") : changeSummary(state);
}

/** Names the records whose version is this revision: the version is the revision that changed a record last. */
function changeSummary({ rev, screens, presented, parts }) {
  const all = [...screens, ...presented.map((entry) => entry.screen)];
  const changed = all.filter((screen) => screen.ver === rev).map((screen) => `set ${shortID(screen.id)}`);
  const set = Object.entries(parts).filter(([, part]) => part.ver === rev).map(([name]) => `set ${name}`);
  const list = [...changed, ...set];
  return list.length > 4 ? `${list.slice(0, 4).join(", ")}, ${list.length - 4} more` : list.join(", ") || "no change of the stack";
}

/**
 * Whether all events of a state report the progress of a gesture.
 *
 * @param {import("./source.js").State} state
 */
export const isGestureProgress = (state) => state.ev.length > 0 && state.ev.every((event) => event.transitionProgress !== undefined);
