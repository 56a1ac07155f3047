// The slider through the revisions, its buttons, and the banner that says what is live meanwhile.

import { el } from "../../view/dom.js";
import { revisionLine, spokenRevision } from "../describe.js";
import { bdi, numberText, updateAttribute, visibleText, writeText } from "../text.js";

const TRAVEL_BUTTONS = Object.freeze([
  ["first", "First revision (Home)", "M5 3v10M13 3 7 8l6 5z"], ["previous", "Previous revision (←)", "M11 3 5 8l6 5z"],
  ["next", "Next revision (→)", "M5 3l6 5-6 5z"], ["last", "Last revision (End)", "M11 3v10M3 3l6 5-6 5z"],
]);

/** The slider and the buttons that choose the revision on the stage. */
export class TravelBar {
  #context;
  #past;
  #slider = /** @type {HTMLInputElement} */ (el("input", { type: "range", "data-part": "slider", "aria-label": "Revision", min: 0, max: 0, step: 1, disabled: true }));
  #placeElement = el("p", { class: "travel-place", "data-part": "place" });
  #banner = el("span", { class: "banner", "data-part": "banner", hidden: true });
  #notice = el("p", { class: "travel-notice", "data-part": "past-notice", hidden: true });
  #liveButton = /** @type {HTMLButtonElement} */ (el("button", { type: "button", class: "act", "data-part": "live", title: "Follow the newest revision (L)" }, "Live"));
  #buttons = new Map();
  #drawnKey = "";

  /** @param {HTMLElement} root @param {import("../shell.js").Context} context @param {import("../past.js").HistoryViews} past */
  constructor(root, context, past) {
    this.#context = context;
    this.#past = past;
    const group = el("div", { class: "travel-buttons", role: "group", "aria-label": "Travel" });
    for (const [name, title, path] of TRAVEL_BUTTONS) {
      const button = el("button", { type: "button", class: "act glyph", "data-part": name, title, "aria-label": title.replace(/ \(.*/, ""), disabled: true }, buttonIcon(path));
      button.addEventListener("click", () => this.#onButton(name));
      this.#buttons.set(name, button);
      group.append(button);
    }
    this.#liveButton.addEventListener("click", () => context.store.set({ at: null }));
    group.append(this.#liveButton);
    this.#slider.addEventListener("input", () => this.#slide());
    root.classList.add("travel");
    // The line of the place has a height of its own: what is pressed stays where it is when a revision is chosen.
    root.append(el("div", { class: "travel-row" }, group, this.#slider), this.#placeElement, this.#notice);
  }

  /** @param {import("../shell.js").Model} model */
  update(model) {
    const { history, position, notice } = this.#past;
    const { at, nav } = this.#context.store;
    const live = model.live?.nav === nav ? model.live.rev : null;
    const key = [nav, at, position, history?.changeCount, live, notice].join(" ");
    if (key === this.#drawnKey) return;
    this.#drawnKey = key;
    this.#drawSlider(history, position);
    this.#drawBanner(at, live, notice);
    const entry = history?.at(position) ?? null;
    const many = entry && at === null ? [el("b", {}, `${numberText(entry.rev)} of ${numberText(history.newest)}`)] : [];
    this.#placeElement.replaceChildren(this.#banner, ...many, ...(entry ? revisionLine(entry) : []));
    updateAttribute(this.#placeElement, "title", this.#placeElement.textContent);
  }

  #drawSlider(history, position) {
    const first = history?.oldest ?? 0;
    const last = first + Math.max(0, (history?.length ?? 1) - 1);
    updateAttribute(this.#slider, "min", first);
    updateAttribute(this.#slider, "max", last);
    const value = String(first + Math.max(0, position));
    if (this.#slider.value !== value) this.#slider.value = value;
    updateAttribute(this.#slider, "aria-valuetext", spokenRevision(history?.at(position) ?? null, history?.newest ?? 0));
    this.#slider.disabled = !history?.length;
    const isFirst = position <= 0;
    for (const [name, button] of this.#buttons) button.disabled = !history?.length || isFirst && (name === "first" || name === "previous") && position === 0;
    const { source, store } = this.#context;
    this.#liveButton.disabled = source.kind === "recording";
    updateAttribute(this.#liveButton, "aria-pressed", source.kind === "recording" ? null : String(store.at === null));
  }

  #drawBanner(at, live, notice) {
    const { source, store } = this.#context;
    this.#banner.hidden = at === null;
    updateAttribute(this.#placeElement, "data-past", at === null ? null : "");
    if (at !== null) {
      const what = source.kind === "recording" ? "the recording ends at " : "live is ";
      this.#banner.replaceChildren(`Revision ${numberText(at)} of nav `, bdi(store.nav ?? ""), `, ${what}${live === null ? "unknown" : numberText(live)}`);
    }
    this.#notice.hidden = !notice;
    writeText(this.#notice, visibleText(notice, 1000));
  }

  /** The browser reports a pointer once a frame, and the shell reads the newest choice only. */
  #slide() { this.#past.travelTo(Number(this.#slider.value) - (this.#past.history?.oldest ?? 0)); }

  #onButton(name) {
    const { history } = this.#past;
    if (!history?.length) return;
    const last = history.length - 1;
    // Two presses may come in one frame. A revision that the history does not have lies before all of them.
    const from = this.#past.chosenPosition();
    const to = { first: 0, previous: Math.max(0, from - 1), next: from + 1, last }[name];
    if (to > last) return this.#past.travelTo(null);
    this.#past.travelTo(to);
    this.#context.announce(spokenRevision(history.at(to), history.newest));
  }
}

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function buttonIcon(path) {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(SVG_NAMESPACE, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}
