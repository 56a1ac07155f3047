// The device: draws a state, and moves from one state to the next. It sends nothing; input.js and gesture.js do.

import { drawToolbar } from "./bar.js";
import { el, morph, setLanguage } from "./dom.js";
import { FocusKeeper } from "./focus.js";
import { Layers } from "./layers.js";
import { labelOf, screenOf, topID, topOf, visibleID } from "./model.js";
import { contentOf } from "./screens.js";
import { Sheets } from "./sheets.js";
import { fadeIn, fadeOut, Motion, plan, positionOf, progressOf, slide } from "./transition.js";
import { directionOf, drawContent } from "./view.js";

export class Device {
  /** @type {object|null} the state that is drawn */
  state = null;
  /** State of this page alone, such as the typed digits of a PIN. */
  local = { pin: "", wrong: false };
  /** Whether a finger on this page moves the display. */
  isDragging = false;

  #root;
  #pages = new Map();
  #scroll = new Map();
  #layers;
  #size = null;
  #motion = null;
  #shown = null;
  #whenMoved;
  #contents;

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {(tid: number) => void} options.moved a transition has been shown to its end
   * @param {(text: string, language?: string|null) => void} options.announce
   * @param {(screen: object, state: object, local: object) => HTMLElement} [options.contents] draws what is inside a screen
   */
  constructor(root, { moved, announce, contents = kioskContents }) {
    this.#root = root;
    this.#whenMoved = moved;
    this.#contents = contents;
    const part = (name) => /** @type {HTMLElement} */ (root.querySelector(`[data-part=${name}]`));
    /** @type {Record<string, HTMLElement>} */
    this.parts = { stack: part("stack"), pages: part("pages"), bar: part("bar"), layers: part("layers"), toolbar: part("toolbar"), sheets: part("sheets") };
    this.focus = new FocusKeeper(root, announce);
    this.sheets = new Sheets(this.parts.sheets, this.parts.stack);
    this.#layers = new Layers(root, this.parts);
    this.parts.pages.addEventListener("scroll", (event) => this.#scrolled(event.target), { capture: true, passive: true });
  }

  /** The length of a point in CSS pixels. */
  get point() {
    return this.#root.clientWidth ? parseFloat(getComputedStyle(this.#root).getPropertyValue("--pt")) || 1 : 1;
  }

  get side() {
    return getComputedStyle(this.#root).direction === "rtl" ? -1 : 1;
  }

  get motion() {
    return this.#motion;
  }

  /**
   * Draws the newest state. `events` are all since the last call, also those of states that were skipped.
   *
   * Reading a size after a change makes the browser lay out the page at once. So all readings come first, except those of the texts
   * of the back button, which come last.
   */
  draw(state, events) {
    const step = plan(this.#shown, { ...state, ev: events });
    const before = this.state;
    this.#measure();
    if (step.ends) this.#finishMotion(step.ends.completed, state);
    // A transition begins, or the screens changed without one: what still moves has had its time.
    const jumps = !step.begins && !step.ends && this.#shown && topID(state) !== this.#shown.top;
    if (step.begins || jumps) this.#endMotion();
    this.state = state;
    const { locale = "en" } = state.parts.environment ?? {};
    if (this.#root.lang !== locale) Object.assign(this.#root, { lang: locale, dir: directionOf(locale) });
    if (step.begins) this.#begin(step.begins, state);
    else this.#update(state);
    if (this.#motion?.interactive && step.ends === null) {
      const value = progressOf(events, this.#motion.tid);
      if (value !== null && !this.isDragging) this.#motion.seek(value);
    }
    this.#layers.fit();
    this.#shown = positionOf(state);
    if (!before) this.focus.start(state);
    else if (!this.#motion) this.focus.follow(state, this.#place(state));
  }

  /** Draws the contents anew, after something that only this page knows has changed. */
  refresh() {
    if (!this.state) return;
    this.#measure();
    this.#update(this.state);
    this.#layers.fit();
  }

  #measure() {
    this.#size = { point: this.point, side: this.side, room: this.parts.bar.clientWidth, barHeight: this.parts.bar.offsetHeight };
  }

  /** A gesture of this page moves the display directly: the finger does not wait for the daemon. */
  seek(position) {
    if (this.#motion?.interactive) this.#motion.seek(position);
  }

  // --- Contents ---------------------------------------------------------------------------------

  // A page that leaves keeps what it showed.
  #update(state) {
    const top = topOf(state);
    if (top) this.#drawPage(this.#page(top.id), top, state);
    this.#layers.draw(state, this.#size.room);
    this.#drawToolbar(state);
    this.sheets.update(state, (screen) => this.#contents(screen, state, this.local), this.#motion?.op === "dismiss");
    if (!this.#motion) this.#removeLeftPages();
    this.#updateInert();
  }

  #page(id) {
    let page = this.#pages.get(id);
    if (!page) {
      page = el("section", { class: "page", "data-slot": "page", "data-screen": id }, el("div", { class: "scroller" }, el("div", { class: "content" })));
      this.#pages.set(id, page);
      this.parts.pages.append(page);
    }
    return page;
  }

  #drawPage(page, screen, state) {
    const next = this.#contents(screen, state, this.local);
    morph(page.firstChild.firstChild, next);
    page.setAttribute("aria-label", labelOf(screen) ?? screen.title ?? screen.item?.title ?? screen.id);
    setLanguage(page, screen.language);
    const isTop = screen.id === topID(state);
    const inset = isTop ? state.bar.layoutHeight : this.#layers.modelOf(screen.id)?.layoutHeight;
    if (inset !== undefined) page.style.setProperty("--inset", String(inset));
    page.style.setProperty("--foot", String(isTop && showsToolbar(state) ? 49 : 0));
    if (page.dataset.placed) return;
    page.dataset.placed = "true";
    if (this.#scroll.get(screen.id) > 0) page.firstChild.scrollTop = this.#scroll.get(screen.id);
  }

  #drawToolbar(state) {
    const { toolbar } = this.parts;
    toolbar.hidden = !state.bar.toolbar.visible;
    toolbar.classList.toggle("empty", state.bar.toolbar.items.length === 0);
    toolbar.classList.toggle("black", state.bar.toolbar.background === "black");
    morph(toolbar.firstElementChild, drawToolbar(state.bar));
  }

  // --- Transitions ------------------------------------------------------------------------------

  #begin(begins, state) {
    const backwards = begins.op === "pop" || begins.op === "dismiss";
    const motion = new Motion({ ...begins, backwards });
    this.#motion = motion;
    const isSlide = begins.op === "push" || begins.op === "pop";
    const slides = isSlide ? this.#prepare(motion, state) : null;
    this.#update(state);
    if (isSlide) this.#slide(motion, slides);
    else this.sheets.move(motion, begins.op);
    if (motion.interactive) motion.seek(0);
    else motion.run().then(() => this.#moved(motion));
  }

  // Brings the pages and the layers of the bar that a slide moves.
  #prepare(motion, state) {
    const from = this.#pages.get(motion.from ?? this.#shown?.top) ?? null;
    const target = motion.interactive ? screenOf(state, motion.to) : topOf(state);
    const to = target ? this.#page(target.id) : null;
    if (from && from !== to) this.focus.remember(from);
    if (target && motion.interactive) this.#drawPage(to, target, state);
    const [above, below] = motion.backwards ? [from, to] : [to, from];
    // What fades in is in front of what goes.
    if (motion.fade && to && to !== from) this.parts.pages.append(to);
    else if (below && above) this.parts.pages.insertBefore(below, above);
    const outgoing = this.#layers.shown;
    const incoming = motion.interactive ? this.#layers.preview(motion.to, state) : this.#layers.change(state, this.#size.room);
    this.#root.classList.add("moving");
    this.#root.classList.toggle("swiping", motion.interactive);
    return { from, to, above, below, outgoing, incoming, target, state };
  }

  #slide(motion, { from, to, above, below, outgoing, incoming, target, state }) {
    if (motion.fade) {
      // Only what comes in fades.
      motion.backwards = false;
      if (to !== from) motion.add(to, fadeIn);
      motion.add(incoming, fadeIn);
      motion.add(outgoing, fadeOut);
      this.#moveLargeTitle();
      return;
    }
    const [layerAbove, layerBelow] = motion.backwards ? [outgoing, incoming] : [incoming, outgoing];
    const frames = slide(this.#size.side);
    const inside = (layer, selector) => layer?.querySelector(selector) ?? null;
    above?.classList.add("above");
    motion.add(above, frames.above);
    motion.add(below, frames.below);
    motion.add(layerAbove, frames.layerAbove);
    motion.add(layerBelow, frames.layerBelow);
    motion.add(inside(layerAbove, ".bar-middle"), frames.titleAbove);
    motion.add(inside(layerBelow, ".bar-middle"), frames.titleBelow);
    // Beside other buttons there is no room for it to come from the middle.
    if (layerAbove?.querySelector(".bar-left")?.childElementCount === 1) motion.add(inside(layerAbove, ".back-text"), frames.backAbove);
    motion.add(inside(layerAbove, ".bar-large"), frames.largeAbove);
    motion.add(inside(layerBelow, ".bar-large"), frames.largeBelow);
    this.#animateBarHeight(motion, { outgoing, incoming, target, state });
    if (!motion.interactive) this.#moveLargeTitle();
  }

  // The bar gets the height of the other screen on the way. The row with the buttons goes with a prompt that comes or leaves.
  #animateBarHeight(motion, { outgoing, incoming, target, state }) {
    const next = motion.interactive ? this.#layers.modelOf(target?.id) : state.bar;
    const now = `${this.#size.barHeight}px`;
    const then = `calc(var(--status) + ${next?.height ?? state.bar.height} * var(--pt) - var(--collapse, 0px))`;
    const ordered = (frames) => (motion.backwards ? frames.reverse() : frames);
    motion.add(this.parts.bar, ordered([{ height: now }, { height: then }]));
    const prompt = (metrics) => (metrics?.endsWith("Prompt") ? 30 : 0);
    const by = prompt(next?.metrics) - prompt(this.#layers.modelOf(outgoing?.dataset.top)?.metrics);
    if (by === 0) return;
    const y = (points) => ({ transform: `translate3d(0, calc(${points} * var(--pt)), 0)` });
    motion.add(outgoing, ordered([y(0), y(by)]));
    motion.add(incoming, ordered([y(-by), y(0)]));
  }

  // A gesture is over, or somebody else completed the transition. What moves goes on to its end.
  #finishMotion(completed, state) {
    const motion = this.#motion;
    if (!motion?.interactive) return;
    if (completed && topID(state) === motion.to) this.#layers.swap();
    motion.glide(completed ? 1 : 0).then(() => this.#moved(motion));
  }

  #moved(motion) {
    if (this.#motion !== motion) return;
    this.#endMotion();
    this.focus.follow(this.state, this.#place(this.state));
    this.#whenMoved(motion.tid);
  }

  // Ends what moves, and takes away what has left.
  #endMotion() {
    const motion = this.#motion;
    this.#motion = null;
    motion?.release();
    this.#layers.rest();
    this.sheets.rest();
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
      this.focus.remember(page);
      page.remove();
      this.#pages.delete(id);
      if (!screenOf(this.state, id)) this.#scroll.delete(id);
    }
    this.#moveLargeTitle();
  }

  // Only the visible screen can be reached by keyboard and screen reader. A popover covers nothing.
  #updateInert() {
    const top = topID(this.state);
    setInert(this.parts.stack, this.sheets.covers(this.state));
    for (const [id, page] of this.#pages) setInert(page, id !== top);
    if (this.#layers.other) setInert(this.#layers.other, true);
    if (this.#layers.shown) setInert(this.#layers.shown, false);
  }

  #place(state) {
    const id = visibleID(state);
    return this.sheets.element(id) ?? this.#pages.get(id) ?? null;
  }

  // --- Scrolling --------------------------------------------------------------------------------

  #scrolled(scroller) {
    if (!scroller.classList?.contains("scroller")) return;
    const id = scroller.parentElement.dataset.screen;
    this.#scroll.set(id, scroller.scrollTop);
    if (this.state && id === topID(this.state)) this.#moveLargeTitle();
  }

  // A large title goes up with the contents, until the small one takes its place.
  #moveLargeTitle() {
    const most = this.#layers.shown?.querySelector(".bar-large") ? 52 * this.#size.point : 0;
    const by = Math.min(most, Math.max(0, this.#scroll.get(topID(this.state)) ?? 0));
    this.parts.bar.style.setProperty("--collapse", `${by}px`);
    this.parts.bar.classList.toggle("collapsed", most > 0 && by > most * 0.75);
  }
}

/** Draws the contents of the kiosk's own screens, and names the route of every other one. */
export const kioskContents = (screen, state, local) => drawContent(contentOf(screen, state, local), screen.id);

const showsToolbar = (state) => state.bar.toolbar.visible && state.bar.toolbar.items.length > 0;

function setInert(element, isInert) {
  if (element.inert !== isInert) element.inert = isInert;
}
