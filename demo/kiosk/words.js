// What a revision did, in the words of somebody who looks at the screen.

import { chainOf, visibleTitle, visibleOf } from "./view/model.js";

const opened = ({ screen }, name) => ({ before: "Opened ", title: name(screen) });
const stayed = ({ screen }, name) => ({ title: name(screen), after: " stays open" });

const WORDS = {
  didPush: opened, didPresent: opened,
  didPop: ({ screen }, name) => ({ before: "Went back from ", title: name(screen) }),
  didDismiss: ({ screen }, name) => ({ before: "Closed ", title: name(screen) }),
  popBlocked: stayed, dismissAttempted: stayed,
  buttonActivated: ({ button }, name, state) => ({ before: "Pressed ", title: buttonTitle(state, button) }),
  transitionEnded: ({ outcome }, name, state) => (outcome === "cancelled" ? { before: "Stayed on ", title: visibleTitle(state) } : null),
};

/**
 * The lines of a state: what its events did, else what it changed. How things moved is not said.
 *
 * @param {(id: string) => string} name the title of a screen that was there before
 * @param {boolean} isNew whether it is a revision that was not seen before
 */
export function whatHappened(state, name, isNew) {
  const screens = [...state.screens, ...chainOf(state).map((entry) => entry.screen)];
  const title = (screen) => screen.title ?? screen.item?.title ?? screen.id;
  const now = (id) => {
    const screen = screens.find((each) => each.id === id);
    return screen ? title(screen) : name(id);
  };
  const lines = (state.ev ?? []).flatMap((event) => Object.entries(event))
    .map(([kind, body]) => (Object.hasOwn(WORDS, kind) ? WORDS[kind](body, now, state) : null)).filter(Boolean);
  if (lines.length || !isNew) return lines;
  if (state.isResynchronised) return [{ before: "Showing ", title: visibleTitle(state) }];
  if (state.ev?.length) return [];
  const changed = screens.filter((screen) => screen.ver === state.rev);
  if (changed.length) return changed.map((screen) => ({ before: "Changed ", title: title(screen) }));
  return state.parts.bar?.ver === state.rev ? [{ before: "Changed the bars of ", title: title(visibleOf(state) ?? { id: state.nav }) }] : [];
}

function buttonTitle(state, id) {
  const { left = [], right = [], toolbar } = state.bar ?? {};
  const slot = [...left, ...right, ...(toolbar?.items ?? [])].find((each) => each.button === id);
  return slot?.title ?? slot?.accessibilityLabel ?? id;
}
