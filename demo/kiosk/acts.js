// What a person's acts mean: each becomes operations with a guard made from the state that was shown.
// Pure functions; app.js sends what they return. Nothing here changes what is drawn: that is the watch's part.

import { guard, screenOf, topID, topOf, visibleID } from "./view/model.js";
import { formItems, hasDraft, screenRecords, routes, presentationStyles } from "./view/screens.js";

/**
 * @typedef {{do: object[], if: object, animated?: boolean, onBusy?: string, within?: number|null, orElse?: Record<string, Act>,
 *   again?: (newer: object) => Act|null}} Act
 */

export const navigation = {
  back: (state) => ({ do: [{ "ui.backTap": {} }], if: guard.top(state), animated: true }),
  // Escape and the like: navd decides what goes back, by what the person saw.
  backKey: (state) => ({ do: [{ "ui.back": {} }], if: guard.visible(state), animated: true }),
  // A choice in the menu names its target. The guard is for what the person saw: the menu of this top.
  backMenu: (state, screen) => ({ do: [{ "ui.backMenu": { screen } }], if: guard.top(state), animated: true }),
  swipeDown: (state) => ({ do: [{ "ui.dismiss": {} }], if: guard.visible(state), animated: true }),
  press: (state, button) => ({ do: [{ "button.activate": { button } }], if: guard.top(state), animated: true }),
  choose: (state, button, element) => ({ do: [{ "button.activate": { button, element } }], if: guard.top(state), animated: true }),
  // Programs may dismiss a full-screen presentation; a person's swipe may not.
  close: (state) => ({ do: [{ dismiss: { from: visibleID(state) } }], if: guard.visible(state), animated: true }),
  tap: (state) => ({ do: [{ "ui.tap": {} }], if: guard.top(state), animated: true }),
};

/**
 * Opens a page. navd keeps screens that were popped, with what was saved in them, so the page is pushed by its id. Only if navd does
 * not know it, the record is pushed. The toolbar comes in the same revision.
 */
function open(state, route, args) {
  const record = screenRecords[route](args);
  const push = (screen) => ({
    do: [{ push: { screen } }, ...(record.toolbarItems ? [{ "toolbar.setHidden": { hidden: false } }] : [])], if: guard.shown(state), animated: true,
  });
  return args === undefined ? { ...push(record.id), orElse: { "unknown-screen": push(record) } } : push(record);
}

const present = (state, route, args, when = guard.shown(state)) => (
  { do: [{ present: { screen: screenRecords[route](args), style: presentationStyles[route] } }], if: when, animated: true }
);

/**
 * An act that replaces a whole record, so it is for one revision. If another one comes between, it is made again of the newer state, as
 * long as the guard of the state that was shown holds.
 */
function replacing(state, make, shown = null) {
  const act = make(state);
  const when = shown ?? act?.if ?? { epoch: state.epoch };
  return act && { ...act, if: { ...when, rev: state.rev }, again: (newer) => replacing(newer, make, when) };
}

/** The acts that the contents name. Each takes the state that was shown, the screen of the row, and the argument of the row. */
export const acts = {
  push: (state, screen, route) => open(state, route),
  present: (state, screen, route) => present(state, route, route === "rename" ? { name: kioskName(state) } : undefined),
  pop: (state) => ({ do: [{ pop: {} }], if: guard.shown(state), animated: true }),
  close: navigation.close,
  "network.pick": (state, screen) => open(state, "networks", { chosen: screen.args?.network ?? null, for: screen.id }),
  // The choice goes with the pop, in the same revision. Whoever waits for the screen gets it, in any window.
  "network.choose": (state, screen, name) => ({ do: [{ pop: { result: { network: name } } }], if: guard.shown(state), animated: true }),
  "dns.mode": (state, screen, mode) => edit(state, screen.id, { mode }),
  "bar.large": (state) => bar(state, { prefersLargeTitles: state.parts.bar?.prefersLargeTitles !== true }),
  "bar.black": (state) => bar(state, { barStyle: state.parts.bar?.barStyle === "black" ? null : "black" }),
  "bar.tint": (state, screen, name) => bar(state, { tintColor: name === "blue" ? null : name }),
  // navd keeps an appearance object without reading it. The members are this page's: background, titleColor, shadow.
  "bar.festive": (state) => {
    const object = state.parts.bar?.appearance?.standard === undefined ? { background: "indigo", titleColor: "white", shadow: "clear" } : null;
    return { do: [{ "appearance.set": { slot: "standard", object } }, { "bar.set": { tintColor: object ? "white" : null } }], if: guard.shown(state) };
  },
  "rename.save": (state, screen) => {
    const name = String(screen.args?.draft?.name ?? "").slice(0, 40);
    return { do: [{ dismiss: { from: screen.id } }, { "screen.set": { screen: "home", title: name || "Harbour Museum" } }], if: guard.visible(state), animated: true };
  },
  "discard.keep": (state, screen) => ({ do: [{ dismiss: { from: screen.id, result: "keep" } }], if: guard.visible(state), animated: true }),
  "discard.discard": (state, screen, form) => replacing(state, (newest) => {
    const edited = newest.screens.find(({ id }) => id === form);
    // A sheet that is discarded goes together with the question: the dismissal of a screen of the stack takes the whole chain.
    const goes = edited ? [{ dismiss: { from: screen.id, result: "discard" } }, ...reset(edited, withoutDraft(edited))] : [{ dismiss: {} }];
    return { do: goes, if: guard.visible(newest), animated: true };
  }),
};

const bar = (state, members) => ({ do: [{ "bar.set": members }], if: guard.shown(state), animated: true });
const kioskName = (state) => state.screens.find(({ id }) => id === "home")?.title ?? "Harbour Museum";

function withoutDraft(screen) {
  const { draft, ...saved } = screen.args ?? {};
  return saved;
}

const reset = (screen, args) => [
  { "screen.set": { screen: screen.id, args } },
  ...(formItems[screen.route] ? [{ "item.set": { screen: screen.id, ...formItems[screen.route].saved } }] : []),
];

/**
 * Input in a form. The draft is a part of the screen's `args`, so every window shows it while somebody types, and any of them can
 * answer the question whether the screen may go. `changes` may get newer values until navd has them.
 */
export const edit = (state, id, changes) => replacing(state, (newest) => {
  const screen = screenOf(newest, id);
  if (!screen) return null;
  const saved = withoutDraft(screen);
  const draft = { ...(screen.args?.draft ?? {}), ...changes };
  for (const [name, value] of Object.entries(draft)) if (String(saved[name] ?? "") === String(value)) delete draft[name];
  const isUnsaved = Object.keys(draft).length > 0;
  const args = isUnsaved ? { ...saved, draft } : saved;
  const operations = [{ "screen.set": { screen: id, args, ...(screen.route === "rename" ? { modalInPresentation: isUnsaved } : {}) } }];
  const form = formItems[screen.route];
  if (form && isUnsaved !== hasDraft(screen)) operations.push({ "item.set": { screen: id, ...(isUnsaved ? form.unsaved : form.saved) } });
  return { do: operations };
});

/** What a pressed button does. Every window may send it: the guard by revision lets the first succeed, the others change nothing. */
export function buttonActs(state, action) {
  const top = topOf(state);
  const once = guard.revision(state);
  switch (action) {
    case "status.show": return present(state, "status", undefined, once);
    case "wifi.help": return present(state, "help", undefined, once);
    case "wifi.save": return hasDraft(top) ? present(state, "pin", undefined, once) : null;
    case "dns.save": return hasDraft(top) ? { do: reset(top, { ...withoutDraft(top), ...top.args.draft }), if: once } : null;
    case "wifi.forget": return { do: [{ "screen.set": { screen: top.id, args: { ...top.args, network: null } } }], if: once };
    default: return null;
  }
}

/** The right PIN: the sheet goes and the form is saved, in the same revision. */
export const savePIN = (state) => replacing(state, (newest) => {
  const form = topOf(newest);
  const saved = hasDraft(form) ? reset(form, { ...withoutDraft(form), ...form.args.draft }) : [];
  return { do: [{ dismiss: { from: "pin", result: true } }, ...saved], if: guard.visible(newest), animated: true };
});

/** Whether a screen may go, and what to present if it may not. */
export function judge(state, question) {
  const [kind, about] = Object.entries(question)[0] ?? [];
  if (kind !== "shouldPop" && kind !== "shouldDismiss") return { allow: true };
  if (!hasDraft(screenOf(state, about.screen))) return { allow: true };
  // Programs are refused without a word: the person at the screen did not ask for anything.
  const asks = kind === "shouldPop" && ["backButton", "gesture"].includes(about.cause);
  return { allow: false, ask: asks ? about.screen : null };
}

export const askDiscard = (state, screen) => ({ ...present(state, "discard", { screen }), onBusy: "queue", if: { epoch: state.epoch, top: topID(state) } });

/** What is done with the result of a screen that has gone. Setting the same value twice changes nothing, so every window may do it. */
export function resultActs(state, screen, result) {
  if (screen.route !== "networks" || typeof result?.network !== "string") return null;
  return replacing(state, (newest) => {
    const form = screenOf(newest, screen.args?.for);
    return form && { do: [{ "screen.set": { screen: form.id, args: { ...form.args, network: result.network } } }] };
  });
}

/** Makes the nav. */
export const create = {
  do: [
    {
      "nav.create": {
        root: screenRecords.home(),
        // A browser may freeze a tab that is asked for a veto. That must not lock everybody else's screen.
        settings: { veto: { deadline: 1500, policy: "allow" }, interactivePopWithoutBackButton: true, routes },
      },
    },
    { "bar.set": { prefersLargeTitles: true } },
    { attach: {} },
  ],
};
