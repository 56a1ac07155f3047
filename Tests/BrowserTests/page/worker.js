// A page of the consistency test: it changes navs at random, follows them, and checks what it sees.
//
// The test calls `worker`; `document.documentElement.dataset.ready` says that it is there. What the
// page checks it computes itself, so that a fault of the module does not hide itself.

import { Guard, NavigationClient, NavigationError } from "/navigation-client.js";

const OPERATIONS_IN_FLIGHT = 4;
const DEEP = 12;
const PARTS = ["bar", "toolbar", "presented", "transition", "environment", "settings"];
/** What may be answered to an operation that was chosen by a state that is behind. */
const EXPECTED = ["desync", "unreachable", "not-in-stack", "unknown-screen", "no-root", "limit"];

/** How many posts have no answer from the gateway yet. */
let posts = 0;
const { fetch } = window;
window.fetch = async (url, options) => {
  const count = options?.method === "POST" ? 1 : 0;
  posts += count;
  try {
    return await fetch(url, options);
  } finally {
    posts -= count;
  }
};

class Worker {
  #client;
  #name;
  #navs;
  #random;
  #states = new Map();
  #violations = [];
  #answers = [];
  #seen = {};
  #armed = null;
  #hands = [];
  #number = 0;
  #pending = 0;
  #counts = { losses: 0, inFlightAtLoss: 0, resynchronised: 0 };
  #isStopping = false;

  constructor() {
    document.addEventListener("securitypolicyviolation", (event) => {
      this.#violations.push(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  }

  /** Connects and returns when each nav has a first state; pops of `arm` begin with `signal`. */
  async connect({ token, name, seed, navs, signal }) {
    this.#name = name;
    this.#navs = navs;
    this.#random = seeded(seed);
    this.#client = await NavigationClient.connect({ token, name });
    this.#count();
    const first = navs.map((nav) => new Promise((resolve) => this.#follow(nav, resolve)));
    this.#waitFor(signal);
    await Promise.all(first);
  }

  work() { this.#hands = Array.from({ length: OPERATIONS_IN_FLIGHT }, () => this.#hand()); }

  /** Returns when the last operation is answered. */
  async stop() {
    this.#isStopping = true;
    await Promise.all(this.#hands);
  }

  violations() { return this.#violations; }

  /** Whether the gateway has taken all operations, and none has an answer. */
  isWaitingForAnswers() { return this.#pending === OPERATIONS_IN_FLIGHT && posts === 0; }

  answered() { return this.#answers.length; }

  position(nav) {
    const { rev, top } = this.#states.get(nav);
    return { rev, top: top?.id ?? null };
  }

  /** Pops the top that the page sees now, as soon as the nav of the signals changes. */
  arm(nav) {
    const state = this.#states.get(nav);
    const { promise, resolve } = Promise.withResolvers();
    this.#armed = { state, resolve, promise };
  }

  /** The answer to the pop of `arm`. */
  async popped() { return this.#armed.promise; }

  report() {
    const mirrors = Object.fromEntries(this.#navs.map((nav) => [nav, { ...this.#states.get(nav) }]));
    return {
      mirrors, seen: this.#seen, answers: this.#answers, violations: this.#violations, ...this.#counts,
    };
  }

  /** What somebody needs who asks why the test failed. */
  transcript() {
    const answers = this.#answers.slice(-40).map((each) => JSON.stringify(each));
    return [...this.#violations.slice(0, 20), ...answers];
  }

  // Watches.

  async #follow(nav, onFirst) {
    this.#seen[nav] = [];
    try {
      for await (const state of this.#client.watch(nav, { everyRevision: true })) {
        this.#check(nav, state);
        this.#states.set(nav, state);
        onFirst();
      }
      this.#violations.push(`${nav}: the watch ended`);
    } catch (error) {
      this.#violations.push(`${nav}: ${error}`);
    }
  }

  #check(nav, state) {
    const last = this.#states.get(nav);
    const at = `${nav}: after ${last?.epoch} ${last?.rev} came ${state.epoch} ${state.rev}`;
    if (last && state.epoch !== last.epoch) this.#violations.push(`${at}, another epoch`);
    if (state.isResynchronised) {
      if (last) this.#counts.resynchronised++;
      if (last && state.rev < last.rev) this.#violations.push(`${at}, a step back`);
    } else if (state.rev !== last?.rev + 1) {
      this.#violations.push(`${at}, a gap`);
    }
    const own = checksumOf(state);
    if (!state.dig.startsWith(own)) this.#violations.push(`${at} as ${state.dig}, but its screens are ${own}`);
    this.#seen[nav].push([state.rev, state.dig]);
  }

  async #waitFor(signal) {
    for await (const state of this.#client.watch(signal, { everyRevision: true })) {
      if (state.isResynchronised || !this.#armed) continue;
      const { state: seen, resolve } = this.#armed;
      this.#perform(seen.nav, { operations: [{ pop: {} }], guard: Guard.top(seen), may: ["desync", "unreachable"] }).then(resolve);
    }
  }

  async #count() {
    for await (const status of this.#client.statuses()) {
      if (status !== "disconnected") continue;
      this.#counts.losses++;
      this.#counts.inFlightAtLoss += this.#pending;
    }
  }

  // Operations.

  /** Performs one operation after the other. */
  async #hand() {
    let isBlind = false;
    while (!this.#isStopping) {
      const nav = this.#pick(this.#navs);
      const { code, reason } = await this.#perform(nav, this.#choose(this.#states.get(nav), isBlind));
      // The module refuses guards while it has no connection. What needs no guard waits for one.
      isBlind = code === "unreachable" || reason === "mirror";
    }
  }

  async #perform(nav, { operations, guard = {}, may = EXPECTED, mustFail = false }) {
    const answer = { nav, do: operations, id: 0, code: "ok", rev: 0, changed: false, isUnknown: false };
    this.#pending++;
    try {
      const { id, rev, changed = false } = await this.#client.perform(nav, operations, { if: guard });
      Object.assign(answer, { id, rev, changed });
      if (mustFail) this.#violations.push(`not refused: ${JSON.stringify(answer)}`);
    } catch (error) {
      const { code, reason, mayHaveHappened = true } = error;
      Object.assign(answer, { code, reason, isUnknown: mayHaveHappened });
      if (!(error instanceof NavigationError) || !may.includes(code)) {
        this.#violations.push(`${error} for ${JSON.stringify(answer)}`);
      }
    }
    this.#pending--;
    this.#answers.push(answer);
    return answer;
  }

  #choose(state, isBlind) {
    const id = `${this.#name}-${++this.#number}`;
    const screen = { id, title: `T${this.#number}`, route: `r/${this.#number % 7}` };
    const one = this.#pick(state.screens).id;
    const push = { operations: [{ push: { screen } }] };
    const growing = [
      [18, push],
      [8, { ...push, guard: Guard.revision(state) }],
      [8, { operations: [{ insert: { screen, below: one } }] }],
      [6, {
        operations: [{ push: { screen } }, { "screen.set": { screen: id, title: "B" } },
          { "item.set": { screen: id, prompt: "P" } }],
      }],
    ];
    const others = [
      [14, { operations: [{ pop: {} }], guard: Guard.top(state) }],
      [6, { operations: [{ pop: {} }], guard: Guard.override }],
      [3, { operations: [{ pop: {} }], may: ["guard-required"], mustFail: true }],
      [4, { operations: [{ popToRoot: {} }] }],
      [6, { operations: [{ setStack: { screens: this.#shuffled(state, screen) } }], guard: Guard.stack(state) }],
      [8, { operations: [{ "screen.set": { screen: one, title: `S${this.#number}` } }] }],
      [7, { operations: [{ remove: { screens: [one] } }] }],
      [6, { operations: [{ replace: { with: screen } }], guard: Guard.top(state) }],
      [6, { operations: [{ replace: { with: screen, screen: one } }] }],
    ];
    if (isBlind) return push;
    return this.#weighted(state.screens.length > DEEP ? others : [...growing, ...others]);
  }

  /** Some of the screens in another order, and a new one. */
  #shuffled(state, screen) {
    const list = state.screens.slice(0, 4).map((each) => each.id);
    list.splice(Math.floor(this.#random() * (list.length + 1)), 0, screen);
    return this.#random() < 0.5 ? list : list.reverse();
  }

  #pick(list) { return list[Math.floor(this.#random() * list.length)]; }

  #weighted(choices) {
    let rest = this.#random() * choices.reduce((sum, [weight]) => sum + weight, 0);
    return choices.find(([weight]) => (rest -= weight) < 0)[1];
  }
}

/** Random numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function seeded(seed) {
  let at = seed;
  return () => {
    at = (at + 0x6d2b79f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The checksum of the protocol, not by the module. */
function checksumOf({ screens, parts }) {
  const lines = [...screens.map(({ id, ver }) => `${id}@${ver}`),
    ...PARTS.map((name) => `:${name}@${parts[name].ver}`)];
  let sum = ~0;
  for (const byte of new TextEncoder().encode(lines.join("\n"))) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? 0xedb88320 ^ (sum >>> 1) : sum >>> 1;
  }
  return (~sum >>> 0).toString(16).padStart(8, "0");
}

window.worker = new Worker();
document.documentElement.dataset.ready = "1";
