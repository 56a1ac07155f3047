// What a revision did, in words. Pure functions.

import { percent, visible } from "./text.js";

const id = (text) => visible(text, 60);

/** @type {Record<string, (body: any) => string|null>} */
const WORDS = Object.assign(Object.create(null), {
  didPush: ({ screen }) => `push ${id(screen)}`,
  didPop: ({ screen }) => `pop ${id(screen)}`,
  didPresent: ({ screen }) => `present ${id(screen)}`,
  didDismiss: ({ screen }) => `dismiss ${id(screen)}`,
  transitionBegan: ({ op, from, to, interactive }) => (
    `${op} ${[from, to].filter((each) => each !== undefined).map(id).join(" → ")} ${interactive ? "begins by a finger" : "begins"}`),
  transitionEnded: ({ outcome }) => `transition ${outcome === "timedOut" ? "timed out" : outcome}`,
  barsVisibilityChanged: ({ bar, toolbar, cause }) => `bar ${bar ? "shows" : "hides"}, toolbar ${toolbar ? "shows" : "hides"} (${cause})`,
  barChange: ({ hidden }) => `bar ${hidden ? "hides" : "shows"}`,
  buttonActivated: ({ button, action }) => `button ${id(button)}${action ? ` runs ${id(action)}` : ""}`,
  backAtRoot: () => "Back at the root",
  popBlocked: ({ screen }) => `pop of ${id(screen)} blocked`,
  dismissAttempted: ({ screen }) => `dismissal of ${id(screen)} blocked`,
  transitionProgress: ({ value }) => `finger at ${percent(value)}`,
});

/**
 * What happened, in one line: the events, or else what the revision changed.
 *
 * @param {import("./source.js").State} state
 */
export function summaryOf(state) {
  const parts = [];
  for (const event of state.ev) {
    for (const [name, body] of Object.entries(event)) {
      const word = WORDS[name]?.(body);
      if (word) parts.push(word);
    }
  }
  return parts.length ? parts.slice(0, 8).join(", ") : changesOf(state);
}

/** A record has the revision that changed it last as its version. */
function changesOf({ rev, screens, presented, parts }) {
  const all = [...screens, ...presented.map((entry) => entry.screen)];
  const changed = all.filter((screen) => screen.ver === rev).map((screen) => `set ${id(screen.id)}`);
  const set = Object.entries(parts).filter(([, part]) => part.ver === rev).map(([name]) => `set ${name}`);
  const list = [...changed, ...set];
  return list.length > 4 ? `${list.slice(0, 4).join(", ")}, ${list.length - 4} more` : list.join(", ") || "no change of the stack";
}

/**
 * Whether a state came only for the position of a finger.
 *
 * @param {import("./source.js").State} state
 */
export const isProgress = (state) => state.ev.length > 0 && state.ev.every((event) => event.transitionProgress !== undefined);
