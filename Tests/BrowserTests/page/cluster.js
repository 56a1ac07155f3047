// What the client promises of several daemons (§17): navs move between gateways, and nothing is lost or done twice.

import { NavigationError } from "/navigation-client.js";
import { NAV, Opened, WELCOME, claims, digest, record, same, thrown, until } from "./claims.js";
import { A, B, C, PUSH, Several, elsewhere } from "./several.js";

claims["a nav of another daemon is asked for there, by the same octets, and others stay"] = () => {
  const several = new Several();
  several.owners.set("far", B);
  const ids = [several.request("far"), several.request("near"), several.request("far")];
  same(several.way("op"), [[A, ids[0]], [B, ids[0]], [A, ids[1]], [B, ids[2]]]);
  const [one, other] = several.sent.filter(([, , { id }]) => id === ids[0]).map(([, , body]) => body);
  same(one, other, "the same octets:");
  same(several.of("answered").map(({ id, ok }) => [id, ok.nav]), [[ids[0], "far"], [ids[1], "near"], [ids[2], "far"]]);
  const hellos = several.sent.filter(([, verb]) => verb === "hello").map(([at, , { client }]) => [at, client]);
  same(hellos, [[A, "0".repeat(32)], [B, "0".repeat(32)]]);
  const rising = ids.every((id, index) => index === 0 || id > ids[index - 1]);
  same([rising, several.status], [true, "connected"]);
};

claims["a watch goes on from its revision where the nav went, and shows no revision twice"] = () => {
  const several = new Several();
  several.cluster.watch(NAV);
  several.run();
  same(several.of("state").map(({ state }) => state.rev), [1]);
  several.moves(NAV, B);
  const dig = digest([record("home")]);
  same(several.sent.at(-1), [B, "watch", { id: several.sent.at(-1)[2].id, nav: NAV, view: "full", from: { epoch: "e", rev: 1, dig } }]);
  same(several.of("state").map(({ isResumed }) => isResumed), [false, true]);
  same(several.of("watchEnded"), []);
};

claims["a nav that nobody has is asked for after the pause that the daemon names, in the order of its ops"] = () => {
  const several = new Several();
  several.cluster.watch(NAV);
  several.run();
  several.moves(NAV, null);
  const ids = [several.request(), several.request()];
  same(several.way("op"), [], "while nobody has the nav:");
  // Nobody yet: the end of the watch names no pause, and the answer 40 ms, to which the client adds a quarter and 10 ms at most.
  const pauses = [several.wait(), several.wait(), several.wait()];
  same(pauses, [10, 60, 60]);
  several.owners.set(NAV, B);
  several.wait();
  same(several.way("op").filter(([at]) => at === B), ids.map((id) => [B, id]));
  same(several.of("answered").map(({ id }) => id), ids);
};

claims["navs that are sent in a circle are followed twice at once, and then after pauses of up to half a second"] = () => {
  const several = new Several();
  let hops = 0;
  several.onMessage = (at, verb, { id, nav }) => {
    if (verb !== "op" || ++hops > 7) return undefined;
    several.owners.set(nav, at === A ? B : A);
    return undefined;
  };
  several.owners.set(NAV, A);
  several.request();
  same(hops, 3, "two moves at once:");
  const pauses = [];
  while (!several.of("answered").length) pauses.push(several.wait());
  same(pauses, [200, 400, 500, 500, 500]);
};

/** An op that went to A, where its answer waits, then to B, and then to A again. */
function returned(several) {
  several.onMessage = (at, verb) => verb === "op" && at === A ? [] : undefined;
  const ids = [several.request(), several.request()];
  several.owners.set(NAV, A);
  const late = ids.map((id) => ["err", { id, ...elsewhere(NAV, B) }]);
  several.tell(A, ...late[0]);
  several.run();
  same(several.way("op").map(([at]) => at), [A, A, B, A], "the first op moves, and comes back:");
  return { ids, late };
}

claims["an answer that comes late from a daemon without the nav moves nothing"] = () => {
  const several = new Several();
  const { ids, late } = returned(several);
  several.tell(A, ...late[1]);
  several.run();
  same(several.way("op").length, 4, "after the late answer:");
  // The second answer to the op that was sent again counts.
  several.owners.set(NAV, B);
  several.tell(A, ...late[0]);
  several.run();
  several.wait();
  same(several.way("op").slice(4), ids.map((id) => [B, id]));
  same(several.of("answered").map(({ id }) => id), ids);
};

claims["no answer is late any more after the stream was lost"] = () => {
  const several = new Several();
  const { ids } = returned(several);
  several.tell(A, "ok", { id: ids[0], nav: NAV });
  several.run();
  several.owners.set(NAV, B);
  several.onMessage = () => undefined;
  several.lose(A);
  several.wait();
  same(several.of("answered").map(({ id }) => id).filter((id) => ids.includes(id)), ids);
};

claims["after an answer, a nav is followed at once again, and so it is after a time without an owner"] = () => {
  const several = new Several();
  const path = [];
  // Each op is sent to the other gateway so many times before it is performed.
  let hops = 2;
  several.onMessage = (at, verb, { id, nav }) => {
    if (verb !== "op") return undefined;
    path.push(at);
    if (hops-- > 0) return [["err", { id, ...elsewhere(nav, hops === 5 ? null : at === A ? B : A) }]];
    several.owners.set(nav, at);
    return undefined;
  };
  several.request();
  hops = 2;
  several.request();
  same([path, several.of("answered").length], [[A, B, A, A, B, A], 2]);
  // Two moves, a time without an owner, and two more.
  hops = 8;
  several.request();
  same(path.slice(6), [A, B, A]);
  several.wait();
  same([path.length, several.now], [12, 60]);
};

claims["the end of a watch that is asked for again moves nothing: the answer does"] = () => {
  const several = new Several();
  several.cluster.watch(NAV);
  several.run();
  several.onMessage = (at, verb) => verb === "watch" ? [] : undefined;
  several.cluster.unwatch(NAV);
  several.cluster.watch(NAV);
  several.run();
  several.moves(NAV, B);
  same(several.opened, [A]);
  several.onMessage = () => undefined;
  several.tell(A, "err", { id: several.way("watch").at(-1)[1], ...elsewhere(NAV, B) });
  several.run();
  same(several.way("watch").at(-1)[0], B);
};

claims["a gateway that cannot be reached is asked once more, and then the others are"] = () => {
  const several = new Several();
  several.cluster.watch(NAV);
  several.run();
  several.down.add(A);
  several.owners.set(NAV, B);
  several.lose(A);
  same([several.opened, several.status], [[A], "disconnected"]);
  several.wait();
  same([several.opened, several.status], [[A, A, B], "connected"]);
  same(several.of("state").at(-1).isResumed, true);
};

claims["a daemon that wants to be left alone is not waited for, and an open session is asked first"] = () => {
  const several = new Several([A, B, C]);
  several.owners.set("far", C);
  several.cluster.watch("far");
  several.cluster.watch(NAV);
  several.run();
  several.owners.set(NAV, C);
  several.tell(A, "bye", { why: "shutting-down", after: 2000 });
  several.run();
  same([several.opened, several.now, several.status], [[A, C], 0, "connected"]);
  same(several.way("watch").at(-1)[0], C);
};

claims["a daemon that is taken for the owner of its navs until its lease ends is asked again after pauses"] = () => {
  const several = new Several([A, B]);
  several.owners.set(NAV, A);
  several.down.add(A);
  several.lose(A);
  const id = several.request();
  for (let turn = 0; turn < 12; turn++) several.wait();
  same([several.of("answered"), several.now > 5000], [[], true]);
  // Now B takes the shard.
  several.owners.set(NAV, B);
  for (let turn = 0; turn < 6 && !several.of("answered").length; turn++) several.wait();
  same(several.of("answered").map((answer) => answer.id), [id]);
};

claims["an op that was posted before a gateway was lost is sent again to another, and says so"] = () => {
  const several = new Several([A, B]);
  several.onMessage = (at, verb) => verb === "op" && at === A ? [] : undefined;
  const [old, young] = [several.request(), several.request("other")];
  several.owners.set(NAV, B).set("other", B);
  several.down.add(A);
  several.lose(A);
  several.wait();
  same(several.of("answered").map(({ id, ok }) => [id, ok.nav]), [[old, NAV], [young, "other"]]);
  const again = several.sent.filter(([at, verb]) => at === B && verb === "op").map(([, , body]) => body.again);
  same(again, [0, 0]);
};

claims["rule 3: an op that may have run goes to no daemon that knows the client by another name"] = () => {
  const you = (principal) => ({ you: { ...WELCOME.you, principal } });
  for (const [former, latter, isRepeated] of [["uid:1@m", "uid:1@m", true], ["uid:1@a/till", "uid:1@b/till", false]]) {
    const [from, to] = [new Opened(), new Opened()];
    for (const [each, principal] of [[from, former], [to, latter]]) each.reopen(0, you(principal));
    const [op, refused] = ["op", "op"].map((verb, at) => from.session.request(verb, [NAV, "far"][at], { do: PUSH }));
    const read = from.session.request("get", NAV, {});
    from.sent();
    from.session.hold("far", Infinity);
    from.receive("err", { id: refused, ...elsewhere("far", B) });
    for (const nav of [NAV, "far"]) to.session.adopt(nav, from.session.surrender(nav), 0);
    const actions = to.session.takeActions();
    const failed = actions.filter(({ kind }) => kind === "answered").map(({ id, err }) => [id, err.code, err.effect]);
    same(failed, isRepeated ? [] : [[op, "op-too-old", "unknown"]]);
    const ids = actions.filter(({ kind }) => kind === "send").map(({ line }) => JSON.parse(line)[1].id);
    // The read waits until the daemon has answered the op.
    same(ids, isRepeated ? [op, refused] : [read, refused]);
  }
};

claims["an op that moved without an answer says what the client had seen, a refused one is new"] = () => {
  const [from, to] = [new Opened(), new Opened()];
  const [posted, fresh] = [from.session.request("op", NAV, { do: PUSH }), from.session.request("op", "far", { do: PUSH })];
  from.sent();
  from.session.hold("far", Infinity);
  to.session.adopt(NAV, from.session.surrender(NAV), to.now);
  same(to.sent().map(([verb, { id, again }]) => [verb, id, again]), [["op", posted, 0]]);
  // One that its daemon has refused, because the nav is elsewhere, is as if it was never sent.
  from.receive("err", { id: fresh, ...elsewhere("far", B) });
  to.session.adopt("far", from.session.surrender("far"), to.now);
  same(to.sent().map(([verb, { id, again }]) => [verb, id, again]), [["op", fresh, undefined]]);
};

claims["roles and a display are taken again where the nav went, and a question of before is void"] = () => {
  const several = new Several();
  several.cluster.watch(NAV);
  several.cluster.delegate(NAV, { roles: ["veto"] });
  several.cluster.lease(NAV, false);
  several.run();
  several.tell(A, "ask", { ask: 1, nav: NAV, within: 1000, q: { shouldPop: {} } });
  several.moves(NAV, B);
  same(several.sent.slice(-3).map(([at, verb]) => [at, verb]), [[B, "watch"], [B, "delegate"], [B, "lease"]]);
  several.cluster.answer(NAV, 1, true);
  several.run();
  same([several.of("settled").length, several.way("answer")], [1, []]);
  same(several.of("duty").map(({ err }) => err), [undefined, undefined, undefined, undefined]);
};

claims["a daemon without a gateway cannot be reached by a page: its navs fail, and nothing else"] = () => {
  const several = new Several();
  several.cluster.watch(NAV);
  several.run();
  several.onMessage = (at, verb, { id, nav }) => verb === "op" && nav === NAV
    ? [["err", { id, ...elsewhere(nav, B), web: undefined }]] : undefined;
  several.request();
  const [{ err }] = several.of("answered");
  same([err.code, err.retry, err.endpoint, err.effect], ["moved", "same", "tcp://b.test:1", "none"]);
  same(several.of("watchEnded").map((each) => each.err.code), ["moved"]);
  for (const web of ["javascript:alert(1)", "ftp://b.test", "http://", "b.test", 7, null]) {
    several.onMessage = (at, verb, { id, nav }) => verb === "op" && nav === NAV
      ? [["err", { id, ...elsewhere(nav, B), web }]] : undefined;
    several.request();
    same(several.of("answered").at(-1).err.code, "moved", `${web}:`);
  }
  several.request("near");
  same([several.of("answered").at(-1).ok.nav, several.opened], ["near", [A]]);
};

claims["a gateway that refuses the token takes its navs with it, and the client ends with the last gateway"] = () => {
  const several = new Several();
  several.owners.set(NAV, C);
  const refused = new NavigationError("unauthorized", "the gateway does not know the token");
  several.openStream = (at) => {
    several.opened.push(at);
    if (at === C) several.cluster.refused(at, refused, several.now);
    else Object.getPrototypeOf(several).openStream.call(several, at);
  };
  const failed = [several.request(), several.request()].map((id) => several.of("answered").find((each) => each.id === id).err.code);
  same(failed, ["unauthorized", "unauthorized"]);
  same(several.opened, [A, C]);
  const near = several.request("near");
  same(several.of("answered").at(-1).id, near);
  several.cluster.refused(A, refused, several.now);
  several.run();
  same([several.opened.at(-1), several.of("closed").length], [B, 0]);
  several.cluster.refused(B, refused, several.now);
  several.run();
  same(several.of("closed").map(({ error }) => error.code), ["unauthorized"]);
};

claims["two gateways that lead to one daemon share a session, and another process with the identity ends it"] = () => {
  const several = new Several();
  several.onMessage = (_, verb, { nonce }) =>
    verb === "hello" ? [["welcome", { ...WELCOME, boot: "same", nonce }]] : undefined;
  several.lose(A);
  several.wait();
  several.cluster.watch(NAV);
  several.run();
  several.owners.set("far", B).set(NAV, B);
  several.request("far");
  several.tell(A, "bye", { why: "fenced" });
  several.run();
  same([several.of("closed"), several.status], [[], "connected"]);
  same(several.sent.at(-1).slice(0, 2), [B, "watch"]);
  const single = new Several([A]);
  single.tell(A, "bye", { why: "fenced" });
  single.run();
  same(single.of("closed").map(({ error }) => error.reason), ["fenced"]);
};

claims["a stream that leads to another daemon than that of its gateway is replaced"] = () => {
  const several = new Several([A]);
  let streams = 1;
  several.onMessage = (at, verb, { id, nav }) => {
    if (verb === "hello") streams += 1;
    return verb === "op" && streams < 2 ? [["err", { id, ...elsewhere(nav, A) }]] : undefined;
  };
  const id = several.request();
  for (let turn = 0; turn < 4 && !several.of("answered").length; turn++) several.wait();
  same([several.of("answered")[0].id, several.opened], [id, [A, A]]);
};

claims["a session that no nav needs ends, and the first one stays"] = () => {
  const several = new Several();
  several.owners.set("far", B);
  several.request("far");
  same([...several.streams.keys()], [A, B]);
  same(several.wait() >= 10_000, true);
  same([...several.streams.keys()], [A]);
  several.request("far");
  same(several.way("op").map(([at]) => at), [A, B, B]);
};

claims["a page that is put aside ends all sessions, and goes on where its navs are"] = () => {
  const several = new Several();
  several.owners.set("far", B);
  several.cluster.watch("far");
  several.run();
  several.streams.clear();
  several.cluster.stop(several.now);
  several.run();
  same([several.status, several.cluster.wakeAt], ["disconnected", Infinity]);
  several.cluster.start(several.now);
  several.run();
  same([several.status, several.way("watch").map(([at]) => at)], ["connected", [A, B, B]]);
};

claims["ops of one nav never overtake each other on their way"] = () => {
  // Its owner changes behind every tenth op that was performed, while further ones are on their way.
  const owners = [A, B, null, C];
  const several = new Several([A, B, C]);
  const done = [];
  several.onMessage = (at, verb, { id, nav }) => {
    if (verb !== "op") return undefined;
    const owner = owners[0];
    if (owner !== at) return [["err", { id, ...elsewhere(nav, owner) }]];
    done.push(id);
    if (done.length % 10 === 0 && owners.length > 1) owners.shift();
    return [["ok", { id, nav, epoch: "e", rev: id }]];
  };
  const ids = Array.from({ length: 40 }, () => several.cluster.request("op", NAV, { do: PUSH }));
  several.run();
  same(owners, [null, C]);
  several.wait();
  owners.shift();
  for (let turn = 0; turn < 20 && several.of("answered").length < ids.length; turn++) several.wait();
  same(done, ids);
  same(several.of("answered").map(({ id }) => id), ids);
};

/** Numbers from 0 to 1, the same ones for the same seed. */
function numbers(seed) {
  let state = seed;
  return () => {
    state = Math.imul(state, 1103515245) + 12345 >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** A cluster in which navs move, gateways end and answers get lost, as the numbers of a seed say. */
class Chaos extends Several {
  navs = ["one", "two", "three"];
  /** The ops that each nav has seen, and the answers that its daemons remember. */
  performed = new Map(this.navs.map((nav) => [nav, []]));
  remembered = new Map();

  constructor(seed) {
    const random = numbers(seed);
    super([A, B, C], { random });
    this.random = random;
    for (const nav of this.navs) this.owners.set(nav, this.one([A, B, C]));
  }

  one(list) { return list[Math.floor(this.random() * list.length)]; }

  answers(gateway, verb, body) {
    if (verb !== "op" || this.owners.get(body.nav) !== gateway) return super.answers(gateway, verb, body);
    const known = this.remembered.get(body.id);
    const { again, ...first } = body;
    if (!known) {
      this.performed.get(body.nav).push(body.id);
      this.remembered.set(body.id, JSON.stringify(first));
      this.rev += 1;
    } else {
      same([JSON.stringify(first), again !== undefined], [known, true], "the same octets, and marked:");
    }
    // The answer may be lost with the stream.
    if (this.random() < 0.2) this.lost = gateway;
    return this.lost === gateway ? [] : super.answers(gateway, verb, body);
  }

  disturb() {
    const [nav, gateway] = [this.one(this.navs), this.one([A, B, C])];
    switch (Math.floor(this.random() * 6)) {
      case 0: this.moves(nav, gateway); break;
      case 1: this.moves(nav, null); break;
      case 2: this.owners.set(nav, gateway); break;
      case 3: if (this.streams.has(gateway)) this.lose(gateway); break;
      case 4: this.down = new Set([gateway]); if (this.streams.has(gateway)) this.lose(gateway); break;
      case 5: this.down.clear(); break;
    }
  }

  /** Gives each nav a daemon, and each daemon a gateway. */
  mend() {
    this.down.clear();
    for (const nav of this.navs) if (this.owners.get(nav) === null) this.owners.set(nav, A);
  }

  /** Loses the stream whose answers were lost; the messages behind them too. */
  settle() {
    if (this.lost && this.streams.has(this.lost)) this.lose(this.lost);
    this.lost = null;
  }
}

claims["whatever moves and ends, each op happens once, in order, and every answer comes"] = () => {
  for (let seed = 1; seed <= 200; seed++) {
    const chaos = new Chaos(seed);
    for (const nav of chaos.navs) chaos.cluster.watch(nav);
    chaos.cluster.lease("one", false);
    chaos.run();
    const wanted = new Map(chaos.navs.map((nav) => [nav, []]));
    for (let count = 0; count < 30; count++) {
      const nav = chaos.one(chaos.navs);
      const id = chaos.request(nav);
      wanted.get(nav).push(id);
      for (let turn = 0; !chaos.of("answered").some((answer) => answer.id === id); turn++) {
        if (turn > 200) throw new Error(`seed ${seed}: no answer to ${id}, ${[...chaos.owners]}, down ${[...chaos.down]}`);
        chaos.settle();
        if (turn < 4) chaos.disturb();
        if (turn >= 4) chaos.mend();
        chaos.wait();
      }
    }
    same([...chaos.performed], [...wanted], `seed ${seed}:`);
    same(chaos.of("answered").filter(({ err }) => err), [], `seed ${seed}:`);
    // At last every mirror is right, and the display is held.
    chaos.mend();
    const isQuiet = () => chaos.navs.every((nav) => chaos.cluster.mirror(nav)?.isSynced);
    for (let turn = 0; turn < 50 && !isQuiet(); turn++) chaos.wait();
    same([isQuiet(), chaos.of("watchEnded"), chaos.of("closed")], [true, [], []], `seed ${seed}:`);
  }
};

claims["the token of a client can be a function of the gateway's address"] = async (gateway) => {
  const asked = [];
  const client = gateway.client({ gateways: [`${location.origin}/`], token: async (address) => { asked.push(address); return "x"; } });
  await until("connected", () => client.status === "connected");
  same(asked, [location.origin]);
};

claims["gateways are addresses, and not beside url"] = async (gateway) => {
  for (const options of [{ gateways: [] }, { gateways: A }, { gateways: ["http://:"] }, { url: A, gateways: [B] }]) {
    same(thrown(() => gateway.client(options)) instanceof TypeError, true, JSON.stringify(options));
  }
};
