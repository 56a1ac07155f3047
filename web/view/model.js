// Questions about a state, as the watch yields it. Everything here is a pure function.

export const topOf = (state) => state.screens.at(-1) ?? null;
export const topID = (state) => topOf(state)?.id ?? null;
export const chainOf = (state) => state.presented ?? [];
export const visibleOf = (state) => chainOf(state).at(-1)?.screen ?? topOf(state);
export const visibleID = (state) => visibleOf(state)?.id ?? null;
/** The title of the visible screen: that in the bar, or that of a presented screen. */
export function visibleTitle(state) {
  const screen = visibleOf(state);
  const own = chainOf(state).length ? null : state.bar?.middle?.title;
  return own || (screen?.title ?? screen?.item?.title ?? screen?.id ?? "Nothing");
}

/** The accessibility label of a screen, which a screen reader reads instead of the title. */
export const labelOf = (screen) => screen?.accessibilityLabel ?? screen?.item?.accessibilityLabel ?? null;
/** The language of a screen's title and prompt; null for that of the environment. */
export const languageOf = (screen) => screen?.item?.language ?? screen?.language ?? null;

export const transitionOf = (state) => (state.parts.transition?.tid === undefined ? null : state.parts.transition);
export const environmentOf = (state) => state.parts.environment ?? {};

/** Returns a screen of the stack or of the presented ones. */
export function screenOf(state, id) {
  return state.screens.find((screen) => screen.id === id) ?? chainOf(state).find((entry) => entry.screen.id === id)?.screen ?? null;
}

/** Functions that make guards from the state that the person saw when they decided. */
export const guard = {
  top: (state) => ({ epoch: state.epoch, top: topID(state) }),
  // What a person taps is above everything else, and stands on the stack that they see.
  shown: (state) => ({ epoch: state.epoch, top: topID(state), visible: visibleID(state) }),
  visible: (state) => ({ epoch: state.epoch, visible: visibleID(state) }),
  revision: (state) => ({ epoch: state.epoch, rev: state.rev }),
};

/** The appearance object that `resolved` names, or null. navd does not read its members, which demo/kiosk/acts.js defines. */
export function appearanceObject(state) {
  const chosen = state.bar?.appearance;
  if (!chosen) return null;
  const objects = chosen.from === "item" ? topOf(state)?.item?.appearance : state.parts.bar?.appearance;
  const object = objects?.[chosen.slot];
  return object && typeof object === "object" ? object : null;
}

/** The prompt of the top screen; null if the bar has none. */
export function promptOf(state) {
  return state.bar?.metrics?.endsWith("Prompt") ? topOf(state)?.item?.prompt ?? null : null;
}

/** The author of a revision: the name that the client claims, or navd. A state of events alone has none. */
export const authorName = (state) => state.by?.name ?? (state.cause ? "navd" : null);
