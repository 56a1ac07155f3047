"""A cluster in memory: the obvious daemons, lossy connections, and a clock that the test sets.

`World` has navs, their owners and the ops that daemons remember. `User` is one client of the package's core with
its connections. Everything happens by calls, in an order that a seed decides.
"""
import hashlib
import json
import re
import zlib

import setting  # noqa: F401 - the path of the package
from navd.core import Address, Cluster, Options
from navd.core.actions import (
    Answered, Closed, Drop, DutyChanged, Open, Send, Shown, WatchEnded)

CREDIT = ("snap", "diff", "diffs", "latest", "event")


def naive_checksum(screens):
    """The checksum in one line; a nav of the twin has no parts."""
    return "%08x" % zlib.crc32("\n".join(f"{each['id']}@{each['ver']}" for each in screens).encode())


class Nav:
    """A nav with all states that it ever had."""

    def __init__(self, name, epoch):
        self.name, self.epoch, self.rev, self.screens, self.diffs = name, epoch, 0, [], {}
        self.history, self.performed, self.digests = {}, [], {0: ""}
        self.change([], [{"id": "home", "title": "Home"}], 0)

    @property
    def dig(self):
        return self.digests[self.rev]

    @property
    def top(self):
        return self.screens[-1]["id"] if self.screens else None

    def position(self):
        return {"nav": self.name, "epoch": self.epoch, "rev": self.rev, "dig": self.dig}

    def change(self, gone, new, at):
        base, self.rev = self.rev, self.rev + 1
        new = [{**each, "ver": self.rev} for each in new]
        self.screens = self.screens[:at] + new + self.screens[at + len(gone):]
        self.history[self.rev] = json.dumps(self.screens)
        chain = f"{self.epoch} {self.digests[base]} {self.history[self.rev]}"
        self.digests[self.rev] = naive_checksum(self.screens) + hashlib.sha256(chain.encode()).hexdigest()[:16]
        self.diffs[self.rev] = {**self.position(), "base": base, "seq": 0, "cause": "api", "depth": len(self.screens),
                                "ch": [{"at": at, "del": gone, "ins": new}], "ev": []}

    def perform(self, client, body):
        """The answer to an op: one push, or one pop with a guard."""
        guard, (operation,) = body.get("if", {}), body["do"]
        common = {**self.position(), "id": body["id"]}
        if guard.get("epoch", self.epoch) != self.epoch or guard.get("top", self.top) != self.top:
            return "err", {**common, "code": "desync", "effect": "none", "retry": "resync", "msg": "no"}
        if "push" in operation:
            self.change([], [operation["push"]["screen"]], len(self.screens))
        elif len(self.screens) > 1:
            self.change([self.top], [], len(self.screens) - 1)
        self.performed.append((client, body["id"]))
        return "ok", {**self.position(), "id": body["id"], "changed": True, "depth": len(self.screens), "out": [{}]}


class World:
    """The daemons by their endpoints."""

    def __init__(self, rng, endpoints, resumable=8):
        self.rng, self.resumable, self.now = rng, resumable, 1000.0
        self.up = dict.fromkeys(endpoints, True)
        self.boots = dict.fromkeys(endpoints, 0)
        self.navs, self.owners, self.remembered, self.users = {}, {}, {}, []

    def create(self, name, owner):
        self.navs[name], self.owners[name] = Nav(name, f"{self.rng.getrandbits(64):016x}"), owner

    def move(self, name, owner):
        former, self.owners[name] = self.owners[name], owner
        place = {"endpoint": owner} if owner and self.rng.random() < 0.8 else {}
        for connection in self.connections(former):
            for key in [key for key in connection.watches if key[0] == name]:
                del connection.watches[key]
                connection.put("end", {**self.navs[name].position(), "view": key[1], "why": "moved", **place})
            duties = [key for key in connection.duties if key[0] == name]
            for key in duties:
                connection.duties.discard(key)
            if duties:
                connection.put("end", {**self.navs[name].position(), "view": "full", "why": "moved", **place})

    def connections(self, endpoint):
        return [user.connections[endpoint] for user in self.users if endpoint in user.connections]

    def kill(self, endpoint):
        self.up[endpoint] = False
        for connection in self.connections(endpoint):
            connection.user.cut(endpoint)

    def start(self, endpoint):
        self.up[endpoint] = True
        self.boots[endpoint] += 1

    def holder(self, name):
        return next((connection for endpoint in self.up for connection in self.connections(endpoint)
                     if (name, "lease") in connection.duties), None)

    def publish(self, nav):
        for connection in self.connections(self.owners[nav.name]):
            connection.pump(nav)

    def force(self, name):
        """Takes the display of a nav from the session that has it."""
        holder = self.holder(name)
        if holder:
            holder.duties.discard((name, "lease"))
            holder.put("lost", {"nav": name, "of": "lease", "code": "lease-lost", "msg": "taken by force"})


class Connection:
    """An ordered pipe in both directions, and the session of a daemon at its other end."""

    def __init__(self, user, endpoint):
        self.user, self.world, self.endpoint = user, user.world, endpoint
        self.up, self.down = [], []
        self.is_open, self.watches, self.duties = False, {}, set()

    def put(self, verb, body):
        self.down.append((verb, json.dumps(body)))

    def take(self):
        """Lets the daemon handle the oldest message."""
        verb, octets = self.up.pop(0)
        body = json.loads(octets)
        if verb == "hello":
            self.is_open = True
            ids = [id for client, id in self.world.remembered if client == body["client"]]
            self.put("welcome", {"ver": 1, "nonce": body["nonce"], "hb": body["hb"], "features": ["shards"],
                                 "boot": f"{self.endpoint}{self.world.boots[self.endpoint]}", "you": {},
                                 "ops": {"last": max(ids, default=0)}, "limits": {"inflight": 8}})
        elif verb not in ("credit", "bye"):
            self.decide(verb, body, octets)

    def decide(self, verb, body, octets):
        name, id = body.get("nav"), body["id"]
        if verb == "ping":
            return self.put("pong", {"id": id, "boot": "", "t": 0})
        if verb == "unwatch":
            self.watches.pop((name, body["view"]), None)
            return self.put("ok", {"id": id})
        owner = self.world.owners[name]
        if owner is None:
            return self.put("err", {"id": id, "nav": name, "code": "busy", "reason": "no-owner", "retry": "later",
                                    "effect": "none", "msg": "nobody", "after": 50})
        if owner != self.endpoint:
            return self.put("err", {"id": id, "nav": name, "code": "moved", "retry": "same", "effect": "none",
                                    "msg": "elsewhere", "endpoint": owner})
        nav = self.world.navs[name]
        return getattr(self, verb)(nav, body, octets)

    def watch(self, nav, body, _):
        start = body.get("from")
        is_right = start and start["epoch"] == nav.epoch and 0 <= nav.rev - start["rev"] <= self.world.resumable
        if is_right and nav.digests[start["rev"]] == start["dig"]:
            self.watches[nav.name, body["view"]] = start["rev"]
            self.put("ok", {"id": body["id"], "nav": nav.name, "mode": "resume", "epoch": nav.epoch, "rev": nav.rev})
            return self.pump(nav)
        self.watches[nav.name, body["view"]] = nav.rev
        self.put("ok", {"id": body["id"], "nav": nav.name, "mode": "snap", "epoch": nav.epoch, "rev": nav.rev})
        size = self.world.rng.choice([1, 2, 100])
        for index in range(0, len(nav.screens), size):
            self.put("snap", {**nav.position(), "kind": "controller", "i": index, "why": "join",
                              "last": index + size >= len(nav.screens), "screens": nav.screens[index:index + size]})
        return None

    def pump(self, nav):
        """Sends the diffs that a watch has not got."""
        at = self.watches.get((nav.name, "full"))
        if at is None:
            return
        diffs = [nav.diffs[rev] for rev in range(at + 1, nav.rev + 1)]
        self.watches[nav.name, "full"] = nav.rev
        if len(diffs) > 1 and self.world.rng.random() < 0.5:
            self.put("diffs", {"nav": nav.name, "list": diffs})
        else:
            for diff in diffs:
                self.put("diff", diff)

    def op(self, nav, body, octets):
        key = self.user.client, body["id"]
        octets = re.sub(r',"again":\d+}$', "}", octets)
        if key in self.world.remembered:
            known, (verb, answer) = self.world.remembered[key]
            assert known == octets, "other octets with the same id"
            return self.put(verb, answer)
        answer = nav.perform(self.user.client, body)
        self.world.remembered[key] = octets, answer
        self.world.publish(nav)
        return self.put(*answer)

    def get(self, nav, body, _):
        self.put("ok", {"id": body["id"], "nav": nav.name, "epoch": nav.epoch, "rev": nav.rev, "value": nav.rev})

    def delegate(self, nav, body, _):
        (self.duties.add if body["roles"] else self.duties.discard)((nav.name, "delegate"))
        self.put("ok", {"id": body["id"], "nav": nav.name})

    def lease(self, nav, body, _):
        holder = self.world.holder(nav.name)
        if not body["take"]:
            self.duties.discard((nav.name, "lease"))
        elif holder not in (None, self) and not body.get("force"):
            return self.put("err", {"id": body["id"], "nav": nav.name, "code": "lease-lost", "retry": "resync",
                                    "effect": "none", "msg": "taken"})
        else:
            if holder not in (None, self):
                self.world.force(nav.name)
            self.duties.add((nav.name, "lease"))
        return self.put("ok", {"id": body["id"], "nav": nav.name, "owner": None})


class User:
    """A client: the core of the package, and connections that can be cut."""

    def __init__(self, world, seeds, number):
        self.world, self.client, self.connections = world, f"{number:032x}", {}
        options = Options(self.client, f"user{number}", window=16384, heartbeat=1.0, random=world.rng)
        self.cluster = Cluster([Address(seed) for seed in seeds], options)
        self.answers, self.asked, self.shown, self.ended, self.duties, self.closed = {}, {}, {}, {}, {}, None
        self.opening = []
        world.users.append(self)
        self.cluster.start(world.now)
        self.act()

    def act(self):
        for action in self.cluster.take():
            if isinstance(action, Send):
                if action.endpoint in self.connections:
                    self.connections[action.endpoint].up.append((action.verb, action.body.decode()))
            elif isinstance(action, Open):
                self.opening.append(action.address.endpoint)
            elif isinstance(action, Drop):
                self.connections.pop(action.endpoint, None)
            elif isinstance(action, Answered):
                assert action.id not in self.answers, "a second answer"
                self.answers[action.id] = action
            elif isinstance(action, Shown):
                self.check(action)
            elif isinstance(action, WatchEnded):
                self.ended[action.nav] = action
            elif isinstance(action, DutyChanged):
                self.duties[action.nav, action.kind] = action
            elif isinstance(action, Closed):
                self.closed = action.error

    def check(self, shown):
        """Law: each state that is shown is one that the nav had, whole."""
        state, nav = shown.value, self.world.navs[shown.nav]
        assert state.epoch == nav.epoch
        assert json.dumps([screen.record for screen in state.screens]) == nav.history[state.rev], "another state"
        last = self.shown.get(shown.nav, 0)
        assert state.rev >= last, "an earlier state"
        self.shown[shown.nav] = state.rev

    def open(self):
        """Connects to the oldest address that waits for it."""
        endpoint = self.opening.pop(0)
        if not self.world.up[endpoint]:
            self.cluster.lost(endpoint, self.world.now)
        else:
            self.connections[endpoint] = Connection(self, endpoint)
            self.cluster.connected(endpoint, self.world.now)
        self.act()

    def cut(self, endpoint):
        """Loses a connection with what is under way."""
        del self.connections[endpoint]
        self.cluster.lost(endpoint, self.world.now)
        self.act()

    def receive(self, endpoint, change=lambda verb, body: body):
        connection = self.connections[endpoint]
        verb, octets = connection.down.pop(0)
        body = change(verb, json.loads(octets))
        self.cluster.receive(endpoint, verb, body, len(octets), self.world.now)
        self.act()
        self.cluster.applied()
        self.act()

    def tick(self):
        self.cluster.tick(self.world.now)
        self.act()

    def ask(self, verb, nav, members):
        id = self.cluster.request(verb, nav, members)
        self.asked[id] = verb, nav
        self.act()
        return id
