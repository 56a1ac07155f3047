// Copying a text. Without the right to the clipboard, a dialog shows the text, selected.

import { el } from "../view/dom.js";

/** How long a button shows that it has copied a text. */
const COPIED_SHOWN_MS = 2000;

/** Copies texts to the clipboard. */
export class ClipboardCopier {
  #copiedTimer = 0;
  #dialog;
  #announce;
  #title = el("h2", { id: "copy-title" });
  #textArea = el("textarea", { readonly: true, rows: "12", spellcheck: "false", "aria-labelledby": "copy-title" });

  /** @param {HTMLElement} dialog @param {(text: string) => void} announce */
  constructor(dialog, announce) {
    this.#dialog = /** @type {HTMLDialogElement} */ (dialog);
    this.#announce = announce;
    const close = el("button", { type: "button", class: "act" }, "Close");
    close.addEventListener("click", () => this.#dialog.close());
    dialog.append(this.#title, this.#textArea, close);
  }

  /** @param {Element} button */
  #showCopied(button) {
    clearTimeout(this.#copiedTimer);
    for (const one of document.querySelectorAll("[data-copied]")) delete /** @type {HTMLElement} */ (one).dataset.copied;
    button.setAttribute("data-copied", "");
    this.#copiedTimer = setTimeout(() => button.removeAttribute("data-copied"), COPIED_SHOWN_MS);
  }

  /**
   * Copies `text` to the clipboard, or shows it in a dialog if the browser forbids that.
   *
   * @param {string} text
   * @param {string} what such as "JSON"
   * @param {Element} button it shows that it copied
   */
  async copy(text, what, button) {
    try {
      await navigator.clipboard.writeText(text);
      this.#announce(`${what} copied`);
      this.#showCopied(button);
    } catch {
      const area = /** @type {HTMLTextAreaElement} */ (this.#textArea);
      this.#title.textContent = `${what}: press Ctrl+C`;
      area.value = text;
      this.#dialog.showModal();
      area.select();
    }
  }
}
