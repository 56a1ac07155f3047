// Opens a recording in the page: by a button, or by a file that is dropped on it.

import { el } from "../view/dom.js";
import { RecordingSource } from "./recording.js";
import { showSource } from "./showing.js";
import { numberText, countedNoun, visibleText } from "./text.js";

/** Lets a person open a .navrec file. The page then shows the recording until it is loaded again. */
export class RecordingOpener {
  #input = /** @type {HTMLInputElement} */ (el("input", { type: "file", accept: ".navrec,.gz,application/gzip", hidden: true, "data-part": "recording-file" }));
  #button = el("button", { type: "button", class: "act", "data-part": "open-recording", title: "Open a recording (.navrec), or drop one on the page" }, "Open…");

  /** @param {AbortSignal} signal ends listening */
  constructor(signal) {
    document.querySelector(".acts")?.prepend(this.#button, this.#input);
    this.#button.addEventListener("click", () => this.#input.click());
    this.#input.addEventListener("change", () => this.#openFile(this.#input.files?.[0]));
    document.addEventListener("dragover", (event) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    }, { signal });
    document.addEventListener("drop", (event) => {
      const [file] = event.dataTransfer?.files ?? [];
      if (!file) return;
      event.preventDefault();
      this.#openFile(file);
    }, { signal });
  }

  async #openFile(file) {
    if (!file) return;
    this.#input.value = "";
    const recording = await openWithProgress(`Opening ${visibleText(file.name, 60)}`, (report) => RecordingSource.open(file, report));
    if (recording) showSource(recording);
  }
}

/**
 * Opens a recording and shows a progress bar, or shows why it cannot be opened.
 *
 * @param {string} title
 * @param {(report: (progress: {share: number, revisions: number}) => void) => Promise<RecordingSource>} open
 * @returns {Promise<RecordingSource|null>}
 */
export async function openWithProgress(title, open) {
  const bar = el("progress", { max: 1, value: 0, "aria-label": title });
  const text = el("p", { "data-part": "opening-text" }, "Reading…");
  const dialog = /** @type {HTMLDialogElement} */ (el("dialog", { class: "opening", "data-part": "opening", "aria-label": title }, el("h2", {}, title), bar, text));
  document.body.append(dialog);
  dialog.showModal();
  const report = ({ share, revisions }) => {
    bar.setAttribute("value", share.toFixed(3));
    text.textContent = `${numberText(revisions)} revisions proven or marked`;
  };
  try {
    const recording = await open(report);
    const { problem } = recording.facts;
    // A part of a recording must not pass for a whole one.
    return !problem || await askToShowPart(dialog, problem, recording.history(recording.facts.nav).length) ? recording : null;
  } catch (error) {
    await askToShowPart(dialog, error, 0);
    return null;
  } finally {
    dialog.remove();
  }
}

const DATA_REASON_BY_CODE = new Map([["version", "newer"], ["truncated", "truncated"]]);

/** Shows why a recording is damaged or cut off; resolves to whether the person wants to see its readable part. */
function askToShowPart(dialog, { code, message }, revisions) {
  const close = el("button", { type: "button", class: "act" }, "Close");
  const look = el("button", { type: "button", class: "act", "data-part": "recording-anyway" }, `Show ${countedNoun(revisions, "revision")}`);
  dialog.replaceChildren(
    el("h2", {}, revisions ? "This recording is not whole" : "This recording cannot be opened"),
    el("p", { "data-part": "recording-error", "data-reason": DATA_REASON_BY_CODE.get(code) ?? "damaged", role: "alert" }, visibleText(message)),
    el("div", { class: "acts" }, ...(revisions ? [look] : []), close));
  (revisions ? look : close).focus();
  return new Promise((resolve) => {
    look.addEventListener("click", () => resolve(true));
    close.addEventListener("click", () => resolve(false));
    dialog.addEventListener("close", () => resolve(false));
  });
}
