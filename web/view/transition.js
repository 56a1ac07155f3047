// Transitions: what a new state asks to be animated (pure), and the animations that follow it.

import { chainOf, topID, transitionOf } from "./model.js";

const DEFAULT_DURATION_MS = { push: 380, pop: 380, present: 460, dismiss: 380 };
export const EASING_CURVE = "cubic-bezier(0.32, 0.72, 0, 1)";

/** The top screen, the presented chain and the transition of a state, from which `planTransition` compares two states. */
export const displayPosition = (state) => ({
  top: topID(state), chain: chainOf(state).map(({ screen }) => screen.id), tid: transitionOf(state)?.tid ?? null, to: transitionOf(state)?.to ?? null,
});

/**
 * Decides which transition begins or ends when a new state follows the shown one.
 *
 * @returns {{begins: object|null, ends: {tid: number, completed: boolean}|null}}
 *   `begins`: the open transition if it is not shown yet. `ends`: the shown transition if it is over, and whether it completed.
 */
export function planTransition(shown, state) {
  const open = transitionOf(state);
  const next = displayPosition(state);
  const ends = shown && shown.tid !== null && open?.tid !== shown.tid ? { tid: shown.tid, completed: !isCancelled(shown, next, state) } : null;
  if (!shown || !open || open.tid === shown.tid) return { begins: null, ends };
  const isFade = open.style === "fade";
  return {
    ends,
    begins: {
      tid: open.tid, op: open.op, from: open.from ?? null, to: open.to ?? null, interactive: open.phase === "interactive", fade: isFade,
      duration: isFade ? open.duration ?? 100 : open.duration ?? DEFAULT_DURATION_MS[open.op] ?? 380,
    },
  };
}

// Several revisions may have been folded into this state, so its events are asked first and the stack second.
function isCancelled(shown, next, state) {
  for (const event of state.ev ?? []) if (event.transitionEnded?.tid === shown.tid) return event.transitionEnded.outcome === "cancelled";
  return next.top === shown.top && shown.to !== next.top && next.chain.join() === shown.chain.join();
}

/** The newest progress of a gesture, 0 to 1, that another client reported; null without one. */
export function newestProgress(events, tid) {
  let value = null;
  for (const event of events) if (event.transitionProgress?.tid === tid) value = event.transitionProgress.value;
  return value;
}

/**
 * The keyframes of the elements that move in a push. A pop plays them backwards.
 *
 * @param {number} side 1 where the writing goes from left to right, else -1
 */
export function slideFrames(side) {
  const x = (percent) => `translate3d(${percent * side}%, 0, 0)`;
  return {
    above: [{ transform: x(100) }, { transform: x(0) }],
    below: [{ transform: x(0), filter: "brightness(1)" }, { transform: x(-30), filter: "brightness(0.92)" }],
    layerAbove: [{ opacity: 0 }, { opacity: 0, offset: 0.25 }, { opacity: 1 }],
    layerBelow: [{ opacity: 1 }, { opacity: 0, offset: 0.6 }, { opacity: 0 }],
    titleAbove: [{ transform: `translate3d(${70 * side}%, 0, 0)` }, { transform: "none" }],
    titleBelow: [{ transform: "none" }, { transform: `translate3d(${-45 * side}%, 0, 0)` }],
    backAbove: [{ transform: `translate3d(${60 * side}%, 0, 0)` }, { transform: "none" }],
    largeAbove: [{ transform: x(100) }, { transform: x(0) }],
    largeBelow: [{ transform: x(0), opacity: 1 }, { transform: x(-30), opacity: 0 }],
  };
}

export const fadeIn = [{ opacity: 0 }, { opacity: 1 }];
export const fadeOut = [{ opacity: 1 }, { opacity: 0 }];

/** The animations of one transition, which run together or follow a finger. */
export class Motion {
  #animations = [];
  #progress = 0;
  #isOver = false;
  #resolveDone;

  constructor({ tid, duration, interactive, backwards, fade, op, from, to }) {
    this.tid = tid;
    this.duration = Math.max(1, duration);
    this.interactive = interactive;
    this.backwards = backwards;
    this.fade = fade;
    this.op = op;
    this.from = from;
    this.to = to;
    this.done = new Promise((resolve) => { this.#resolveDone = resolve; });
  }

  /** Animates an element with keyframes; a backwards motion plays them in reverse. */
  addFrames(element, frames) {
    if (!element) return;
    const easing = this.interactive || this.fade ? "linear" : EASING_CURVE;
    const ordered = this.backwards ? [...frames].reverse().map((frame) => ("offset" in frame ? { ...frame, offset: 1 - frame.offset } : frame)) : frames;
    const animation = element.animate(ordered, { duration: this.duration, easing, fill: "both" });
    if (this.interactive) animation.pause();
    this.#animations.push(animation);
  }

  /** Runs the animations; returns a promise of their end. A timer ends them in hidden pages, where the browser runs none. */
  run() {
    const late = new Promise((resolve) => { setTimeout(resolve, document.hidden ? 0 : this.duration + 250); });
    Promise.race([Promise.allSettled(this.#animations.map(({ finished }) => finished)), late]).then(() => this.finish());
    return this.done;
  }

  /** Sets the animations to the position of the finger, from 0 to 1. */
  seek(position) {
    this.#progress = Math.min(1, Math.max(0, position));
    for (const animation of this.#animations) animation.currentTime = this.#progress * this.duration;
  }

  /** Animates from the position at which the finger was lifted to 0 or 1. */
  glideTo(end) {
    const start = this.#progress;
    const began = performance.now();
    const length = Math.max(90, Math.abs(end - start) * 320);
    const step = (now) => {
      if (this.#isOver) return;
      const part = Math.min(1, Math.max(0, (now - began) / length));
      this.seek(start + (end - start) * (1 - (1 - part) ** 3));
      if (part < 1) requestAnimationFrame(step);
      else this.finish();
    };
    if (document.hidden) this.finish();
    else requestAnimationFrame(step);
    // Without frames, as in a page that becomes hidden now, the end comes all the same.
    setTimeout(() => this.finish(), length + 300);
    return this.done;
  }

  finish() {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#resolveDone();
  }

  /** Removes the animations, so that the style sheet applies again. */
  removeAnimations() {
    this.finish();
    for (const animation of this.#animations) animation.cancel();
  }
}
