// What a person presses and types. Every handler sends operations; none of them draws.

import { acts, edit, navigation, savePIN } from "./acts.js";
import { PRESSED_ATTRIBUTE } from "./view/dom.js";
import { chainOf, screenOf } from "./view/model.js";
import { SLOP } from "./gesture.js";
import { sheetForm } from "./view/sheets.js";

const PIN = "1234";

/**
 * @param {import("./view/device.js").Device} device
 * @param {HTMLElement} root
 * @param {{send: (act: object) => Promise<object|null>, newest: () => object|null, isConnected: () => boolean, announce: (text: string) => void}} context
 */
export function listen(device, root, { send, newest, isConnected, announce }) {
  const screenAt = (element) => {
    const place = element.closest("[data-slot=page], [data-slot=sheet]");
    return place ? screenOf(device.state, place.dataset.screen) : null;
  };

  root.addEventListener("click", (event) => {
    const { state } = device;
    const target = event.target.closest("button, [data-slot=shade]");
    if (!state || target?.ariaDisabled === "true" || target?.dataset.part === "drawer") return;
    if (!target) {
      if (state.parts.settings?.hidesBarsOnTap && event.target.closest("[data-slot=page]") && !event.target.closest("label")) send(navigation.tap(state));
      return;
    }
    const { slot, act, arg, pin, button } = target.dataset;
    if (slot === "back") send(navigation.back(state));
    else if (slot === "button") send(navigation.press(state, button));
    else if (slot === "shade") tapOutside(state, target);
    else if (slot === "sheet-close") send(navigation.swipeDown(state));
    else if (pin !== undefined) typePIN(state, pin);
    else if (Object.hasOwn(acts, act ?? "")) {
      const screen = screenAt(target);
      if (screen) {
        device.focus.noteRowKey(screen.id, target.dataset.key);
        send(acts[act](state, screen, arg));
      }
    }
  });

  // The first frame after a press shows it. `:active` comes late under a finger, because a touch may become a scroll.
  let pressed = null;
  let place = null;
  const lift = () => {
    pressed?.removeAttribute(PRESSED_ATTRIBUTE);
    pressed = null;
  };
  root.addEventListener("pointerdown", (event) => {
    lift();
    if (event.button !== 0 || !event.isPrimary) return;
    pressed = event.target.closest("button:not(:disabled, [aria-disabled=true])");
    pressed?.setAttribute(PRESSED_ATTRIBUTE, "");
    place = event;
  });
  root.addEventListener("pointermove", (event) => {
    if (pressed && Math.hypot(event.clientX - place.clientX, event.clientY - place.clientY) > SLOP) lift();
  });
  for (const name of ["pointerup", "pointercancel"]) addEventListener(name, lift);

  // Outside a popover, a tap ends it. Outside an alert it does nothing, and a sheet covers what is around it.
  function tapOutside(state, shade) {
    const entry = chainOf(state).find(({ screen }) => screen.id === shade.parentElement.dataset.screen);
    if (entry && sheetForm(entry.style) !== "alert") send(navigation.swipeDown(state));
  }

  // The digits stay in this page; what the others see is that the sheet goes.
  function typePIN(state, key) {
    const { local } = device;
    local.wrong = false;
    local.pin = key === "erase" ? local.pin.slice(0, -1) : (local.pin + key).slice(0, 4);
    device.refresh();
    if (local.pin.length < 4) return;
    const isRight = local.pin === PIN;
    local.pin = "";
    if (isRight) {
      send(savePIN(state)).then(() => device.refresh());
      return;
    }
    local.wrong = true;
    announce("Wrong PIN");
    setTimeout(() => device.refresh(), 120);
  }

  // Typing makes a revision at most every 150 ms, with the newest text. The fields keep what was typed without a connection, so it is
  // sent with the next one. What navd has not confirmed goes with each edit.
  let timer = null;
  let isSent = true;
  let sending = Promise.resolve();
  const typed = new Map();
  const flush = (state = newest()) => {
    clearTimeout(timer);
    timer = null;
    if (isSent || !state || !isConnected()) return sending;
    isSent = true;
    sending = Promise.all([...typed].map(([id, fields]) => sendFields(state, id, fields)));
    return sending;
  };
  async function sendFields(state, id, fields) {
    const sent = Object.entries(fields);
    const act = sent.length ? edit(state, id, fields) : null;
    // Without a limit of time, since the field shows the text until navd has it.
    // What navd refused is not confirmed, and goes with the next edit.
    if (act && (await send({ ...act, within: null })) === null) return;
    for (const [name, value] of sent) if (fields[name] === value) delete fields[name];
    if (!Object.keys(fields).length && typed.get(id) === fields) typed.delete(id);
  }
  root.addEventListener("input", (event) => {
    const name = event.target.dataset?.field;
    const screen = name && screenAt(event.target);
    if (!screen) return;
    if (!typed.has(screen.id)) typed.set(screen.id, {});
    typed.get(screen.id)[name] = valueOf(event.target);
    isSent = false;
    if (timer === null) timer = setTimeout(flush, 150);
  });
  root.addEventListener("change", () => flush());
  // Whatever comes next decides on what was typed, so that is sent first.
  root.addEventListener("pointerdown", () => flush(), { capture: true });

  // Without a focus, keys belong to the device too.
  document.addEventListener("keydown", (event) => {
    const { state } = device;
    if (!state || root.closest("[hidden], [inert]") || event.defaultPrevented) return;
    if (event.target !== document.body && !root.contains(event.target)) return;
    const entry = chainOf(state).at(-1);
    if (entry?.screen.route === "pin" && /^[0-9]$|^Backspace$/.test(event.key)) {
      event.preventDefault();
      typePIN(state, event.key === "Backspace" ? "erase" : event.key);
    } else if (isBack(event)) {
      // Without a back button, a key of the browser is its own.
      if (!entry && !root.querySelector(".bar:not(.hidden) .bar-layer:not([inert]) [data-slot=back]")) return;
      event.preventDefault();
      if (entry && sheetForm(entry.style) === "full") send(navigation.close(state));
      else if (entry && sheetForm(entry.style) === "alert") send(acts["discard.keep"](state, entry.screen));
      else send(navigation.backKey(state));
    } else if (["ArrowDown", "ArrowUp"].includes(event.key)) {
      step(event);
    }
  });

  // Arrow keys go through the choices of a group and through the rows of a list.
  function step(event) {
    const row = event.target.closest(".row, .tile");
    const place = row?.closest(".content");
    if (!place || event.target.localName === "input") return;
    const rows = [...place.querySelectorAll("button:not(:disabled), input")];
    const next = rows[rows.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  return { flush };
}

/** Whether a key means to go back; in a field, Backspace deletes. */
function isBack({ key, altKey, target }) {
  if (key === "Backspace") return !target.closest?.("input, textarea, [contenteditable]");
  return key === "Escape" || key === "BrowserBack" || key === "GoBack" || (key === "ArrowLeft" && altKey);
}

/** The value of a field; of a number field an integer inside its bounds, if it is one. */
export function valueOf(input) {
  if (input.dataset.least === undefined) return input.value;
  const number = Number(input.value);
  if (!/^\d{1,6}$/.test(input.value)) return input.value;
  return Math.min(Number(input.dataset.most), Math.max(Number(input.dataset.least), number));
}
