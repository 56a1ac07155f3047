"""Runs the vectors of Tests/Conformance/vectors.jsonl through the session; docs/vectors.md explains every step."""
import json
import random

import setting  # noqa: F401 - the path of the package

from navd.core import Options, Session, checksum
from navd.core.actions import Answered, Closed, DutyChanged, Send, Shown, WatchEnded
from navd.core.session_state import Ids

KINDS = {"row", "watch", "damage", "text", "digest"}
LIMITS = {"message": 65536, "window": 65536}
#: Longer than any pause before a repetition, in seconds.
LONG = 10.0


class Failed(Exception):
    """The client did another thing than the vector wants."""


def must(holds, *why):
    if not holds:
        raise Failed(*why)


def canonical(value):
    """The value with each number as a double, so that equal values of JSON are equal."""
    if isinstance(value, dict):
        return {key: canonical(member) for key, member in value.items()}
    if isinstance(value, list):
        return [canonical(member) for member in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def same(one, other):
    # Sorted texts, because to Python true equals 1.
    return json.dumps(canonical(one), sort_keys=True) == json.dumps(canonical(other), sort_keys=True)


def run(vector, spoil=lambda verb, body: body):
    """Runs one vector; `spoil` changes messages before the client gets them. Raises Failed."""
    must(vector["kind"] in KINDS, "there is no kind", vector["kind"])
    if vector["kind"] == "digest":
        found = checksum(vector["screens"], {part["id"]: part for part in vector["parts"]})
        must(found == vector["checksum"], "the checksum is", found)
        return
    runner = Runner(vector, spoil)
    for number, step in enumerate(vector["steps"]):
        try:
            runner.take(step)
        except Failed as failure:
            raise Failed(f"step {number}", *failure.args) from failure


class Runner:
    """One client, from its `hello` on."""

    def __init__(self, vector, spoil):
        self.nav, self.spoil, self.now = vector["nav"], spoil, 0.0
        self.sent, self.events, self.ids, self.shown = [], [], {}, None
        self.session = Session(Options("0" * 32, random=random.Random(1)), Ids())
        self.open()

    def act(self):
        for action in self.session.take():
            if isinstance(action, Send):
                self.sent.append((action.verb, json.loads(action.body)))
            else:
                self.events.append(action)

    def open(self):
        self.session.connected(self.now)
        self.act()
        nonce = [body for verb, body in self.sent if verb == "hello"][-1]["nonce"]
        self.hand("welcome", {"ver": 1, "nonce": nonce, "boot": "0000000000000001", "server": "vectors", "hb": 60000,
                              "ops": {"last": 0}, "limits": LIMITS}, 100)

    def hand(self, verb, body, octets):
        self.events.clear()
        self.session.receive(verb, body, octets, self.now)
        self.act()
        self.session.applied()
        self.act()

    @property
    def watches(self):
        return [body for verb, body in self.sent if verb == "watch"]

    def wake(self, count):
        """Lets the time pass for which a client may wait before it watches again."""
        if len(self.watches) <= count:
            self.now += LONG / 2
            self.session.tick(self.now)
            self.act()

    def take(self, step):
        if "watch" in step:
            self.session.watch(self.nav, "full")
            self.act()
        elif "lost" in step:
            self.session.lost(self.now)
            self.act()
            self.now += LONG
            self.sent.clear()
            self.open()
        elif "to" in step:
            self.sends(step["to"][1])
        elif "do" in step:
            self.does(*step["do"])
        elif "from" in step:
            self.receives(step, *step["from"])
        else:
            self.compare_state(step["state"])

    def sends(self, wanted):
        self.wake(0)
        must(len(self.watches) == 1, len(self.watches), "watches")
        body, = self.watches
        must(body["nav"] == wanted["nav"] and body.get("view", "full") == "full", "another watch", body)
        must(same(body.get("from"), wanted.get("from")), "another position", body)
        must("bad" not in wanted or {"rev", "dig"} <= set(body.get("bad", {})), "no bad", body)
        self.ids[wanted["id"]] = body["id"]
        self.sent.clear()

    def does(self, verb, body):
        must(not self.watches, "a watch before its step")
        members = {name: value for name, value in body.items() if name not in ("id", "nav")}
        if verb == "op":
            self.ids[body["id"]] = self.session.request("op", self.nav, members)
        elif verb == "delegate":
            self.session.want("delegate", self.nav, members if members["roles"] else None)
        else:
            self.session.want("lease", self.nav, members if members["take"] else None)
        self.act()
        mine = [sent for each, sent in self.sent if each == verb]
        if mine:
            self.ids[body["id"]] = mine[-1]["id"]
        self.sent = [(each, sent) for each, sent in self.sent if each == "watch"]

    def receives(self, step, verb, said):
        text = said if isinstance(said, str) else json.dumps(said)
        body = self.spoil(verb, json.loads(text))
        if verb in ("ok", "err", "queued") and body.get("id") in self.ids:
            body["id"] = self.ids[body["id"]]
        before = len(self.watches)
        self.hand(verb, body, len(text.encode()))
        self.sent = [(each, sent) for each, sent in self.sent if each == "watch"]
        self.compare_reaction(step["is"], before, step.get("refused"))
        if "then" in step:
            self.shown = step["then"]
        must(same(self.summary(), self.shown), "the mirror shows", self.summary())

    def compare_reaction(self, wanted, before, refused):
        mirror = self.session.mirror(self.nav)
        is_synced = mirror is not None and mirror.is_synced
        must(not any(isinstance(event, Closed) for event in self.events), "the session is closed")
        states = [event for event in self.events if isinstance(event, Shown)]
        ends = [event for event in self.events if isinstance(event, WatchEnded)]
        errors = [event.err for event in self.events if isinstance(event, Answered) and event.err]
        errors += [event.error.members for event in self.events
                   if isinstance(event, (WatchEnded, DutyChanged)) and event.error]
        watches = len(self.watches) - before
        kinds = [(event.is_resumed, event.is_event) for event in states]
        if wanted in ("gap", "diverged"):
            must(not is_synced, "the mirror counts as right")
            self.wake(before)
            must(len(self.watches) == before + 1, len(self.watches), "watches")
            must(("bad" if wanted == "gap" else "from") not in self.watches[-1], self.watches[-1])
            return
        must(watches == 0, "a watch is sent", self.watches)
        if wanted in ("replaced", "applied"):
            must(kinds and not any(any(each) for each in kinds) and is_synced and not ends, wanted, self.events)
        elif wanted == "resumed":
            must(kinds == [(True, False)] and is_synced, wanted, self.events)
        elif wanted == "event":
            must(kinds and all(kind == (False, True) for kind in kinds), wanted, self.events)
        elif wanted in ("wait", "ignored", "answered"):
            must(not states and not ends, wanted, self.events)
            must(wanted != "wait" or not is_synced, "the mirror counts as right")
        elif wanted == "ended":
            must(ends and mirror is None, wanted, self.events)
        elif wanted == "refused":
            found = {name: value for name, value in (errors or [{}])[-1].items() if name in refused and name != "id"}
            must(same(found, {name: value for name, value in refused.items() if name != "id"}), "refused", errors)
        else:
            raise Failed("there is no reaction", wanted)

    def summary(self):
        mirror = self.session.mirror(self.nav)
        state = mirror.state if mirror else None
        if state is None:
            return None
        ids = [screen.id for screen in state.screens]
        chain = [entry.screen.id for entry in state.presented]
        return {"epoch": state.epoch, "rev": state.rev, "dig": state.dig, "screens": ids, "presented": chain,
                "top": ids[-1] if ids else None, "visible": (chain or ids or [None])[-1]}

    def compare_state(self, wanted):
        state = self.session.mirror(self.nav).state
        mine = {"kind": state.kind, "epoch": state.epoch, "rev": state.rev, "dig": state.dig,
                "screens": [screen.record for screen in state.screens], **state.parts}
        if state.bar is not None:
            mine["resolved"] = state.bar.details
        must(same(mine, wanted), "the state is", mine)
