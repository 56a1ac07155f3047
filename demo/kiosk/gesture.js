// Two gestures: the swipe back, which navd conducts, and the pull of a sheet, which navd judges at its end.

import { chainOf, guard, transitionOf } from "./view/model.js";
import { canPullDown, sheetForm } from "./view/sheets.js";
import { navigation } from "./acts.js";

const EDGE = 26;
/** A pointer that moved further than this drags. */
export const SLOP = 8;

/** Whether a swipe that is let go here finishes: past the middle, or fast in its direction. Speed is in widths per second. */
export function finishes(position, speed) {
  return position + speed * 0.22 > 0.5;
}

/** How far a sheet follows a finger. One that may not go follows less and less. */
export function give(distance, isFree) {
  if (distance <= 0) return -Math.sqrt(-distance) * 1.5;
  return isFree ? distance : 60 * (1 - Math.exp(-distance / 160));
}

/** Whether a gesture may begin, as far as the state says so. navd has the last word. */
export function swipeZone(state, width, point) {
  if (!state?.bar?.swipeBack || transitionOf(state)) return 0;
  return state.parts.settings?.interactivePop?.mode === "fullScreen" ? width : EDGE * point;
}

export class Gestures {
  #device;
  #screen;
  #context;
  #drag = null;

  /** @param {{send: (act: object) => Promise<object|null>, mayDrive: () => boolean, isConnected: () => boolean}} context */
  constructor(device, screen, context) {
    this.#device = device;
    this.#screen = screen;
    this.#context = context;
    screen.addEventListener("pointerdown", (event) => this.#down(event));
    screen.addEventListener("pointermove", (event) => this.#move(event));
    screen.addEventListener("pointerup", (event) => this.#up(event, false));
    screen.addEventListener("pointercancel", (event) => this.#up(event, true));
    // A drag that ends above a row is no tap on it.
    screen.addEventListener("click", (event) => {
      if (this.#justDragged) event.stopImmediatePropagation();
      this.#justDragged = false;
    }, { capture: true });
  }

  #justDragged = false;

  #down(event) {
    this.#justDragged = false;
    if (this.#drag || event.button !== 0 || !event.isPrimary) return;
    const state = this.#device.state;
    if (!state) return;
    const bounds = this.#screen.getBoundingClientRect();
    const common = { pointer: event.pointerId, x: event.clientX, y: event.clientY, width: bounds.width, height: bounds.height, state, isMoving: false, samples: [], last: 0 };
    const sheet = event.target.closest("[data-slot=sheet]");
    const entry = chainOf(state).at(-1);
    if (sheet && entry && sheet.dataset.screen === entry.screen.id && ["page", "form"].includes(sheetForm(entry.style))) {
      const scroller = event.target.closest(".scroller");
      if (event.target.closest("input") || (scroller && scroller.scrollTop > 0)) return;
      this.#drag = { ...common, kind: "pull", sheet, entry, onHead: !scroller };
    } else if (!sheet && this.#context.mayDrive()) {
      const inset = this.#device.directionSign === 1 ? event.clientX - bounds.left : bounds.right - event.clientX;
      const isFull = state.parts.settings?.interactivePop?.mode === "fullScreen";
      if (inset <= swipeZone(state, bounds.width, this.#device.pointPixels)) this.#drag = { ...common, kind: isFull ? "fullScreen" : "edge" };
    }
  }

  #move(event) {
    const drag = this.#drag;
    if (!drag || event.pointerId !== drag.pointer) return;
    const dx = (event.clientX - drag.x) * this.#device.directionSign;
    const dy = event.clientY - drag.y;
    if (!drag.isMoving) {
      if (Math.hypot(dx, dy) < SLOP) return;
      const isMine = drag.kind === "pull" ? dy > Math.abs(dx) && (drag.onHead || dy > 0) : dx > Math.abs(dy);
      if (!isMine) {
        this.#drag = null;
        return;
      }
      drag.isMoving = true;
      capture(this.#screen, drag.pointer);
      if (drag.kind !== "pull") this.#begin(drag, dx);
    }
    event.preventDefault();
    drag.samples.push({ at: event.timeStamp, dx, dy });
    if (drag.samples.length > 6) drag.samples.shift();
    if (drag.kind === "pull") this.#device.sheets.pull(drag.sheet, give(dy, canPullDown(drag.entry)));
    else this.#follow(drag, dx);
  }

  // --- The swipe back ---------------------------------------------------------------------------

  #begin(drag, dx) {
    this.#device.isDragging = true;
    drag.begun = this.#context.send({ do: [{ "gesture.begin": { kind: drag.kind, translation: dx } }], if: guard.top(drag.state) });
    drag.begun.then((reply) => {
      drag.isRefused = reply === null;
      drag.tid = reply?.out?.[0]?.tid ?? null;
    });
  }

  #follow(drag, dx) {
    drag.position = Math.min(1, Math.max(0, dx / drag.width));
    if (this.#device.motion?.tid === drag.tid) this.#device.seek(drag.position);
    // Others see where the finger is, thirty times a second at most, and never two reports under way. Without a connection nobody does.
    if (!drag.tid || drag.isReporting || !this.#context.isConnected() || performance.now() - drag.last < 33) return;
    drag.isReporting = true;
    drag.last = performance.now();
    this.#context.send({ do: [{ "gesture.update": { value: drag.position } }], if: {} }).then(() => {
      drag.isReporting = false;
      if (this.#drag === drag && Math.abs(drag.position - (drag.reported ?? 0)) > 0.001) this.#report(drag);
    });
    drag.reported = drag.position;
  }

  // The last place of a finger that stands still is reported too.
  #report(drag) {
    setTimeout(() => {
      if (this.#drag === drag && drag.reported !== drag.position) this.#follow(drag, drag.position * drag.width);
    }, 34);
  }

  async #up(event, isCancelled) {
    const drag = this.#drag;
    if (!drag || event.pointerId !== drag.pointer) return;
    this.#drag = null;
    if (!drag.isMoving) return;
    this.#justDragged = true;
    setTimeout(() => { this.#justDragged = false; }, 50);
    if (drag.kind === "pull") {
      await this.#letGo(drag, isCancelled);
      return;
    }
    const reply = await drag.begun;
    this.#device.isDragging = false;
    if (reply === null) return;
    const goes = !isCancelled && finishes(drag.position ?? 0, speed(drag.samples, "dx") / drag.width);
    const end = goes ? "gesture.finish" : "gesture.cancel";
    await this.#context.send({ do: [{ [end]: {} }], if: {} });
  }

  // --- The pull of a sheet ----------------------------------------------------------------------

  async #letGo(drag, isCancelled) {
    const { dy } = drag.samples.at(-1) ?? { dy: 0 };
    const box = drag.sheet.querySelector(".sheet-box").offsetHeight;
    const goes = !isCancelled && dy > 0 && finishes(dy / box, speed(drag.samples, "dy") / box);
    // A sheet that may not go asks all the same if it was pulled far: navd tells everybody of the attempt.
    const asks = !isCancelled && !canPullDown(drag.entry) && dy > drag.height * 0.2;
    const reply = goes || asks ? await this.#context.send(navigation.swipeDown(drag.state)) : null;
    if (reply === null && drag.sheet.isConnected) this.#device.sheets.springBack(drag.sheet);
  }
}

/** Speed at the end of a drag, in pixels per second. */
export function speed(samples, axis) {
  const last = samples.at(-1);
  const first = samples[0];
  if (!last || last.at - first.at < 1) return 0;
  return ((last[axis] - first[axis]) / (last.at - first.at)) * 1000;
}

function capture(element, pointer) {
  try {
    element.setPointerCapture(pointer);
  } catch {
    // A pointer that a script made up cannot be captured; its events come here anyway.
  }
}
