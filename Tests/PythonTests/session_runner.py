"""Runs the scripts of Tests/Conformance/sessions through the core of the client (Tests/Conformance/README.md)."""
import json
import random
import re
from math import inf

import setting  # noqa: F401 - the path of the package

from navd import NavigationError
from navd.core import Address, Cluster, Options, checksum
from navd.core.actions import (
    Answered, Asked, Closed, Drop, DutyChanged, Open, Queued, Send, Settled, Shown, WatchEnded)

EPOCH = "e" * 16
#: The fractions that stand for chance: each script holds for all.
CHANCES = (0.0, 0.5, 0.999999)


class Failed(Exception):
    """The client did another thing than the script says."""


class Chance(random.Random):
    """Always the same fraction, and a new number for each nonce."""

    def __init__(self, fraction):
        super().__init__(1)
        self.fraction = fraction

    def random(self):
        return self.fraction


def address_of(daemon):
    return f"tcp://{daemon.lower()}"


def daemon_at(endpoint):
    return endpoint[6:].upper()


def same(found, wanted):
    # Sorted texts, because to Python true equals 1.
    if json.dumps(found, sort_keys=True) != json.dumps(wanted, sort_keys=True):
        raise Failed(f"it is {json.dumps(found)}, not {json.dumps(wanted)}")


def read(line):
    """A line: its sign, the daemon behind it, its words, and the value at its end."""
    head, text = re.fullmatch(r"(.*?)(?: ([{\[].*))?", line.strip()).groups()
    word, *words = head.split(" ")
    sign, daemon = (word[0], word[1:] or "A") if word[0] in "<>" else (word, "A")
    return sign, daemon, words, None if text is None else json.loads(text)


def scripts(text):
    """The scripts of a file: title, and lines with their numbers."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("script "):
            found.append((line[7:], []))
        elif line.strip() and not line.startswith("#"):
            found[-1][1].append((number, line))
    return found


def run(lines):
    """Runs one script. Raises Failed."""
    for fraction in CHANCES:
        script = Run(fraction)
        for number, line in lines:
            try:
                script.step(line)
            except Failed as failure:
                raise Failed(f"{number}: {line.strip()}: {failure}") from failure
        script.expect_nothing()


class Run:
    """One client, and what its daemons have."""

    def __init__(self, fraction):
        self.now, self.sent, self.events, self.nonce = 1000.0, [], [], None
        self.wanted, self.up = set(), set()
        #: The requests by their names in the script, and the octets of each.
        self.named, self.octets, self.navs = {}, {}, {}
        #: The epochs by nav, revision and digest.
        self.positions = {}
        self.core = Cluster([Address("tcp://a")], Options("0" * 32, "script", random=Chance(fraction)), has_key=True)
        self.core.start(self.seconds)
        self.act()

    @property
    def seconds(self):
        return self.now / 1000

    def act(self):
        while actions := self.core.take():
            for action in actions:
                self.perform(action)

    def event(self, nav, text, body=None):
        self.events.append((text if nav in (None, "kiosk") else f"{text} {nav}", body or {}))

    def perform(self, action):
        if isinstance(action, Open):
            self.wanted.add(daemon_at(action.address.endpoint))
        elif isinstance(action, Drop):
            self.wanted.discard(daemon_at(action.endpoint))
            self.up.discard(daemon_at(action.endpoint))
        elif isinstance(action, Send):
            if daemon_at(action.endpoint) in self.up:
                self.sent.append((daemon_at(action.endpoint), action.verb, json.loads(action.body), action.body))
        elif isinstance(action, Answered):
            code = action.err["code"] if action.err else "ok"
            self.event(None, f"answer {self.name_of(action.id)} {code}", action.err or action.ok)
        elif isinstance(action, Queued):
            if self.name_of(action.id):
                self.event(None, f"queued {self.name_of(action.id)}")
        elif isinstance(action, Shown) and action.is_event:
            self.event(action.nav, "event")
        elif isinstance(action, Shown) and action.view == "full":
            how = "resumed" if action.is_resumed else "replaced" if action.value.is_resynchronised else "applied"
            self.event(action.nav, f"state {action.value.rev} {how}", {"stack": [each.id for each in action.value.screens]})
        elif isinstance(action, Shown):
            self.event(action.nav, f"latest {action.view} {action.value.rev}", action.value.value)
        elif isinstance(action, WatchEnded):
            self.event(action.nav, f"end {action.view} {action.error.code if action.error else 'closed'}")
        elif isinstance(action, Asked):
            self.event(action.nav, f"ask {action.body['ask']}")
        elif isinstance(action, Settled):
            self.event(action.nav, f"void {action.ask}")
        elif isinstance(action, DutyChanged) and action.what != "interrupted":
            self.event(action.nav, f"{action.kind} {action.error.code if action.error else 'granted'}")
        elif isinstance(action, Closed):
            self.event(None, f"closed {action.error.reason or action.error.code}")

    def name_of(self, id):
        return next((name for name, each in self.named.items() if each[0] == id and each[2]), None)

    # Time.

    def pass_(self, until, is_there=lambda: False):
        """Lets the time pass up to a moment, or until something is there; returns whether it is."""
        for _ in range(10_000):
            if is_there():
                return True
            # Of seconds in floating point; a clock of milliseconds would be beyond it.
            at = self.core.wake_at * 1000
            if at > until + 0.001:
                self.now = until
                return False
            self.now = max(self.now, at)
            self.core.tick(max(self.seconds, self.core.wake_at))
            self.act()
        raise Failed("the timers never rest")

    def connect(self, daemon):
        if not self.pass_(self.now + 6000, lambda: daemon in self.wanted):
            raise Failed(f"the client does not connect to {daemon}")
        self.wanted.discard(daemon)
        self.up.add(daemon)
        self.core.connected(address_of(daemon), self.seconds)
        self.act()

    def hand(self, daemon, verb, body, octets):
        self.core.receive(address_of(daemon), verb, body, octets, self.seconds)
        self.act()
        self.core.applied()
        self.act()

    def welcome(self, daemon, nonce, more):
        self.hand(daemon, "welcome", {
            "ver": 1, "nonce": nonce, "boot": str(ord(daemon)).zfill(16), "server": "script", "hb": 5000, "features": [],
            "you": {}, "ops": {"last": 0, "seq": [[0, 0]]},
            "limits": {"message": 65536, "inflight": 64, "window": 65536}, **(more or {})}, 100)

    # What the daemons send.

    def message(self, verb, words, value):
        """The members that the line gives, and the usual ones."""
        more = dict(value or {})
        to, octets, checksum = (more.pop(name, None) for name in ("to", "octets", "sum"))
        if more.get("nonce") == "$nonce":
            more["nonce"] = self.nonce
        id, nav_of, _ = self.named.get(words[0] if words else "", (None, None, False))
        nav = more.get("nav") or (nav_of if verb in ("ok", "err", "queued") else None) or "kiosk"
        known = self.navs.get(nav, {"epoch": EPOCH, "rev": 1, "screens": []})
        at = {"nav": nav, "epoch": known["epoch"], "rev": known["rev"]}
        forms = {
            "ok": lambda: {"id": id, **at},
            "err": lambda: {"id": id, "code": words[1], "retry": words[2], "effect": "none", "msg": words[1]},
            "queued": lambda: {"id": id, "nav": nav, "pos": 1},
            "end": lambda: {**at, "view": "full", "why": words[0]},
            "latest": lambda: {**at, "view": words[0], "rev": int(words[1]), "value": None},
            "event": lambda: {**at, "ev": []},
            "ask": lambda: {"ask": int(words[0]), **at, "within": 2000, "q": {"shouldPop": {"screen": "wifi"}}},
            "settled": lambda: {"ask": int(words[0]), "outcome": words[1]},
            "lost": lambda: {"nav": nav, "of": words[0], "code": words[1], "msg": words[1]},
            "bye": lambda: {"why": words[0]},
            "mark": lambda: {"t": 0, "at": []},
            "snap": lambda: self.snapshot(known, nav, words, more),
            "diff": lambda: self.change(known, nav, words, more),
        }
        place = {} if to is None else {"endpoint": address_of(to), "key": "k" * 40, "web": f"http://{to.lower()}.test"}
        body = {**forms.get(verb, dict)(), **place, **more}
        if checksum is not None:
            body["dig"] = checksum + body["dig"][8:]
        return body, octets or len(json.dumps(body, separators=(",", ":")))

    def become(self, known, nav, words, more):
        """The daemons' new state of a nav: `REV SCREEN…`, a screen as `home` or `home@3`."""
        screens = [{"id": each.split("@")[0], "ver": int((each + "@1").split("@")[1])} for each in words[1:]]
        next = {"epoch": more.get("epoch", known["epoch"]), "rev": int(words[0]), "screens": screens,
                "dig": checksum(screens, {}) + words[0].zfill(16)}
        self.navs[nav] = next
        self.positions[nav, next["rev"], next["dig"]] = next["epoch"]
        return next

    def snapshot(self, known, nav, words, more):
        next = self.become(known, nav, words, more)
        first, end = more.get("i", 0), more.get("end", len(next["screens"]))
        last = end == len(next["screens"])
        return {"nav": nav, "kind": "controller", "epoch": next["epoch"], "rev": next["rev"], "i": first, "last": last,
                "why": "join", "screens": next["screens"][first:end], **({"dig": next["dig"]} if last else {})}

    def change(self, known, nav, words, more):
        next = self.become(known, nav, words, more)
        old, new, at = known["screens"], next["screens"], 0
        while at < min(len(old), len(new)) and old[at] == new[at]:
            at += 1
        return {"nav": nav, "epoch": next["epoch"], "base": known["rev"], "rev": next["rev"], "cause": "api",
                "ch": [{"at": at, "del": [each["id"] for each in old[at:]], "ins": new[at:]}],
                "depth": len(new), "dig": next["dig"]}

    # Steps.

    def step(self, line):
        sign, daemon, words, value = read(line)
        if sign not in ("<", ">", "!"):
            daemon = words[0] if words else "A"
        if sign not in (">", "!", "after"):
            self.expect_nothing()
        method = getattr(self, "do_" + {"<": "receive", ">": "sent", "!": "event"}.get(sign, sign), None)
        if method is None:
            raise Failed("no such step")
        method(daemon, words, value)
        self.act()

    def do_receive(self, daemon, words, value):
        body, octets = self.message(words[0], words[1:], value)
        self.hand(daemon, words[0], body, octets)

    def do_sent(self, daemon, words, value):
        verb, name, wanted = words[0], words[1] if len(words) > 1 else None, value or {}
        if not self.sent:
            raise Failed("nothing was sent")
        source, found, body, raw = self.sent.pop(0)
        same([source, found], [daemon, verb])
        id = body.pop("id", None)
        if verb == "hello":
            self.nonce = body["nonce"]
            body = {member: body[member] for member in body if member in wanted}
        if verb in ("op", "get"):
            same(self.name_of(id), name)
            text = re.sub(rb',"again":\d+}$', b"}", raw)
            same(self.octets.setdefault(id, text).decode(), text.decode())
            for member in ("do", "what"):
                if member not in wanted:
                    body.pop(member, None)
        elif name is not None:
            self.named[name] = id, body.get("nav"), False
        for member in ("from", "bad"):
            position = body.get(member)
            epoch = position and self.positions.get((body["nav"], position["rev"], position["dig"]))
            if epoch and position.get("epoch", epoch) == epoch:
                body[member] = position["rev"]
        if "id" in wanted:
            body["id"] = id
        if "nav" not in wanted and body.get("nav") == "kiosk":
            del body["nav"]
        if body.get("view") == "full":
            del body["view"]
        same(body, wanted)

    def do_event(self, _, words, value):
        if not self.events:
            raise Failed("nothing is reported")
        text, body = self.events.pop(0)
        same(text, " ".join(words))
        for member, wanted in (value or {}).items():
            same(body.get(member), wanted)

    def do_is(self, _, words, value):
        mirror = self.core.mirror(words[2] if len(words) > 2 else "kiosk")
        state = mirror.state if mirror else None
        found = ["synced" if mirror.is_synced else "suspect", str(state.rev)] if state else ["nothing"]
        same(found[:len(words[:2])], words[:2])

    def do_follow(self, _, words, value):
        for line in ("watch", "> watch w", '< ok w {"mode":"snap"}', f"< snap {' '.join(words)} {json.dumps(value or {})}", f"! state {words[0]} replaced"):
            self.step(line)

    def do_connect(self, daemon, words, value):
        self.connect(daemon)

    def do_welcome(self, daemon, words, value):
        self.welcome(daemon, self.nonce, value)

    def do_open(self, daemon, words, value):
        self.connect(daemon)
        if not self.sent or self.sent[0][1] != "hello":
            raise Failed("the client does not begin with hello")
        self.nonce = self.sent.pop(0)[2]["nonce"]
        self.welcome(daemon, self.nonce, value)

    def do_lose(self, daemon, words, value):
        self.up.discard(daemon)
        self.core.lost(address_of(daemon), self.seconds)

    def do_wait(self, _, words, value):
        self.pass_(self.now + int(words[0]))

    def do_after(self, _, words, value):
        self.expect_after(words, lambda: self.sent or self.events)

    def do_reconnects(self, _, words, value):
        self.expect_after(words, lambda: (words + ["A"])[2] in self.wanted)

    def do_closes(self, _, words, value):
        self.expect_after(words, lambda: words[2] not in self.up)
        self.sent = [each for each in self.sent if each[1] != "bye"]

    def do_watch(self, _, words, value):
        self.core.watch((words or ["kiosk"])[0], (words[1:] or ["full"])[0], "wait" in words)

    def do_unwatch(self, _, words, value):
        self.core.unwatch((words or ["kiosk"])[0], (words[1:] or ["full"])[0])

    def do_op(self, _, words, value):
        self.request("op", words[0], {"nav": "kiosk", "do": [{"pop": {}}], **(value or {})})

    def do_get(self, _, words, value):
        self.request("get", words[0], {"nav": "kiosk", "what": "top", **(value or {})})

    def do_forget(self, _, words, value):
        same("sent" if self.core.forget(self.named[words[0]][0]) else "unsent", words[1])

    def do_delegate(self, _, words, value):
        self.core.want("delegate", (value or {}).get("nav", "kiosk"), {"roles": words} if words else None)

    def do_lease(self, _, words, value):
        wishes = {"take": {"take": True}, "force": {"take": True, "force": True}, "release": None}
        self.core.want("lease", (value or {}).get("nav", "kiosk"), wishes[words[0]])

    def do_answer(self, _, words, value):
        self.core.answer((value or {}).get("nav", "kiosk"), int(words[0]), json.loads(words[1]))

    def do_leave(self, _, words, value):
        self.core.leave()

    def request(self, verb, name, members):
        nav, within = members.pop("nav"), members.pop("within", None)
        until = inf if within is None else self.seconds + within / 1000
        try:
            self.named[name] = self.core.request(verb, nav, members, until), nav, True
        except NavigationError as error:
            self.event(None, f"answer {name} {error.code}", error.members)

    def expect_nothing(self):
        if self.sent or self.events:
            raise Failed(f"unexpected: {[each[:3] for each in self.sent] + self.events}")

    def expect_after(self, words, is_there):
        start = self.now
        if not self.pass_(start + int(words[1]), is_there):
            raise Failed(f"nothing happens within {words[1]} ms")
        if self.now < start + int(words[0]) - 0.001:
            raise Failed(f"it happens after {self.now - start} ms")
