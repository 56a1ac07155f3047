"""Recordings as a program that is not navctl writes them, and the file that opens them without a server.

`Recording` holds the lines as objects, so that a test can damage one of them before it packs them.
"""
import base64
import gzip
import json
import os
import re
import zlib

from harness import nsp

PARTS = nsp.PARTS
STATE = ("kind", "screens", *PARTS, "dig")
SCRIPT = re.compile(r'(<script\b[^>]*\bid="?navrec"?[^>]*>)\s*(</script>)')


class Recording:
    """A header, entries, and the line at the end."""

    def __init__(self, header, entries):
        self.header, self.entries, self.end = header, entries, None

    @classmethod
    def of(cls, control, nav, first=None):
        """The history of a nav that the daemon has, from a revision on."""
        entries, start, floor = [], first, None
        while True:
            answer = control.request("get", nav=nav, what="diffs", limit=250, **({} if start is None else {"from": start}))
            floor = answer["floor"] if floor is None else floor
            entries += answer["value"]
            start = answer.get("next") or (entries[-1]["rev"] + 1 if entries else answer["rev"])
            if start > answer["rev"]:
                break
        begin = first or floor
        state = control.get(nav, "state", at=begin)
        made = next((entry for entry in entries if entry["rev"] == begin), {})
        lines = [{"kind": "state", "rev": begin, "epoch": state["epoch"], **({"t": made["t"]} if "t" in made else {}),
                  "state": {name: state[name] for name in STATE if name in state}, "resolved": state["resolved"]}]
        bar = state["resolved"]
        for entry in entries:
            if entry["rev"] <= begin:
                continue
            line = dict(entry)
            if entry["kind"] == "changed":
                found = control.get(nav, "state", at=entry["rev"])
                if found["resolved"] != bar:
                    bar = line["resolved"] = found["resolved"]
            lines.append(line)
        return cls(header_of(nav, begin, lines[-1]["rev"]), lines)

    @classmethod
    def made(cls, nav, count, *, epoch="00000000000000aa", text="Screen"):
        """A long recording that needs no daemon: a screen comes, and goes, and comes."""
        maker = Maker(epoch, text)
        lines = [maker.first(), *(maker.next() for _ in range(count - 1))]
        return cls(header_of(nav, 1, count), lines)

    @property
    def last(self):
        """The revision and the digest at the end."""
        found = [entry for entry in self.entries if "rev" in entry and (entry.get("dig") or "state" in entry)][-1]
        return found["rev"], found.get("dig") or found["state"]["dig"]

    def lines(self):
        rev, dig = self.last
        end = self.end or {"end": len(self.entries), "rev": rev, "dig": dig}
        return [self.header, *self.entries, end]

    def plain(self):
        return "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in self.lines()).encode()

    def packed(self):
        return gzip.compress(self.plain(), mtime=0)

    def html(self, page):
        return html(page, self.packed())


class Maker:
    """Revisions of a stack of two screens, with the digests that navd would compute."""

    def __init__(self, epoch, text):
        self.epoch, self.text, self.rev = epoch, text, 0
        self.screens, self.parts = [], {part: {"ver": 1} for part in PARTS}
        self.dig = None

    def bar(self):
        top = self.screens[-1]
        back = [{"back": {"text": self.screens[0]["title"], "source": "title", "indicator": "default"}}]
        return {
            "top": top["id"], **({"back": self.screens[0]["id"]} if len(self.screens) > 1 else {}), "visible": top["id"],
            "height": 44, "layoutHeight": 44, "metrics": "default", "left": back if len(self.screens) > 1 else [],
            "middle": {"title": top["title"], "placement": "inline"}, "right": [], "background": "white", "translucent": True,
            "textColor": "black", "tintColor": "blue", "shadow": {"hairline": "1/2"}, "content": {"top": 0},
            "toolbar": {"visible": False, "items": []}, "orientations": ["portrait"], "swipeBack": len(self.screens) > 1}

    def digest(self):
        chain = zlib.crc32(f"{self.dig} {self.screens}".encode())
        return f"{nsp.checksum(self.screens, self.parts)}{chain:016x}"

    def first(self):
        self.rev = 1
        self.screens = [{"id": "home", "ver": 1, "title": "Home"}]
        self.dig = self.digest()
        return {"kind": "state", "rev": 1, "t": 1732147200000, "epoch": self.epoch, "resolved": self.bar(),
                "state": {"kind": "controller", "screens": list(self.screens), **self.parts, "dig": self.dig}}

    def next(self):
        self.rev += 1
        before = self.dig
        if len(self.screens) == 1:
            new = {"id": f"page{self.rev}", "ver": self.rev, "title": f"{self.text} {self.rev}"}
            change = {"at": 1, "del": [], "ins": [new]}
            self.screens.append(new)
            more = {"do": ["push"], "ins": [{"id": new["id"]}]}
        else:
            gone = self.screens.pop()
            change = {"at": 1, "del": [gone["id"]], "ins": []}
            more = {"do": ["pop"], "del": [gone["id"]]}
        self.dig = self.digest()
        return {"kind": "changed", "rev": self.rev, "t": 1732147200000 + self.rev * 1000, "cause": "api",
                "by": {"name": "shell", "op": self.rev, "principal": "uid:1000", "pid": 2820}, **more, "before": before,
                "dig": self.dig, "depth": len(self.screens), "ch": [change], "resolved": self.bar(), "ev": []}


def header_of(nav, first, last):
    return {"navrec": 1, "nav": nav, "server": "navd/0.1.0", "rules": 1, "recorded": 1732147200000, "from": first, "to": last}


def html(page, octets):
    """The file for these octets, whatever they are."""
    with open(os.path.join(page, "offline.html"), encoding="utf-8") as file:
        text = file.read()
    if len(SCRIPT.findall(text)) != 1:
        raise AssertionError("offline.html has no place for a recording, or several")
    data = base64.b64encode(octets).decode()
    return SCRIPT.sub(lambda found: found[1] + data + found[2], text)
