"""Recordings of a nav that changes at random, made without navd; `Nav.state` is what each revision must show."""
import base64
import gzip
import hashlib
import json
import random
import zlib

PARTS = ("bar", "toolbar", "presented", "transition", "environment", "settings")
EPOCH = "08c13bc71017e8f4"
RESOLVED = {
    "height": 44, "layoutHeight": 44, "metrics": "default", "left": [], "right": [], "background": "white",
    "translucent": True, "textColor": "black", "tintColor": "blue", "shadow": {"hairline": "1/2"}, "content": {"top": 64},
    "toolbar": {"visible": False, "items": []}, "orientations": ["portrait"], "swipeBack": False}


def digest(state, before):
    """The digest after a revision: the checksum, and a chain over the contents and the digest before."""
    lines = [f"{screen['id']}@{screen['ver']}" for screen in state["screens"]]
    lines += [f":{part}@{state[part]['ver']}" for part in PARTS]
    chain = hashlib.sha256(f"{before} {json.dumps(state)}".encode()).hexdigest()[:16]
    return f"{zlib.crc32(chr(10).join(lines).encode()):08x}{chain}"


def copy(value):
    return json.loads(json.dumps(value))


class Nav:
    """A nav; its entries are those of a recording."""

    def __init__(self, seed=1, name="team/kiosk", epoch=EPOCH, rev=1):
        self.random, self.name, self.epoch, self.rev = random.Random(seed), name, epoch, rev
        self.count, self.time = 0, 1_795_697_196_055
        self.state = {"kind": "controller", "screens": [{"id": "home", "ver": 1, "title": "Home"}],
                      **{part: {"ver": 1} for part in PARTS}}
        self.state["dig"] = digest(self.state, epoch)

    def resolved(self):
        screens = self.state["screens"]
        shown = {**RESOLVED, "top": screens[-1]["id"], "middle": {"title": screens[-1].get("title", ""), "placement": "inline"}}
        if len(screens) > 1:
            text = screens[-2].get("title", "Back")
            shown |= {"back": screens[-2]["id"], "left": [{"back": {"text": text, "source": "title", "indicator": "default"}}]}
        return shown

    def first(self):
        return {"kind": "state", "rev": self.rev, "t": self.time, "epoch": self.epoch, "state": copy(self.state),
                "resolved": self.resolved()}

    def begin(self, epoch, rev):
        """The entry of a new epoch, which goes on from `rev`."""
        self.epoch, self.rev = epoch, rev
        self.state["dig"] = self.state["dig"][:8] + epoch
        return {"kind": "epoch", "rev": rev, "t": self.time, "epoch": epoch, "cause": "crash", "dig": self.state["dig"]}

    def step(self):
        """One revision; returns its entry."""
        rev, before, screens = self.rev + 1, self.state["dig"], self.state["screens"]
        kind = self.random.choice(("push", "push", "pop", "setStack", "screen.set", "bar.set", "present", "env.set"))
        if kind == "pop" and len(screens) < 2 or kind == "push" and len(screens) > 8:
            kind = "screen.set"
        change = copy(self.change(kind, rev, screens))
        self.state["dig"] = digest(self.state, before)
        self.rev = rev
        self.time += self.random.choice((3, 40, 900, 70_000))
        who = self.random.randrange(3)
        by = {"name": ("shell", "panel", "<b>x")[who], "op": rev, "principal": f"uid:{1000 + who}", "pid": 400 + who}
        entry = {"kind": "changed", "rev": rev, "t": self.time, "cause": "backButton" if kind == "pop" else "api", "by": by,
                 "do": [kind], "before": before, "dig": self.state["dig"], "depth": len(screens), "ch": [change], "ev": []}
        if "at" in change:
            entry |= {"ins": [{"id": each["id"]} for each in change["ins"]]} if change["ins"] else {}
            entry |= {"del": change["del"]} if change["del"] else {}
            entry["resolved"] = self.resolved()
        return entry

    def change(self, kind, rev, screens):
        if kind == "push":
            self.count += 1
            screens.append({"id": f"s{self.count}", "ver": rev, "title": f"Screen {self.count}", "route": f"r/{self.count % 7}"})
            return {"at": len(screens) - 1, "del": [], "ins": screens[-1:]}
        if kind == "pop":
            return {"at": len(screens) - 1, "del": [screens.pop()["id"]], "ins": []}
        if kind == "setStack":
            old = [each["id"] for each in screens]
            self.random.shuffle(screens)
            return {"at": 0, "del": old, "ins": screens}
        if kind == "screen.set":
            screen = self.random.choice(screens)
            screen |= {"ver": rev, "title": f"Title {rev}", "args": {"n": rev % 5, "list": [1, rev % 2]}}
            return {"set": "screen", "to": screen}
        part, to = {
            "bar.set": ("bar", {"tintColor": self.random.choice(("red", "green"))}),
            "present": ("presented", {"chain": [{"screen": {"id": "sheet", "ver": rev}, "covers": "byStyle"}]} if rev % 2 else {}),
            "env.set": ("environment", {"locale": self.random.choice(("en", "ar"))}),
        }[kind]
        self.state[part] = {"ver": rev, **to}
        return {"set": part, "to": self.state[part]}


def header(nav, **more):
    return {"navrec": 1, "nav": nav.name, "server": "navd/0.1.0", "rules": 1, "recorded": 1_795_697_300_000, "from": 1,
            "to": nav.rev, **more}


def end(entries, nav):
    return {"end": len(entries), "rev": nav.rev, "dig": nav.state["dig"]}


def pack(*lines):
    """The octets of a file with these lines, or objects."""
    text = "".join((line if isinstance(line, str) else json.dumps(line, separators=(",", ":"))) + "\n" for line in lines)
    return gzip.compress(text.encode(), 6, mtime=0)


def recording(revisions, seed=1):
    """A whole recording; returns its lines, the nav at its end, and the state at each revision."""
    nav = Nav(seed)
    entries, states = [nav.first()], {nav.rev: copy(nav.state)}
    for _ in range(revisions - 1):
        entries.append(nav.step())
        if revisions <= 5000:
            states[nav.rev] = copy(nav.state)
    return [header(nav), *entries, end(entries, nav)], nav, states


def base64_of(octets):
    return base64.b64encode(octets).decode()
