// Runs Tests/Conformance/vectors.jsonl through the JavaScript client; docs/vectors.md explains every step.

const encoder = new TextEncoder();
const QUIET = new Set(["queued", "duty", "asked", "settled"]);

/** The JSON of a value with sorted names, so that equal values have equal texts. */
function canonical(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}

function must(isSo, text) {
  if (!isSo) throw new Error(text);
}

/**
 * Runs all vectors of a text.
 *
 * `spoil` is called with each message before the client gets it; a runner must notice what it does.
 * Returns the number of vectors that passed, and a line for each that failed.
 */
export function runVectors(module, text, spoil = (message) => message) {
  const failed = [];
  let passed = 0;
  for (const line of text.trim().split("\n")) {
    const vector = module.decode(encoder.encode(`["vector",${line}]`)).body;
    try {
      if (vector.kind === "digest") runDigest(module, vector);
      else new Run(module, vector, spoil).run();
      passed += 1;
    } catch (error) {
      failed.push(`${vector.id}: ${error.message}`);
    }
  }
  return { passed, failed };
}

function runDigest(module, vector) {
  const parts = Object.fromEntries(vector.parts.map((part) => [part.id, part]));
  must(module.checksum(vector.screens, parts) === vector.checksum, "another checksum");
}

class Run {
  constructor(module, vector, spoil) {
    Object.assign(this, { module, vector, spoil, now: 0, sent: [], events: [], ids: new Map(), then: undefined });
    this.session = new module.Session({ client: "0".repeat(32), random: () => 0.5 });
    this.open();
  }

  run() {
    for (const step of this.vector.steps) {
      try {
        this.step(step);
      } catch (error) {
        throw new Error(`${error.message} at ${JSON.stringify(step).slice(0, 200)}`);
      }
    }
  }

  take() {
    for (const action of this.session.takeActions()) {
      if (action.kind === "send") this.sent.push(JSON.parse(action.line));
      else this.events.push(action);
    }
  }

  open() {
    this.session.connected(this.now);
    this.take();
    const { nonce } = this.sent.findLast(([verb]) => verb === "hello")[1];
    const limits = { message: 65536, window: 65536 };
    this.hand("welcome", { ver: 1, nonce, boot: "0000000000000001", server: "vectors", hb: 60000, ops: { last: 0 }, limits }, 100);
    this.events = [];
  }

  hand(verb, body, octets) {
    this.session.receive(verb, body, octets, this.now);
    this.take();
    this.session.grantCreditIfDue();
    this.take();
  }

  get watches() { return this.sent.filter(([verb]) => verb === "watch"); }

  step(step) {
    if (step.watch) {
      this.session.watch(this.vector.nav);
      this.take();
    } else if (step.lost) {
      this.session.lost(this.now);
      this.take();
      // Longer than any pause before another connection.
      this.now += 10_000;
      this.sent = [];
      this.open();
    } else if (step.to) this.sends(step.to[1]);
    else if (step.do) this.does(...step.do);
    else if (step.state) this.compareState(step.state);
    else this.receives(step);
  }

  sends(wanted) {
    this.wakeForWatch(0);
    must(this.watches.length === 1, `${this.watches.length} watches`);
    const [[, message]] = this.watches;
    must(message.nav === wanted.nav && (message.view ?? "full") === "full", "another watch");
    must(canonical(message.from ?? null) === canonical(wanted.from ?? null), "another position");
    must(!wanted.bad || ("rev" in (message.bad ?? {}) && "dig" in message.bad), "no bad");
    this.ids.set(wanted.id, message.id);
    this.sent = [];
  }

  /** Lets the time pass for which a client may wait before it watches again. */
  wakeForWatch(count) {
    if (this.watches.length > count) return;
    this.now += 6_000;
    this.session.tick(this.now);
    this.take();
  }

  does(verb, { id, nav, ...members }) {
    must(this.watches.length === 0, "a watch before its step");
    if (verb === "op") this.ids.set(id, this.session.request("op", nav, members));
    else if (verb === "delegate") this.session.delegate(nav, members);
    else this.session.lease(nav, members.take ? members.force ?? false : null);
    this.take();
    if (verb !== "op") this.ids.set(id, this.sent.findLast(([sent]) => sent === verb)[1].id);
    this.sent = this.watches;
  }

  receives({ from: [verb, said], is, then, refused }) {
    const text = typeof said === "string" ? said : JSON.stringify(said);
    const message = this.spoil(this.module.decode(encoder.encode(`["${verb}",${text}]`)));
    let { body } = message;
    if (["ok", "err", "queued"].includes(verb) && this.ids.has(body.id)) body = { ...body, id: this.ids.get(body.id) };
    this.events = [];
    const before = this.watches.length;
    this.hand(verb, body, message.octets);
    this.sent = this.watches;
    this.compareReaction(is, before, refused);
    if (then !== undefined) this.then = then;
    if (this.then !== undefined) this.compareSummary();
  }

  compareReaction(is, before, refused) {
    const mirror = this.session.mirror(this.vector.nav);
    const isSynced = mirror?.isSynced ?? false;
    const kinds = this.events.filter(({ kind }) => is === "answered" || !QUIET.has(kind))
      .map((event) => event.kind + (event.isResumed ? " resumed" : "") + (event.isEvent ? " event" : ""));
    const all = kinds.join();
    const only = (...names) => kinds.every((kind) => names.includes(kind));
    switch (is) {
      case "replaced":
      case "applied": return must(all && only("state") && isSynced, `${is}: ${all}`);
      case "resumed": return must(all === "state resumed" && isSynced, `${is}: ${all}`);
      case "wait": return must(all === "" && !isSynced, `${is}: ${all}`);
      case "ignored": return must(all === "" && this.watches.length === before, `${is}: ${all}`);
      case "gap":
      case "diverged": {
        must(!isSynced, `${is}, but the mirror counts as right`);
        this.wakeForWatch(before);
        must(this.watches.length === before + 1, `${is}: ${this.watches.length} watches`);
        const [, message] = this.watches.at(-1);
        return must(is === "gap" ? !message.bad : !message.from, `${is}: ${JSON.stringify(message)}`);
      }
      case "ended": return must(all === "watchEnded" && !mirror, `${is}: ${all}`);
      case "refused": {
        const { err } = this.events.find((event) => event.err) ?? {};
        const names = ["code", "effect", "retry", "reason", "index"];
        return must(err && names.every((name) => err[name] === refused[name]), `${is}: ${JSON.stringify(err)}`);
      }
      case "answered": return must(only("answered", "duty"), `${is}: ${all}`);
      case "event": return must(only("state event"), `${is}: ${all}`);
      default: throw new Error(`unknown reaction ${is}`);
    }
  }

  compareSummary() {
    const state = this.session.mirror(this.vector.nav)?.state ?? null;
    const presented = state && state.presented.map(({ screen }) => screen.id);
    const screens = state && state.screens.map(({ id }) => id);
    const summary = state && {
      epoch: state.epoch, rev: state.rev, dig: state.dig, screens, presented,
      top: screens.at(-1) ?? null, visible: presented.at(-1) ?? screens.at(-1) ?? null,
    };
    must(canonical(summary) === canonical(this.then), `the mirror shows ${canonical(summary)}, not ${canonical(this.then)}`);
  }

  compareState(wanted) {
    const { kind, epoch, rev, dig, screens, parts, bar } = this.session.mirror(this.vector.nav).state;
    const state = { kind, epoch, rev, dig, screens, ...parts, ...(bar === null ? {} : { resolved: bar }) };
    must(canonical(state) === canonical(wanted), "the whole state differs");
  }
}
