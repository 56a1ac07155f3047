// The device: draws a state, and moves from one state to the next. It sends nothing; input.js and gesture.js do.

import { drawToolbar } from "./bar.js";
import { el, morph, setLanguage } from "./dom.js";
import { FocusKeeper } from "./focus.js";
import { BarLayers } from "./layers.js";
import { labelOf, screenOf, topID, topOf, visibleID } from "./model.js";
import { screenContents } from "./screens.js";
import { Sheets } from "./sheets.js";
import { fadeIn, fadeOut, Motion, planTransition, displayPosition, newestProgress, slideFrames } from "./transition.js";
import { directionOf, drawContent } from "./view.js";

export class Device {
  /** @type {object|null} the state that is drawn */
  state = null;
  /** State that only this page has, such as the typed digits of a PIN; navd does not know it. */
  local = { pin: "", wrong: false };
  /** Whether a finger on this page moves the display. */
  isDragging = false;

  #root;
  #pages = new Map();
  #scrollTops = new Map();
  #layers;
  #measuredSizes = null;
  #motion = null;
  #shownPosition = null;
  #onTransitionShown;
  #drawContents;

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {(tid: number) => void} options.moved a transition has been shown to its end
   * @param {(text: string, language?: string|null) => void} options.announce
   * @param {(screen: object, state: object, local: object) => HTMLElement} [options.contents] draws what is inside a screen
   */
  constructor(root, { moved, announce, contents = drawKioskContents }) {
    this.#root = root;
    this.#onTransitionShown = moved;
    this.#drawContents = contents;
    const part = (name) => /** @type {HTMLElement} */ (root.querySelector(`[data-part=${name}]`));
    /** @type {Record<string, HTMLElement>} */
    this.parts = { stack: part("stack"), pages: part("pages"), bar: part("bar"), layers: part("layers"), toolbar: part("toolbar"), sheets: part("sheets") };
    this.focus = new FocusKeeper(root, announce);
    this.sheets = new Sheets(this.parts.sheets, this.parts.stack);
    this.#layers = new BarLayers(root, this.parts);
    this.parts.pages.addEventListener("scroll", (event) => this.#onScroll(event.target), { capture: true, passive: true });
  }

  /** The length of a point in CSS pixels. */
  get pointPixels() {
    return this.#root.clientWidth ? parseFloat(getComputedStyle(this.#root).getPropertyValue("--pt")) || 1 : 1;
  }

  get directionSign() {
    return getComputedStyle(this.#root).direction === "rtl" ? -1 : 1;
  }

  get motion() {
    return this.#motion;
  }

  /**
   * Draws the newest state, or begins its transition. `events` are all since the last call, also those of skipped states.
   *
   * Reading a size after a change makes the browser lay out the page at once. So all readings come first, except those of the texts
   * of the back button, which come last.
   */
  draw(state, events) {
    const step = planTransition(this.#shownPosition, { ...state, ev: events });
    const before = this.state;
    this.#measure();
    if (step.ends) this.#finishMotion(step.ends.completed, state);
    // A transition begins, or the screens changed without one: what still moves has had its time.
    const jumps = !step.begins && !step.ends && this.#shownPosition && topID(state) !== this.#shownPosition.top;
    if (step.begins || jumps) this.#endMotion();
    this.state = state;
    const { locale = "en" } = state.parts.environment ?? {};
    if (this.#root.lang !== locale) Object.assign(this.#root, { lang: locale, dir: directionOf(locale) });
    if (step.begins) this.#beginMotion(step.begins, state);
    else this.#drawState(state);
    if (this.#motion?.interactive && step.ends === null) {
      const value = newestProgress(events, this.#motion.tid);
      if (value !== null && !this.isDragging) this.#motion.seek(value);
    }
    this.#layers.fitBackButtons();
    this.#shownPosition = displayPosition(state);
    if (!before) this.focus.noteFirstState(state);
    else if (!this.#motion) this.focus.followVisibleScreen(state, this.#visibleElement(state));
  }

  /** Redraws the contents after a change of `local`. */
  refresh() {
    if (!this.state) return;
    this.#measure();
    this.#drawState(this.state);
    this.#layers.fitBackButtons();
  }

  #measure() {
    this.#measuredSizes = { point: this.pointPixels, side: this.directionSign, room: this.parts.bar.clientWidth, barHeight: this.parts.bar.offsetHeight };
  }

  /** Moves an interactive transition to a position from 0 to 1; a gesture of this page calls it without waiting for the daemon. */
  seek(position) {
    if (this.#motion?.interactive) this.#motion.seek(position);
  }

  // --- Contents ---------------------------------------------------------------------------------

  // A page that leaves keeps what it showed.
  #drawState(state) {
    const top = topOf(state);
    if (top) this.#drawPage(this.#pageFor(top.id), top, state);
    this.#layers.draw(state, this.#measuredSizes.room);
    this.#drawToolbar(state);
    this.sheets.update(state, (screen) => this.#drawContents(screen, state, this.local), this.#motion?.op === "dismiss");
    if (!this.#motion) this.#removeLeftPages();
    this.#updateInert();
  }

  #pageFor(id) {
    let page = this.#pages.get(id);
    if (!page) {
      page = el("section", { class: "page", "data-slot": "page", "data-screen": id }, el("div", { class: "scroller" }, el("div", { class: "content" })));
      this.#pages.set(id, page);
      this.parts.pages.append(page);
    }
    return page;
  }

  #drawPage(page, screen, state) {
    const next = this.#drawContents(screen, state, this.local);
    morph(page.firstChild.firstChild, next);
    page.setAttribute("aria-label", labelOf(screen) ?? screen.title ?? screen.item?.title ?? screen.id);
    setLanguage(page, screen.language);
    const isTop = screen.id === topID(state);
    const inset = isTop ? state.bar.layoutHeight : this.#layers.modelOf(screen.id)?.layoutHeight;
    if (inset !== undefined) page.style.setProperty("--inset", String(inset));
    page.style.setProperty("--foot", String(isTop && showsToolbar(state) ? 49 : 0));
    if (page.dataset.placed) return;
    page.dataset.placed = "true";
    if (this.#scrollTops.get(screen.id) > 0) page.firstChild.scrollTop = this.#scrollTops.get(screen.id);
  }

  #drawToolbar(state) {
    const { toolbar } = this.parts;
    toolbar.hidden = !state.bar.toolbar.visible;
    toolbar.classList.toggle("empty", state.bar.toolbar.items.length === 0);
    toolbar.classList.toggle("black", state.bar.toolbar.background === "black");
    morph(toolbar.firstElementChild, drawToolbar(state.bar));
  }

  // --- Transitions ------------------------------------------------------------------------------

  #beginMotion(begins, state) {
    const backwards = begins.op === "pop" || begins.op === "dismiss";
    const motion = new Motion({ ...begins, backwards });
    this.#motion = motion;
    const isSlide = begins.op === "push" || begins.op === "pop";
    const slides = isSlide ? this.#prepareSlide(motion, state) : null;
    this.#drawState(state);
    if (isSlide) this.#animateSlide(motion, slides);
    else this.sheets.addToMotion(motion, begins.op);
    if (motion.interactive) motion.seek(0);
    else motion.run().then(() => this.#completeMotion(motion));
  }

  // Brings the pages and the layers of the bar that a slide moves.
  #prepareSlide(motion, state) {
    const from = this.#pages.get(motion.from ?? this.#shownPosition?.top) ?? null;
    const target = motion.interactive ? screenOf(state, motion.to) : topOf(state);
    const to = target ? this.#pageFor(target.id) : null;
    if (from && from !== to) this.focus.rememberFocus(from);
    if (target && motion.interactive) this.#drawPage(to, target, state);
    const [above, below] = motion.backwards ? [from, to] : [to, from];
    // What fades in is in front of what goes.
    if (motion.fade && to && to !== from) this.parts.pages.append(to);
    else if (below && above) this.parts.pages.insertBefore(below, above);
    const outgoing = this.#layers.topLayer;
    const incoming = motion.interactive ? this.#layers.addPreviewLayer(motion.to, state) : this.#layers.addTopLayer(state, this.#measuredSizes.room);
    this.#root.classList.add("moving");
    this.#root.classList.toggle("swiping", motion.interactive);
    return { from, to, above, below, outgoing, incoming, target, state };
  }

  #animateSlide(motion, { from, to, above, below, outgoing, incoming, target, state }) {
    if (motion.fade) {
      // Only what comes in fades.
      motion.backwards = false;
      if (to !== from) motion.addFrames(to, fadeIn);
      motion.addFrames(incoming, fadeIn);
      motion.addFrames(outgoing, fadeOut);
      this.#moveLargeTitle();
      return;
    }
    const [layerAbove, layerBelow] = motion.backwards ? [outgoing, incoming] : [incoming, outgoing];
    const frames = slideFrames(this.#measuredSizes.side);
    const inside = (layer, selector) => layer?.querySelector(selector) ?? null;
    above?.classList.add("above");
    motion.addFrames(above, frames.above);
    motion.addFrames(below, frames.below);
    motion.addFrames(layerAbove, frames.layerAbove);
    motion.addFrames(layerBelow, frames.layerBelow);
    motion.addFrames(inside(layerAbove, ".bar-middle"), frames.titleAbove);
    motion.addFrames(inside(layerBelow, ".bar-middle"), frames.titleBelow);
    // Beside other buttons there is no room for it to come from the middle.
    if (layerAbove?.querySelector(".bar-left")?.childElementCount === 1) motion.addFrames(inside(layerAbove, ".back-text"), frames.backAbove);
    motion.addFrames(inside(layerAbove, ".bar-large"), frames.largeAbove);
    motion.addFrames(inside(layerBelow, ".bar-large"), frames.largeBelow);
    this.#animateBarHeight(motion, { outgoing, incoming, target, state });
    if (!motion.interactive) this.#moveLargeTitle();
  }

  // The bar gets the height of the other screen on the way. The row with the buttons goes with a prompt that comes or leaves.
  #animateBarHeight(motion, { outgoing, incoming, target, state }) {
    const next = motion.interactive ? this.#layers.modelOf(target?.id) : state.bar;
    const now = `${this.#measuredSizes.barHeight}px`;
    const then = `calc(var(--status) + ${next?.height ?? state.bar.height} * var(--pt) - var(--collapse, 0px))`;
    const ordered = (frames) => (motion.backwards ? frames.reverse() : frames);
    motion.addFrames(this.parts.bar, ordered([{ height: now }, { height: then }]));
    const prompt = (metrics) => (metrics?.endsWith("Prompt") ? 30 : 0);
    const by = prompt(next?.metrics) - prompt(this.#layers.modelOf(outgoing?.dataset.top)?.metrics);
    if (by === 0) return;
    const y = (points) => ({ transform: `translate3d(0, calc(${points} * var(--pt)), 0)` });
    motion.addFrames(outgoing, ordered([y(0), y(by)]));
    motion.addFrames(incoming, ordered([y(-by), y(0)]));
  }

  // A gesture is over, or somebody else completed the transition. What moves goes on to its end.
  #finishMotion(completed, state) {
    const motion = this.#motion;
    if (!motion?.interactive) return;
    if (completed && topID(state) === motion.to) this.#layers.swapLayers();
    motion.glideTo(completed ? 1 : 0).then(() => this.#completeMotion(motion));
  }

  #completeMotion(motion) {
    if (this.#motion !== motion) return;
    this.#endMotion();
    this.focus.followVisibleScreen(this.state, this.#visibleElement(this.state));
    this.#onTransitionShown(motion.tid);
  }

  // Ends what moves, and takes away what has left.
  #endMotion() {
    const motion = this.#motion;
    this.#motion = null;
    motion?.removeAnimations();
    this.#layers.removeOtherLayer();
    this.sheets.removeLeavingSheets();
    this.#root.classList.remove("moving", "swiping");
    if (this.state) {
      this.#removeLeftPages();
      this.#updateInert();
    }
  }

  #removeLeftPages() {
    const top = topID(this.state);
    for (const [id, page] of this.#pages) {
      page.classList.remove("above");
      if (id === top) continue;
      this.focus.rememberFocus(page);
      page.remove();
      this.#pages.delete(id);
      if (!screenOf(this.state, id)) this.#scrollTops.delete(id);
    }
    this.#moveLargeTitle();
  }

  // Only the visible screen can be reached by keyboard and screen reader. A popover covers nothing.
  #updateInert() {
    const top = topID(this.state);
    setInert(this.parts.stack, this.sheets.coverStack(this.state));
    for (const [id, page] of this.#pages) setInert(page, id !== top);
    if (this.#layers.otherLayer) setInert(this.#layers.otherLayer, true);
    if (this.#layers.topLayer) setInert(this.#layers.topLayer, false);
  }

  #visibleElement(state) {
    const id = visibleID(state);
    return this.sheets.sheetElement(id) ?? this.#pages.get(id) ?? null;
  }

  // --- Scrolling --------------------------------------------------------------------------------

  #onScroll(scroller) {
    if (!scroller.classList?.contains("scroller")) return;
    const id = scroller.parentElement.dataset.screen;
    this.#scrollTops.set(id, scroller.scrollTop);
    if (this.state && id === topID(this.state)) this.#moveLargeTitle();
  }

  // A large title goes up with the contents, until the small one takes its place.
  #moveLargeTitle() {
    const most = this.#layers.topLayer?.querySelector(".bar-large") ? 52 * this.#measuredSizes.point : 0;
    const by = Math.min(most, Math.max(0, this.#scrollTops.get(topID(this.state)) ?? 0));
    this.parts.bar.style.setProperty("--collapse", `${by}px`);
    this.parts.bar.classList.toggle("collapsed", most > 0 && by > most * 0.75);
  }
}

/** Draws the contents of a screen of the kiosk, or the route of a screen that the kiosk does not know. */
export const drawKioskContents = (screen, state, local) => drawContent(screenContents(screen, state, local), screen.id);

const showsToolbar = (state) => state.bar.toolbar.visible && state.bar.toolbar.items.length > 0;

function setInert(element, isInert) {
  if (element.inert !== isInert) element.inert = isInert;
}
