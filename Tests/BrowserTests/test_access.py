"""The access model through actors: verb x role x nav x batch, of pages behind gateways of their own rights.

Each cell is one message of a page, posted by raw HTTP. It must be `forbidden` exactly when `may` says
so: the intersection of token and gateway, written from navd.conf(5) and the tables of docs/protocol.md.
"""
import fnmatch
import itertools
import os
import re
import unittest

from clients import Page, line
from harness import ROOT, Daemon, Gateway

# The users that gateways run as besides the daemon's own, with their role; only root can start them.
USERS = {4001: "ui", 4002: "till", 4003: None}
GRANTS = [
    ("role:till", "shop/*", "read push pop"), ("role:clerk", "shop/*", "push"), ("role:till", "$navs", "read"),
    ("uid:4003", "shop/1", "read pop"), ("uid:4003", "$*", "read"), ("uid:4003", "shop/of-*", "push"),
]
ROLES = ("admin", "ui", "read", "till", "clerk", "guest")
PATTERNS = ("*", "* $*", "shop/?", "shop/of-* hall $navs")
CONFIGURATION = "\n".join([
    "[limits]", "connections-per-principal = 1024", "inflight = 1000", "remembered-ops = 1000", "[access]",
    *(f"gateways = uid:{user}" for user in USERS),
    *(f"role = {role} uid:{user}" for user, role in USERS.items() if role),
    *(f"grant = {' '.join(grant)}" for grant in GRANTS), ""])
NEVER = {"rev": 2**53 - 1}  # A guard that never holds: the rights are checked before.
WHATS = ("state", "bar", "top", "screen", "detached", "restoration", "log", "verify", "stats")
UNJUDGED = ("busy", "no-session", "fenced", "bad-json")
# What no answer has for a page that may not read the nav, unless its op succeeded.
POSITION = {"epoch", "rev", "dig", "depth", "top", "since", "value", "owner"}


def operations():
    """Each operation with the rights that the table in docs/protocol.md names for it."""
    with open(os.path.join(ROOT, "docs", "protocol.md"), encoding="utf-8") as file:
        table = re.search(r"### 9\.6 (?s:.*?)\n\n((?:\|.*\n)+)", file.read())[1]
    found = {}
    for row in table.splitlines()[2:]:
        cells = re.split(r"(?<!\\)\|", row)
        # What a semicolon adds depends on arguments, for which EXTRA has rows.
        rights = re.findall(r"\b(?:push|pop|admin)\b", cells[3].split(";")[0].split(":")[0])
        found.update({name: rights for name in re.findall(r"`([\w.]+)`", cells[1])})
    # A button that is not there pops nothing.
    found["button.activate"] = ["push"]
    return found


RIGHTS = operations()
SET = ("push", "pop", "nav.configure", "setStack")  # One operation of each set of rights.
EXTRA = [
    ([{"push": {"screen": "x", "onDuplicate": "popTo"}}], ["push", "pop"]),
    ([{"show": {"screen": "x", "onDuplicate": "update"}}], ["push", "pop"]),
    ([{"segue": {"kind": "show", "screen": "x", "onDuplicate": "popTo"}}], ["push", "pop"]),
    ([{"pop": {}}, {"button.activate": {"button": "x"}}], ["push", "pop"]),
    ([{"push": {"screen": "x"}}] * 15 + [{"nav.configure": {}}], ["push", "admin"]),
]


def batches():
    """Lists of operations that change nothing, and the rights that they need."""
    for name, rights in RIGHTS.items():
        yield [{name: {}}], rights
    for names in (*itertools.product(SET, repeat=2), *itertools.product(SET[:3], repeat=3)):
        yield [{name: {}} for name in names], [right for name in names for right in RIGHTS[name]]
    yield from EXTRA


BATCHES = list(batches())


def matches(pattern, nav):
    return (pattern[0] == "$" or nav[0] != "$") and fnmatch.fnmatchcase(nav, pattern)


def holds(who, right, nav):
    """Whether a role or a user has a right by itself."""
    if who == "role:admin":
        return True
    own = [grant for grant in GRANTS if grant[0] == who]
    if own:
        return any(matches(pattern, nav) and right in rights.split() for _, pattern, rights in own)
    if who not in ("role:ui", "role:read") or nav == "$clients":
        return False
    return right == "read" or who == "role:ui" and right != "admin" and nav[0] != "$"


class Cells:
    """The messages of one page about one nav, each with the answer that it must have."""

    def __init__(self, page, user, role, patterns):
        self.page, self.role, self.patterns = page, role, patterns.split()
        self.gateway = ["role:admin" if user not in USERS else f"role:{USERS[user]}", f"uid:{user}"]
        self.lines, self.wanted, self.count, self.around = [], {}, 0, []

    def may(self, rights, nav, owns=False):
        """Whether the token and the gateway both have the rights; the owner's rights are the actor's alone."""
        role = f"role:{self.role}"
        return any(matches(pattern, nav) for pattern in self.patterns) and all(
            (holds(role, right, nav) or owns and holds(role, "push", nav))
            and any(holds(who, right, nav) for who in self.gateway) for right in rights)

    def add(self, verb, is_allowed, is_readable=True, changes=None, **members):
        number = self.page.next_id()
        self.lines.append(line(verb, {"id": number, **members}))
        self.wanted[number] = (verb, members, is_allowed, is_readable, changes)

    def note(self, verb, members):
        """Adds a message that is no cell."""
        self.lines.append(line(verb, members))

    def run(self):
        """Posts all, and notes the ways around; returns how many revisions there must be."""
        answer = self.page.post_raw("".join(self.lines))
        assert answer.status == 200, answer.body
        self.page.n += 1
        self.count, revisions = self.count + len(self.wanted), 0
        while self.wanted:
            verb, body, _ = self.page.message()
            if verb not in ("ok", "err") or body.get("id") not in self.wanted:
                continue
            asked, members, is_allowed, is_readable, changes = self.wanted.pop(body["id"])
            is_right = (body.get("code") == "forbidden") != is_allowed and body.get("code") not in UNJUDGED
            if changes is not None:
                is_right = is_right and (verb == "ok") == (is_allowed and changes)
            leaks = set() if is_readable or verb == "ok" and asked == "op" else POSITION & set(body)
            if not is_right or leaks:
                self.around.append((asked, members, is_allowed, body))
            # To take the display and to give it back are revisions, too.
            revisions += verb == "ok" and (asked == "lease" or body.get("changed", False))
        self.lines = []
        return revisions


class Access(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(CONFIGURATION, is_open=True)
        cls.addClassCleanup(cls.daemon.close)
        cls.tokens = [(f"t{number}", role, navs)
                      for number, (role, navs) in enumerate(itertools.product(ROLES, PATTERNS))]
        cls.control = cls.daemon.control
        for nav in ("shop/1", "shop/2", "hall"):
            cls.control.create(nav)

    def gateways(self):
        lines = [f"{name} {name:x<32} {role} {navs}" for name, role, navs in self.tokens]
        for user in [None, *(USERS if os.geteuid() == 0 else ())]:
            gateway = Gateway(self.daemon, tokens=lines, user=user)
            self.addCleanup(gateway.close)
            yield user, gateway

    def position(self, nav):
        """The epoch and the revision of a nav, or None without it."""
        answer = self.control.request("get", what="log", nav=nav, limit=1)
        return answer["epoch"], answer["rev"]

    def test_no_message_of_a_page_does_more_than_its_token_and_its_gateway_may(self):
        count, around, holder = 0, [], None
        for user, gateway in self.gateways():
            if not holder:
                holder = Page(gateway, token=f"{'t1':x<32}", name="holder")
                self.addCleanup(holder.close)
            for name, role, patterns in self.tokens:
                page = Page(gateway, token=f"{name:x<32}")
                page.post(("credit", {"upto": 2**53 - 1}))
                cells = Cells(page, user, role, patterns)
                self.assertEqual(holder.request("lease", nav="shop/2", take=True)[0], "ok")
                self.display(cells, "shop/2")
                self.whole(cells)
                cells.run()
                for nav in ("shop/1", "hall", "absent", "$navs", "$clients"):
                    is_there = nav in ("shop/1", "hall")
                    before = is_there and self.position(nav)
                    self.reads(cells, nav)
                    self.ops(cells, nav)
                    if is_there:
                        self.changes(cells, nav)
                    revisions = cells.run()
                    if is_there:
                        self.assertEqual(self.position(nav), (before[0], before[1] + revisions), (user, name, nav))
                self.own(cells, f"shop/of-{user or 0}-{name}")
                page.close()
                count, around = count + cells.count, around + cells.around
        self.assertEqual(around[:5], [], f"{len(around)} of {count}")
        print(f"\naccess through actors: {count} cells, {len(around)} ways around")

    def whole(self, cells):
        """What concerns no nav."""
        cells.add("get", True, what="stats")
        cells.add("get", True, what="verify")
        # An administrator's gets another answer, without a copy of the journal each time.
        is_admin = cells.role == "admin" and "*" in cells.patterns and cells.gateway[0] == "role:admin"
        if not is_admin:
            cells.add("get", False, what="backup")

    def display(self, cells, nav):
        """The display of a nav, which another session has."""
        for force in (False, True):
            cells.add("lease", cells.may(["push", "admin"] if force else ["push"], nav), nav=nav, take=True, force=force)
        cells.add("lease", cells.may(["push"], nav), nav=nav, take=False)

    def reads(self, cells, nav, owns=False):
        reads, pushes = (cells.may([right], nav, owns) for right in ("read", "push"))
        for what in WHATS:
            cells.add("get", reads, reads, nav=nav, what=what, screen="home")
        cells.add("get", reads, reads, nav=nav, what="state", at=1)
        for view in ("full", "bar", "top"):
            cells.add("watch", reads, reads, nav=nav, view=view)
            cells.note("unwatch", {"id": cells.page.next_id(), "nav": nav, "view": view})
        for roles in (["veto"], []):
            cells.add("delegate", pushes, nav=nav, roles=roles)
        for take in (True, False):
            cells.add("lease", pushes, nav=nav, take=take)

    def ops(self, cells, nav, owns=False):
        """Each operation and each batch, with a guard that never holds."""
        is_readable = cells.may(["read"], nav, owns)
        for do, rights in BATCHES:
            # A virtual nav is the same to all ops; a nav that is not there would be made.
            needed = ["read"] if nav[0] == "$" else rights
            if nav != "absent" or "nav.create" not in do[0]:
                cells.add("op", cells.may(needed, nav, owns), is_readable, False, nav=nav, do=do, **{"if": NEVER})

    def changes(self, cells, nav, owns=False):
        """The same with operations that do change the nav."""
        any_guard, screen = {"any": True}, {"screen": {"title": "x"}}
        steps = {"push": {"push": screen}, "pop": {"pop": {}},
                 "admin": {"nav.configure": {"restorationID": "x"}}}
        for rights in (["push"], ["pop"], ["admin"], ["push", "push", "pop"], ["push", "admin"], ["admin", "push"],
                       ["pop", "push"], ["push", "pop", "pop", "admin", "push"]):
            # A setting that stays the same is an `ok`, too.
            cells.add("op", cells.may(rights, nav, owns), True, True, nav=nav,
                      do=[steps[right] for right in rights], **{"if": any_guard})

    def own(self, cells, nav):
        """A nav that the page makes if it may, and closes if it may; the rest is made and closed for it."""
        create = {"nav.create": {"root": {"id": "home"}}}
        configure = {"nav.configure": {"restorationID": "x"}}
        is_configured, is_made = (cells.may(rights, nav, True) for rights in (["push", "admin"], ["push"]))
        cells.add("op", is_configured, nav=nav, do=[create, configure])
        cells.add("op", is_made, nav=nav, do=[create])
        cells.run()
        self.assertEqual(cells.around, [])
        if not is_made:
            self.control.create(nav)
        self.reads(cells, nav, is_made)
        self.ops(cells, nav, is_made)
        self.changes(cells, nav, is_made)
        cells.add("op", cells.may(["admin"], nav, is_made), changes=True, nav=nav, do=[{"nav.close": {}}],
                  **{"if": {"any": True}})
        cells.run()
        is_there = any(each["id"] == nav for each in self.control.get("$navs")["screens"])
        self.assertNotEqual(is_there, cells.may(["admin"], nav, is_made), nav)
        if is_there:
            self.control.op(nav, {"nav.close": {}})


if __name__ == "__main__":
    unittest.main()
