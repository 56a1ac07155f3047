// Runs the scripts of Tests/Conformance/sessions through the core of the client (Tests/Conformance/README.md).
//
// node sessions.mjs MODULE FILE...

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";

// In node the module has no address of its own, and no ending that says what it is.
globalThis.location = new URL("http://a.test/");
const [path, ...files] = process.argv.slice(2);
const source = readFileSync(path);
const { Cluster, NavigationError, checksum } = await import(`data:text/javascript;base64,${source.toString("base64")}`);

const EPOCH = "e".repeat(16);
/** The fractions that stand for chance: each script holds for all. */
const CHANCES = [0, 0.5, 0.999999];

const addressOf = (daemon) => `http://${daemon.toLowerCase()}.test`;
const daemonAt = (address) => address[7].toUpperCase();

/** A line: the daemon behind its first sign, its words, and the value at its end. */
function read(line) {
  const [, head, json] = /^(.*?)(?: ([{[].*))?$/.exec(line.trim());
  const [word, ...words] = head.split(" ");
  const [sign, daemon = "A"] = /^[<>]/.test(word) ? [...word] : [word];
  return { sign, daemon, words, json: json === undefined ? undefined : JSON.parse(json) };
}

class Run {
  now = 1000;
  sent = [];
  events = [];
  wanted = new Set();
  up = new Set();
  /** The requests by their names in the script, and the octets of each. */
  named = new Map();
  octets = new Map();
  /** What the daemons have of each nav. */
  navs = new Map();
  /** The epochs by nav, revision and digest. */
  positions = new Map();

  constructor(chance) {
    this.core = new Cluster({
      gateways: [addressOf("A")], client: "0".repeat(32), name: "script", random: () => chance, wall: () => this.now,
    });
    this.core.start(this.now);
    this.act();
  }

  act() {
    for (let actions; (actions = this.core.takeActions()).length;) actions.forEach((each) => this.perform(each));
  }

  perform(action) {
    const { kind, gateway, nav } = action;
    const event = (text, body) => this.events.push({ text: text + (nav === undefined || nav === "kiosk" ? "" : ` ${nav}`), body });
    if (kind === "open") this.wanted.add(daemonAt(gateway));
    if (kind === "drop") [this.up, this.wanted].forEach((set) => set.delete(daemonAt(gateway)));
    if (kind === "send" && this.up.has(daemonAt(gateway))) {
      const [verb, body] = JSON.parse(action.line);
      this.sent.push({ daemon: daemonAt(gateway), verb, body, raw: action.line });
    }
    if (kind === "answered") event(`answer ${this.nameOf(action.id)} ${action.err?.code ?? "ok"}`, action.err ?? action.ok);
    if (kind === "queued" && this.nameOf(action.id)) event(`queued ${this.nameOf(action.id)}`);
    if (kind === "state" && action.isEvent) event("event");
    else if (kind === "state" && action.view === "full") {
      const how = action.isResumed ? "resumed" : action.state.isResynchronised ? "replaced" : "applied";
      event(`state ${action.state.rev} ${how}`, { stack: action.state.screens.map(({ id }) => id) });
    } else if (kind === "state") event(`latest ${action.view} ${action.state.rev}`, action.state.value ?? {});
    if (kind === "watchEnded") event(`end ${action.view} ${action.err?.code ?? action.why}`);
    if (kind === "asked") event(`ask ${action.body.ask}`);
    if (kind === "settled") event(`void ${action.ask}`);
    if (kind === "duty") event(`${action.duty} ${action.err?.code ?? "granted"}`);
    if (kind === "closed") event(`closed ${action.error.reason ?? action.error.code}`);
  }

  nameOf(id) { return [...this.named].find(([, each]) => each.id === id && each.isRequest)?.[0]; }

  /** Lets the time pass up to a moment, or until something is there; returns whether it is. */
  pass(until, isThere = () => false) {
    for (let count = 0; !isThere(); count++) {
      if (count > 10_000) throw new Error("the timers never rest");
      const at = this.core.wakeAt;
      if (at > until) {
        this.now = until;
        return false;
      }
      this.now = Math.max(this.now, at);
      this.core.tick(this.now);
      this.act();
    }
    return true;
  }

  connect(daemon) {
    if (!this.pass(this.now + 6000, () => this.wanted.has(daemon))) throw new Error(`the client does not connect to ${daemon}`);
    this.wanted.delete(daemon);
    this.up.add(daemon);
    this.core.connected(addressOf(daemon), this.now);
    this.act();
  }

  hand(daemon, verb, body, octets) {
    try {
      this.core.receive(addressOf(daemon), verb, body, octets, this.now);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.core.lost(addressOf(daemon), this.now);
    }
    this.act();
    this.core.grantCreditIfDue(addressOf(daemon));
    this.act();
  }

  welcome(daemon, nonce, more) {
    this.hand(daemon, "welcome", {
      ver: 1, nonce, boot: `${daemon.charCodeAt()}`.padStart(16, "0"), server: "script", hb: 5000, features: [], you: {},
      ops: { last: 0, seq: [[0, 0]] }, limits: { message: 65536, inflight: 64, window: 65536 }, ...more,
    }, 100);
  }

  state(nav) { return this.navs.get(nav) ?? { epoch: EPOCH, rev: 1, screens: [] }; }

  /** What a daemon sends: the members that the line gives, and the usual ones. */
  message(verb, words, json = {}) {
    const { to, octets, sum, ...more } = json;
    if (more.nonce === "$nonce") more.nonce = this.nonce;
    const nav = more.nav ?? (["ok", "err", "queued"].includes(verb) ? this.named.get(words[0])?.nav : undefined) ?? "kiosk";
    const known = this.state(nav);
    const place = to === undefined ? {} : { endpoint: `tcp://${to.toLowerCase()}`, key: "k".repeat(40), web: addressOf(to) };
    const { id = null } = this.named.get(words[0]) ?? {};
    const number = Number(words[0]);
    const at = { nav, epoch: known.epoch, rev: known.rev };
    const form = {
      ok: () => ({ id, ...at }),
      err: () => ({ id, code: words[1], retry: words[2], effect: "none", msg: words[1] }),
      queued: () => ({ id, nav, pos: 1 }),
      end: () => ({ ...at, view: "full", why: words[0] }),
      latest: () => ({ nav, view: words[0], epoch: known.epoch, rev: Number(words[1]), value: null }),
      event: () => ({ ...at, ev: [] }),
      ask: () => ({ ask: number, nav, epoch: known.epoch, rev: known.rev, within: 2000, q: { shouldPop: { screen: "wifi" } } }),
      settled: () => ({ ask: number, outcome: words[1] }),
      lost: () => ({ nav, of: words[0], code: words[1], msg: words[1] }),
      bye: () => ({ why: words[0] }),
      mark: () => ({ t: 0, at: [] }),
      snap: () => this.snapshot(known, nav, words, more),
      diff: () => this.change(known, nav, words, more),
    }[verb]?.() ?? {};
    const body = { ...form, ...place, ...more };
    if (sum !== undefined) body.dig = sum + body.dig.slice(8);
    return { body, octets: octets ?? JSON.stringify(body).length };
  }

  /** The daemons' new state of a nav: `REV SCREEN…`, a screen as `home` or `home@3`. */
  become(known, nav, [rev, ...screens], { epoch = known.epoch }) {
    const records = screens.map((screen) => ({ id: screen.split("@")[0], ver: Number(screen.split("@")[1] ?? 1) }));
    const next = { epoch, rev: Number(rev), screens: records };
    next.dig = checksum(records) + rev.padStart(16, "0");
    this.navs.set(nav, next);
    this.positions.set(`${nav} ${rev} ${next.dig}`, epoch);
    return next;
  }

  snapshot(known, nav, words, more) {
    const { epoch, rev, screens, dig } = this.become(known, nav, words, more);
    const { i = 0, end = screens.length } = more;
    const last = end === screens.length;
    return { nav, kind: "controller", epoch, rev, i, last, why: "join", screens: screens.slice(i, end), ...(last && { dig }) };
  }

  change(known, nav, words, more) {
    const { epoch, rev, screens, dig } = this.become(known, nav, words, more);
    const same = (index) => index < screens.length && isDeepStrictEqual(screens[index], known.screens[index]);
    let at = 0;
    while (at < known.screens.length && same(at)) at++;
    const ch = [{ at, del: known.screens.slice(at).map(({ id }) => id), ins: screens.slice(at) }];
    return { nav, epoch, base: known.rev, rev, cause: "api", ch, depth: screens.length, dig };
  }

  step(line) {
    const { sign, daemon, words, json } = read(line);
    if (![">", "!", "after"].includes(sign)) this.expectNothing();
    const [first, second] = words;
    const steps = {
      "<": () => {
        const { body, octets } = this.message(first, words.slice(1), json);
        this.hand(daemon, first, body, octets);
      },
      ">": () => this.expectSent(daemon, first, second, json),
      "!": () => this.expectEvent(words.join(" "), json),
      is: () => this.expectMirror(first, second, words[2]),
      open: () => {
        this.connect(first ?? "A");
        const hello = this.sent.shift();
        if (hello?.verb !== "hello") throw new Error("the client does not begin with hello");
        this.nonce = hello.body.nonce;
        this.welcome(first ?? "A", this.nonce, json);
      },
      follow: () => {
        const lines = ["watch", "> watch w", '< ok w {"mode":"snap"}', `< snap ${words.join(" ")} ${JSON.stringify(json ?? {})}`, `! state ${first} replaced`];
        lines.forEach((each) => this.step(each));
      },
      connect: () => this.connect(first ?? "A"),
      welcome: () => this.welcome(first ?? "A", this.nonce, json),
      lose: () => {
        this.up.delete(first ?? "A");
        this.core.lost(addressOf(first ?? "A"), this.now);
        this.act();
      },
      wait: () => void this.pass(this.now + Number(first)),
      after: () => this.expectAfter(Number(first), Number(second), () => this.sent.length + this.events.length > 0),
      reconnects: () => this.expectAfter(Number(first), Number(second), () => this.wanted.has(words[2] ?? "A")),
      closes: () => {
        this.expectAfter(Number(first), Number(second), () => !this.up.has(words[2]));
        this.sent = this.sent.filter(({ verb }) => verb !== "bye");
      },
      watch: () => this.core.watch(first ?? "kiosk", second ?? "full", words.includes("wait")),
      unwatch: () => this.core.unwatch(first ?? "kiosk", second ?? "full"),
      op: () => this.request("op", first, { nav: "kiosk", do: [{ pop: {} }], ...json }),
      get: () => this.request("get", first, { nav: "kiosk", what: "top", ...json }),
      forget: () => {
        const sends = this.core.forget(this.named.get(first).id);
        this.expectSame(sends > 0 ? "sent" : "unsent", second);
      },
      delegate: () => this.core.delegate(json?.nav ?? "kiosk", words.length ? { roles: words } : null),
      lease: () => this.core.lease(json?.nav ?? "kiosk", first === "release" ? null : first === "force"),
      answer: () => this.core.answer(json?.nav ?? "kiosk", Number(first), JSON.parse(second)),
      leave: () => this.core.leave(),
    };
    if (!steps[sign]) throw new Error("no such step");
    steps[sign]();
    this.act();
  }

  request(verb, name, { nav, within = null, ...members }) {
    try {
      const id = this.core.request(verb, nav, members, within, this.now);
      this.named.set(name, { id, nav: nav ?? undefined, isRequest: true });
    } catch (error) {
      if (!(error instanceof NavigationError)) throw error;
      this.events.push({ text: `answer ${name} ${error.code}`, body: error });
    }
  }

  expectNothing() {
    if (!this.sent.length && !this.events.length) return;
    throw new Error(`unexpected: ${JSON.stringify([...this.sent.map(({ daemon, verb, body }) => [daemon, verb, body]), ...this.events])}`);
  }

  expectSame(found, wanted) {
    if (!isDeepStrictEqual(found, wanted)) throw new Error(`it is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
  }

  expectSent(daemon, verb, name, json = {}) {
    const found = this.sent.shift();
    if (!found) throw new Error("nothing was sent");
    this.expectSame([found.daemon, found.verb], [daemon, verb]);
    const { id, ...body } = found.body;
    if (verb === "hello") {
      this.nonce = body.nonce;
      for (const member of Object.keys(body)) if (json[member] === undefined) delete body[member];
    }
    if (verb === "op" || verb === "get") {
      this.expectSame(this.nameOf(id), name);
      const text = found.raw.replace(/,"again":\d+}\]\n$/, "}]\n");
      this.expectSame(this.octets.get(id) ?? text, text);
      this.octets.set(id, text);
      if (!json.do) delete body.do;
      if (!json.what) delete body.what;
    } else if (name !== undefined) {
      this.named.set(name, { id, nav: body.nav });
    }
    if (!json.nav && body.nav === "kiosk") delete body.nav;
    if (body.view === "full") delete body.view;
    if (json.id) body.id = id;
    for (const member of ["from", "bad"]) body[member] = this.revOf(found.body.nav, body[member]);
    this.expectSame(JSON.parse(JSON.stringify(body)), json);
  }

  /** A position of a nav as its revision alone, if it is one that the nav had. */
  revOf(nav, position) {
    const epoch = this.positions.get(`${nav} ${position?.rev} ${position?.dig}`);
    return epoch !== undefined && (position.epoch ?? epoch) === epoch ? position.rev : position;
  }

  expectEvent(text, json = {}) {
    const found = this.events.shift();
    if (!found) throw new Error("nothing is reported");
    this.expectSame(found.text, text);
    for (const [member, value] of Object.entries(json)) this.expectSame(JSON.parse(JSON.stringify(found.body[member] ?? null)), value);
  }

  expectMirror(what, rev, nav = "kiosk") {
    const mirror = this.core.mirror(nav);
    const found = mirror?.state ? [mirror.isSynced ? "synced" : "suspect", `${mirror.state.rev}`] : ["nothing"];
    this.expectSame(found, rev === undefined ? [what] : [what, rev]);
  }

  expectAfter(least, most, isThere) {
    const start = this.now;
    if (!this.pass(start + most, isThere)) throw new Error(`nothing happens within ${most} ms`);
    if (this.now < start + least) throw new Error(`it happens after ${this.now - start} ms`);
  }
}

/** The scripts of a file: [title, lines with their numbers]. */
function scripts(text) {
  const all = [];
  text.split("\n").forEach((line, index) => {
    if (line.startsWith("script ")) all.push([line.slice(7), []]);
    else if (line.trim() && !line.startsWith("#")) all.at(-1)[1].push([index + 1, line]);
  });
  return all;
}

let count = 0;
let failures = 0;
for (const file of files) {
  for (const [title, lines] of scripts(readFileSync(file, "utf8"))) {
    count++;
    let place = "";
    try {
      for (const chance of CHANCES) {
        const run = new Run(chance);
        for (const [number, line] of lines) {
          place = `${basename(file)}:${number}: ${line.trim()}`;
          run.step(line);
        }
        run.expectNothing();
      }
    } catch (error) {
      failures++;
      console.log(`${place}\n  ${title}: ${error instanceof Error && error.constructor === Error ? error.message : error.stack}`);
    }
  }
}
console.log(`${count - failures} of ${count} scripts pass`);
process.exitCode = failures || !count ? 1 : 0;
