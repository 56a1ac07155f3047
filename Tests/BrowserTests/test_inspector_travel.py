"""Travel: each earlier revision is shown as `navctl history --at` prints it, and travelling changes nothing.

A proxy in front of navd counts the verbs of the inspector: those that read, and no other.
"""
import json
import random
import re
import shlex
import threading
import unittest
from urllib.parse import quote

from harness import IS_LONG
from inspectors import READING, InspectorTest, Keys, start
from wire import Wire

REVISIONS, TRAVELS = (10000, 50) if IS_LONG else (90, 6)
NAV = "travel/deep/kiosk"


def setUpModule():
    global wire

    def beside(daemon):
        global wire
        wire = Wire(daemon)
        unittest.addModuleCleanup(wire.close)
        return wire
    start("[history]\nrevisions = 200000\n", endpoint=beside)
    fill(InspectorTest.daemon.control)


def fill(control):
    """A history with titles, prompts, buttons and sheets, so that each revision looks different from its neighbours."""
    control.create(NAV)
    depth = 1
    for rev in range(2, REVISIONS + 1):
        step = rev % 7
        if step in (1, 4) and depth < 20:
            control.op(NAV, {"push": {"screen": {"id": f"s-{rev}", "title": f"Screen {rev}"}}})
            depth += 1
        elif step == 2 and depth > 2:
            control.op(NAV, {"pop": {}})
            depth -= 1
        elif depth >= 20:
            control.op(NAV, {"popToRoot": {}})
            depth = 1
        else:
            top = control.get(NAV, "top")["id"]
            control.op(NAV, {"item.set": {"screen": top, "prompt": f"Prompt {rev}", "rightItems": [{"title": f"Right {rev}"}]}})


class Writer:
    """A writer that goes on while the page travels."""

    def __init__(self, daemon):
        self.control, self.stopped, self.count = daemon.control, threading.Event(), 0
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopped.wait(0.02):
            self.count += 1
            self.control.op(NAV, {"screen.set": {"screen": "home", "title": f"Home {self.count}"}})

    def stop(self):
        self.stopped.set()
        self.thread.join()


class Travel(InspectorTest):
    def travelling(self):
        self.becomes("the state of the document", "past", lambda: self.look()["state"])

    def test_revisions_by_slider_keys_and_links_are_those_of_the_history(self):
        chance = random.Random(7)
        self.open(NAV)
        self.live(NAV)
        before = self.daemon.control.get(NAV)["rev"]
        writer = Writer(self.daemon)
        try:
            for count, rev in enumerate(chance.sample(range(2, REVISIONS - 1), TRAVELS)):
                way = (self.by_slider, self.by_keys, self.by_link)[count % 3]
                with self.subTest(way=way.__name__, rev=rev):
                    self.past(NAV, way(rev))
                    self.travelling()
                    self.nodes()
            self.until("the writer", lambda: writer.count > 2)
            # The count of what is live goes on, while the stage stays.
            rev = int(self.place()[2])
            seen = self.daemon.control.get(NAV)["rev"]
            self.until("the newest revision beside the old one", lambda: any(
                word.isdigit() and int(word) > seen for word in self.words()))
            self.assertEqual(self.place()[2], str(rev))
        finally:
            writer.stop()
        self.assertGreater(self.daemon.control.get(NAV)["rev"], before)
        self.click("[data-part=live]")
        self.live(NAV)
        self.shows(self.printed("show", "-n", NAV))
        self.only_read()

    def words(self):
        return "".join(each if each.isalnum() else " " for each in self.look()["position"]["text"]).split()

    def by_slider(self, rev):
        self.slide(rev)
        return rev

    def by_keys(self, rev):
        self.by_slider(rev)
        self.becomes("the revision", str(rev), lambda: self.place()[2])
        self.blur()
        self.key(Keys.ARROW_LEFT)
        self.becomes("the revision before", str(rev - 1), lambda: self.place()[2])
        self.key(Keys.ARROW_RIGHT)
        self.becomes("the revision again", str(rev), lambda: self.place()[2])
        self.key(Keys.ARROW_RIGHT)
        return rev + 1

    def by_link(self, rev):
        self.link(NAV, rev=rev)
        return rev

    def only_read(self):
        verbs, bodies = wire.seen()
        self.assertLessEqual({"hello", "watch", "get"}, set(verbs))
        self.assertLessEqual(set(verbs), READING)
        whats = {json.loads(body).get("what", "state") for body in bodies}
        self.assertFalse(whats & {"backup", "reload", "trace"}, whats)

    def test_an_address_opens_at_its_revision(self):
        rev = REVISIONS // 2
        self.open(NAV, rev=rev)
        self.past(NAV, rev)
        self.travelling()
        # What a person copies leads to the same place: without the code, and the name of the nav is encoded once.
        self.becomes("the address", ["nav=travel%2Fdeep%2Fkiosk", f"rev={rev}"], lambda: [
            member for member in self.run_("return location.hash").removeprefix("#").split("&") if not member.startswith("epoch=")])

    def test_the_address_follows_a_travel(self):
        self.open(NAV)
        self.live(NAV)
        self.slide(5)
        self.past(NAV, 5)
        self.until("the address", "return location.hash.includes('rev=5')")
        self.click("[data-part=live]")
        self.live(NAV)
        self.until("the address", "return !location.hash.includes('rev=')")

    def test_a_link_is_followed_though_the_address_of_a_travel_is_due(self):
        self.open(NAV)
        self.live(NAV)
        # Behind a busy time, both timers are due: the link's, and the one of the page, which writes its own address
        # before it hears of the link.
        self.run_("""
          const [link] = arguments;
          setTimeout(() => { location.hash = link; }, 290);
          const slider = document.querySelector("[data-part=slider]");
          slider.value = 7;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
          const end = performance.now() + 400;
          while (performance.now() < end);""", f"nav={quote(NAV, safe='')}&rev=9")
        self.past(NAV, 9)

    def test_buttons_and_keys_lead_to_the_ends_and_back(self):
        self.open(NAV)
        self.live(NAV)
        newest = self.daemon.control.get(NAV)["rev"]
        for how, rev in (("first", 1), ("next", 2), ("next", 3), ("previous", 2), ("last", newest), ("previous", newest - 1)):
            self.click(f"[data-part={how}]")
            self.becomes(how, str(rev), lambda: self.place()[2])
        self.past(NAV, newest - 1)
        self.blur()
        self.key(Keys.HOME)
        self.past(NAV, 1)
        self.key(Keys.END)
        self.becomes("the last", str(newest), lambda: self.place()[2])
        self.key("l")
        self.live(NAV)

    def test_travelling_is_never_refused(self):
        """It asks for revisions that there are, also where it looks ahead."""
        nav, control = self.nav("travel/quiet"), self.daemon.control
        control.create(nav)
        for number in range(5):
            control.op(nav, {"push": {"screen": {"id": f"s-{number}"}}})
        before = control.get(what="stats")["refusals"]
        self.open(nav, rev=6)
        self.past(nav, 6)
        for rev in (1, 5, 6):
            self.slide(rev)
            self.past(nav, rev)
        self.click("[data-part=live]")
        self.live(nav)
        self.assertEqual(control.get(what="stats")["refusals"], before)

    def test_no_button_can_be_pressed_before_the_history_is_there(self):
        script = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
          new MutationObserver(() => {
            const all = [...document.querySelectorAll("[data-part=previous], [data-part=next], [data-part=first], [data-part=last], [data-part=slider]")];
            if (all.length) window.born ??= all.map(({ disabled }) => disabled);
          }).observe(document, { childList: true, subtree: true });"""})
        self.addCleanup(self.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", script)
        self.open(NAV, rev=1)
        self.past(NAV, 1)
        self.assertEqual(self.run_("return born"), [True] * 5)

    def test_each_step_is_the_next_revision(self):
        """No revision is left out between the first ones."""
        self.open(NAV, rev=1)
        self.past(NAV, 1)
        self.enabled("[data-part=next]")
        self.blur()
        for rev in range(2, 12):
            self.key(Keys.ARROW_RIGHT)
            self.becomes("the next revision", str(rev), lambda: self.place()[2])
            self.assertIn(f"evision {rev} of", self.look()["position"]["text"])
        self.past(NAV, 11)

    def test_the_rows_are_the_revisions_of_the_log(self):
        nav = self.nav("travel/rows")
        control = self.daemon.control
        control.create(nav)
        for number in range(6):
            control.op(nav, {"push": {"screen": {"id": f"s-{number}", "title": f"Title {number}"}}})
        self.open(nav)
        self.live(nav)
        log = {str(entry["rev"]): entry for entry in control.log(nav)}
        self.becomes("the rows", sorted(log, key=int), lambda: sorted(
            (row["rev"] for row in self.rows("[data-view=timeline] [data-row]")), key=int))
        self.until("their contents", lambda: not any("not loaded" in row["text"] for row in self.rows("[data-view=timeline] [data-row]")))
        for row in self.rows("[data-view=timeline] [data-row]"):
            entry = log[row["rev"]]
            self.assertIn(entry["cause"], row["text"])
            self.assertIn(entry["do"][0], row["text"])
            self.assertIn(entry["dig"][:8], row["text"])
        # The page has had one state, and each that it travels to is proven too.
        self.becomes("the proven ones", [7], self.proven)
        self.slide(3)
        self.past(nav, 3)
        self.becomes("the proven ones", [3, 7], self.proven)
        names = self.run_("return [...document.querySelectorAll('[data-row] .rev')].map((each) => each.getAttribute('aria-label'))")
        self.assertIn("Travel to revision 3, push s-1, by control, proven: the page has computed it", names)
        self.assertIn("Travel to revision 2, push s-0, by control, not computed by the page", names)
        heard = self.run_("const place = document.querySelector('output').cloneNode(true);"
                          "for (const each of place.querySelectorAll('[aria-hidden=true]')) each.remove(); return place.textContent")
        self.assertIn("revision 3 of 7", heard)
        self.assertNotIn(log["3"]["dig"][:8], heard)
        # The kernel proves the principal; the client claims its name. They stand apart.
        authors = self.run_("""
          return ["proven", "claimed"].map((kind) => [...new Set([...document.querySelectorAll(
            `[data-view=timeline] [data-row] [data-author=${kind}]`)].map((each) => each.textContent.trim()))]);""")
        self.assertTrue(any("uid:0" in text for text in authors[0]), authors)
        self.assertTrue(any("control" in text for text in authors[1]), authors)
        self.assertFalse(any("control" in text for text in authors[0]), authors)
        self.assertLessEqual(len(self.rows("[data-row]")), 60)

    def proven(self):
        return sorted(int(row["rev"]) for row in self.rows("[data-view=timeline] [data-proof=proven]"))

    def revisions(self):
        return [int(row["rev"]) for row in self.rows("[data-view=timeline] [data-row]")]

    def test_a_filter_leaves_the_rows_that_match(self):
        nav, control = self.nav("travel/filter"), self.daemon.control
        control.create(nav)
        wanted = []
        for number in range(4):
            control.op(nav, {"push": {"screen": {"id": f"s-{number}"}}})
            wanted.append(control.op(nav, {"pop": {}})["rev"])
        self.open(nav)
        self.live(nav)
        self.until("the rows", lambda: len(self.revisions()) == 9)
        self.fill_in("filter", "op:pop")
        self.becomes("the rows", sorted(wanted), lambda: sorted(self.revisions()))
        self.fill_in("filter", "by:nobody")
        self.becomes("no rows", [], self.revisions)
        self.fill_in("filter", "")
        self.until("all rows", lambda: len(self.revisions()) == 9)

    def fill_in(self, part, text):
        self.run_("""
          const field = document.querySelector(`[data-part=${arguments[0]}]`);
          field.value = arguments[1];
          field.dispatchEvent(new Event("input", { bubbles: true }));""", part, text)

    def test_a_pause_holds_the_rows_and_nothing_else(self):
        nav, control = self.nav("travel/pause"), self.daemon.control
        control.create(nav)
        self.open(nav)
        self.live(nav)
        self.becomes("the row", [1], self.revisions)
        self.click("[data-part=pause]")
        self.until("the pause", "return document.querySelector('[data-part=pause]').getAttribute('aria-pressed') === 'true'")
        control.op(nav, {"push": {"screen": {"id": "a"}}})
        self.live(nav)
        self.assertEqual(self.revisions(), [1])
        self.click("[data-part=pause]")
        self.becomes("the rows", [1, 2], lambda: sorted(self.revisions()))

    def test_why_names_the_revision_that_brought_the_screen(self):
        nav = self.nav("travel/why")
        control = self.daemon.control
        control.create(nav)
        brought = control.op(nav, {"push": {"screen": {"id": "wifi", "title": "Wi-Fi"}}})["rev"]
        control.op(nav, {"push": {"screen": {"id": "over"}}})
        control.op(nav, {"pop": {}})
        came_back = control.get(nav)["rev"]
        control.op(nav, {"screen.set": {"screen": "wifi", "title": "WLAN"}})
        self.open(nav)
        self.live(nav)
        self.tab("why")
        # The screen is visible since the pop; it is on the stack since the push.
        text = self.until("the reason", lambda: (text := self.run_(
            "return document.querySelector('[data-view=why]').innerText")) and re.search(
                rf"\b({brought}|{came_back})\b", text) and text)
        for word in ("api", "uid:0", "control"):
            self.assertIn(word, text)
        self.assertRegex(text, "push|pop")

    def test_copied_commands_show_the_same(self):
        nav = self.nav("travel/copy")
        self.daemon.control.create(nav)
        self.daemon.control.op(nav, {"push": {"screen": {"id": "a"}}})
        self.open(nav, rev=1)
        self.past(nav, 1)
        self.run_("""
          window.copied = [];
          Object.defineProperty(navigator, "clipboard", { configurable: true, value: {
            writeText: async (text) => { copied.push(text); } } });""")
        self.click("[data-part=copy-navctl]")
        command = self.until("the command", "return copied[0]")
        self.assertEqual(shlex.split(command), ["navctl", "history", nav, "--at", "1"])
        self.click("[data-part=copy-json]")
        text = self.until("the state", "return copied[1]")
        self.assertIn(self.history(nav, 1)["dig"], text)
        self.assertIn('"home"', text)
        json.loads(text)


if __name__ == "__main__":
    unittest.main()
