// What the claims about the module share: a gateway in the page, a session that is open, and comparisons.
//
// Each claim runs alone, with the decisions of the module or with a client whose `fetch` is that gateway.

import * as module from "/navigation-client.js";

const { NavigationClient, Session } = module;
export const NAV = "kiosk";
export const TIMER_MS = 2 ** 31 - 1;
export const encoder = new TextEncoder();
export const locks = [1, 2, 3, 4].map((number) => `nsp-stream-${number}`);
const own = { fetch: globalThis.fetch, setTimeout: globalThis.setTimeout, random: Math.random };
export const claims = {};

/** Runs all claims; returns a line for each that failed, and the number of the others. */
export async function runClaims() {
  const failed = [];
  let passed = 0;
  for (const [name, claim] of Object.entries(claims)) {
    const gateway = new Gateway();
    try {
      await Promise.race([claim(gateway), late()]);
      passed += 1;
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
    } finally {
      await gateway.end();
    }
  }
  return { passed, failed };
}

export function same(found, wanted, what = "") {
  const [one, other] = [found, wanted].map((value) => JSON.stringify(value));
  if (one !== other) throw new Error(`${what} ${one}, not ${other}`);
}

/** Waits for the first true value of a condition. */
export async function until(what, condition) {
  const end = performance.now() + 5000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`not within 5 s: ${what}`);
    await turn();
  }
}

export function pause(milliseconds) {
  return new Promise((resolve) => own.setTimeout.call(globalThis, resolve, milliseconds));
}

/** Lets timers and messages that are due run. */
export function turn() { return pause(1); }

async function late() {
  await pause(5000);
  throw new Error("not within 5 s");
}

/** Whether the client has got everything that the gateway sent: the answer to a request comes last. */
export async function caughtUp(client) { await client.get(null, { what: "stats" }); }

/** A digest with a chain, which only a daemon can compute. */
export const digest = (screens, parts) => `${module.checksum(screens, parts)}c0ffee12c0ffee12`;

export const record = (id) => ({ id, ver: 1 });

/** The messages of a snapshot of a bare nav, and of a change of it. */
export function snapshot(rev, ids, nav = NAV) {
  const screens = ids.map(record);
  const dig = digest(screens);
  return ["snap", { nav, kind: "controller", epoch: "e", rev, dig, i: 0, last: true, screens }];
}

export function pushed(rev, ids, dig = digest(ids.map(record))) {
  const ch = [{ at: ids.length - 1, del: [], ins: [record(ids.at(-1))] }];
  const ev = [{ didPush: { screen: ids.at(-1) } }];
  return ["diff", { nav: NAV, epoch: "e", base: rev - 1, rev, dig, ch, ev, cause: "api" }];
}

export const WELCOME = { hb: 60_000, ops: { last: 0 }, limits: { message: 65_536, window: 1_048_576 } };

/** navd-web and navd, as the clients of one claim see them. */
class Gateway {
  streams = [];
  sent = [];
  posts = [];
  timers = [];
  clients = [];
  releases = [];
  /** What answers a post instead; null for the gateway's own answer. */
  onPost = () => null;
  /** What answers a message instead; undefined for the daemon's own answer. */
  onMessage = () => undefined;

  constructor() {
    globalThis.fetch = (url, options) => this.#fetch(new URL(url, location.href), options);
    globalThis.setTimeout = (callback, pause = 0) => {
      this.timers.push(pause);
      return own.setTimeout.call(globalThis, callback, pause);
    };
    // No pause between two attempts.
    Math.random = () => 0;
  }

  client(options = {}) {
    const client = new NavigationClient({ token: "token", name: "page", hb: 60_000, ...options });
    this.clients.push(client);
    return client;
  }

  async connected(options) {
    const client = this.client(options);
    await until("connected", () => client.status === "connected");
    return client;
  }

  async end() {
    await Promise.all(this.clients.map((client) => client.close()));
    for (const release of this.releases) release();
    Object.assign(globalThis, { fetch: own.fetch, setTimeout: own.setTimeout });
    Math.random = own.random;
  }

  get stream() { return this.streams.at(-1); }

  verbs(verb) { return this.sent.filter(([each]) => each === verb).map(([, body]) => body); }

  /** Sends messages to the newest stream, as one chunk. */
  tell(...messages) {
    const lines = messages.map((message) => `${JSON.stringify(message)}\n`);
    this.stream.down.enqueue(encoder.encode(lines.join("")));
  }

  async #fetch({ pathname, searchParams }, { method, body, signal }) {
    if (method === "POST") return this.#post(searchParams, body);
    const stream = { id: String(this.streams.length + 1), next: 1, isOpen: true, signal };
    const from = new ReadableStream({ start: (controller) => { stream.down = controller; } });
    signal.addEventListener("abort", () => this.lose(stream));
    this.streams.push(stream);
    this.tell(["stream", { id: stream.id, next: 1 }]);
    same(pathname, "/nsp1/stream");
    return new Response(from);
  }

  lose(stream = this.stream) {
    if (stream.isOpen) stream.down.error(new Error("lost"));
    stream.isOpen = false;
  }

  async #post(query, body) {
    const stream = this.streams[query.get("stream") - 1];
    const lines = body.trim().split("\n").map((line) => JSON.parse(line));
    const post = { stream, n: Number(query.get("n")), lines };
    this.posts.push(post);
    const answer = await this.onPost(post);
    if (answer) return answer;
    for (const [verb, message] of lines) {
      this.sent.push([verb, message]);
      const answers = this.onMessage(verb, message) ?? this.#answers(verb, message);
      if (stream.isOpen) this.tell(...answers);
    }
    return Response.json({ next: post.n + 1 });
  }

  #answers(verb, { id, nav, nonce }) {
    switch (verb) {
      case "hello": return [["welcome", { ...WELCOME, nonce }]];
      case "watch": return [["ok", { id, nav, mode: "snapshot" }], snapshot(1, ["home"])];
      case "delegate": case "lease": case "op": return [["ok", { id, nav }]];
      case "get": return [["ok", { id, nav, value: snapshot(1, ["home"])[1] }]];
      default: return [];
    }
  }
}

/** A session that is open, and what it sent since it was asked last. */
export class Opened {
  constructor(options = {}) {
    this.session = new Session({ client: "0".repeat(32), hb: 60_000, random: () => 1, ...options });
    this.open();
  }

  open(now = 0, welcome = {}) {
    this.now = now;
    this.session.connected(now);
    const [[, { nonce }]] = this.sent();
    this.receive("welcome", { ...WELCOME, ...welcome, nonce });
  }

  /** The stream is lost, and another session begins after a time. */
  reopen(after = 0, welcome = {}) {
    this.session.lost(this.now);
    this.session.takeActions();
    this.open(this.now + after, welcome);
  }

  receive(verb, body) { this.session.receive(verb, body, 100, this.now); }

  sent() { return this.actions("send").map(({ line }) => JSON.parse(line)); }

  actions(kind) { return this.session.takeActions().filter((action) => action.kind === kind); }

  /** Answers the watch that was sent with a snapshot. */
  snapshot(rev, ids) {
    const id = this.sent().findLast(([verb]) => verb === "watch")[1].id;
    this.receive("ok", { id, nav: NAV, mode: "snapshot" });
    this.receive(...snapshot(rev, ids));
  }
}

/** What a call throws; null if it throws nothing. */
export function thrown(call) {
  try {
    call();
    return null;
  } catch (error) {
    return error;
  }
}
