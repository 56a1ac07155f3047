// The device: draws a state, and moves from one state to the next. It sends nothing; input.js and gesture.js do.

import { barModel, dressBar, drawLayer, drawToolbar, fitBack, titleOf } from "./bar.js";
import { el, morph } from "./dom.js";
import { FocusKeeper } from "./focus.js";
import { screenOf, topID, topOf, visibleID } from "./model.js";
import { setColour } from "./palette.js";
import { contentOf } from "./screens.js";
import { Sheets } from "./sheets.js";
import { fadeIn, fadeOut, Motion, plan, positionOf, progressOf, slide } from "./transition.js";
import { drawContent } from "./view.js";

export class Device {
  /** @type {object|null} the state that is drawn */
  state = null;
  /** What only this page knows: the digits of a PIN are nobody else's. */
  local = { pin: "", wrong: false };

  #root;
  #pages = new Map();
  #scroll = new Map();
  #bars = new Map();
  #layer = null;
  #incoming = null;
  #motion = null;
  #shown = null;
  #whenMoved;

  /**
   * @param {HTMLElement} root
   * @param {{moved: (tid: number) => void, announce: (text: string) => void}} callbacks `moved`: a transition has been shown to its end
   */
  constructor(root, { moved, announce }) {
    this.#root = root;
    this.#whenMoved = moved;
    const part = (name) => root.querySelector(`[data-part=${name}]`);
    this.parts = { stack: part("stack"), pages: part("pages"), bar: part("bar"), layers: part("layers"), toolbar: part("toolbar"), sheets: part("sheets") };
    this.focus = new FocusKeeper(root, announce);
    this.sheets = new Sheets(this.parts.sheets, this.parts.stack);
    this.parts.pages.addEventListener("scroll", (event) => this.#collapse(event.target), { capture: true, passive: true });
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

  /** Draws the newest state. `events` are all since the last call, also those of states that were skipped. */
  draw(state, events) {
    const step = plan(this.#shown, { ...state, ev: events });
    const before = this.state;
    if (step.ends) this.#settle(step.ends.completed, state);
    // A transition begins, or the screens changed without one: what still moves has had its time.
    const jumps = !step.begins && !step.ends && this.#shown && topID(state) !== this.#shown.top;
    if (step.begins || jumps) this.#rest();
    this.state = state;
    this.#root.lang = state.parts.environment?.locale ?? "en";
    if (step.begins) this.#begin(step.begins, state);
    this.#update(state);
    if (this.#motion?.interactive && step.ends === null) {
      const value = progressOf(events, this.#motion.tid);
      if (value !== null && !this.isDragging) this.#motion.seek(value);
    }
    this.#shown = positionOf(state);
    if (!before) this.focus.start(state);
    else if (!this.#motion) this.focus.follow(state, this.#place(state));
  }

  /** Draws the contents anew, after something that only this page knows has changed. */
  refresh() {
    if (this.state) this.#update(this.state);
  }

  /** A gesture of this page moves the display directly: the finger does not wait for the daemon. */
  seek(position) {
    if (this.#motion?.interactive) this.#motion.seek(position);
  }

  // --- Contents ---------------------------------------------------------------------------------

  #update(state) {
    const top = topOf(state);
    if (top) this.#fill(this.#page(top.id), top, state);
    for (const [id, page] of this.#pages) {
      const screen = screenOf(state, id);
      if (screen && id !== top?.id) this.#fill(page, screen, state);
    }
    this.#drawBar(state);
    this.#drawToolbar(state);
    this.sheets.update(state, (screen) => drawContent(contentOf(screen, state, this.local), screen.id), this.#motion?.op === "dismiss");
    if (!this.#motion) this.#sweep();
    this.#reach();
  }

  #page(id) {
    let page = this.#pages.get(id);
    if (!page) {
      page = el("section", { class: "page", "data-slot": "page", "data-screen": id }, el("div", { class: "scroller" }, el("div", { class: "content" })));
      this.#pages.set(id, page);
      this.parts.pages.append(page);
      page.firstChild.scrollTop = this.#scroll.get(id) ?? 0;
    }
    return page;
  }

  #fill(page, screen, state) {
    const next = drawContent(contentOf(screen, state, this.local), screen.id);
    morph(page.firstChild.firstChild, next);
    page.setAttribute("aria-label", screen.title ?? screen.item?.title ?? screen.id);
    const isTop = screen.id === topID(state);
    const inset = isTop ? state.bar.layoutHeight : this.#bars.get(screen.id)?.layoutHeight;
    if (inset !== undefined) page.style.setProperty("--inset", String(inset));
    page.style.setProperty("--foot", String(isTop && showsToolbar(state) ? 49 : 0));
    if (isTop && this.#scroll.has(screen.id) && !page.dataset.placed) page.firstChild.scrollTop = this.#scroll.get(screen.id);
    page.dataset.placed = "true";
  }

  #drawBar(state) {
    const model = barModel(state);
    this.#bars.set(model.top, { ...model, ver: topOf(state)?.ver });
    if (this.#bars.size > 128) this.#bars.delete(this.#bars.keys().next().value);
    dressBar(this.parts.bar, model);
    const look = JSON.stringify(model);
    if (!this.#layer) {
      this.#layer = drawLayer(model);
      this.parts.layers.append(this.#layer);
      fitBack(this.#layer);
    } else if (this.#layer.dataset.look !== look || this.#layer.dataset.room !== String(this.parts.bar.clientWidth)) {
      morphLayer(this.#layer, model);
    }
    this.#layer.dataset.look = look;
    this.#layer.dataset.room = String(this.parts.bar.clientWidth);
    this.#root.dataset.title = titleOf(model);
    setColour(this.#root, "--status-text", model.layoutHeight === 0 ? null : model.colours.text);
  }

  #drawToolbar(state) {
    const { toolbar } = this.parts;
    toolbar.hidden = !state.bar.toolbar.visible;
    toolbar.classList.toggle("empty", state.bar.toolbar.items.length === 0);
    const look = state.parts.toolbar ?? {};
    toolbar.classList.toggle("black", look.barStyle === "black");
    morph(toolbar.firstElementChild, drawToolbar(state.bar));
  }

  // --- Transitions ------------------------------------------------------------------------------

  #begin(begins, state) {
    const backwards = begins.op === "pop" || begins.op === "dismiss";
    const motion = new Motion({ ...begins, backwards });
    this.#motion = motion;
    if (begins.op === "push" || begins.op === "pop") this.#slide(motion, state);
    else this.sheets.move(motion, state, begins.op, (screen) => drawContent(contentOf(screen, state, this.local), screen.id));
    if (motion.interactive) motion.seek(0);
    else motion.run().then(() => this.#moved(motion));
  }

  #slide(motion, state) {
    const isPop = motion.backwards;
    const from = this.#pages.get(motion.from ?? this.#shown?.top) ?? null;
    const target = motion.interactive ? screenOf(state, motion.to) : topOf(state);
    const to = target ? this.#page(target.id) : null;
    if (target) this.#fill(to, target, state);
    if (from && from !== to) this.#remember(from);
    const [above, below] = isPop ? [from, to] : [to, from];
    if (below && above) this.parts.pages.insertBefore(below, above);
    this.#incoming = motion.interactive ? this.#preview(motion.to, state) : drawLayer(barModel(state));
    const outgoing = this.#layer;
    if (this.#incoming) {
      this.parts.layers.append(this.#incoming);
      fitBack(this.#incoming);
    }
    const [layerAbove, layerBelow] = isPop ? [outgoing, this.#incoming] : [this.#incoming, outgoing];
    if (motion.fade) {
      // Only what comes in fades, in front of what goes.
      motion.backwards = false;
      if (to && to !== from) this.parts.pages.append(to);
      motion.add(to, fadeIn);
      motion.add(this.#incoming, fadeIn);
      motion.add(outgoing, fadeOut);
    } else {
      const frames = slide(this.side);
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
    }
    if (!motion.fade) this.#stretch(motion, target, state, outgoing);
    if (motion.interactive) {
      this.#root.classList.add("swiping");
    } else {
      // The new layer is the bar from now on, so that changes of the item during the transition reach it.
      this.#layer = this.#incoming;
      this.#layer.dataset.look = "";
      this.#incoming = outgoing;
    }
    this.#incoming?.setAttribute("aria-hidden", "true");
    this.#root.classList.add("moving");
    if (to && !motion.interactive) this.#collapse(to.firstChild);
  }

  // The bar gets the height of the other screen on the way. The row with the buttons goes with a prompt that comes or leaves.
  #stretch(motion, target, state, outgoing) {
    const next = motion.interactive ? this.#bars.get(target?.id) : state.bar;
    const now = `${this.parts.bar.offsetHeight}px`;
    const then = `calc(var(--status) + ${next?.height ?? state.bar.height} * var(--pt) - var(--collapse, 0px))`;
    const ordered = (frames) => (motion.backwards ? frames.reverse() : frames);
    motion.add(this.parts.bar, ordered([{ height: now }, { height: then }]));
    const prompt = (metrics) => (metrics?.endsWith("Prompt") ? 30 : 0);
    const by = prompt(next?.metrics) - prompt(this.#bars.get(outgoing?.dataset.top)?.metrics);
    if (by === 0) return;
    const y = (points) => ({ transform: `translate3d(0, calc(${points} * var(--pt)), 0)` });
    motion.add(outgoing, ordered([y(0), y(by)]));
    motion.add(this.#incoming, ordered([y(-by), y(0)]));
  }

  // navd resolves the bar of the top only. Below the finger, the page shows the bar as it was when that screen was the top, or none.
  #preview(id, state) {
    const model = this.#bars.get(id);
    if (!model || model.ver !== screenOf(state, id)?.ver) return el("div", { class: "bar-layer" });
    return drawLayer({ ...model, tint: state.bar.tintColor });
  }

  // A gesture is over, or somebody else completed the transition. What moves goes on to its end.
  #settle(completed, state) {
    const motion = this.#motion;
    if (!motion?.interactive) return;
    if (completed && topID(state) === motion.to) {
      [this.#layer, this.#incoming] = [this.#incoming, this.#layer];
      this.#layer.removeAttribute("aria-hidden");
      this.#layer.dataset.look = "";
    }
    motion.glide(completed ? 1 : 0).then(() => this.#moved(motion));
  }

  #moved(motion) {
    if (this.#motion !== motion) return;
    this.#rest();
    this.focus.follow(this.state, this.#place(this.state));
    this.#whenMoved(motion.tid);
  }

  // Ends what moves, and takes away what has left.
  #rest() {
    const motion = this.#motion;
    this.#motion = null;
    motion?.release();
    this.#incoming?.remove();
    this.#incoming = null;
    this.sheets.rest();
    this.#root.classList.remove("moving", "swiping");
    if (this.state) {
      this.#sweep();
      this.#reach();
    }
  }

  #sweep() {
    const top = topID(this.state);
    for (const [id, page] of this.#pages) {
      page.classList.remove("above");
      if (id === top) continue;
      this.#remember(page);
      page.remove();
      this.#pages.delete(id);
      if (!screenOf(this.state, id)) this.#scroll.delete(id);
    }
    if (this.#pages.get(top)) this.#collapse(this.#pages.get(top).firstChild);
  }

  // Only the visible screen can be reached by keyboard and screen reader. A popover covers nothing.
  #reach() {
    const top = topID(this.state);
    const covered = this.sheets.covers(this.state);
    this.parts.stack.inert = covered;
    for (const [id, page] of this.#pages) page.inert = id !== top;
    if (this.#incoming) this.#incoming.inert = true;
    if (this.#layer) this.#layer.inert = false;
  }

  #place(state) {
    const id = visibleID(state);
    return this.sheets.element(id) ?? this.#pages.get(id) ?? null;
  }

  // --- Scrolling --------------------------------------------------------------------------------

  #remember(page) {
    this.#scroll.set(page.dataset.screen, page.firstChild.scrollTop);
    this.focus.remember(page);
  }

  // A large title goes up with the contents, until the small one takes its place.
  #collapse(scroller) {
    if (!scroller.classList?.contains("scroller") || scroller.parentElement.dataset.screen !== topID(this.state)) return;
    const most = this.#layer?.querySelector(".bar-large") ? 52 * this.point : 0;
    const by = Math.min(most, Math.max(0, scroller.scrollTop));
    this.parts.bar.style.setProperty("--collapse", `${by}px`);
    this.parts.bar.classList.toggle("collapsed", most > 0 && by > most * 0.75);
  }
}

const showsToolbar = (state) => state.bar.toolbar.visible && state.bar.toolbar.items.length > 0;

function morphLayer(layer, model) {
  const next = drawLayer(model);
  next.className = layer.className;
  morph(layer, next);
  fitBack(layer);
}
