// The display lease: one window drives the transitions and describes the environment; the others watch.

import { isPanel } from "./shape.js";
import { environmentOf, transitionOf } from "./view/model.js";

// UIKit's text sizes by the points of its body text, 17 by default. A browser's default is a root of 16 px.
const SIZES = {
  extraSmall: 14, small: 15, medium: 16, large: 17, extraLarge: 19, extraExtraLarge: 21, extraExtraExtraLarge: 23, accessibilityMedium: 28,
  accessibilityLarge: 33, accessibilityExtraLarge: 40, accessibilityExtraExtraLarge: 47, accessibilityExtraExtraExtraLarge: 53,
};

/** The nearest text size of UIKit. @param {number} text the size of texts that the reader has chosen, 1 for the browser's default */
export function contentSize(text) {
  const distance = (name) => Math.abs(SIZES[name] - 17 * text);
  return Object.keys(SIZES).reduce((best, name) => (distance(name) < distance(best) ? name : best));
}

/** What this window is as a display. navd computes the bars from it. A browser does not say whether a screen reader reads it. */
export function environment({ width, height, point, ratio, isTablet, isReduced, isContrasted, text, locale }) {
  const idiom = isTablet || Math.min(width, height) / point >= 600 ? "pad" : "phone";
  return {
    contentSizeCategory: contentSize(text), accessibilityContrast: isContrasted ? "high" : "normal",
    idiom, vCompact: idiom === "phone" && height / point < 430, scale: Math.min(4, Math.max(1, Math.round(ratio))),
    animations: isReduced ? "reduced" : "on", locale: (locale || "en").slice(0, 64),
    orientation: width > height ? "landscapeLeft" : "portrait",
  };
}

/** The members that differ from the state; null if there are none. */
export function changes(wanted, current) {
  const defaults = { idiom: "phone", vCompact: false, scale: 2, animations: "on", locale: "en", orientation: "portrait", contentSizeCategory: "large", accessibilityContrast: "normal" };
  const different = Object.entries(wanted).filter(([name, value]) => (current[name] ?? defaults[name]) !== value);
  return different.length ? Object.fromEntries(different) : null;
}

/**
 * What to do about the lease. A hidden window cannot show a transition to its end, so it gives the display back.
 *
 * @returns {"take"|"release"|null}
 */
export function decision({ holds, isHidden, canWrite, isFree, wantedElsewhere, isMoving }) {
  if (!canWrite) return null;
  if (holds) return (isHidden || wantedElsewhere) && !isMoving ? "release" : null;
  return isFree && !isHidden ? "take" : null;
}

export class Display {
  #client;
  #nav;
  #device;
  #size = null;
  #send;
  #lease = null;
  #isBusy = false;
  #isWanted = false;
  #channel;
  #reduced = matchMedia("(prefers-reduced-motion: reduce)");
  #contrast = matchMedia("(prefers-contrast: more)");
  #onChange;
  canWrite = false;

  constructor({ client, nav, device, root, send, onChange }) {
    this.#client = client;
    this.#nav = nav;
    this.#device = device;
    this.#send = send;
    this.#onChange = onChange;
    // The windows of one browser pass the display to the one in front.
    this.#channel = new BroadcastChannel(`navd-kiosk ${nav}`);
    this.#channel.addEventListener("message", () => {
      this.#isWanted = true;
      this.follow();
    });
    const ask = () => {
      if (this.canWrite && !this.holds) this.#channel.postMessage("display");
    };
    addEventListener("focus", ask);
    document.addEventListener("pointerdown", ask, { capture: true });
    document.addEventListener("visibilitychange", () => this.follow());
    for (const preference of [this.#reduced, this.#contrast]) preference.addEventListener("change", () => this.follow());
    const observer = new ResizeObserver(() => {
      this.#size = { width: root.clientWidth, height: root.clientHeight, point: device.pointPixels, isTablet: isPanel() };
      this.follow();
    });
    observer.observe(root);
    // It changes with the text size of the browser.
    observer.observe(document.querySelector("[data-part=probe]"));
  }

  get holds() {
    return this.#lease !== null;
  }

  /** Looks again at the lease and the environment. */
  async follow() {
    const { state } = this.#device;
    if (!state || this.#isBusy) return;
    const what = decision({
      holds: this.holds, isHidden: document.hidden, canWrite: this.canWrite, isFree: !environmentOf(state).owner,
      wantedElsewhere: this.#isWanted, isMoving: transitionOf(state) !== null,
    });
    this.#isBusy = true;
    try {
      if (what === "take") await this.#take();
      if (what === "release") await this.#release();
      if (this.holds) await this.#describe();
    } finally {
      this.#isBusy = false;
    }
  }

  async #take() {
    try {
      const lease = await this.#client.lease(this.#nav);
      this.#lease = lease;
      this.#isWanted = false;
      Promise.resolve(lease.lost).then(() => this.#forget(lease), () => this.#forget(lease));
      this.#onChange();
      // A transition may be open whose display has gone. Nobody else would end it before its deadline.
      const open = transitionOf(this.#device.state);
      if (open?.phase === "animating" && !this.#device.motion) await this.complete(open.tid);
    } catch {
      // Somebody else was faster; the state shows who.
    }
  }

  #forget(lease) {
    if (this.#lease !== lease) return;
    this.#lease = null;
    this.#onChange();
  }

  async #release() {
    const lease = this.#lease;
    this.#lease = null;
    this.#isWanted = false;
    this.#onChange();
    try {
      await lease.release();
    } catch {
      // The session is over, and the lease with it.
    }
  }

  async #describe() {
    if (!this.#size?.width) return;
    const wanted = environment({
      ...this.#size, ratio: devicePixelRatio, isReduced: this.#reduced.matches, isContrasted: this.#contrast.matches,
      text: parseFloat(getComputedStyle(document.documentElement).fontSize) / 16, locale: navigator.language,
    });
    const different = changes(wanted, environmentOf(this.#device.state));
    if (different) await this.#send({ do: [{ "env.set": different }], if: {} });
  }

  /** Ends a transition that has been shown. Only the display may do that. */
  async complete(tid) {
    if (!this.holds || transitionOf(this.#device.state)?.tid !== tid || transitionOf(this.#device.state).phase !== "animating") return;
    await this.#send({ do: [{ "transition.complete": { tid } }], if: {} });
  }
}
