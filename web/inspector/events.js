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
  buttonActivated: ({ button, action }) => `button ${shortID(button)}${action ? ` runs ${shortID(action)}` : ""}`,
  backAtRoot: () => "Back at the root",
  popBlocked: ({ screen }) => `pop of ${shortID(screen)} blocked`,
  dismissAttempted: ({ screen }) => `dismissal of ${shortID(screen)} blocked`,
  transitionProgress: ({ value }) => `finger at ${percentText(value)}`,
});

/**
 * What happened, in one line: the events, or else what the revision changed.
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

/** A record has the revision that changed it last as its version. */
function changeSummary({ rev, screens, presented, parts }) {
  const all = [...screens, ...presented.map((entry) => entry.screen)];
  const changed = all.filter((screen) => screen.ver === rev).map((screen) => `set ${shortID(screen.id)}`);
  const set = Object.entries(parts).filter(([, part]) => part.ver === rev).map(([name]) => `set ${name}`);
  const list = [...changed, ...set];
  return list.length > 4 ? `${list.slice(0, 4).join(", ")}, ${list.length - 4} more` : list.join(", ") || "no change of the stack";
}

/**
 * Whether a state came only for the position of a finger.
 *
 * @param {import("./source.js").State} state
 */
export const isGestureProgress = (state) => state.ev.length > 0 && state.ev.every((event) => event.transitionProgress !== undefined);
