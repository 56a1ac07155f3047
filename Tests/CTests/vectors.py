"""Runs the vectors of docs/vectors.md through libnavd: this plays the daemon on a ROUTER of its own for each."""
import json
import os
import re
import time

import zmq

import navdlib as navd
from navdlib import ACTIVITY, ANSWER, CONNECTED, DISCONNECTED, DISPLAY, ENDED, STATE, SUSPECT

KINDS = {"row", "watch", "damage", "text", "digest"}
PARTS = ["bar", "toolbar", "presented", "transition", "environment", "settings"]
RETRIES = {"no": 0, "same": 1, "resync": 2, "later": 3}
# The answers to changes of this nav show that the client has read everything before.
BARRIER = "barrier"


class Failed(Exception):
    pass


def need(holds, *why):
    if not holds:
        raise Failed(*why)


def same(a, b):
    """Equal as JSON: numbers as doubles, texts by code points, own members only."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return float(a) == float(b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def summary(state):
    if state is None:
        return None
    ids = [screen["id"] for screen in state["screens"]]
    chain = [each["screen"]["id"] for each in state.get("presented", {}).get("chain", [])]
    return {"epoch": state["epoch"], "rev": state["rev"], "dig": state["dig"], "screens": ids, "presented": chain,
            "top": ids[-1] if ids else None, "visible": (chain or ids or [None])[-1]}


class Daemon:
    """The daemon's side of one vector, and the client at the other."""

    def __init__(self, directory, number):
        self.path = os.path.join(directory, str(number))
        self.router, self.peer = None, None
        self.bind()
        self.client = navd.Client(f"ipc://{self.path}", name="vectors", timeout=0, heartbeat=60000)
        self.sent, self.barriers = [], []
        self.opened()
        self.barrier = self.client.submit(BARRIER, {"pop": {}})

    def bind(self):
        self.router = zmq.Context.instance().socket(zmq.ROUTER)
        self.router.setsockopt(zmq.LINGER, 0)
        self.router.bind(f"ipc://{self.path}")

    def close(self):
        self.router.close()
        # A client without a session says no farewell, which nobody would answer here.
        self.wait("the loss", lambda: self.take(DISCONNECTED))
        self.client.close()

    def send(self, verb, body):
        self.router.send_multipart([self.peer, b"nsp1." + verb.encode(), body.encode()])

    def read(self):
        while not self.router.closed and self.router.poll(0):
            peer, verb, body = self.router.recv_multipart()
            verb, body = verb.decode().removeprefix("nsp1."), json.loads(body)
            if verb == "hello":
                self.peer = peer
                self.send("welcome", json.dumps({
                    "ver": 1, "nonce": body["nonce"], "boot": "0000000000000001", "server": "vectors", "hb": 60000,
                    "ops": {"last": 0}, "limits": {"message": 65536, "window": 65536}}))
            elif verb == "op" and body["nav"] == BARRIER:
                self.barriers.append(body["id"])
            elif verb not in ("credit", "ping", "bye"):
                self.sent.append((verb, body))

    def wait(self, what, condition):
        """Serves both sides until the condition holds."""
        end = time.monotonic() + navd.DEADLINE
        poller = zmq.Poller()
        poller.register(navd.lib.navd_fd(self.client.handle), zmq.POLLIN)
        if not self.router.closed:
            poller.register(self.router, zmq.POLLIN)
        while True:
            self.client.pump()
            self.read()
            value = condition()
            if value:
                return value
            left = end - time.monotonic()
            need(left > 0, f"not within {navd.DEADLINE:g} s: {what}", self.client.events, self.sent)
            poller.poll(left * 1000)

    def take(self, kind):
        for index, event in enumerate(self.client.events):
            if event.kind == kind:
                return self.client.events.pop(index)
        return None

    def opened(self):
        self.wait("a session", lambda: self.take(CONNECTED))

    def lose(self):
        """Ends the connection, and begins another session."""
        self.router.close()
        self.sent.clear()
        self.barriers.clear()
        self.wait("the loss", lambda: self.take(DISCONNECTED))
        self.bind()
        self.opened()

    def deliver(self, verb, body):
        """Sends a message, and returns what the client has reported when it has read it."""
        self.send(verb, body)
        self.wait("the barrier", lambda: self.barrier in self.barriers)
        self.barriers.clear()
        self.send("ok", json.dumps({"id": self.barrier, "nav": BARRIER}))
        self.wait("the barrier's answer", lambda: any(e.id == self.barrier for e in self.client.events))
        events = [event for event in self.client.events if event.id != self.barrier]
        self.client.events.clear()
        self.barrier = self.client.submit(BARRIER, {"pop": {}})
        return events

    def awaited(self, verb):
        """Waits for a message of the client."""
        def find():
            return next((each for each in self.sent if each[0] == verb), None)
        found = self.wait(f"a {verb}", find)
        self.sent.remove(found)
        return found[1]


class Runner:
    """One vector."""

    def __init__(self, daemon, vector):
        self.daemon, self.client, self.nav = daemon, daemon.client, vector["nav"]
        self.ids, self.shown, self.is_synced, self.watch = {}, None, False, None
        for number, step in enumerate(vector["steps"]):
            try:
                self.take(step)
            except Exception as failure:
                raise Failed(f"{vector['id']}, step {number}", *failure.args) from failure

    def take(self, step):
        if "watch" in step:
            self.client.watch(self.nav)
        elif "to" in step:
            self.take_to(*step["to"])
        elif "do" in step:
            self.take_do(*step["do"])
        elif "from" in step:
            self.take_from(step, *step["from"])
        elif "lost" in step:
            self.daemon.lose()
            self.is_synced = False
            self.check_mirror()
        elif "state" in step:
            mine = self.client.state(self.nav)
            mine.pop("nav")
            need(same(mine, step["state"]), "the state is", mine)
        else:
            raise Failed("an unknown step", step)

    def take_to(self, verb, body):
        need(verb == "watch", "an unknown message", verb)
        mine = self.daemon.awaited("watch")
        need(not any(v == "watch" for v, _ in self.daemon.sent), "two watches are sent", self.daemon.sent)
        need(mine["nav"] == body["nav"] and mine.get("view", "full") == "full", "sent", mine)
        need(same(mine.get("from"), body.get("from")), "sent", mine)
        need("bad" not in body or {"rev", "dig"} <= set(mine.get("bad", {})), "sent", mine)
        self.ids[body["id"]] = self.watch = mine["id"]

    def take_do(self, verb, body):
        if verb == "op":
            flags = (navd.ANIMATED if body.get("animated") else 0) | (
                navd.QUEUE if body.get("onBusy") == "queue" else 0)
            self.client.submit(self.nav, *body["do"], guard=body.get("if"), flags=flags)
        elif verb == "lease":
            self.client.lease(self.nav, navd.TAKE if body["take"] else navd.RELEASE)
        elif verb == "delegate":
            self.client.delegate(self.nav, *body["roles"])
        else:
            raise Failed("an unknown request", verb)
        self.ids[body["id"]] = self.daemon.awaited(verb)["id"]

    def take_from(self, step, verb, body):
        message = json.loads(body) if isinstance(body, str) else body
        own = self.ids.get(message.get("id"))
        if own is not None and isinstance(body, str):
            body = re.sub(r'"id":\d+', f'"id":{own}', body, count=1)
        elif own is not None:
            body = {**body, "id": own}
        events = self.daemon.deliver(verb, body if isinstance(body, str) else json.dumps(body))
        watches = [each for each in self.daemon.sent if each[0] == "watch"]
        kinds = [event.kind for event in events]
        is_ = step["is"]
        if is_ not in ("gap", "diverged"):
            need(not watches and SUSPECT not in kinds, "watches again", watches, events)
        states = [event.change for event in events if event.kind == STATE]
        if is_ in ("wait", "ignored"):
            # A place in the queue leaves the mirror alone, and is news for the program.
            need(not set(kinds) - ({navd.QUEUED} if verb == "queued" else set()), "reports", events)
        elif is_ == "replaced":
            need(len(states) == 1 and "why" in states[0], "not replaced", events)
        elif is_ == "resumed":
            need(states == [{"resumed": True}], "not resumed", events)
        elif is_ == "applied":
            need(states and all("cause" in each for each in states), "not applied", events)
        elif is_ in ("gap", "diverged"):
            need(SUSPECT in kinds, "not suspect", events)
        elif is_ == "ended":
            need(kinds == [ENDED] and events[0].error.code == message["why"], "not ended", events)
        elif is_ == "refused":
            self.check_refusal(step, events, own)
        elif is_ == "answered":
            need(len(events) == 1 and events[0].kind in (ANSWER, DISPLAY) and not events[0].error, events)
            need(events[0].kind == DISPLAY or events[0].id == own, "another id", events)
        elif is_ == "event":
            need(kinds == [ACTIVITY] and same(events[0].json["ev"], message["ev"]), "no event", events)
        else:
            raise Failed("an unknown reaction", is_)
        self.note(is_, verb, message)
        if "then" in step:
            self.shown = step["then"]
        self.check_mirror()

    def check_refusal(self, step, events, own):
        need(len(events) == 1 and events[0].error, "not refused", events)
        event, expected = events[0], step["refused"]
        # The refusal of the watch ends it; a refused request has its own id.
        need(event.kind == (ENDED if own == self.watch else event.kind), "the watch goes on", events)
        need(event.kind != ANSWER or event.id == own, "another id", events)
        error = event.error
        need(error.code == expected["code"] and error.retry == RETRIES[expected["retry"]], "another error", error)
        need(error.may_have_happened == (expected["effect"] != "none"), "another effect", error.body)
        for name in ("effect", "reason", "index"):
            need(same(error.body.get(name), expected.get(name)), f"another {name}", error.body)

    def note(self, is_, verb, message):
        """Whether guards may be made now."""
        if is_ in ("replaced", "resumed", "applied"):
            self.is_synced = True
        elif is_ in ("gap", "diverged", "ended") or (is_ == "wait" and verb in ("ok", "snap")):
            self.is_synced = False
        elif is_ == "refused" and self.ids.get(message.get("id")) == self.watch:
            self.is_synced = False

    def check_mirror(self):
        state = self.client.state(self.nav)
        need(same(summary(state), self.shown), "the mirror shows", summary(state), "not", self.shown)
        need(bool(self.client.is_synced(self.nav)) == self.is_synced, "synced is", not self.is_synced)
        if state is None:
            return
        try:
            guard = self.client.guard(state, "stack")
            need(self.is_synced and guard["stack"] == self.shown["screens"], "a guard", guard)
        except navd.Failure as failure:
            need(not self.is_synced and failure.body["reason"] == "mirror", "no guard", failure)


def run_digest(daemon, vector):
    """A snapshot with these records has the checksum, and one with another is refused."""
    parts = {part["id"]: {"ver": part["ver"]} for part in vector["parts"]}
    kind = "controller" if parts else "directory"
    epoch, nav = "00000000000000ab", "digest"
    need(not parts or list(parts) == PARTS, "other parts", parts)
    snap = {"nav": nav, "kind": kind, "epoch": epoch, "rev": 1, "i": 0, "last": True, "why": "join",
            "screens": vector["screens"], **parts}
    right, chain = vector["checksum"], "c" * 16
    wrong = f"{int(right, 16) ^ 1:08x}"
    daemon.client.watch(nav)
    for dig, expected in ((wrong + chain, SUSPECT), (right + chain, STATE)):
        asked = daemon.awaited("watch")
        daemon.deliver("ok", json.dumps({"id": asked["id"], "nav": nav, "mode": "snap", "why": "join",
                                         "epoch": epoch, "rev": 1}))
        events = daemon.deliver("snap", json.dumps({**snap, "dig": dig}))
        need([event.kind for event in events] == [expected], vector["id"], dig, events)


def run(vector, directory, number):
    """Runs one vector with a client of its own."""
    need(vector["kind"] in KINDS, "an unknown kind", vector["kind"])
    daemon = Daemon(directory, number)
    try:
        run_digest(daemon, vector) if vector["kind"] == "digest" else Runner(daemon, vector)
    finally:
        daemon.close()
