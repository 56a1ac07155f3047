// The tabs of the right side.

import { TABS } from "../store.js";
import { updateAttribute } from "../text.js";

/** Shows the panel of the chosen tab. */
export class TabBar {
  #context;
  /** @type {Map<import("../store.js").Tab, HTMLElement>} */
  #buttons;
  #shownTab = null;

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context */
  constructor(root, context) {
    this.#context = context;
    this.#buttons = new Map();
    for (const tab of TABS) this.#buttons.set(tab, root.querySelector(`[data-tab=${tab}]`));
    for (const [tab, button] of this.#buttons) button.addEventListener("click", () => {
      context.store.set({ tab });
      scrollToPanel(tab);
    });
    root.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Shows the panel of the chosen tab. */
  update() {
    const { tab } = this.#context.store;
    if (tab === this.#shownTab) return;
    const isFirst = this.#shownTab === null;
    this.#shownTab = tab;
    for (const [name, button] of this.#buttons) {
      const isChosen = name === tab;
      updateAttribute(button, "aria-selected", String(isChosen));
      updateAttribute(button, "tabindex", isChosen ? null : "-1");
      document.getElementById(`panel-${name}`).hidden = !isChosen;
    }
    // The stage may take another height in this frame.
    if (!isFirst) requestAnimationFrame(() => scrollToPanel(tab));
    // What was hidden knows its height now.
    this.#context.schedule();
  }

  #onKey(event) {
    const at = TABS.indexOf(this.#context.store.tab);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 };
    if (!Object.hasOwn(next, event.key)) return;
    const tab = TABS[(next[event.key] + TABS.length) % TABS.length];
    this.#context.store.set({ tab });
    this.#buttons.get(tab).focus();
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Scrolls to the panel of a tab, which may be out of sight in a narrow window. */
function scrollToPanel(tab) { document.getElementById(`panel-${tab}`)?.scrollIntoView({ block: "nearest" }); }
