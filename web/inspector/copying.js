// Copying a text. Without the right to the clipboard, a dialog shows the text, selected.

import { el } from "../view/dom.js";

/** Copies texts. */
export class Copying {
  #dialog;
  #announce;
  #title = el("h2", { id: "copy-title" });
  #text = el("textarea", { readonly: true, rows: "12", spellcheck: "false", "aria-labelledby": "copy-title" });

  /** @param {HTMLElement} dialog @param {(text: string) => void} announce */
  constructor(dialog, announce) {
    this.#dialog = /** @type {HTMLDialogElement} */ (dialog);
    this.#announce = announce;
    const close = el("button", { type: "button", class: "act" }, "Close");
    close.addEventListener("click", () => this.#dialog.close());
    dialog.append(this.#title, this.#text, close);
  }

  /**
   * Copies `text`.
   *
   * @param {string} text
   * @param {string} what such as "JSON"
   */
  async copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      this.#announce(`${what} copied`);
    } catch {
      const area = /** @type {HTMLTextAreaElement} */ (this.#text);
      this.#title.textContent = `${what}: press Ctrl+C`;
      area.value = text;
      this.#dialog.showModal();
      area.select();
    }
  }
}
