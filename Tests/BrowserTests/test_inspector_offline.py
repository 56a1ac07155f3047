"""The file without a server: a recording in offline.html, opened by `file://` with the network off.

recordings.py writes most of them, as another program than navctl would; `Exported` has files of `navctl record`.
"""
import gzip
import json
import os
import unittest

import test_hostile
from harness import IS_LONG, Directory
from inspectors import InspectorTest, comparable, facts, page_directory, start
from recordings import PARTS, Recording, html

LONG = 100000 if IS_LONG else 1500


def setUpModule():
    global directory
    start(inspector=False)
    directory = Directory()
    unittest.addModuleCleanup(directory.remove)


class Offline(InspectorTest):
    def setUp(self):
        super().setUp()
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
        self.name = f"{self.id().rpartition('.')[2]}.html"

    def tearDown(self):
        requests = self.run_("return performance.getEntriesByType('resource').map(({ name }) => name)")
        super().tearDown()
        self.assertEqual(requests, [])

    def show(self, text, fragment=""):
        path = directory.write(self.name, text)
        self.driver.get("about:blank")
        self.driver.get(f"file://{path}{fragment}")

    def shown(self, recording, fragment=""):
        self.show(recording.html(page_directory()), fragment)
        self.becomes("the state of the document", "recording", lambda: self.look()["state"])

    def at(self, rev, dig, proven="true"):
        self.becomes(f"revision {rev}", (str(rev), dig, proven), lambda: self.place()[2:])

    def of_daemon(self):
        """A recording with pushes, sheets, a gesture's end, and changes of parts."""
        nav, control = self.nav("offline/kiosk"), self.daemon.control
        control.create(nav)
        for operation in (
                {"push": {"screen": {"id": "wifi", "title": "Wi-Fi", "item": {"prompt": "Choose a network"}}}},
                {"item.set": {"screen": "wifi", "rightItems": [{"id": "scan", "systemItem": "refresh"}]}},
                {"bar.set": {"prefersLargeTitles": True}},
                {"push": {"screen": {"id": "details", "title": "Details"}}},
                {"present": {"screen": {"id": "pin", "title": "PIN"}, "style": "formSheet"}},
                {"dismiss": {}},
                {"toolbar.setHidden": {"hidden": False}},
                {"pop": {}}):
            control.op(nav, operation)
        return nav, Recording.of(control, nav)

    def test_each_revision_steps_and_the_end_has_its_digest(self):
        nav, recording = self.of_daemon()
        self.shown(recording)
        self.slide(1)
        for rev in range(1, recording.last[0] + 1):
            state = self.daemon.control.get(nav, "state", at=rev)
            self.becomes("the revision", (nav, state["epoch"], str(rev), state["dig"], "true"), self.place)
            self.shows(state)
            self.run_("document.querySelector('[data-part=next]').click()")
        self.at(*recording.last)
        self.nodes()

    def test_a_recording_lacks_what_only_a_daemon_has(self):
        self.shown(self.of_daemon()[1])
        for name in ("sessions", "refusals", "plots"):
            self.tab(name)
            self.until(name, f"""return document.querySelector("[data-view={name}]").textContent.includes("not in a recording")""")
            self.assertEqual(self.rows(f"[data-view={name}] [data-session], [data-view={name}] [data-refusal]"), [])

    def test_a_comparison_and_a_link_work_in_a_file(self):
        nav, recording = self.of_daemon()
        self.shown(recording, f"#nav={nav.replace('/', '%2F')}&rev=2&with=5")
        self.tab("compare")
        self.until("the comparison", "return document.querySelectorAll('[data-view=compare] [data-change]').length > 0")
        self.link(nav, rev=3)
        third = self.daemon.control.get(nav, "state", at=3)["dig"]
        self.at(3, third)
        self.click("[data-part=bookmark]")
        self.slide(5)
        self.becomes("another revision", "5", lambda: self.place()[2])
        self.click("[data-part=bookmarks]")
        self.click("dialog[open] .link")
        self.at(3, third)

    def refused(self, octets, *reasons):
        self.show(html(page_directory(), octets))
        reason = self.until("the refusal", "return document.querySelector('[data-part=recording-error]')?.dataset.reason ?? null")
        self.assertIn(reason, reasons)
        self.assertNotEqual(self.look()["state"], "recording")
        self.assertTrue(self.run_("return document.querySelector('[data-part=recording-error]').textContent.trim()"))

    def test_a_damaged_file_is_refused_with_the_reason(self):
        recording = Recording.made("offline/made", 40)
        packed, plain = recording.packed(), recording.plain()
        flipped = bytearray(packed)
        flipped[len(packed) // 2] ^= 8
        lines = plain.splitlines(keepends=True)
        newer = Recording.made("offline/made", 5)
        newer.header["navrec"] = 2
        for name, octets, reasons in (
                ("truncated gzip", packed[:len(packed) * 2 // 3], ("truncated", "damaged")),
                ("flipped", bytes(flipped), ("damaged", "truncated")),
                ("no end", gzip.compress(b"".join(lines[:-1])), ("truncated",)),
                ("cut within a line", gzip.compress(plain[:len(plain) // 2]), ("truncated", "damaged")),
                ("newer", newer.packed(), ("newer",)),
                ("no recording", gzip.compress(b"{}\n"), ("damaged", "truncated", "newer")),
                ("no gzip", b"<script>alert(1)</script>", ("damaged", "truncated"))):
            with self.subTest(name):
                self.refused(octets, *reasons)

    def test_unknown_members_and_kinds_are_skipped(self):
        recording = Recording.made("offline/made", 6)
        recording.header["later"] = {"more": 1}
        recording.entries.insert(3, {"kind": "later", "text": "skip me"})
        recording.entries[2]["later"] = [1]
        self.shown(recording)
        self.slide(6)
        self.at(*recording.last)

    def test_a_long_recording_opens_and_steps(self):
        recording = Recording.made("offline/long", LONG)
        self.shown(recording)
        for rev in (LONG, 1, LONG // 2, LONG // 2 + 1):
            self.slide(rev)
            entry = recording.entries[rev - 1]
            self.at(rev, entry.get("dig") or entry["state"]["dig"])
        self.assertLessEqual(len(self.rows("[data-row]")), 60)
        self.nodes()

    def test_a_file_with_two_epochs_shows_both(self):
        recording = Recording.made("offline/two", 8)
        recording.entries.insert(5, {"kind": "epoch", "rev": 5, "epoch": "00000000000000bb", "cause": "crash"})
        self.shown(recording)
        for rev, epoch in ((3, "00000000000000aa"), (7, "00000000000000bb")):
            self.link("offline/two", rev=rev)
            self.becomes("the epoch", ("offline/two", epoch, str(rev)), lambda: self.place()[:3])

    def test_an_entry_without_contents_is_followed_by_a_state(self):
        recording = Recording.made("offline/omitted", 6)
        whole = Recording.made("offline/omitted", 6)
        entry = recording.entries[3]
        screens = [*whole.entries[0]["state"]["screens"], *whole.entries[3]["ch"][0]["ins"]]
        recording.entries[3] = {name: entry[name] for name in ("kind", "rev", "t", "cause", "by", "do", "before", "dig")}
        recording.entries[3]["omitted"] = True
        recording.entries.insert(4, {
            "kind": "state", "rev": 4, "epoch": "00000000000000aa", "resolved": entry["resolved"],
            "state": {"kind": "controller", "screens": screens, **{part: {"ver": 1} for part in PARTS}, "dig": entry["dig"]}})
        self.shown(recording)
        for rev in (3, 4, 5):
            self.slide(rev)
            self.at(rev, (whole.entries[rev - 1])["dig"])

    def test_wrong_digests_are_shown_as_unproven(self):
        """A forged step: the digest that the entry names is not that of the state."""
        recording = Recording.made("offline/forged", 8)
        entry = recording.entries[4]
        entry["ch"][0]["ins"] = [{**each, "ver": 99} for each in entry["ch"][0].get("ins", ())]
        if not entry["ch"][0]["ins"]:
            entry["dig"] = "00000000"
        self.shown(recording)
        self.slide(3)
        self.at(3, recording.entries[2]["dig"])
        self.slide(5)
        self.becomes("unproven", ("5", "false"), lambda: (self.place()[2], self.place()[4]))
        self.assertNotIn("✓", self.look()["position"]["text"])
        # What follows is not proven either; the rows and the position agree.
        for rev in (6, 8):
            self.slide(rev)
            self.becomes("what follows", (str(rev), "false"), lambda: (self.place()[2], self.place()[4]))
            row = next(row for row in self.rows("[data-view=timeline] [data-row]") if row["rev"] == str(rev))
            self.assertIn("unproven", row["text"])
            self.assertEqual(row["proof"], "unproven")

    def test_a_malicious_recording_runs_nothing(self):
        text = test_hostile.TEXTS["markup"]
        for member in ("text", "nav", "name", "kind", "cause", "key"):
            recording = Recording.made("offline/evil", 4, text=text)
            by = recording.entries[1]["by"]
            if member == "nav":
                recording.header["nav"] = text
            elif member == "name":
                by["name"], by["principal"] = text, text
            elif member == "kind":
                recording.entries.insert(2, {"kind": text, "rev": 2, text: text})
            elif member == "cause":
                recording.entries[1]["cause"], recording.entries[1]["do"] = text, [text, "__proto__"]
            elif member == "key":
                recording.entries[1]["ch"][0]["ins"][0]["args"] = {"__proto__": {"polluted": 1}, text: text}
            with self.subTest(member):
                self.show(recording.html(page_directory()))
                self.until("an answer", "return document.documentElement.dataset.state === 'recording'"
                                        " || document.querySelector('[data-part=recording-error]') !== null")
                for tab in ("stream", "why", "compare"):
                    self.tab(tab)
                self.assertEqual(self.run_("return [String({}.polluted), document.querySelectorAll('img, svg[onload]').length]"),
                                 ["undefined", 0])

    def test_the_file_is_one_and_has_a_policy(self):
        """It names no other file, and its policy permits no connection."""
        with open(os.path.join(page_directory(), "offline.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("Content-Security-Policy", text)
        self.assertIn("default-src 'none'", text)
        for word in ("src=\"", "href=\"http", "@import", "unsafe-inline", "unsafe-eval"):
            self.assertNotIn(word, text.replace('href="data:', ""), word)


class Exported(InspectorTest):
    """Files that navctl writes."""

    def test_a_recording_has_no_stream_and_no_clock(self):
        """Nothing arrives, and the time of who looks is not the one at which the state was."""
        nav, control = self.nav("offline/clock"), self.daemon.control
        control.create(nav)
        # The last revision has events, which a live page would list.
        control.op(nav, {"push": {"screen": {"id": "wifi", "title": "Wi-Fi"}}})
        path = directory / "clock.html"
        status, _, errors = self.daemon.navctl("record", nav, path, "--html", "--page", page_directory())
        self.assertEqual(status, 0, errors)
        self.driver.get(f"file://{path}")
        self.slide_to(2)
        self.tab("stream")
        self.until("the note of the stream", "return document.querySelector('[data-part=stream-note]')?.textContent"
                                             ".startsWith('A stream is not in a recording.')")
        self.until("the drawing", "return document.querySelector('[data-clock=time]') !== null")
        self.assertEqual(self.rows("[data-view=stream] [role=listitem]"), [])
        self.assertEqual(self.run_("return document.querySelector('[data-clock=time]').textContent"), "")

    def test_a_file_of_navctl_opens_and_has_the_digest_of_its_end(self):
        nav, control = self.nav("offline/exported"), self.daemon.control
        control.create(nav)
        for number in range(5):
            control.op(nav, {"push": {"screen": {"id": f"s-{number}", "title": f"Title {number}"}}})
        path = directory / "exported.html"
        status, _, errors = self.daemon.navctl("record", nav, path, "--html", "--page", page_directory())
        self.assertEqual(status, 0, errors)
        self.driver.get(f"file://{path}")
        self.slide_to(6)
        state = control.get(nav)
        self.becomes("the end", (nav, state["epoch"], "6", state["dig"], "true"), self.place)
        wanted = facts(state)
        self.becomes("the facts", wanted, lambda: comparable(self.look()["facts"], wanted))

    def slide_to(self, rev):
        self.becomes("the state of the document", "recording", lambda: self.look()["state"])
        self.slide(rev)

    def test_a_redacted_file_has_no_secret_in_its_octets(self):
        nav, control, secret = self.nav("offline/redacted"), self.daemon.control, "hunter2-hunter2"
        control.create(nav)
        control.op(nav, {"push": {"screen": {"id": "wifi", "title": "Wi-Fi", "args": {"password": secret}}}})
        path = directory / "redacted.navrec"
        status, _, errors = self.daemon.navctl("record", nav, path, "--redact")
        self.assertEqual(status, 0, errors)
        with gzip.open(path) as file:
            plain = file.read()
        self.assertIn("redacted", json.loads(plain.splitlines()[0]))
        self.assertNotIn(secret.encode(), plain)
        self.assertIn(b"wifi", plain)


if __name__ == "__main__":
    unittest.main()
