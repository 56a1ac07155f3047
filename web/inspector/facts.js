// The bar and what is presented, as texts: one list of facts for a state. Pure functions.

import { numberText, percentText, oneDecimal, visibleText } from "./text.js";

/**
 * A text about one slot of the device, with the id of its button or screen, or the phase of its transition.
 *
 * @typedef {{text: string, button?: string, screen?: string, phase?: string}} Value
 */

/**
 * What one slot of the device shows, such as the title or the left buttons, as texts.
 *
 * @typedef {{slot: string, label: string, values: Value[]}} Fact
 */

/** What a button shows, as text. */
function buttonText(slot) {
  if (slot.back) return slot.back.text ?? slot.back.image ?? "(indicator)";
  const face = slot.title ?? slot.systemItem ?? slot.image ?? (slot.customView === undefined ? slot.button : visibleText(slot.customView, 80));
  return String(face ?? "");
}

/** @param {any} slot @returns {Value} */
const buttonValue = (slot) => ({ text: buttonText(slot), button: slot.button });
const isSpaceItem = (slot) => slot.systemItem === "flexibleSpace" || slot.systemItem === "fixedSpace";
const backButtonOf = (bar) => bar.left?.find((slot) => slot.back)?.back ?? null;

function titleValues(middle) {
  if (!middle) return [];
  if (middle.customView !== undefined) return [{ text: visibleText(middle.customView, 120) }];
  return middle.title ? [{ text: String(middle.title) }] : [];
}

/** The open transition as text: operation, screens, phase, and the progress of a gesture. */
function transitionValues(transition, progress) {
  if (transition?.tid === undefined) return [];
  const way = [transition.from, transition.to].filter((id) => id !== undefined).map((id) => visibleText(id, 60)).join(" → ");
  const parts = [`${transition.op} ${way}`, transition.phase];
  if (transition.owner !== undefined) parts.push(`by ${visibleText(transition.owner, 60)}`);
  for (const name of ["driver", "animator"]) if (transition[name] !== undefined) parts.push(`${name} ${visibleText(transition[name], 60)}`);
  if (progress !== null) parts.push(percentText(progress));
  if (transition.style !== undefined) parts.push(transition.style);
  return [{ text: parts.join(" · "), phase: transition.phase }];
}

/** A span as text in seconds: whole seconds, and tenths below three. */
const secondsText = (span) => `${span < 3000 ? oneDecimal(span / 1000) : numberText(Math.ceil(span / 1000))} s`;

/** When navd ends the transition, as text: the time that remains, or from which moment it counts. */
function deadlineValues(transition, left) {
  const { tid, deadline, phase } = transition ?? {};
  if (tid === undefined || !Number.isFinite(deadline)) return [];
  const isFinger = phase === "interactive";
  const end = isFinger ? "navd cancels it" : "navd ends it as timed out";
  if (left !== null) return [{ text: `${secondsText(left)} left, then ${end}` }];
  return [{ text: `${secondsText(deadline)} after ${isFinger ? "the last movement" : "its beginning"}, ${end}` }];
}

/**
 * The facts of a state, in the order in which they are drawn.
 *
 * @param {import("./source.js").State} state
 * @param {number|null} progress of a gesture, 0 … 1, if it is known
 * @param {number|null} [left] milliseconds until navd ends what moves, if they are known
 * @returns {Fact[]}
 */
export function displayFacts(state, progress, left = null) {
  const bar = state.bar ?? {};
  const isLarge = bar.middle?.placement === "large";
  const back = backButtonOf(bar);
  const top = state.top;
  const prompt = bar.metrics?.endsWith("Prompt") ? top?.item?.prompt : undefined;
  const chain = state.presented.map((entry) => (
    { text: `${entry.screen.title || entry.screen.item?.title || entry.screen.id} (${entry.style ?? "automatic"})`, screen: entry.screen.id }));
  const environment = state.parts.environment ?? /** @type {any} */ ({});
  return [
    { slot: "title", label: "Title", values: titleValues(bar.middle) },
    { slot: "large-title", label: "Large title", values: isLarge ? titleValues(bar.middle) : [] },
    { slot: "prompt", label: "Prompt", values: prompt ? [{ text: String(prompt) }] : [] },
    { slot: "back", label: "Back", values: back ? [{ text: String(buttonText({ back })) }] : [] },
    { slot: "left", label: "Left", values: (bar.left ?? []).filter((slot) => !slot.back && !isSpaceItem(slot)).map(buttonValue) },
    { slot: "right", label: "Right", values: [...(bar.right ?? [])].reverse().filter((slot) => !isSpaceItem(slot)).map(buttonValue) },
    { slot: "toolbar", label: "Toolbar", values: bar.toolbar?.visible ? bar.toolbar.items.filter((slot) => !isSpaceItem(slot)).map(buttonValue) : [] },
    { slot: "presented", label: "Presented", values: chain },
    { slot: "bar", label: "Bar", values: bar.height === undefined ? [] : [{ text: bar.layoutHeight === 0 ? "hidden" : `${bar.height} pt · ${bar.metrics}` }] },
    { slot: "transition", label: "In flight", values: transitionValues(state.parts.transition, progress) },
    { slot: "deadline", label: "Deadline", values: deadlineValues(state.parts.transition, left) },
    { slot: "display", label: "Display", values: environment.owner === undefined || environment.owner === null ? [] : [{ text: String(environment.owner) }] },
  ];
}

/** The fact that names the screens of the stack. @param {import("./source.js").State} state @returns {Fact[]} */
const stackFacts = (state) => [{
  slot: "stack", label: "Stack", values: state.screens.map((screen) => ({ text: String(screen.title || screen.item?.title || screen.id) })) }];

/**
 * The facts that differ between two states, in the order in which they are drawn. A side without the fact has an empty list.
 *
 * @param {import("./source.js").State} old
 * @param {import("./source.js").State} next
 * @returns {{slot: string, label: string, old: string[], new: string[]}[]}
 */
export function changedFacts(old, next) {
  const [before, after] = [old, next].map((state) => [...displayFacts(state, null), ...stackFacts(state)]);
  return before.map(({ slot, label, values }, at) => (
    { slot, label, old: values.map(({ text }) => text), new: after[at].values.map(({ text }) => text) }))
    .filter((fact) => JSON.stringify(fact.old) !== JSON.stringify(fact.new));
}
