// What the client promises of requests that are repeated, late or wrong, and of duties that end.

import { Outbox } from "/navigation-client.js";
import { NAV, Opened, claims, digest, pushed, record, same, snapshot, thrown, turn, until } from "./claims.js";

const POP = [{ pop: {} }];

/** A tap that must be sent within two seconds, and the ids, codes and effects of what failed. */
const tap = (opened) => opened.session.request("op", NAV, { do: [{ "ui.backTap": {} }] }, 2000, opened.now);
const failed = (opened) => opened.session.takeActions().filter(({ kind }) => kind === "answered").map(({ id, err }) => [id, err.code, err.effect]);

claims["a late op fails at its time, and is not sent"] = () => {
  const opened = new Opened({ wall: () => 0 });
  opened.session.lost(0);
  const id = tap(opened);
  opened.session.tick(1999);
  same(failed(opened), []);
  same(opened.session.wakeAt, 2000);
  opened.session.tick(2000);
  same(failed(opened), [[id, "expired", "none"]]);
  same(resumed(opened), [[], []]);
};

claims["a page that was frozen, or whose machine slept, fails a late op before it sends anything"] = () => {
  for (const [now, wall] of [[29_000, 29_000], [100, 29_000], [29_000, 0]]) {
    let time = 0;
    const opened = new Opened({ wall: () => time });
    opened.session.lost(0);
    tap(opened);
    opened.session.takeActions();
    [opened.now, time] = [now, wall];
    same(resumed(opened), [[], ["expired"]], `${now} ${wall}`);
  }
};

claims["a late op that is under way is awaited, and not sent again"] = () => {
  const opened = new Opened({ wall: () => 0 });
  const id = tap(opened);
  opened.now = 4000;
  opened.session.tick(4000);
  same(failed(opened), []);
  opened.session.lost(4000);
  opened.session.tick(4000);
  same(failed(opened), [[id, "expired", "unknown"]]);
  same(resumed(opened), [[], []]);
};

claims["what a person does fails after two seconds without a stream, and nothing else does"] = async (gateway) => {
  const client = await gateway.connected();
  const { fetch } = globalThis;
  let rise;
  const up = new Promise((resolve) => { rise = resolve; });
  globalThis.fetch = async (...request) => {
    await up;
    return fetch(...request);
  };
  gateway.lose();
  await until("the loss", () => client.status !== "connected");
  const push = client.perform(NAV, [{ push: { screen: "a" } }]);
  const taps = [{ "ui.backTap": {} }, { "button.activate": { button: "b" } }, { "gesture.finish": {} }];
  const errors = await Promise.all(taps.map((each) => client.perform(NAV, [each]).catch((error) => error)));
  same(errors.map(({ code, mayHaveHappened }) => [code, mayHaveHappened]), taps.map(() => ["expired", false]));
  rise();
  await push;
  same(gateway.verbs("op").length, 1);
};

claims["a watch that waits goes on with the next nav, and one beside it ends"] = async (gateway) => {
  const opened = new Opened();
  opened.session.watch(NAV, "full", true);
  const [[, { id, wait }]] = opened.sent();
  same(wait, true);
  opened.receive("queued", { id, nav: NAV, pos: 0 });
  opened.receive("ok", { id, nav: NAV, mode: "snap", epoch: "e", rev: 1 });
  opened.session.takeActions();
  opened.receive("end", { nav: NAV, view: "full", epoch: "e", rev: 1, why: "closed" });
  const [[verb, again]] = opened.sent();
  same([verb, again.wait, again.from], ["watch", true, undefined]);
  opened.session.watch(NAV, "full", false);
  same(opened.sent().map(([, { wait: waits }]) => waits), [undefined]);
  const client = await gateway.connected();
  const [waiting, plain] = [client.watch(NAV, { wait: true }), client.watch(NAV)];
  await waiting.next();
  await plain.next();
  const next = waiting.next();
  gateway.tell(["end", { nav: NAV, why: "closed" }]);
  same((await plain.next()).done, true);
  same((await next).value.isResynchronised, true);
  same(gateway.verbs("watch").at(-1).wait, true);
};

/** The ops that are sent in the next session, and the codes of those that fail there. */
function resumed(opened, last = 0) {
  opened.session.connected(opened.now);
  const [[, { nonce }]] = opened.sent();
  opened.receive("welcome", { ops: { last }, nonce });
  const actions = opened.session.takeActions();
  return [actions.filter(({ kind, id }) => kind === "send" && id !== null).map(({ id }) => id),
    actions.filter(({ kind }) => kind === "answered").map(({ err }) => err.code)];
}

/** The ops of a session that is opened again by a daemon with these rows. */
function resent(opened, seq, features = []) {
  opened.reopen(0, { ops: { last: 0, seq }, features });
  return opened.sent().filter(([verb]) => verb === "op").map(([, body]) => body);
}

claims["an op that is sent again says what the client had seen when it sent it first"] = () => {
  const opened = new Opened();
  resent(opened, [[0, 7]]);
  const first = opened.session.request("op", NAV, { do: POP });
  opened.sent();
  opened.receive("ok", { id: first, nav: NAV, seq: 9 });
  opened.receive("mark", { t: 0, at: [], seq: [[0, 12]] });
  opened.receive("diff", { nav: "$navs", seq: 99 });
  const id = opened.session.request("op", NAV, { do: POP });
  opened.sent();
  opened.receive("mark", { t: 0, at: [], seq: [[0, 20]] });
  const seen = (seq) => resent(opened, seq).map((body) => [body.id, body.again]);
  same(seen([[0, 25]]), [[id, 12]]);
  same(seen([[0, 11]]), [[id, 12]]);
};

claims["rows count by the shard of the nav, and a read is sent again unchanged"] = () => {
  const opened = new Opened();
  // CRC-32 of the name, modulo 1024.
  const shard = 816;
  resent(opened, [[0, 90], [shard, 5]], ["shards"]);
  opened.session.request("op", NAV, { do: POP });
  opened.session.request("get", NAV, {});
  const [, read] = opened.sent();
  opened.reopen(0, { ops: { last: 0, seq: [[0, 95], [shard, 6]] }, features: ["shards"] });
  const [op, other] = opened.sent();
  same([op[1].again, other], [5, read]);
};

claims["an op that was never posted has not happened, and is sent after any time"] = async (gateway) => {
  const client = await gateway.connected();
  const post = Promise.withResolvers();
  gateway.onPost = ({ lines }) => lines.some(([verb]) => verb === "get") ? post.promise : null;
  const read = client.get(null).catch(() => {});
  await until("the post", () => gateway.posts.at(-1).lines.some(([verb]) => verb === "get"));
  const aborted = new AbortController();
  const waits = client.perform(NAV, POP, { signal: aborted.signal }).catch((error) => error);
  await turn();
  // The stream is lost while the op waits behind the post, and there is no other one.
  const { fetch } = globalThis;
  globalThis.fetch = () => new Promise(() => {});
  gateway.lose();
  await until("disconnected", () => client.status === "disconnected");
  aborted.abort();
  same((await waits).mayHaveHappened, false);
  globalThis.fetch = fetch;
  post.resolve(null);
  await client.close();
  await read;

  const opened = new Opened();
  const id = opened.session.request("op", NAV, { do: POP });
  opened.session.takeActions();
  opened.session.noteUnposted(id);
  same(resent(opened, [[0, 3]]).map((body) => [body.id, body.again]), [[id, undefined]]);
};

claims["busy is no answer to an op that was sent in an earlier session"] = () => {
  const opened = new Opened();
  const id = opened.session.request("op", NAV, { do: POP });
  const [line] = opened.sent();
  const busy = { id, code: "busy", retry: "later", effect: "none", after: 50 };
  const [verb, body] = line;
  const again = [verb, { ...body, again: 0 }];
  opened.reopen();
  same(opened.sent(), [again]);
  opened.receive("err", busy);
  same(opened.actions("answered"), []);
  opened.session.tick(opened.session.wakeAt);
  same(opened.sent(), [again], "after the pause:");
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
  opened.session.takeActions();
  opened.session.connected(0);
  const [[, { nonce }]] = opened.sent();
  opened.receive("welcome", { nonce, limits: { message: 16_384, window: 65_536 } });
  const actions = opened.session.takeActions();
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
    () => client.lease(NAV, { within: "soon" }), () => client.perform(NAV, POP, { within: 2 }),
  ];
  for (const call of wrong) same((await call().catch((error) => error)).name, "TypeError", `${call}`);
  same(thrown(() => client.watch(NAV, { signal: {} }))?.name, "TypeError");
  for (const options of [{ name: "\ud800" }, { token: "a\nb" }, { url: "http://[" }, { signal: {} }]) {
    same(thrown(() => gateway.client(options))?.name, "TypeError", JSON.stringify(options));
  }
  await turn();
  same(gateway.sent.length, before);
};

claims["a value that JSON does not have is refused, and one that it has is sent"] = async () => {
  const { session } = new Opened();
  const wrong = [NaN, Infinity, new Map([["a", 1]]), new Set(), new Date(0), new Error("a"), new Uint8Array(2), () => 1,
    Symbol("a"), 1n, [undefined]];
  for (const v of wrong) {
    same(thrown(() => session.request("op", NAV, { do: [{ push: { screen: { args: { v } } } }] }))?.name, "TypeError", String(v));
  }
  const frame = document.createElement("iframe");
  document.body.append(frame);
  // Objects of another window have other prototypes.
  const v = Object.assign(frame.contentWindow.JSON.parse('{"a":[1,-0.5,null,true,"x"]}'), { b: undefined });
  session.takeActions();
  session.request("op", NAV, { do: [{ push: { screen: { args: { v, n: Object.assign(Object.create(null), { k: 1 }) } } } }] });
  frame.remove();
  const [{ line }] = session.takeActions().filter(({ kind }) => kind === "send");
  same(JSON.parse(line)[1].do[0].push.screen.args, { v: { a: [1, -0.5, null, true, "x"] }, n: { k: 1 } });
};

claims["an error without an id fails what is open, and nothing else"] = () => {
  const opened = new Opened();
  opened.session.watch(NAV);
  opened.snapshot(1, ["home"]);
  const ids = [opened.session.request("op", NAV, { do: POP }), opened.session.request("get", NAV, {})];
  opened.session.watch("other");
  opened.session.delegate(NAV, { roles: ["veto"] });
  opened.session.takeActions();
  // Of a message that has no id by its form.
  opened.receive("err", { id: null, verb: "answer", code: "limit", msg: "m", effect: "none", retry: "no" });
  same(opened.session.takeActions(), []);
  opened.receive("err", { id: null, code: "bad-json", msg: "m", effect: "none", retry: "no" });
  const actions = opened.session.takeActions();
  const of = (wanted) => actions.filter(({ kind }) => kind === wanted);
  same(of("answered").map(({ id, err }) => [id, err.code, err.effect]), ids.map((id) => [id, "bad-json", "unknown"]));
  same([of("watchEnded").map(({ nav }) => nav), of("duty").map(({ err }) => err.code)], [["other"], ["bad-json"]]);
  const id = opened.session.request("op", NAV, { do: POP });
  opened.receive("ok", { id, nav: NAV });
  same(opened.actions("answered").map((each) => each.id), [id]);
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

/** A session that watches a nav and holds its display. */
function holding() {
  const opened = new Opened({ name: "page" });
  opened.session.watch(NAV);
  opened.session.lease(NAV, false);
  const [[, watch], [, lease]] = opened.sent();
  opened.receive("ok", { id: watch.id, nav: NAV, mode: "snapshot" });
  opened.receive(...shown(1, ["home"], "page"));
  opened.receive("ok", { id: lease.id, nav: NAV, owner: "page" });
  opened.session.takeActions();
  return opened;
}

/** A snapshot with the owner of the display. */
function shown(rev, ids, owner) {
  const [verb, state] = snapshot(rev, ids);
  const environment = { ver: rev, owner };
  return [verb, { ...state, dig: digest(state.screens, { environment }), environment }];
}

/** A change of the display in the nav. */
function owned(rev, owner) {
  const ids = ["home", "a", "b"].slice(0, rev);
  const environment = { ver: rev, ...(owner && { owner }) };
  const [verb, diff] = pushed(rev, ids, digest(ids.map(record), { environment }));
  return [verb, { ...diff, cause: "lease", ch: [...diff.ch, { set: "environment", to: environment }] }];
}

claims["a display that the daemon ends is lost, and nothing is asked"] = () => {
  for (const code of ["lease-lost", "forbidden", "no-nav"]) {
    const opened = holding();
    opened.receive("lost", { nav: NAV, of: "lease", code, msg: "", ...(code === "lease-lost" && { owner: "other" }) });
    same(opened.actions("duty").map(({ err }) => [err.code, err.owner]), [[code, code === "lease-lost" ? "other" : undefined]]);
    // What is lost is not given back, and a second loss says nothing.
    opened.receive("lost", { nav: NAV, of: "lease", code, msg: "" });
    opened.session.lease(NAV, null);
    same(opened.sent(), [], `${code}:`);
  }
};

claims["the answer to a lease decides if the loss of the one before comes first"] = () => {
  for (const isLost of [true, false]) {
    const opened = holding();
    opened.session.lease(NAV, true);
    const [[, { id }]] = opened.sent();
    opened.receive("lost", { nav: NAV, of: "lease", code: "lease-lost", msg: "" });
    same(opened.actions("duty"), []);
    if (isLost) opened.receive("err", { id, code: "lease-lost", retry: "resync", owner: "other" });
    else opened.receive("ok", { id, nav: NAV, owner: "page" });
    same(opened.actions("duty").map(({ err }) => err?.owner ?? "held"), [isLost ? "other" : "held"]);
  }
};

claims["the signs of another display ask for nothing"] = () => {
  const opened = holding();
  opened.receive(...owned(2, "other"));
  const id = opened.session.request("op", NAV, { do: [{ "transition.complete": {} }] });
  opened.session.takeActions();
  opened.receive("err", { id, code: "lease-lost", retry: "resync", effect: "none" });
  same(opened.sent(), []);
};

claims["a change of the own display asks for nothing"] = () => {
  const opened = holding();
  opened.receive(...owned(2, "page"));
  same(opened.sent(), []);
};

claims["force counts once, also if its answer is lost"] = () => {
  const opened = new Opened();
  opened.session.lease(NAV, true);
  same(opened.sent().map(([, { force }]) => force), [true]);
  opened.reopen();
  same(opened.sent().map(([verb, { take, force = false }]) => [verb, take, force]), [["lease", true, false]]);
  // Before it was sent, it is still to be counted.
  const offline = new Opened();
  offline.session.lost(0);
  offline.session.lease(NAV, true);
  offline.session.takeActions();
  offline.open();
  same(offline.sent().map(([, { force }]) => force), [true]);
};

claims["a loop ends if its nav was closed while the page was away"] = async (gateway) => {
  const client = await gateway.connected();
  const [full, bar] = [client.watch(NAV), client.watch(NAV, { view: "bar" })];
  await full.next();
  gateway.onMessage = (verb, { id }) => verb === "watch" ? [["ok", { id, nav: NAV }]] : undefined;
  const value = bar.next();
  await until("the watch of the bar", () => gateway.verbs("watch").length === 2);
  gateway.tell(["latest", { nav: NAV, view: "bar", epoch: "e", rev: 1, value: {} }]);
  await value;
  const ends = [full.next(), bar.next()];
  gateway.onMessage = (verb, { id }) =>
    verb === "watch" ? [["err", { id, code: "no-nav", retry: "no", effect: "none", msg: "there is no nav" }]] : undefined;
  gateway.lose();
  same((await Promise.all(ends)).map(({ done }) => done), [true, true]);
  same((await client.watch(NAV).next().catch((error) => error)).code, "no-nav", "of a nav that was never there:");
};

claims["the end of an earlier watch does not end the one that was asked for since"] = () => {
  for (const view of ["full", "bar"]) {
    const opened = new Opened();
    opened.session.watch(NAV, view);
    const [[, { id: first }]] = opened.sent();
    opened.receive("ok", { id: first, nav: NAV, mode: "snapshot" });
    opened.session.unwatch(NAV, view);
    opened.session.watch(NAV, view);
    const { id } = opened.sent().findLast(([verb]) => verb === "watch")[1];
    opened.receive("end", { nav: NAV, view, why: "closed" });
    same(opened.actions("watchEnded"), [], `${view}:`);
    opened.receive("ok", { id, nav: NAV, mode: "snapshot" });
    opened.receive("end", { nav: NAV, view, why: "closed" });
    same(opened.actions("watchEnded").map(({ why }) => why), ["closed"], `${view}:`);
  }
};

claims["duties end with their nav, and the page learns of it"] = async (gateway) => {
  const client = await gateway.connected();
  const loop = client.watch(NAV);
  await loop.next();
  const stop = await client.delegate(NAV, { roles: ["veto"] }, () => true);
  const { lost } = await client.lease(NAV);
  gateway.tell(["end", { nav: NAV, why: "closed" }]);
  for (const of of ["delegate", "lease"]) gateway.tell(["lost", { nav: NAV, of, code: "no-nav", msg: "closed" }]);
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
  const late = await client.lease(NAV, { within: 100 }).catch((error) => error);
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
