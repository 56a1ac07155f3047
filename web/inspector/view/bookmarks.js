// The bookmarks: a button for the revision on the stage, and the list of all of them.

import { el } from "../../view/dom.js";
import { formatBookmark, parseBookmark, toggled } from "../bookmarks.js";
import { bdi, numberText, updateAttribute, visibleText, writeText } from "../text.js";

/** Adds, lists and removes bookmarks, which the address of the page holds. */
export class BookmarkControls {
  #context;
  #toggleButton = makeButton("bookmark", "⚑", "Bookmark this revision (B)", "Bookmark this revision");
  #openButton = makeButton("bookmarks", "", "Show the bookmarks", "Bookmarks", "act count-of");
  #list = el("ul", { class: "bookmark-list" });
  #dialog = /** @type {HTMLDialogElement} */ (el("dialog", { class: "bookmarks", "data-part": "bookmarks-dialog", "aria-labelledby": "bookmarks-title" }));
  #stagedState = null;
  #drawnBookmarks = null;

  /** @param {Element} buttons gets the buttons @param {import("../shell.js").Context} context */
  constructor(buttons, context) {
    this.#context = context;
    const close = el("button", { type: "button", class: "act" }, "Close");
    close.addEventListener("click", () => this.#dialog.close());
    // The list is in the document while it is open only, so that the page stays small.
    this.#dialog.addEventListener("close", () => this.#list.replaceChildren());
    this.#dialog.append(el("h2", { id: "bookmarks-title" }, "Bookmarks"), this.#list, close);
    document.body.append(this.#dialog);
    updateAttribute(this.#openButton, "aria-haspopup", "dialog");
    this.#toggleButton.addEventListener("click", () => this.#toggleBookmark());
    this.#openButton.addEventListener("click", () => this.#openDialog());
    buttons.append(this.#toggleButton, this.#openButton);
  }

  /** @param {import("../shell.js").Model} model */
  update({ state }) {
    const { bookmarks } = this.#context.store;
    this.#stagedState = state;
    this.#toggleButton.disabled = state === null;
    updateAttribute(this.#toggleButton, "aria-pressed", String(state !== null && bookmarks.includes(formatBookmark(state))));
    if (bookmarks === this.#drawnBookmarks) return;
    this.#drawnBookmarks = bookmarks;
    writeText(this.#openButton, `⚑ ${numberText(bookmarks.length)}`);
    updateAttribute(this.#openButton, "aria-label", `Bookmarks, ${numberText(bookmarks.length)}`);
    if (this.#dialog.open) this.#fillList();
  }

  #toggleBookmark() {
    const { store, announce } = this.#context;
    if (!this.#stagedState) return;
    const { nav, rev } = this.#stagedState;
    const bookmarks = toggled(store.bookmarks, formatBookmark(this.#stagedState));
    announce(`${bookmarks.length > store.bookmarks.length ? "Bookmark of" : "No bookmark of"} ${visibleText(nav, 80)}, revision ${rev}`);
    store.set({ bookmarks });
  }

  #openDialog() {
    this.#fillList();
    this.#dialog.showModal();
  }

  #fillList() {
    const rows = this.#context.store.bookmarks.map((text) => this.#makeRow(text)).filter((row) => row !== null);
    this.#list.replaceChildren(...(rows.length ? rows : [el("li", { class: "faint" }, "There is none. The button ⚑ adds the revision on the stage.")]));
  }

  #makeRow(text) {
    const place = parseBookmark(text);
    if (!place) return null;
    const { nav, epoch, rev } = place;
    const { store } = this.#context;
    const jump = el("button", { type: "button", class: "link" }, bdi(nav, { most: 80 }), ` revision ${numberText(rev)}`);
    jump.addEventListener("click", () => {
      this.#dialog.close();
      store.set({ nav, at: rev, epoch });
    });
    const remove = el("button", { type: "button", class: "act", "aria-label": `Remove the bookmark of ${visibleText(nav, 80)}, revision ${rev}` }, "Remove");
    remove.addEventListener("click", () => {
      store.set({ bookmarks: toggled(store.bookmarks, text) });
      // The button that had the focus is gone.
      this.#fillList();
      /** @type {HTMLElement} */ (this.#list.querySelector("button") ?? this.#dialog.querySelector(".act"))?.focus();
    });
    return el("li", { "data-bookmark": rev, "data-nav": nav }, jump, ...(epoch === null ? [] : [el("span", { class: "faint" }, "epoch ", bdi(epoch, { class: "id", most: 32 }))]), remove);
  }
}

function makeButton(part, text, title, name, look = "act glyph") {
  return /** @type {HTMLButtonElement} */ (el("button", { type: "button", class: look, "data-part": part, title, "aria-label": name }, text));
}
