// What the client promises of requests that are repeated, late or wrong, and of duties that end.

import { Outbox } from "/navigation-client.js";
import { NAV, Opened, claims, pushed, same, thrown, turn, until } from "./claims.js";

const POP = [{ pop: {} }];
const MINUTE = 60_000;

claims["an op that the daemon may have forgotten is not sent again, and its effect is unknown"] = () => {
  for (const [minutes, last, isSent] of [[5, 0, true], [11, 0, false], [11, 1, true]]) {
    const opened = new Opened();
    const id = opened.session.request("op", NAV, { do: POP });
    const read = opened.session.request("get", NAV, { what: "state" });
    opened.session.take();
    opened.session.lost(0);
    opened.session.take();
    opened.session.connected(minutes * MINUTE);
    const [[, { nonce }]] = opened.sent();
    opened.now = minutes * MINUTE;
    opened.receive("welcome", { ops: { last }, nonce });
    const actions = opened.session.take();
    const sent = actions.filter(({ kind }) => kind === "send").map((action) => action.id);
    same(sent, isSent ? [id, read] : [read], `after ${minutes} minutes:`);
    const ends = actions.filter(({ kind }) => kind === "answered").map(({ err }) => [err.code, err.effect]);
    same(ends, isSent ? [] : [["op-too-old", "unknown"]]);
  }
};

claims["busy is no answer to an op that was sent in an earlier session"] = () => {
  const opened = new Opened();
  const id = opened.session.request("op", NAV, { do: POP });
  const [line] = opened.sent();
  const busy = { id, code: "busy", retry: "later", effect: "none", after: 50 };
  opened.reopen();
  same(opened.sent(), [line]);
  opened.receive("err", busy);
  same(opened.actions("answered"), []);
  opened.session.tick(opened.session.wakeAt);
  same(opened.sent(), [line], "after the pause:");
  opened.receive("ok", { id, nav: NAV });
  same(opened.actions("answered").length, 1);
  // Of an op that was sent once, busy says that it did not happen.
  const next = opened.session.request("op", NAV, { do: POP });
  opened.receive("err", { ...busy, id: next });
  same(opened.actions("answered").map(({ err }) => err.code), ["busy"]);
};

claims["no more ops are in flight than the daemon permits"] = () => {
  const opened = new Opened();
  opened.reopen(0, { limits: { message: 65_536, window: 65_536, inflight: 2 } });
  const ids = [1, 2, 3].map(() => opened.session.request("op", NAV, { do: POP }));
  same(opened.sent().map(([, { id }]) => id), ids.slice(0, 2));
};

claims["a request that the next daemon would not accept fails, and does not cost the session"] = () => {
  const opened = new Opened();
  const large = opened.session.request("op", NAV, { do: [{ push: { screen: { id: "x".repeat(20_000) } } }] });
  const small = opened.session.request("op", NAV, { do: POP });
  opened.reopen();
  same(opened.sent().map(([, { id }]) => id), [large, small]);
  opened.session.lost(0);
  opened.session.take();
  opened.session.connected(0);
  const [[, { nonce }]] = opened.sent();
  opened.receive("welcome", { nonce, limits: { message: 16_384, window: 65_536 } });
  const actions = opened.session.take();
  same(actions.filter(({ kind }) => kind === "answered").map(({ id, err }) => [id, err.code, err.effect]),
    [[large, "limit", "unknown"]]);
  same(actions.filter(({ kind }) => kind === "send").map(({ id }) => id), [small]);
};

claims["what the gateway cannot have taken can be withdrawn"] = () => {
  const tries = [[503, true], [0, false]];
  for (const [status, isWithdrawn] of tries) {
    const outbox = new Outbox();
    outbox.add("1", 1);
    outbox.add("2", 2);
    outbox.next();
    same(outbox.withdraw(1), false, "during the post:");
    outbox.answered({ status, next: null });
    same([outbox.withdraw(1), outbox.next().body], [isWithdrawn, isWithdrawn ? "2" : "12"], `after ${status}:`);
  }
};

claims["wrong arguments throw, and nothing is sent"] = async (gateway) => {
  const client = await gateway.connected();
  const state = await client.state(NAV);
  const before = gateway.sent.length;
  const wrong = [
    () => client.perform(NAV, POP, { signal: new AbortController() }),
    () => client.perform(NAV, POP, { if: { top: undefined } }),
    () => client.pop(state, { if: { rev: undefined } }),
    () => client.get(NAV, { signal: {} }),
    () => client.delegate(NAV, { roles: ["veto"], signal: {} }, () => true),
    () => client.lease(NAV, { within: "soon" }),
  ];
  for (const call of wrong) same((await call().catch((error) => error)).name, "TypeError", `${call}`);
  same(thrown(() => client.watch(NAV, { signal: {} }))?.name, "TypeError");
  for (const options of [{ name: "\ud800" }, { token: "a\nb" }, { url: "http://[" }, { signal: {} }]) {
    same(thrown(() => gateway.client(options))?.name, "TypeError", JSON.stringify(options));
  }
  await turn();
  same(gateway.sent.length, before);
};

claims["a guard is refused for a mirror that was right and is not now, and for no other"] = async (gateway) => {
  const client = await gateway.connected();
  const state = await client.state(NAV);
  gateway.onMessage = (verb) => verb === "watch" ? [] : undefined;
  const loop = client.watch(NAV);
  const first = loop.next();
  same((await client.pop(state)).id > 0, true, "before the first snapshot:");
  await loop.return();
  await first;
};

claims["a state that was read before the missed diffs is not given for the newest"] = async (gateway) => {
  const client = await gateway.connected();
  const loop = client.watch(NAV);
  await loop.next();
  gateway.onMessage = (verb) => verb === "watch" ? [] : undefined;
  gateway.lose();
  await until("another watch", () => gateway.verbs("watch").length === 2);
  const state = client.state(NAV);
  const { id } = gateway.verbs("watch").at(-1);
  gateway.tell(["ok", { id, nav: NAV, mode: "resume", epoch: "e", rev: 2 }]);
  await turn();
  gateway.tell(pushed(2, ["home", "a"]));
  same((await state).rev, 2);
};

claims["a lease is not lost by what happened before it"] = () => {
  const opened = new Opened();
  opened.session.watch(NAV);
  opened.snapshot(1, ["home"]);
  opened.session.lease(NAV, false);
  opened.reopen();
  const [[, watch], [, lease]] = opened.sent();
  opened.receive("ok", { id: watch.id, nav: NAV, mode: "resume", epoch: "e", rev: 2 });
  opened.receive("ok", { id: lease.id, nav: NAV, owner: "page" });
  const change = (rev, owner) => {
    const [verb, diff] = pushed(rev, ["home", "a", "b"].slice(0, rev));
    const environment = { ver: rev, ...(owner && { owner }) };
    opened.receive(verb, { ...diff, cause: "lease", ch: [...diff.ch, { set: "environment", to: environment }] });
  };
  opened.session.take();
  change(2, null);
  same(opened.actions("duty"), []);
  change(3, "other");
  same(opened.actions("duty").map(({ err }) => [err.code, err.owner]), [["lease-lost", "other"]]);
};

claims["duties end with their nav, and the page learns of it"] = async (gateway) => {
  const client = await gateway.connected();
  const loop = client.watch(NAV);
  await loop.next();
  const stop = await client.delegate(NAV, { roles: ["veto"] }, () => true);
  const { lost } = await client.lease(NAV);
  gateway.tell(["end", { nav: NAV, why: "closed" }]);
  same([(await stop.lost).code, (await lost).code], ["no-nav", "no-nav"]);
  same((await loop.next()).done, true);
};

claims["a wait for a duty ends by its signal or its time, and the duty is given back"] = async (gateway) => {
  const client = await gateway.connected();
  const leaving = new AbortController();
  const kept = await client.lease(NAV, { signal: leaving.signal });
  leaving.abort();
  same((await kept.lost).code, "aborted");
  await until("the display is given back", () => gateway.verbs("lease").at(-1).take === false);
  gateway.onMessage = (verb) => verb === "lease" || verb === "delegate" ? [] : undefined;
  const late = await client.lease(NAV, { within: 1 }).catch((error) => error);
  same(late.code, "expired");
  const other = new AbortController();
  const wish = client.delegate(NAV, { roles: ["veto"], signal: other.signal }, () => true);
  other.abort();
  same((await wish.catch((error) => error)).code, "aborted");
  await until("the roles end", () => gateway.verbs("delegate").at(-1)?.roles.length === 0);
};

claims["a client that was never connected is connecting, and says what stands in its way"] = async (gateway) => {
  const statuses = [];
  const { fetch } = globalThis;
  globalThis.fetch = async () => new Response('{"error":"no such host"}', { status: 421 });
  const { setTimeout } = globalThis;
  // The 5 s are over when the first attempt has failed.
  globalThis.setTimeout = (callback, pause) => setTimeout(callback, pause === 5000 ? 50 : pause);
  const { NavigationClient } = await import("/navigation-client.js");
  const error = await NavigationClient.connect({ token: "token" }).catch((reason) => reason);
  globalThis.fetch = fetch;
  same([error.code, error.message.includes("HTTP 421") && error.message.includes("no such host")], ["unreachable", true],
    error.message);
  globalThis.fetch = async () => { throw new TypeError("no network"); };
  const client = gateway.client();
  (async () => { for await (const status of client.statuses()) statuses.push(status); })();
  await turn();
  globalThis.fetch = fetch;
  await until("connected", () => client.status === "connected");
  same(statuses, ["connecting", "connected"]);
};

claims["a value of an earlier session is not given to a new loop"] = () => {
  const opened = new Opened();
  opened.session.watch(NAV, "bar");
  opened.receive("latest", { nav: NAV, view: "bar", rev: 1, value: {} });
  same(opened.session.current(NAV, "bar").rev, 1);
  opened.reopen();
  same(opened.session.current(NAV, "bar"), null);
};

claims["a full storage does not cost the token"] = async () => {
  const { launchToken } = await import("/navigation-client.js");
  const { setItem } = Storage.prototype;
  Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };
  const address = location.href;
  try {
    history.replaceState(null, "", "#t=given");
    same([await launchToken(), location.hash], ["given", ""]);
  } finally {
    Storage.prototype.setItem = setItem;
    history.replaceState(null, "", address);
  }
};
