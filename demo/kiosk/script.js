// Plays the scenario of `make demo` in the page: with the handlers that a person's taps, keys and swipes reach, and with a second
// client as a remote control. `document.documentElement.dataset.script` is "done" at the end, or "failed: " and the reason.

import { NavigationClient } from "/navigation-client.js";
import { topID, transitionOf } from "./view/model.js";

const PATIENCE = 10_000;
const page = document.documentElement;
const glass = document.querySelector("[data-part=glass]");
const caption = document.querySelector("[data-part=caption]");

/** The state without its revision, digest and transition: what a cancelled swipe must leave as it was. */
export function whatLasts(state) {
  const { environment, ...parts } = { ...state.parts, transition: null };
  return JSON.stringify([state.screens, parts, state.bar]);
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export async function play({ client, nav, token, device, state, query }) {
  const beat = Number(query.get("beat") ?? (navigator.webdriver ? 150 : 1500));
  const remote = await NavigationClient.connect({ token, name: "remote" });
  page.dataset.script = "playing";

  const say = async (text) => {
    caption.textContent = text;
    caption.hidden = false;
    await pause(beat);
  };
  const fail = (text) => { throw new Error(text); };
  const until = async (what, condition) => {
    const end = performance.now() + PATIENCE;
    for (;;) {
      const value = await condition();
      if (value) return value;
      if (performance.now() > end) fail(`${what} did not come`);
      await pause(20);
    }
  };
  const find = (selector) => [...device.parts.stack.parentElement.querySelectorAll(selector)].find((element) => !element.closest("[inert], [aria-hidden=true]"));
  const rest = () => until("rest", () => state() && !transitionOf(state()) && device.motion === null && device.state === state());
  const press = async (selector) => {
    await rest();
    (await until(selector, () => find(selector))).click();
  };
  const top = (id) => until(`top ${id}`, () => topID(state()) === id).then(rest);
  const refused = async (promise, code) => {
    const error = await promise.then(() => null, (reason) => reason);
    if (error?.code !== code) fail(`${error?.code ?? "no error"} instead of ${code}`);
  };

  async function swipe(to, lets) {
    const bounds = glass.getBoundingClientRect();
    const at = (part) => ({
      bubbles: true, cancelable: true, pointerId: 7, pointerType: "touch", isPrimary: true, button: 0, buttons: 1,
      clientX: bounds.left + bounds.width * part, clientY: bounds.top + bounds.height / 2,
    });
    const target = document.elementFromPoint(bounds.left + 4, bounds.top + bounds.height / 2) ?? glass;
    target.dispatchEvent(new PointerEvent("pointerdown", at(0.01)));
    for (let step = 1; step <= 12; step += 1) {
      glass.dispatchEvent(new PointerEvent("pointermove", at(0.01 + (to * step) / 12)));
      await pause(16);
    }
    await until("the gesture", () => transitionOf(state())?.phase === "interactive");
    for (let step = 0; step < 8; step += 1) {
      // The finger stands still, so that it is not fast when it is lifted.
      glass.dispatchEvent(new PointerEvent("pointermove", at(0.01 + to)));
      await pause(25);
    }
    await lets();
    glass.dispatchEvent(new PointerEvent("pointerup", at(0.01 + to)));
  }

  async function type(selector, text) {
    const field = await until(selector, () => find(selector));
    field.focus();
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
    field.blur();
  }

  async function scenario() {
    await until("the state", state);
    await rest();
    if (state().presented.length) await client.perform(nav, [{ dismiss: {} }], { if: { epoch: state().epoch } });
    await client.perform(nav, [{ popToRoot: {} }], { if: { epoch: state().epoch } });
    await rest();

    await say("The screens of a kiosk. This page draws them, navd holds them.");
    await press("[data-key='settings']");
    await top("settings");
    await press("[data-key='settings/network']");
    await top("network");
    await press("[data-key='settings/network/wifi']");
    await top("wifi");
    await say("A prompt, a short back button, Help beside it, a toolbar: one revision.");
    if (!find("[data-slot=back]")?.dataset.text.startsWith("Network")) fail("the back button does not say Network");
    for (const slot of ["prompt", "toolbar"]) if (!find(`[data-slot=${slot}]`)) fail(`no ${slot}`);

    await say("Somebody types a channel. The remote goes back; the page is asked, and says no.");
    const channel = state().screens.at(-1).args.channel === 36 ? "44" : "36";
    await type("[data-field=channel]", channel);
    await until("the draft", () => String(state().screens.at(-1).args.draft?.channel ?? "") === channel);
    await rest();
    const digest = state().dig;
    await refused(remote.pop(await remote.state(nav)), "vetoed");
    if (state().dig !== digest) fail("a veto changed something");

    await say("Saving takes a PIN. It is presented above the stack, which stays as it is.");
    await press("[data-slot=button][data-action='wifi.save']");
    await until("the PIN sheet", () => find("[data-slot=sheet][data-screen=pin]"));
    await rest();
    await pause(beat / 2);
    const revision = state().rev;
    for (const digit of "1234") await press(`[data-pin='${digit}']`);
    await until("the saved channel", () => String(state().screens.at(-1).args.channel) === channel);
    if (state().presented.length || state().screens.at(-1).args.draft) fail("the PIN went, but not in the same revision");
    if (state().rev < revision + 1) fail("no revision saved the channel");
    await rest();

    await say("A finger swipes back, gets to 40 %, and changes its mind.");
    const before = whatLasts(state());
    await until("the display", () => page.dataset.display === "mine");
    await swipe(0.4, () => pause(beat / 2));
    await until("the end of the gesture", () => !transitionOf(state()));
    await rest();
    if (whatLasts(state()) !== before) fail("a cancelled swipe left something behind");

    await say("A double pop: both look at the same screen and go back at the same moment.");
    const seen = await remote.state(nav);
    const other = remote.pop(seen, { onBusy: "queue" }).then(() => "popped", (error) => error.code);
    await press("[data-slot=back]");
    const outcome = await other;
    if (!["popped", "desync"].includes(outcome)) fail(`the remote got ${outcome}`);
    await top("network");
    if (state().screens.length !== 3) fail("two screens are gone");

    if (query.has("restart")) {
      await say("navd is killed and started again. Nobody is told; everybody comes back.");
      const { epoch } = state();
      page.dataset.script = "restart";
      await until("the loss", () => client.status === "disconnected");
      await until("the connection", () => client.status === "connected" && remote.status === "connected");
      page.dataset.script = "playing";
      await until("the state", () => state().epoch === epoch);
    }

    await say("And it goes on: the remote brings the page back. The nav still knows it.");
    const reply = await until("the push", () => remote.perform(nav, [{ push: { screen: "wifi" } }], { if: { top: "network" } }).catch(() => null));
    await until("the push here", () => state().rev >= reply.rev);
    await top("wifi");

    const truth = (await remote.get(nav, { what: "state" })).value;
    await until("the newest revision", () => state().rev >= truth.rev);
    const end = (await remote.get(nav, { what: "state" })).value;
    for (const name of ["epoch", "rev", "dig"]) if (page.dataset[name] !== String(end[name])) fail(`${name} is ${page.dataset[name]}, navd has ${end[name]}`);
    await say(`All mirrors equal: revision ${end.rev}, digest ${end.dig}.`);
  }

  try {
    await scenario();
    page.dataset.script = "done";
  } catch (error) {
    caption.textContent = `The demo failed: ${error.message}`;
    page.dataset.script = `failed: ${error.message}`;
  } finally {
    await remote.close();
  }
}
