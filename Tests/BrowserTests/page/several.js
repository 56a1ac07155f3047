// A cluster without a network: daemons that share navs, each behind a gateway, with a clock of the test.

import { Cluster } from "/navigation-client.js";
import { NAV, WELCOME, snapshot } from "./claims.js";

export const [A, B, C] = ["http://a.test", "http://b.test", "http://c.test"];
export const PUSH = [{ push: { screen: { id: "a" } } }];

export class Several {
  now = 0;
  /** The gateway of the daemon that has each nav; null while nobody has it. */
  owners = new Map();
  /** The gateways that cannot be reached. */
  down = new Set();
  /** What was sent, as [gateway, verb, body]. */
  sent = [];
  streams = new Map();
  opened = [];
  actions = [];
  /** What answers a message instead; undefined for the daemon's own answer. */
  onMessage = () => undefined;
  rev = 1;

  constructor(gateways = [A, B], options = {}) {
    this.cluster = new Cluster({ gateways, client: "0".repeat(32), hb: 60_000, random: () => 1, ...options });
    this.cluster.start(0);
    this.run();
  }

  /** Performs actions until there are no more. */
  run() {
    for (let actions; (actions = this.cluster.takeActions()).length;) actions.forEach((each) => this.perform(each));
  }

  perform(action) {
    const { kind, gateway } = action;
    if (kind === "open") return this.openStream(gateway);
    if (kind === "drop") return this.streams.delete(gateway);
    if (kind !== "send") return this.actions.push(action);
    const [verb, body] = JSON.parse(action.line);
    if (!this.streams.has(gateway)) return undefined;
    this.sent.push([gateway, verb, body]);
    const answers = this.onMessage(gateway, verb, body) ?? this.answers(gateway, verb, body);
    for (const [of, answer] of answers) this.tell(gateway, of, answer);
    return undefined;
  }

  openStream(gateway) {
    this.opened.push(gateway);
    if (this.down.has(gateway)) return this.cluster.lost(gateway, this.now);
    this.streams.set(gateway, true);
    return this.cluster.connected(gateway, this.now);
  }

  tell(gateway, verb, body) { this.cluster.receive(gateway, verb, body, 100, this.now); }

  answers(gateway, verb, { id, nav, nonce, from }) {
    if (verb === "hello") return [["welcome", { ...WELCOME, nonce }]];
    const owner = this.owners.get(nav) ?? (this.owners.has(nav) ? null : A);
    if (nav !== undefined && owner !== gateway) return [["err", { id, ...elsewhere(nav, owner) }]];
    const answer = ["ok", { id, nav, epoch: "e", rev: this.rev }];
    if (verb !== "watch") return [answer];
    Object.assign(answer[1], { mode: from ? "resume" : "snap" });
    return from ? [answer] : [answer, snapshot(this.rev, ["home"], nav)];
  }

  /** Ends the watches of a nav at its daemon; from now on another one has it. */
  moves(nav, to) {
    const from = this.owners.get(nav) ?? A;
    this.owners.set(nav, to);
    const { web, endpoint } = to ? elsewhere(nav, to) : {};
    this.tell(from, "end", { nav, view: "full", epoch: "e", rev: this.rev, why: "moved", web, endpoint });
    this.run();
  }

  /** Lets the time of the next deadline come; returns how long that took. */
  wait() {
    const before = this.now;
    this.now = Math.max(before, this.cluster.wakeAt);
    this.cluster.tick(this.now);
    this.run();
    return this.now - before;
  }

  request(nav = NAV, verb = "op") {
    const id = this.cluster.request(verb, nav, verb === "op" ? { do: PUSH } : { what: "state" });
    this.run();
    return id;
  }

  /** The gateways to which messages of a verb went, with their ids. */
  way(verb) { return this.sent.filter(([, each]) => each === verb).map(([at, , { id }]) => [at, id]); }

  of(kind) { return this.actions.filter((action) => action.kind === kind); }

  lose(gateway) {
    this.streams.delete(gateway);
    this.cluster.lost(gateway, this.now);
    this.run();
  }

  get status() { return this.of("status").at(-1)?.status; }
}

/** The error of a daemon that does not have a nav; null for an owner that nobody knows. */
export function elsewhere(nav, owner) {
  if (owner === null) return { code: "busy", reason: "no-owner", retry: "later", after: 40, effect: "none" };
  return { code: "moved", nav, retry: "same", effect: "none", endpoint: `tcp://${owner.slice(7)}:1`, web: owner };
}
