"""Daemons of a cluster by a script (docs/protocol.md §17): as much of NSP/1 as clients need that follow navs.

`Shards` has the navs, the ops that it remembers, and who has which nav. Each `Member` is a ROUTER in a thread of its
own. A test moves navs, takes their owner away, and stops members; what each member got is in `received`.
"""
import binascii
import copy
import json
import os
import re
import threading
import time

import zmq

import nsp


class Nav:
    """One nav, with all its diffs."""

    def __init__(self, name):
        self.name, self.epoch, self.rev, self.screens = name, os.urandom(8).hex(), 1, [{"id": "home", "ver": 1}]
        self.diffs, self.digests = {}, {1: self.digest()}

    def digest(self):
        return nsp.checksum(self.screens, {}) + f"{binascii.crc32(str(self.screens).encode()):016x}"

    @property
    def dig(self):
        return self.digests[self.rev]

    def position(self):
        return {"nav": self.name, "epoch": self.epoch, "rev": self.rev, "dig": self.dig}

    def change(self, at, gone, new):
        """Makes a revision of a splice; returns its diff."""
        base, self.rev = self.rev, self.rev + 1
        new = [{**each, "ver": self.rev} for each in new]
        self.screens = self.screens[:at] + new + self.screens[at + len(gone):]
        self.digests[self.rev] = self.digest()
        ev = [{"didPush": {"screen": each["id"]}} for each in new] + [{"didPop": {"screen": each}} for each in gone]
        self.diffs[self.rev] = {**self.position(), "base": base, "seq": self.rev, "cause": "api", "ev": ev,
                                "ch": [{"at": at, "del": gone, "ins": new}], "depth": len(self.screens)}
        return self.diffs[self.rev]

    def snap(self):
        return {**self.position(), "kind": "controller", "i": 0, "last": True, "why": "join",
                "screens": copy.deepcopy(self.screens)}


class Shards:
    """A cluster of members by name."""

    def __init__(self, directory, names="ab", web=None):
        self.lock, self.directory, self.web = threading.RLock(), directory, web or {}
        self.navs, self.owners, self.remembered, self.log = {}, {}, {}, []
        self.members = {}
        for name in names:
            self.start(name)

    def endpoint(self, name):
        return f"ipc://{self.directory}/{name}"

    def start(self, name):
        self.members[name] = Member(self, name)

    def stop(self, name):
        self.members.pop(name).close()

    def close(self):
        for name in list(self.members):
            self.stop(name)

    def create(self, nav, owner):
        with self.lock:
            self.navs[nav], self.owners[nav] = Nav(nav), owner

    def move(self, nav, to, *, is_named=True):
        """Gives a nav to another member, or to nobody; its watches end as §17 says."""
        with self.lock:
            former, self.owners[nav] = self.owners[nav], to
            if former in self.members:
                self.members[former].drop(nav, self.place(to) if is_named and to else {})

    def place(self, name):
        """The members of `moved` for an owner."""
        return {"endpoint": self.endpoint(name), **({"web": self.web[name]} if name in self.web else {})}

    def received(self, verb, nav=None):
        """The messages of a verb in order, as (member, client, octets)."""
        with self.lock:
            return [(member, client, body) for member, client, each, body in self.log
                    if each == verb and (nav is None or json.loads(body).get("nav") == nav)]


class Member:
    """One daemon."""

    def __init__(self, shards, name):
        self.shards, self.name = shards, name
        self.sessions, self.watches, self.duties = {}, {}, {}
        #: A call with (verb, body): true if the message gets lost with its answer, after it was performed.
        self.loses = lambda verb, body: False
        #: A call with (verb, body): an answer (verb, members) in place of the daemon's own, or None.
        self.instead = lambda verb, body: None
        self.is_over, self.outgoing = False, []
        self.sock = zmq.Context.instance().socket(zmq.ROUTER)
        self.sock.setsockopt(zmq.LINGER, 0)
        self.sock.bind(shards.endpoint(name))
        self.wake, self.woken = (zmq.Context.instance().socket(zmq.PAIR) for _ in range(2))
        address = f"inproc://{os.urandom(8).hex()}"
        self.woken.bind(address)
        self.wake.connect(address)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self):
        with self.shards.lock:
            self.is_over = True
            self.wake.send(b"")
        self.thread.join()
        self.wake.close(0)

    def run(self):
        poller, marked = zmq.Poller(), 0.0
        for sock in (self.sock, self.woken):
            poller.register(sock, zmq.POLLIN)
        while True:
            poller.poll(200)
            with self.shards.lock:
                while self.woken.poll(0):
                    self.woken.recv()
                if self.is_over:
                    break
                while self.sock.poll(0):
                    peer, frame, body = self.sock.recv_multipart()
                    self.receive(peer, frame[5:].decode(), body)
                if time.monotonic() > marked + 1:
                    marked = time.monotonic()
                    for peer in self.sessions:
                        self.send(peer, "mark", {"t": 0, "at": []})
                for peer, verb, members in self.outgoing:
                    self.sock.send_multipart([peer, b"nsp1." + verb.encode(), json.dumps(members).encode()])
                self.outgoing.clear()
        for sock in (self.sock, self.woken):
            sock.close(0)

    def send(self, peer, verb, members):
        self.outgoing.append((peer, verb, members))

    def drop(self, nav, place):
        """Ends what sessions have of a nav that moves away; any thread may call it."""
        with self.shards.lock:
            where = self.shards.navs[nav].position()
            for peer, each, view in [key for key in self.watches if key[1] == nav]:
                del self.watches[peer, each, view]
                self.send(peer, "end", {**where, "view": view, "why": "moved", **place})
            self.duties = {key: value for key, value in self.duties.items() if key[1] != nav}
            self.wake.send(b"")

    def receive(self, peer, verb, octets):
        body = json.loads(octets)
        client = body["client"] if verb == "hello" else self.sessions.get(peer)
        self.shards.log.append((self.name, client, verb, octets))
        if verb == "hello":
            self.sessions[peer] = client
            ids = [each for known, each in self.shards.remembered if known == client]
            return self.send(peer, "welcome", {
                "ver": 1, "nonce": body["nonce"], "boot": self.name * 16, "server": "shards.py", "features": [],
                "hb": body.get("hb", 5000), "you": {}, "ops": {"last": max(ids, default=0)},
                "limits": {"message": 65536, "inflight": 64, "watches": 1024, "depth": 64, "window": 65536}})
        if verb in ("credit", "answer"):
            return None
        answers = self.instead(verb, body) or self.decide(peer, client, verb, body, octets)
        if not self.loses(verb, body):
            for kind, members in answers:
                self.send(peer, kind, members)
        return None

    def decide(self, peer, client, verb, body, octets):
        id, nav = body["id"], body.get("nav")
        if client is None:
            return [("err", {"id": id, "code": "no-session", "retry": "same"})]
        if verb in ("unwatch", "bye", "ping"):
            self.watches.pop((peer, nav, body.get("view", "full")), None)
            return [("ok", {"id": id})]
        if nav is None:
            return [("ok", {"id": id, "value": {"member": self.name, "shards": 1024}})]
        owner = self.shards.owners.get(nav)
        if owner != self.name:
            return [("err", {"id": id, "nav": nav, "msg": "not here", "effect": "none", **self.elsewhere(nav, owner)})]
        return getattr(self, verb)(peer, client, self.shards.navs[nav], body, octets)

    def elsewhere(self, nav, owner):
        if nav not in self.shards.owners:
            return {"code": "no-nav", "retry": "no"}
        if owner is None:
            return {"code": "busy", "reason": "no-owner", "retry": "later", "after": 20}
        return {"code": "moved", "retry": "same", **self.shards.place(owner)}

    def watch(self, peer, _, nav, body, __):
        view, start = body.get("view", "full"), body.get("from")
        self.watches[peer, nav.name, view] = nav.rev
        if view != "full":
            return [("ok", {**nav.position(), "id": body["id"], "mode": "latest"}),
                    ("latest", {"nav": nav.name, "view": view, "epoch": nav.epoch, "rev": nav.rev, "value": None})]
        if start and start["epoch"] == nav.epoch and nav.digests.get(start["rev"]) == start["dig"]:
            missed = [("diff", nav.diffs[rev]) for rev in range(start["rev"] + 1, nav.rev + 1)]
            return [("ok", {"id": body["id"], "nav": nav.name, "mode": "resume", "epoch": nav.epoch, "rev": nav.rev}),
                    *missed]
        return [("ok", {"id": body["id"], "nav": nav.name, "mode": "snap", "why": "join", "epoch": nav.epoch,
                        "rev": nav.rev}), ("snap", nav.snap())]

    def get(self, _, __, nav, body, ___):
        return [("ok", {**nav.position(), "id": body["id"], "value": nav.snap()})]

    def delegate(self, peer, _, nav, body, __):
        self.duties[peer, nav.name, "delegate"] = body["roles"]
        return [("ok", {"id": body["id"], "nav": nav.name})]

    def lease(self, peer, client, nav, body, _):
        self.duties[peer, nav.name, "lease"] = body["take"]
        return [("ok", {"id": body["id"], "nav": nav.name, "owner": client if body["take"] else None})]

    def op(self, peer, client, nav, body, octets):
        key = client, body["id"]
        checksum = binascii.crc32(re.sub(rb',\s*"again":\s*\d+}$', b"}", octets))
        if key in self.shards.remembered:
            known, answer = self.shards.remembered[key]
            if known == checksum:
                return [answer]
            return [("err", {"id": body["id"], "code": "op-reused", "retry": "no", "effect": "none"})]
        answer = self.perform(nav, body)
        self.shards.remembered[key] = checksum, answer
        return [answer]

    def perform(self, nav, body):
        guard, (operation,) = body.get("if", {}), body["do"]
        top = nav.screens[-1]["id"] if nav.screens else None
        if guard.get("top", top) != top or guard.get("epoch", nav.epoch) != nav.epoch:
            return "err", {**nav.position(), "id": body["id"], "code": "desync", "retry": "resync", "effect": "none",
                           "msg": "the guard does not hold"}
        if "push" in operation:
            screen = operation["push"]["screen"]
            screen = {**screen, "id": screen.get("id", f"s{nav.rev + 1}.0")}
            diff, out = nav.change(len(nav.screens), [], [screen]), {"pushed": screen["id"]}
        else:
            diff, out = nav.change(len(nav.screens) - 1, [top], []), {"popped": top}
        for peer, name, view in self.watches:
            if name == nav.name and view == "full":
                self.send(peer, "diff", diff)
        return "ok", {**nav.position(), "id": body["id"], "changed": True, "depth": len(nav.screens),
                      "top": nav.screens[-1]["id"] if nav.screens else None, "out": [out]}
