// What the client promises where no real gateway gets it: lost answers, limits, hidden pages, faulty digests.

import * as module from "/navigation-client.js";
import {
  NAV, TIMER_MS, Opened, caughtUp, claims, digest, encoder, locks, pause, pushed, record, same, snapshot, thrown, turn, until,
} from "./claims.js";

const { Outbox } = module;

claims["a loop reads revisions may be missing only where they may"] = async (gateway) => {
  const client = await gateway.connected();
  const [newest, every] = [client.watch(NAV), client.watch(NAV, { everyRevision: true })];
  same((await newest.next()).value.isResynchronised, true, "the first state");
  await every.next();
  gateway.tell(pushed(2, ["home", "a"]));
  await caughtUp(client);
  same((await newest.next()).value.isResynchronised, false, "the next state");
  gateway.tell(pushed(3, ["home", "a", "b"]), pushed(4, ["home", "a", "b", "c"]));
  await caughtUp(client);
  const { rev, ev, isResynchronised } = (await newest.next()).value;
  same([rev, ev.map(({ didPush }) => didPush.screen), isResynchronised], [4, ["b", "c"], false], "two states in one");
  // Three revisions wait for the loop of every one.
  gateway.tell(...Array.from({ length: 4096 - 3 }, () => ["event", { nav: NAV, ev: [] }]));
  await caughtUp(client);
  same((await every.next()).value.rev, 2);
  gateway.tell(...Array.from({ length: 2 }, () => ["event", { nav: NAV, ev: [] }]));
  await caughtUp(client);
  same((await every.next()).value.isResynchronised, true, "a loop that was 4096 behind");
  // A loop over the newest states that has to drop events says so, too.
  await newest.next();
  gateway.tell(...Array.from({ length: 4097 }, () => ["event", { nav: NAV, ev: [{ barsToggled: {} }] }]));
  await caughtUp(client);
  const last = (await newest.next()).value;
  same([last.ev.length, last.isResynchronised], [4096, true], "4097 events in one state");
};

claims["a mirror that diverges after each snapshot asks for another one after pauses"] = () => {
  const opened = new Opened();
  opened.session.watch(NAV);
  opened.snapshot(1, ["home"]);
  opened.receive(...pushed(2, ["home", "a"], "00000000"));
  // The first fault is mended at once.
  opened.snapshot(2, ["home", "a"]);
  opened.receive(...pushed(3, ["home", "a", "b"], "00000000"));
  same(opened.sent(), [], "the second watch came at once");
  opened.session.tick(opened.session.wakeAt);
  opened.snapshot(3, ["home", "a", "b"]);
  opened.receive(...pushed(4, ["home", "a", "b", "c"]));
  opened.receive(...pushed(5, ["home", "a", "b", "c", "d"], "00000000"));
  same(opened.sent().length, 1, "watches after a change that was right:");
};

claims["a request that is forgotten or refused makes room for one that waits"] = () => {
  const opened = new Opened();
  const ids = Array.from({ length: 66 }, () => opened.session.request("op", NAV, { do: [{ pop: {} }] }));
  same(opened.sent().map(([, { id }]) => id), ids.slice(0, 64));
  same(opened.session.forget(ids[0]), 1);
  same(opened.sent().map(([, { id }]) => id), [ids[64]], "after one was forgotten:");
  opened.session.refusedByGateway(ids[1], 400);
  same(opened.sent().map(([, { id }]) => id), [ids[65]], "after one was refused:");
};

claims["an answer or roles that cannot be sent are thrown to the caller, and the session goes on"] = () => {
  const opened = new Opened();
  const large = "x".repeat(65_536);
  opened.session.delegate(NAV, { roles: ["veto"] });
  opened.receive("ask", { ask: 7, nav: NAV, within: 1000, q: { shouldPush: {} } });
  opened.sent();
  same(thrown(() => opened.session.answer(7, large))?.code, "limit");
  same(thrown(() => opened.session.answer(7, "\ud800"))?.name, "TypeError");
  same(opened.sent(), []);
  opened.session.answer(7, true);
  same(opened.sent(), [["answer", { ask: 7, value: true }]]);
  const wanted = { roles: ["orientation"], orientations: { supported: [large] } };
  same(thrown(() => opened.session.delegate(NAV, wanted))?.code, "limit");
  same(thrown(() => opened.session.request("op", NAV, { do: [{ push: { screen: { id: large } } }] }))?.code, "limit");
  opened.session.lost(0);
  opened.session.takeActions();
  opened.open();
  same(opened.sent().map(([verb, { roles }]) => [verb, roles]), [["delegate", ["veto"]]], "in the next session:");
};

claims["a delegate whose answer is too large has not answered, and the page learns why"] = async (gateway) => {
  const client = await gateway.connected();
  const errors = [];
  const listen = (event) => { event.preventDefault(); errors.push(event.error.code); };
  addEventListener("error", listen);
  try {
    await client.delegate(NAV, { roles: ["veto"] }, ({ ask }) => ask === 1 ? "x".repeat(70_000) : true);
    const q = { shouldPush: { screen: "a" } };
    gateway.tell(["ask", { ask: 1, nav: NAV, within: 60_000, q }], ["ask", { ask: 2, nav: NAV, within: 60_000, q }]);
    await until("both answers", () => gateway.verbs("answer").length === 2);
    same([errors, gateway.verbs("answer"), gateway.streams.length],
      [["limit"], [{ ask: 1, value: null }, { ask: 2, value: true }], 1]);
    const wanted = { roles: ["orientation"], orientations: { supported: ["x".repeat(70_000)] } };
    same((await client.delegate(NAV, wanted, () => 0).catch((error) => error)).code, "limit");
    // The roles that it would have replaced are still there.
    gateway.tell(["ask", { ask: 3, nav: NAV, within: 60_000, q }]);
    await until("the third answer", () => gateway.verbs("answer").length === 3);
  } finally {
    removeEventListener("error", listen);
  }
};

claims["a delegate that fails is reported, also where reportError is missing, and has no verdict"] = async (gateway) => {
  const client = await gateway.connected();
  const { reportError } = globalThis;
  const { error: log } = console;
  const reports = [];
  try {
    console.error = (error) => reports.push(error.message);
    globalThis.reportError = undefined;
    await client.delegate(NAV, { roles: ["veto"] }, async () => { throw new Error("boom"); });
    gateway.tell(["ask", { ask: 1, nav: NAV, within: 60_000, q: { shouldPush: { screen: "a" } } }]);
    await until("the answer", () => gateway.verbs("answer").length);
    same([gateway.verbs("answer"), reports], [[{ ask: 1, value: null }], ["boom"]]);
  } finally {
    Object.assign(globalThis, { reportError });
    console.error = log;
  }
};

claims["a post without an answer is repeated some times, one that navd cannot take yet for ever"] = () => {
  const outbox = new Outbox();
  outbox.add("line\n");
  const kinds = [];
  do {
    same(outbox.next(), { n: 1, body: "line\n" });
    kinds.push(outbox.answered({ status: 0, next: null }).kind);
  } while (kinds.at(-1) === "again" && kinds.length < 100);
  same([kinds.length > 2, kinds.length < 20, kinds.at(-1)], [true, true, "over"], `${kinds.length} tries:`);
  const patient = new Outbox();
  patient.add("line\n");
  for (let count = 0; count < 100; count++) {
    same([patient.next().n, patient.answered({ status: 503, next: null }).kind], [1, "again"]);
  }
};

claims["a client whose posts have no answers opens another stream, and sends each request there"] = async (gateway) => {
  const client = await gateway.connected();
  gateway.onPost = ({ stream }) => {
    if (stream === gateway.streams[0]) throw new TypeError("no network");
  };
  await client.perform(NAV, [{ pop: {} }]);
  same([gateway.streams.length, gateway.verbs("op").length], [2, 1]);
  same(gateway.streams[0].signal.aborted, true);
};

claims["a stream that has ended gets no post any more"] = async (gateway) => {
  Math.random = () => 1;
  const client = await gateway.connected();
  const [stream] = gateway.streams;
  gateway.onPost = (post) => {
    if (post.stream !== stream) return null;
    // The stream ends while the post waits for its next try, which is before the next stream begins.
    pause(0).then(() => gateway.lose(stream));
    throw new TypeError("no network");
  };
  await client.perform(NAV, [{ pop: {} }]);
  same(gateway.posts.filter((post) => post.stream === stream && post.n === 2).length, 1);
};

claims["a client that is closed while it looks for a lock waits for none"] = async (gateway) => {
  for (const name of locks) {
    await new Promise((taken) => navigator.locks.request(
      name, () => new Promise((release) => { gateway.releases.push(release); taken(); })));
  }
  const client = gateway.client();
  await client.close();
  // The locks answer in order, so the client has had its four answers by then.
  for (let count = 0; count < 8; count++) await navigator.locks.request(locks[3], { ifAvailable: true }, () => {});
  same((await navigator.locks.query()).pending.map(({ name }) => name), []);
  const waiting = gateway.client();
  await until("waiting", () => waiting.status === "waiting");
  same((await navigator.locks.query()).pending.length, 4);
  gateway.releases[2]();
  await until("connected", () => waiting.status === "connected");
};

claims["a pause that no timer can have does not end at once"] = async (gateway) => {
  const client = await gateway.connected();
  const long = 2 ** 40;
  same((await client.get(null, { within: long })).id > 0, true);
  gateway.tell(["bye", { why: "shutdown", after: long }]);
  await until("disconnected", () => client.status === "disconnected");
  await turn();
  same(gateway.streams.length, 1);
  same(Math.max(...gateway.timers), TIMER_MS, "the longest timer:");
};

claims["a message sets no timer"] = async (gateway) => {
  const client = await gateway.connected();
  await client.watch(NAV).next();
  const before = gateway.timers.length;
  for (let count = 0; count < 20; count++) {
    gateway.tell(["mark", { t: 0, at: [[NAV, 1, digest([record("home")])]] }]);
    await caughtUp(client);
  }
  same(gateway.timers.length, before);
  same(client.status, "connected");
};

claims["a state is behind the latest revision that was answered, whatever is read after it"] = () => {
  const opened = new Opened();
  opened.session.watch(NAV);
  opened.snapshot(1, ["home"]);
  const state = { nav: NAV, epoch: "e", rev: 4 };
  const answer = (verb, rev, epoch = "e") => {
    const id = opened.session.request(verb, NAV, {});
    opened.receive("ok", { id, nav: NAV, epoch, rev });
    return opened.session.isBehind(state);
  };
  same([answer("op", 5), answer("get", 3), answer("op", 9, "other"), answer("op", 4), answer("op", 6)],
    [true, true, false, false, true]);
};

claims["after a refused post the lines of it go alone, and later ones together"] = () => {
  const outbox = new Outbox();
  const post = (answer) => {
    const { n, body } = outbox.next();
    outbox.answered({ next: n + 1, ...answer });
    return body;
  };
  for (const id of [1, 2, 3]) outbox.add(`${id}`, id);
  same(post({ status: 400 }), "123");
  for (const id of [4, 5]) outbox.add(`${id}`, id);
  same([post({ status: 200 }), post({ status: 400 }), post({ status: 200 }), post({ status: 200 }), outbox.next()],
    ["1", "2", "3", "45", null]);
};

claims["a post has at most 131072 octets"] = () => {
  const outbox = new Outbox();
  const line = "\u20ac".repeat(10_000);
  for (let count = 0; count < 10; count++) outbox.add(line);
  const sizes = [];
  for (let post; (post = outbox.next());) {
    sizes.push(encoder.encode(post.body).length);
    outbox.answered({ status: 200, next: post.n + 1 });
  }
  same(sizes, [120_000, 120_000, 60_000]);
};

claims["a page that is put aside ends its stream, and resumes when it is shown"] = async (gateway) => {
  const show = (name, persisted = true) => dispatchEvent(new PageTransitionEvent(name, { persisted }));
  const held = async () => (await navigator.locks.query()).held.length;
  const client = await gateway.connected();
  const loop = client.watch(NAV, { everyRevision: true });
  await loop.next();
  // The page is there: nothing to resume.
  show("pageshow");
  same([await held(), gateway.streams.length], [1, 1]);
  show("pagehide");
  same([gateway.stream.signal.aborted, client.status], [true, "disconnected"]);
  await until("no lock", async () => await held() === 0);
  const pending = client.perform(NAV, [{ pop: {} }]);
  await turn();
  same(gateway.streams.length, 1, "streams of a page that is put aside:");
  show("pageshow", false);
  await turn();
  same(gateway.streams.length, 1, "streams after an ordinary load:");

  gateway.onMessage = (verb, { id }) =>
    verb === "watch" ? [["ok", { id, nav: NAV, mode: "resume", epoch: "e" }], pushed(2, ["home", "a"])] : undefined;
  show("pageshow");
  await pending;
  same([client.status, gateway.streams.length, await held()], ["connected", 2, 1]);
  same(gateway.verbs("watch").at(-1).from, { epoch: "e", rev: 1, dig: digest([record("home")]) });
  const { rev, isResynchronised } = (await loop.next()).value;
  same([rev, isResynchronised], [2, false], "after the return:");
};

claims["a page that was frozen resumes by another stream at once, with the same lock"] = async (gateway) => {
  const client = await gateway.connected();
  const loop = client.watch(NAV, { everyRevision: true });
  await loop.next();
  gateway.onMessage = (verb, { id }) =>
    verb === "watch" ? [["ok", { id, nav: NAV, mode: "resume", epoch: "e" }], pushed(2, ["home", "a"])] : undefined;
  const [stream] = gateway.streams;
  document.dispatchEvent(new Event("resume"));
  same([stream.signal.aborted, client.status], [true, "disconnected"]);
  same((await loop.next()).value.rev, 2);
  same([gateway.streams.length, (await navigator.locks.query()).held.length], [2, 1]);
  await client.close();
  document.dispatchEvent(new Event("resume"));
  await turn();
  same(gateway.streams.length, 2, "streams after the end:");
};

claims["a page that is shown again waits for a lock if all are taken"] = async (gateway) => {
  const show = (name) => dispatchEvent(new PageTransitionEvent(name, { persisted: true }));
  const statuses = [];
  const client = gateway.client();
  (async () => { for await (const status of client.statuses()) statuses.push(status); })();
  await until("connected", () => client.status === "connected");
  show("pagehide");
  for (const name of locks) {
    await new Promise((taken) => navigator.locks.request(
      name, () => new Promise((release) => { gateway.releases.push(release); taken(); })));
  }
  show("pageshow");
  await until("waiting", () => client.status === "waiting");
  // Put aside and shown while it waits: it waits once.
  show("pagehide");
  show("pageshow");
  await until("four requests", async () => (await navigator.locks.query()).pending.length === 4);
  gateway.releases[1]();
  await until("connected", () => client.status === "connected");
  await turn();
  same(statuses, ["connecting", "connected", "disconnected", "waiting", "disconnected", "connected"]);
  same([(await navigator.locks.query()).pending.length, gateway.streams.length], [0, 2]);
};

