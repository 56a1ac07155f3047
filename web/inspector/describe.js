// A revision in words.

import { authorElements, bdi, timeWithMilliseconds, numberText, principalText, visibleText } from "./text.js";
import { REVISION_FLAG } from "./columns.js";
import { el } from "../view/dom.js";

/** @typedef {import("./history.js").Entry} Entry */

/** What a revision did, such as "push wifi". @param {Entry} entry */
export function actionText({ operations, subject, cause, isLoaded }) {
  if (!isLoaded) return "not loaded";
  return [operations || cause, subject].filter(Boolean).join(" ");
}

/** The text of the slider: "revision 42 of 97, push wifi, uid:1000 shell". @param {Entry|null} entry @param {number} newest */
export function spokenRevision(entry, newest) {
  if (!entry) return "no revision";
  const parts = [`revision ${entry.rev} of ${newest}`];
  if (entry.isLoaded) {
    parts.push(visibleText(actionText(entry)));
    const author = [principalText(entry.by), visibleText(entry.by?.name ?? "")].filter(Boolean).join(" ");
    if (author) parts.push(author);
  }
  return parts.join(", ");
}

/** Makes labels for the flags of a revision, such as "veto skipped". @param {number} flags */
export function flagSigns(flags) {
  const signs = [
    [REVISION_FLAG.border, "new epoch", "A new epoch begins here"], [REVISION_FLAG.bad, "divergence", "A client reported another digest"],
    [REVISION_FLAG.unproven, "unproven", "The digest does not prove this revision"],
    [REVISION_FLAG.override, "override", "The guard was overridden"], [REVISION_FLAG.vetoSkipped, "veto skipped", "No delegate was asked"],
    [REVISION_FLAG.closed, "closed", "The nav was closed"],
  ];
  return signs.filter(([flag]) => flags & Number(flag))
    .map(([, text, title]) => el("span", { class: "sign", title, "data-sign": text }, String(text)));
}

/** Makes the elements of a line about a revision: operations, cause, author and time. @param {Entry} entry */
export function revisionLine(entry) {
  if (!entry.isLoaded) return [el("span", { class: "faint" }, "not loaded")];
  return [
    el("span", { class: "act-of" }, bdi(entry.operations || entry.cause), ...(entry.subject ? [" ", bdi(entry.subject, { class: "id" })] : [])),
    ...(entry.operations ? [el("span", { class: "faint" }, bdi(entry.cause))] : []),
    ...flagSigns(entry.flags), ...(entry.by ? authorElements(entry.by) : []), el("span", { class: "faint" }, timeWithMilliseconds(entry.t)),
  ];
}

/** A span of time as a text in one unit, such as "5 min". @param {number} milliseconds */
export function timeSpanText(milliseconds) {
  const size = Math.abs(milliseconds);
  const units = /** @type {[number, string][]} */ ([[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1000, "s"], [1, "ms"]]);
  const [unit, name] = units.find(([each]) => size >= each) ?? units[4];
  return `${milliseconds < 0 ? "−" : ""}${numberText(Math.round(size / unit))} ${name}`;
}
