"""The difference of two revisions, against an oracle in Python that knows nothing but the two states."""
import itertools
import random
import re
import subprocess
import unittest

from harness import BINARIES, IS_LONG, Directory, eventually
from inspectors import InspectorTest, page_directory, start
from recordings import PARTS, Recording

PAIRS = 200 if IS_LONG else 8


def setUpModule():
    start("[history]\nsnapshot-every = 10\n")


def contents(record):
    """A record without its version, which a difference of contents does not name."""
    return {name: value for name, value in record.items() if name != "ver"}


def common(a, b):
    """The length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for left in a:
        last = 0
        for at, right in enumerate(b):
            last, row[at + 1] = row[at + 1], last + 1 if left == right else max(row[at + 1], row[at])
    return row[-1]


class Oracle:
    """What changed from one state to another."""

    def __init__(self, before, after):
        old = {screen["id"]: screen for screen in before["screens"]}
        new = {screen["id"]: screen for screen in after["screens"]}
        self.added, self.removed = set(new) - set(old), set(old) - set(new)
        both = [[each["id"] for each in state["screens"] if each["id"] in old and each["id"] in new] for state in (before, after)]
        self.moves, self.both = len(both[0]) - common(*both), both
        self.changed = {
            each: self.members(old[each], new[each]) for each in set(old) & set(new) if contents(old[each]) != contents(new[each])}
        self.parts = {
            part: self.members(before[part], after[part]) for part in PARTS
            if part != "presented" and contents(before[part]) != contents(after[part])}
        chains = [[entry["screen"]["id"] for entry in state["presented"].get("chain", ())] for state in (before, after)]
        self.shown, self.hidden = set(chains[1]) - set(chains[0]), set(chains[0]) - set(chains[1])

    @staticmethod
    def members(old, new):
        names = set(contents(old)) | set(contents(new))
        return sorted(name for name in names if old.get(name) != new.get(name))


# The comparison as it is drawn: its ends, and its rows with the members that changed, without versions.
READ = """
const view = document.querySelector("[data-view=compare]");
const { a, b } = view?.dataset ?? {};
if (!a || !b) return null;
const rows = [...view.querySelectorAll("[data-change]")].map((row) => ({
  change: row.dataset.change, id: row.dataset.id, isPresented: row.dataset.presented === "true",
  members: [...new Set([...row.querySelectorAll("[data-member]")].map((each) => each.dataset.member.split(/[.[]/)[0]))]
    .filter((each) => each !== "ver").sort(),
  chain: [...row.querySelectorAll("[data-presented]")].map((each) => each.textContent) }));
return { before: Number(a), after: Number(b), rows };
"""


class Difference(InspectorTest):
    def compare(self, nav, a, b):
        """Opens the comparison of `a` with the older or newer `b`, and waits until it is drawn in this order."""
        self.link(nav, rev=a, with_=b)
        self.tab("compare")
        return self.until(f"the comparison of {a} and {b}", lambda: (found := self.run_(READ))
                          and (found["before"], found["after"]) == (b, a) and found)

    def is_right(self, nav, a, b):
        found = self.compare(nav, a, b)
        before, after = (self.daemon.control.get(nav, "state", at=found[end]) for end in ("before", "after"))
        oracle = Oracle(before, after)
        # A record that has another version and the same contents may be named.
        chain = [row["id"] for row in found["rows"] if row["isPresented"]]
        rows = [row for row in found["rows"] if not row["isPresented"]]
        rows = [row for row in rows if row["change"] not in ("changed", "part") or row["members"] or row["id"] == "presented"]
        kinds = {kind: [row for row in rows if row["change"] == kind] for kind in ("added", "removed", "moved", "changed", "part")}
        ids = {kind: sorted(row["id"] for row in found) for kind, found in kinds.items()}
        self.assertEqual(sum(map(len, kinds.values())), len(rows))
        self.assertEqual((ids["added"], ids["removed"]), (sorted(oracle.added), sorted(oracle.removed)))
        self.assertEqual({row["id"]: row["members"] for row in kinds["changed"]}, oracle.changed)
        parts = {row["id"]: row for row in kinds["part"]}
        chain += parts.pop("presented", {"chain": []})["chain"]
        self.assertEqual({name: row["members"] for name, row in parts.items()}, oracle.parts)
        for screen in oracle.shown | oracle.hidden:
            self.assertTrue(any(re.search(rf"\b{screen}\b", text) for text in chain), (screen, chain))
        self.assertEqual(len(ids["moved"]), oracle.moves)
        # Without the moved ones, both stacks have the same order.
        left, right = ([each for each in side if each not in ids["moved"]] for side in oracle.both)
        self.assertEqual(left, right)
        return found["before"], found["after"]

    def history_of(self, seed):
        """A nav with moved screens, changes of parts only, and changes of detached records only."""
        nav, chance, control = self.nav("difference"), random.Random(seed), self.daemon.control
        control.create(nav)
        numbers = itertools.count(1)
        for _ in range(60 if IS_LONG else 30):
            screens = control.get(nav)["screens"]
            ids, top = [each["id"] for each in screens], screens[-1]["id"]
            number = next(numbers)
            control.op(nav, chance.choice([
                {"push": {"screen": {"id": f"n-{number}", "title": f"New {number}"}}},
                {"push": {"screen": {"id": f"n-{number}", "title": f"New {number}"}}},
                {"setStack": {"screens": chance.sample(ids, len(ids))}},
                {"setStack": {"screens": [*chance.sample(ids, max(1, len(ids) - 1)), {"id": f"n-{number}"}]}},
                {"screen.set": {"screen": chance.choice(ids), "title": f"Title {number}", "args": {"n": number}}},
                {"item.set": {"screen": top, "prompt": f"Prompt {number}"}},
                {"bar.set": {"tintColor": f"#{number:06x}"}},
                {"env.set": {"scale": chance.choice([1, 2, 3])}},
                {"screen.create": {"id": f"d-{number}", "title": "Detached"}},
                {"present": {"screen": {"id": f"p-{number}", "title": "Sheet"}}}
                if len(control.get(nav)["presented"].get("chain", ())) < 2 else {"dismiss": {}},
            ]))
        return nav, control.get(nav)["rev"]

    def test_random_pairs_in_both_orders(self):
        chance, done = random.Random(3), 0
        while done < PAIRS:
            nav, last = self.history_of(chance.random())
            self.open(nav)
            self.live(nav)
            for _ in range(50 if IS_LONG else PAIRS):
                a, b = chance.sample(range(1, last + 1), 2)
                with self.subTest(nav=nav, a=a, b=b):
                    first = self.is_right(nav, a, b)
                    self.assertEqual(self.is_right(nav, b, a), first[::-1])
                done += 1
        self.nodes()

    def test_each_kind_of_change_by_itself(self):
        nav, control = self.nav("difference"), self.daemon.control
        control.create(nav)
        for each in "abc":
            control.op(nav, {"push": {"screen": {"id": each, "title": each}}})
        steps = [
            {"setStack": {"screens": ["home", "c", "a", "b"]}},
            {"bar.set": {"prefersLargeTitles": True}},
            {"screen.create": {"id": "apart"}},
            {"screen.set": {"screen": "apart", "title": "changed"}},
            {"item.set": {"screen": "b", "rightItems": [{"id": "save", "title": "Save"}]}},
            {"present": {"screen": {"id": "sheet", "title": "Sheet"}}},
            {"dismiss": {}},
            {"popToRoot": {}}]
        revisions = [control.get(nav)["rev"]] + [control.op(nav, step)["rev"] for step in steps]
        self.open(nav)
        self.live(nav)
        for a, b in itertools.pairwise(revisions):
            with self.subTest(steps[revisions.index(a)]):
                self.is_right(nav, a, b)
        # Detached records are on no stack.
        self.assertEqual(self.compare(nav, revisions[2], revisions[4])["rows"], [])

    def test_a_change_shows_the_value_before_and_the_value_after(self):
        nav, control = self.nav("difference"), self.daemon.control
        control.create(nav)
        control.op(nav, {"screen.set": {"screen": "home", "title": "Second"}})
        self.open(nav)
        self.live(nav)
        for a, b in ((1, 2), (2, 1)):
            found = self.compare(nav, a, b)
            self.assertEqual([(row["change"], row["id"], row["members"]) for row in found["rows"]], [("changed", "home", ["title"])])
            texts = self.run_("""
              const row = document.querySelector("[data-view=compare] [data-change=changed]");
              const at = [...row.querySelectorAll("[data-member]")].findIndex((each) => each.dataset.member === "title");
              const last = (...names) => [...row.querySelectorAll(names.join())].at(-1)?.textContent;
              return [at >= 0, last("[data-old]", "[data-part=before]"), last("[data-new]", "[data-part=after]")];""")
            wanted = {1: "Home", 2: "Second"}
            self.assertTrue(texts[0])
            self.assertIn(wanted[found["before"]], texts[1])
            self.assertIn(wanted[found["after"]], texts[2])
            self.assertNotIn(wanted[found["after"]], texts[1])
            # Both are drawn, each under its number.
            self.becomes("the drawings", [[f"Revision {found[end]}", wanted[found[end]]] for end in ("before", "after")],
                         lambda: [each[:2] for each in self.pair()])
        self.assertEqual(*(each[3] for each in self.pair()))
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 256, "height": 640, "deviceScaleFactor": 1, "mobile": False})
        self.until("one above the other", lambda: len({each[2] for each in self.pair()}) == 1 and len({each[3] for each in self.pair()}) == 2)
        self.assertLessEqual(self.run_("return document.documentElement.scrollWidth"), 256)
        self.nodes()

    def pair(self):
        """The caption and the title of both drawings, and where they are."""
        return self.run_("""
          return [...document.querySelectorAll("[data-part=compare-pair] [data-side]")].map((side) => {
            const { left, top } = side.getBoundingClientRect();
            return [side.querySelector("figcaption").textContent,
              side.querySelector("[data-device] [data-slot=title]")?.textContent, left, top];
          });""")

    def backs(self):
        """The texts of the back buttons in both drawings."""
        return self.run_("return [...document.querySelectorAll('[data-part=compare-pair] [data-slot=back]')].map((each) => each.textContent)")

    def test_a_comparison_that_was_read_in_another_tab_is_drawn_in_sight(self):
        nav, control = self.nav("difference"), self.daemon.control
        control.create(nav)
        for title in ("Network", "Wi-Fi", "More"):
            control.op(nav, {"push": {"screen": {"id": title.lower(), "title": title}}})
        self.open(nav)
        self.live(nav)
        # The page waits for the other revision, and the person looks at another tab meanwhile.
        self.run_("""
          const own = fetch;
          const gate = new Promise((open) => { window.open = open; });
          window.fetch = async (...given) => { if (given[1]?.method === "POST") await gate; return own(...given); };""")
        self.link(nav, rev=4, with_=3)
        self.tab("compare")
        reading = "return document.querySelector('[data-view=compare] progress') !== null"
        self.until("the progress", reading)
        self.tab("stream")
        self.run_("window.open()")
        self.until("the end of the read", lambda: not self.run_(reading))
        self.tab("compare")
        self.becomes("the back buttons", ["Network", "Wi-Fi"], self.backs)

    def refusal(self):
        self.tab("compare")
        return self.until("the refusal", lambda: next(
            (row for row in self.rows("[data-part=compare-refused]") if row.get("reason")), None))

    def test_a_revision_that_the_journal_has_no_more_is_named_with_the_floor(self):
        nav, control, directory = self.nav("difference"), self.daemon.control, self.daemon.directory
        control.create(nav)
        for number in range(60):
            control.op(nav, {"screen.set": {"screen": "home", "title": f"Title {number}"}})
        directory.write("navd.conf", "[history]\nsnapshot-every = 10\nrevisions = 20\n")
        self.addCleanup(lambda: (
            directory.write("navd.conf", "[history]\nsnapshot-every = 10\n"), self.daemon.control.request("get", what="reload")))
        control.request("get", what="reload")
        # navd deletes history when it is at rest, so the question comes seldom.
        floor = eventually("the floor", lambda: (found := control.get(nav, "stats")["floor"]) > 1 and found, pause=0.3)
        self.open(nav, rev=floor + 2, with_=2)
        refusal = self.refusal()
        self.assertEqual((refusal["reason"], refusal["floor"]), ("compacted", str(floor)))
        self.assertIn(str(floor), refusal["text"])
        self.assertEqual(self.rows("[data-view=compare] [data-change]"), [])

    def test_two_epochs_are_not_compared(self):
        nav, control = self.nav("difference"), self.daemon.control
        control.create(nav)
        for number in range(3):
            control.op(nav, {"push": {"screen": {"id": f"s-{number}"}}})
        backup = control.request("get", what="backup")["value"]
        self.daemon.process.stop()
        subprocess.run([f"{BINARIES}/navd", "--restore", backup, "--state", self.daemon.directory / "state"],
                       check=True, capture_output=True)
        self.daemon.start()
        self.daemon.control.op(nav, {"push": {"screen": {"id": "later"}}})
        last = self.daemon.control.get(nav)["rev"]
        self.open(nav, rev=2, with_=last)
        refusal = self.refusal()
        self.assertEqual(refusal["reason"], "epoch")
        self.assertEqual(self.rows("[data-view=compare] [data-change]"), [])
        # Within each of them, the comparison goes on.
        self.compare(nav, 2, 3)

    def test_two_epochs_of_a_recording_are_not_compared(self):
        recording = Recording.made("difference/file", 8)
        recording.entries.insert(5, {"kind": "epoch", "rev": 5, "epoch": "00000000000000bb", "cause": "crash"})
        directory = Directory()
        self.addCleanup(directory.remove)
        path = directory.write("two.html", recording.html(page_directory()))
        self.driver.get(f"file://{path}#nav=difference%2Ffile&rev=2&with=7")
        self.assertEqual(self.refusal()["reason"], "epoch")


if __name__ == "__main__":
    unittest.main()
