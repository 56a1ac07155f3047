"""The mirror: what the page shows at each quiet point is what the daemon has, and every slot says what navctl prints."""
import random
import re
import unittest

from harness import IS_LONG, Refused
from inspectors import Client, InspectorTest, start

OPERATIONS, QUIET = (2000, 100) if IS_LONG else (80, 10)
NAVS = [f"mirror/{name}" for name in ("kiosk", "hud", "seat")]


def setUpModule():
    start()


class Actor:
    """A client that changes navs at random: stacks, sheets, gestures, bars, buttons and animations."""

    def __init__(self, daemon, name, random):
        self.client, self.name, self.random = Client(daemon.endpoint, name), name, random
        self.made = 0

    def text(self):
        return f"{self.name} {self.random.randrange(10**6)}"

    def record(self):
        self.made += 1
        record = {"id": f"{self.name}-{self.made}", "title": self.text()}
        choice = self.random.randrange(5)
        if choice == 0:
            record["item"] = {"prompt": self.text(), "largeTitleDisplayMode": "never"}
        elif choice == 1:
            record["item"] = {"largeTitleDisplayMode": "always", "rightItems": [{"systemItem": "refresh"}, {"title": self.text()}]}
        elif choice == 2:
            record["item"] = {"backBarButtonItem": {"title": self.text()}, "leftItemsSupplementBackButton": True,
                              "leftItems": [{"title": self.text()}, {"image": "gear"}]}
        elif choice == 3:
            record["toolbarItems"] = [{"title": self.text()}, {"systemItem": "flexibleSpace"}, {"systemItem": "trash"}]
        return record

    def operations(self, nav):
        """One message: its operations, and its members."""
        state, pick = self.client.get(nav), self.random
        top, chain = state["screens"][-1]["id"], state["presented"].get("chain", [])
        if "tid" in state["transition"]:
            return self.while_moving(state["transition"])
        animated = {"animated": pick.random() < 0.3}
        if len(state["screens"]) > 6:
            return [{"popToRoot": {}}], animated
        kinds = {
            "push": [{"push": {"screen": self.record()}}], "pop": [{"pop": {}}], "back": [{"ui.backTap": {}}],
            "replace": [{"replace": {"with": self.record()}}], "insert": [{"insert": {"screen": self.record(), "at": 0}}],
            "turn": [{"setStack": {"screens": [each["id"] for each in pick.sample(state["screens"], len(state["screens"]))]}}],
            "title": [{"screen.set": {"screen": top, "title": self.text()}}],
            "item": [{"item.set": {"screen": top, "prompt": pick.choice([None, self.text()])}}],
            "large": [{"bar.set": {"prefersLargeTitles": pick.random() < 0.5}}],
            "hidden": [{"bar.setHidden": {"hidden": pick.random() < 0.2}}],
            "toolbar": [{"toolbar.setHidden": {"hidden": pick.random() < 0.4}}],
            "environment": [{"env.set": {"vCompact": pick.random() < 0.3}}],
            "present": [{"present": {"screen": self.record(), "style": pick.choice(["pageSheet", "formSheet", "popover"])}}],
            "gesture": [{"gesture.begin": {"kind": "edge", "translation": 5}}],
        }
        if chain:
            kinds = {"dismiss": [{"dismiss": {}}], "swipe": [{"ui.dismiss": {}}], "title": kinds["title"],
                     "present": kinds["present"] if len(chain) < 3 else [{"dismiss": {}}]}
        return kinds[pick.choice(sorted(kinds))], animated

    def while_moving(self, transition):
        if transition["phase"] == "interactive":
            return [{self.random.choice(["gesture.finish", "gesture.cancel"]): {}}], {}
        return [{"transition.complete": {"tid": transition["tid"]}}], {}

    def act(self, nav):
        operations, members = self.operations(nav)
        try:
            self.client.op(nav, *operations, **members)
        except Refused:
            pass  # by a rule, or since another client was faster
        return next(iter(operations[0]))


class Mirror(InspectorTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(20261126)
        for nav in NAVS:
            self.daemon.control.create(nav)
        self.actors = [Actor(self.daemon, name, self.random) for name in ("ada", "bob", "cy", "dee")]
        for actor in self.actors:
            self.addCleanup(actor.client.close)

    def test_each_slot_is_what_navctl_prints_at_each_quiet_point(self):
        self.open(NAVS[0])
        self.live(NAVS[0])
        done, moving = set(), 0
        for count in range(OPERATIONS):
            # Gestures belong to a session, so that the session that began one goes on with it.
            nav = NAVS[count % 3]
            owner = self.daemon.control.get(nav)["transition"].get("owner")
            actor = next((each for each in self.actors if each.name == owner), self.random.choice(self.actors))
            done.add(actor.act(nav))
            if (count + 1) % (OPERATIONS // QUIET) == 0:
                moving += self.is_true(self.random.choice(NAVS))
        self.assertLessEqual({"push", "present", "gesture.begin"}, done)
        self.nodes()

    def is_true(self, nav):
        """Compares a nav whole, whether or not something moves; a link leads to it."""
        self.link(nav)
        # A deadline may end an animation meanwhile, so the state is read again until both agree.
        self.live(nav)
        for _ in range(20):
            state = self.printed("show", "-n", nav)
            try:
                self.live(nav)
                self.shows(state)
                break
            except AssertionError:
                if self.daemon.control.get(nav)["rev"] == state["rev"]:
                    raise
        self.nodes()
        return "tid" in state["transition"]

    def test_a_state_that_changes_while_it_is_shown_is_shown_as_it_becomes(self):
        nav = self.nav("mirror")
        self.daemon.control.create(nav)
        self.open(nav)
        self.live(nav)
        for operation in (
                {"push": {"screen": {"id": "wifi", "title": "Wi-Fi"}}},
                {"push": {"screen": {"id": "details", "title": "Details", "item": {"prompt": "Choose"}}}},
                {"screen.set": {"screen": "wifi", "title": "WLAN"}},
                {"item.set": {"screen": "wifi", "backBarButtonItem": {"title": "Networks"}}},
                {"item.set": {"screen": "details", "rightItems": [{"title": "Outer"}, {"systemItem": "fixedSpace"}, {"image": "inner"}]}},
                {"item.set": {"screen": "details", "hidesBackButton": True}},
                {"item.set": {"screen": "details", "hidesBackButton": False}},
                {"present": {"screen": {"id": "pin", "title": "PIN"}, "style": "formSheet"}},
                {"dismiss": {}},
                {"pop": {}}):
            self.daemon.control.op(nav, operation)
            self.live(nav)
            self.shows(self.printed("show", "-n", nav))

    def test_the_tree_has_each_nav_and_a_click_shows_it(self):
        self.open(NAVS[0])
        for nav in reversed(NAVS):
            self.click(f'[data-view=tree] [role=treeitem][data-nav="{nav}"]')
            self.live(nav)
            self.until("the selection", f"""return document.querySelector('[role=treeitem][data-nav="{nav}"]')
                .getAttribute("aria-selected") === "true" """)

    def test_a_row_of_the_tree_has_kind_owner_top_and_age(self):
        """The page computes an age by the daemon's clock: its own may be an hour ahead."""
        nav = self.nav("mirror/row")
        self.daemon.control.create(nav)
        self.daemon.control.op(nav, {"push": {"screen": {"id": "wifi"}}})
        script = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": "window.skew = 3.6e6; const now = Date.now; Date.now = () => now() + skew;"})["identifier"]
        self.addCleanup(self.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
        self.open(nav)
        self.live(nav)
        row = f'[role=treeitem][data-nav="{nav}"]'

        def texts():
            return self.run_(f"""const row = document.querySelector('{row}');
              return ["kind", "owner", "top", "age"].map((name) => row.querySelector(`[data-part=row-${{name}}]`).textContent)""")
        # A controller is the usual kind, and not named.
        self.becomes("the row", ["", "uid:0", "wifi", "now"], texts)
        self.run_("skew += 300_000")
        # Another change draws the list anew.
        self.daemon.control.op(NAVS[1], {"push": {"screen": {"id": "other"}}})
        self.becomes("the row later", ["", "uid:0", "wifi", "5 min"], texts)
        label = self.run_(f"return document.querySelector('{row}').getAttribute('aria-label')")
        for word in ("controller", "top wifi", "owner uid:0", "changed 5 min ago"):
            self.assertIn(word, label)

    def test_what_is_in_flight_has_the_time_that_remains(self):
        nav, client = self.nav("mirror/flight"), Client(self.daemon.endpoint, "finger")
        self.addCleanup(client.close)
        self.daemon.control.create(nav, transitionDeadline=60000)
        self.daemon.control.op(nav, {"push": {"screen": {"id": "wifi"}}})
        self.open(nav)
        self.live(nav)

        def left(end):
            text = (self.look()["facts"].get("deadline") or [""])[0]
            found = re.fullmatch(rf"([\d.]+) s left, then navd {end}", text)
            return float(found[1]) if found else None
        client.op(nav, {"gesture.begin": {"kind": "edge"}})
        self.until("the deadline of the gesture", lambda: (left("cancels it") or 99) <= 9)
        self.assertIn("by finger", self.look()["facts"]["transition"][0])
        client.op(nav, {"gesture.update": {"value": 0.5}})
        self.until("the deadline after a movement", lambda: left("cancels it") == 10)
        client.op(nav, {"gesture.cancel": {}})
        self.until("no deadline", lambda: "deadline" not in self.look()["facts"])
        tid = client.op(nav, {"push": {"screen": {"id": "slow"}}}, animated=True)["rev"]
        self.until("the deadline of the animation", lambda: (left("ends it as timed out") or 0) > 50)
        # A page that comes later knows the beginning by the log.
        self.open(nav)
        self.until("the deadline from the log", lambda: 40 < (left("ends it as timed out") or 0) < 60)
        client.op(nav, {"transition.complete": {"tid": tid}})
        self.until("the end", lambda: "deadline" not in self.look()["facts"])
        self.link(nav, rev=tid)
        self.becomes("the deadline of the past", ["60 s after its beginning, navd ends it as timed out"],
                     lambda: self.look()["facts"].get("deadline"))

    def incidents(self):
        """The rows of the stream that are no revisions: what happened, and the text."""
        return [(row.get("sessionEvent") or f"report {row['report']}", row["text"])
                for row in self.rows("[data-view=stream] :is([data-session-event], [data-report])")]

    def until_incident(self, event, *words):
        self.until(event, lambda: any(kind == event and all(word in text for word in words) for kind, text in self.incidents()))

    def test_the_stream_has_reports_of_divergence_and_sessions(self):
        nav, other = NAVS[0], NAVS[1]
        self.open(nav)
        self.live(nav)
        self.tab("stream")
        # The first list has no events, so what comes is new to the page.
        self.until("its own session", lambda: any(each.get("name") == "inspector" for each in self.daemon.control.clients()))
        rev = self.daemon.control.op(nav, {"push": {"screen": {"id": "here"}}})["rev"]
        self.live(nav)
        client = Client(self.daemon.endpoint, "mirror-7")
        self.addCleanup(client.close)
        self.until_incident("opened", "mirror-7", "uid:0")
        # The timeline has read the revision before the report, and reads it no more.
        self.until("its row", f"return document.querySelector('[data-row][data-rev=\"{rev}\"][data-proof]')")
        client.request("watch", nav=nav, bad={"rev": rev, "dig": "00000bad" + "0" * 16})
        self.until_incident(f"report {rev}", "00000bad" + "0" * 16, "mirror-7", self.daemon.control.get(nav)["dig"])
        self.until("the sign in the timeline", f"return document.querySelector('[data-row][data-rev=\"{rev}\"] [data-sign=divergence]')")
        # Without credit, what its watch is to be sent waits.
        client.request("watch", nav=other)
        for number in range(160):
            self.daemon.control.op(other, {"screen.set": {"screen": "home", "title": f"{number}" * 400}})
        self.until_incident("stalled", "mirror-7")
        self.until_incident("lags", "mirror-7")
        client.socket.send_multipart([b"nsp1.bye", b'{"id":99}'])
        self.until_incident("closed", "mirror-7")
        self.assertEqual(len([each for each in self.incidents() if each[0].startswith("report")]), 1)

    def test_the_stream_names_the_role_that_events_of_sessions_need(self):
        self.open(NAVS[0], who="reader")
        self.live(NAVS[0])
        self.until("the role", "return document.querySelector('[data-part=stream-note]').textContent.includes('role admin')")
        self.assertEqual(self.incidents(), [])

    def test_each_kind_of_nav_is_shown(self):
        """A bar alone, an empty stack, and names of which one begins another."""
        control = self.daemon.control
        control.op("kind/hud", {"nav.create": {"kind": "bar"}}, {"pushItem": {"item": {"id": "i", "item": {"title": "One"}}}})
        control.op("kind/hud", {"pushItem": {"item": {"id": "j", "item": {"title": "Two"}}}})
        control.op("kind/empty", {"nav.create": {"classes": {}}})
        control.create("kind/hud/below")
        self.open("kind/hud")
        for nav in ("kind/hud", "kind/empty", "kind/hud/below"):
            self.link(nav)
            self.live(nav)
            self.shows(self.printed("show", "-n", nav))
        rows = {row["nav"] for row in self.rows("[data-view=tree] [role=treeitem]") if row.get("nav")}
        self.assertLessEqual({"kind/hud", "kind/empty", "kind/hud/below"}, rows)

    def test_what_is_not_there_is_not_shown(self):
        """A nav that never was, and a revision that does not exist yet: no old picture stays."""
        self.open(NAVS[0])
        self.live(NAVS[0])
        for place in ({"nav": "kind/never"}, {"nav": NAVS[0], "rev": 999999}):
            self.link(**place)
            self.becomes("no revision", True, lambda: not self.place()[2])
            self.until("no drawing", """
              const device = document.querySelector("[data-view=stage] [data-device]");
              return !device || !device.checkVisibility();""")
        self.link(NAVS[0])
        self.live(NAVS[0])

    def tearDown(self):
        for nav in NAVS:
            self.daemon.control.op(nav, {"nav.close": {}})
        super().tearDown()


if __name__ == "__main__":
    unittest.main()
