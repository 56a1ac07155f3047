// The kiosk: connects, makes the nav if there is none, and draws what the watch yields.

import { launchToken, NavigationClient } from "/navigation-client.js";
import { askDiscard, buttonActs, create, judge, navigation, resultActs } from "./acts.js";
import { Device } from "./view/device.js";
import { Display } from "./display.js";
import { el } from "./view/dom.js";
import { Announcer } from "./view/focus.js";
import { Gestures } from "./gesture.js";
import { listen } from "./input.js";
import { Menus } from "./menu.js";
import { chainOf, environmentOf, visibleTitle, topID, visibleID } from "./view/model.js";
import { Panel } from "./panel.js";
import { keepShape } from "./shape.js";
import { drawClocks } from "./view/view.js";

const query = new URLSearchParams(location.search);
const nav = query.get("nav") || "kiosk";
const page = document.documentElement;
const root = document.querySelector("[data-device]");
const announcer = new Announcer(document.querySelector("[data-part=live]"));
const announce = (text, language) => announcer.say(text, language);

let client = null;
let canWrite = null;
let display = null;

keepShape(document.querySelector("[data-part=shapes]"), document.querySelector("[data-part=probe]"));
const device = new Device(root, { announce, moved });
const panel = new Panel(document.querySelector("[data-part=panel]"), { openWindow });
const menu = new Menus(
  device, root, (state, screen) => tap(navigation.backMenu(state, screen)), (state, button, element) => tap(navigation.choose(state, button, element)));
const input = listen(device, root, { send: tap, newest: () => newest, isConnected, announce });
new Gestures(device, document.querySelector("[data-part=glass]"), {
  send: tap, isConnected, mayDrive: () => canWrite === true && (display?.holds || !environmentOf(device.state).owner),
});

// Refusals that need no word: the watch has shown already what is true now, and the person decides again.
const QUIET = new Set(["desync", "unreachable", "transition-in-progress", "vetoed", "pop-blocked", "dismiss-blocked", "gesture-refused", "lease-lost"]);

/** In milliseconds, how late an act may begin: the next person at the screen must not see the tap of the one before. */
const PATIENCE = 2000;

const UNSENT = "Nothing happened: no connection.";

function isConnected() { return client?.status === "connected"; }

/** Sends what a person did. Without a connection, the banner, the log and the live region say that nothing happened. */
async function tap(act) {
  if (!act || isConnected()) return send(act);
  panel.nudge(UNSENT);
  announce(UNSENT);
  return null;
}

/** Sends an act. Returns the reply, or null if navd refused it, or did not get it in time. */
export async function send(act) {
  if (!client || !act) return null;
  if (canWrite === false) {
    announce("This window is for viewing only.");
    return null;
  }
  const { do: operations, orElse, again, ...options } = { within: PATIENCE, ...act };
  try {
    return await client.perform(nav, operations, options);
  } catch (error) {
    if (orElse?.[error.code]) return send(orElse[error.code]);
    if (again && error.reason === "rev") {
      const signal = options.within === null ? undefined : AbortSignal.timeout(options.within);
      const newer = await client.state(nav, { signal }).catch(() => null);
      const next = newer && again(newer);
      return next && send({ ...options, ...next });
    }
    panel.note(`Refused: ${error.message}`);
    if (!QUIET.has(error.code)) announce(error.message);
    return null;
  }
}

async function openWindow() {
  // The new window gets a token of its own by a launch code. A copy of this one's would not work: two windows need two sessions.
  const response = await fetch(`${location.origin}/nsp1/code`, { method: "POST", headers: { "NSP-Token": token } }).catch(() => null);
  if (!response?.ok) {
    const why = isConnected() ? "Another window needs a new link." : UNSENT;
    panel.note(why);
    return announce(why);
  }
  const { code } = await response.json();
  window.open(`${location.pathname}?nav=${encodeURIComponent(nav)}#c=${code}`, "_blank", "noopener");
  return undefined;
}

// A transition has been shown to its end.
function moved(tid) {
  page.dataset.moving = "false";
  display?.complete(tid);
}

// --- What the watch yields --------------------------------------------------------------------------

let newest = null;
let events = [];
let isScheduled = false;

// Every revision goes into the log; the device draws the newest once a frame.
function take(state) {
  newest = state;
  events.push(...(state.ev ?? []));
  page.dataset.rev = String(state.rev);
  page.dataset.dig = state.dig;
  page.dataset.epoch = state.epoch;
  panel.add(state);
  react(state);
  if (isScheduled) return;
  isScheduled = true;
  // A hidden page gets no frames, but must go on answering.
  if (document.hidden) queueMicrotask(draw);
  else requestAnimationFrame(draw);
}

function draw() {
  if (!isScheduled) return;
  isScheduled = false;
  const since = events.splice(0);
  root.hidden = false;
  if (!isOver) hideNotice();
  device.draw(newest, since);
  menu.follow(newest);
  drawClocks(document, new Date(), environmentOf(newest).locale);
  // Signs that are not drawn could turn the name of a window around.
  const title = visibleTitle(newest).replace(/[\p{Cc}\p{Bidi_Control}]/gu, " ").slice(0, 128);
  if (document.title !== title) document.title = title;
  if (page.lang !== root.lang) page.lang = root.lang;
  page.dataset.top = topID(newest) ?? "";
  page.dataset.visible = visibleID(newest) ?? "";
  page.dataset.moving = String(device.motion !== null);
  page.dataset.drawn = String(newest.rev);
  status();
  display?.follow();
}

document.addEventListener("visibilitychange", () => draw());

// Before the first state there is nothing to dim, so the page says why it has none.
function explain() {
  if (newest || isOver) return;
  if (client?.status === "waiting") notice("Four other windows show this kiosk.", "Close one of them. This one then goes on by itself.");
  else if (client?.status === "connecting" && isLate) notice("navd does not answer.", "Start it, by “systemctl start navd” or “make demo-web”. This page then goes on by itself.");
  else hideNotice();
}

function status() {
  explain();
  panel.show({
    status: client?.status ?? "connecting", canWrite, holds: display?.holds ?? false, owner: newest ? environmentOf(newest).owner : null, rev: newest?.rev, nav,
  });
}

// The program behind the buttons. Every window runs it: guards let one of them succeed.
function react(state) {
  if (canWrite !== true) return;
  for (const event of state.ev ?? []) {
    if (event.buttonActivated?.action) send(buttonActs(state, event.buttonActivated.action));
    if (event.dismissAttempted && visibleID(state) === event.dismissAttempted.screen) send(askDiscard(state, event.dismissAttempted.screen));
  }
  for (const screen of [...state.screens, ...chainOf(state).map((entry) => entry.screen)]) expect(screen, state);
}

const expected = new Set();

// Waits for the results of pickers, also of those that another window opened.
async function expect(screen, state) {
  if (screen.route !== "networks" || expected.has(screen.id)) return;
  expected.add(screen.id);
  try {
    const result = await client.result(nav, screen.id);
    send(resultActs(newest ?? state, screen, result));
  } catch {
    // The nav is gone, or the connection; there is no result then.
  } finally {
    expected.delete(screen.id);
  }
}

// --- Vetoes -------------------------------------------------------------------------------------------

async function decide(question) {
  await input.flush();
  const { allow, ask } = judge(newest, question.q ?? question);
  if (ask) offerDiscard(ask);
  return allow;
}

// The question is a presented screen like any other, so every window shows it and any of them can answer.
async function offerDiscard(screen) {
  const answer = client.result(nav, "discard");
  if ((await send(askDiscard(newest, screen))) === null) return;
  if ((await answer) !== "discard" || topID(newest) !== screen) return;
  send({ ...navigation.back(newest), onBusy: "queue" });
}

// --- The beginning --------------------------------------------------------------------------------------

let token = null;
let isLate = false;
let isOver = false;

async function begin() {
  setTimeout(() => {
    isLate = true;
    explain();
  }, 3000);
  token = await launchToken();
  if (!token) return needLink("This page needs a link with a code.");
  // A kiosk may start before its daemon, and a fifth window waits for another one to close.
  client = new NavigationClient({ token, name: query.get("name") || "kiosk" });
  (async () => {
    for await (const next of client.statuses()) {
      if (next === "disconnected") announce("Connection lost");
      status();
      // What was typed meanwhile is a change of the newest state.
      if (next === "connected" && newest && !isOver) client.state(nav).then(input.flush, () => {});
    }
  })();
  canWrite = await mayWrite();
  display = new Display({ client, nav, device, root, send, onChange: status });
  display.canWrite = canWrite;
  if (canWrite) await client.delegate(nav, { roles: ["veto"] }, decide).catch(() => null);
  if (query.has("script")) import("./script.js").then(({ play }) => play({ client, nav, token, device, state: () => newest, query }));
  await watch();
}

function needLink(why) {
  page.dataset.status = "unauthorized";
  end(why, "Open the newest link that navd-web printed, or choose “Open another window” in a page that works.");
}

// Making the nav shows the rights too: navd looks at them before it looks whether the nav is there.
async function mayWrite() {
  try {
    await client.perform(nav, create.do);
    return true;
  } catch (error) {
    if (error.code === "nav-exists") return true;
    if (error.code === "forbidden") return false;
    throw error;
  }
}

async function watch() {
  try {
    for await (const state of client.watch(nav, { everyRevision: true })) take(state);
    end("This navigation was closed.", "Reload the page to make a new one.");
  } catch (error) {
    giveUp(error);
  }
}

// What navd refuses from the beginning.
function giveUp(error) {
  if (error.code === "unauthorized") needLink("This link was used already, or is too old.");
  else if (error.code === "forbidden") end("This link may not show the kiosk.", `navd says: ${error.message}. Start navd-web with a role of navd.conf, as in “navd-web --launch ui”.`);
  else end("There is no connection to navd.", `${error.message}. Start navd and navd-web, and open the link that navd-web prints.`);
}

function end(title, text) {
  isOver = true;
  notice(title, text);
}

function notice(title, text) {
  const place = document.querySelector("[data-part=notice]");
  if (!place.hidden && place.firstChild?.textContent === title) return;
  place.replaceChildren(el("h1", {}, title), el("p", {}, text));
  cover(true);
  announce(title);
}

function hideNotice() { cover(false); }

// Behind the notice, nothing gets a key.
function cover(isCovered) {
  document.querySelector("[data-part=notice]").hidden = !isCovered;
  for (const each of document.querySelectorAll(".case, .panel")) each.inert = isCovered;
}

setInterval(() => drawClocks(document, new Date(), newest ? environmentOf(newest).locale : "en"), 5000);
drawClocks(document, new Date(), "en");
begin().catch(giveUp);
