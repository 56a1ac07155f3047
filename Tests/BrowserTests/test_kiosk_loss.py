"""The kiosk while its connection or its nav is lost: what was typed stays, and nothing else is said to have happened."""
import unittest

from selenium.webdriver.common.keys import Keys

import test_kiosk as tests
from harness import eventually
from test_kiosk import KioskTest

# Counts the attempts to post, none of which arrives while the page is away.
AWAY = """
const own = fetch;
Object.assign(window, { isAway: true, posts: 0 });
window.fetch = (...given) => {
  posts += String(given[0]).includes("messages");
  return isAway ? Promise.reject(new TypeError("away")) : own(...given);
};"""
STATUS = "return document.documentElement.dataset.status === arguments[0]"
NOTES = "return [...document.querySelectorAll('.log-note')].map((each) => each.textContent)"
NOTHING = "Nothing happened: no connection."


def setUpModule():
    global daemon, kiosk
    tests.setUpModule()
    daemon, kiosk = tests.daemon, tests.kiosk


def tearDownModule():
    tests.tearDownModule()


class Loss(KioskTest):
    def setUp(self):
        super().setUp()
        kiosk.open(create=False)

    def lose(self):
        self.addCleanup(lambda: daemon.process.is_running or daemon.start())
        daemon.kill()
        kiosk.until("the loss", STATUS, "disconnected")

    def form(self):
        """Opens two forms, one over the other, and puts the focus into the field of the upper one."""
        kiosk.do({"push": {"screen": {"id": "wifi", "title": "Wi-Fi", "route": "settings/network/wifi", "args": {"channel": 1}}}},
                 {"present": {"screen": {"id": "rename", "route": "rename", "args": {"name": "Museum"}}, "style": "formSheet"}})
        kiosk.visible("rename")
        kiosk.run("document.querySelector('[data-field=name]').focus()")

    def drafts(self):
        state = daemon.control.get(kiosk.nav)
        screens = state["screens"] + [entry["screen"] for entry in state["presented"].get("chain", ())]
        return {name: value for each in screens for name, value in each.get("args", {}).get("draft", {}).items()}

    def test_what_is_typed_without_a_connection_arrives_with_the_next_one(self):
        self.form()
        kiosk.key("M1")
        eventually("the first letters", lambda: self.drafts() == {"name": "MuseumM1"})
        self.lose()
        kiosk.key("2")
        # Whatever is pressed sends what was typed before, and what is on the screen below is typed too.
        kiosk.run("""
          const channel = document.querySelector("[data-field=channel]");
          channel.value = "36";
          for (const name of ["input", "change"]) channel.dispatchEvent(new Event(name, { bubbles: true }));""")
        daemon.start()
        eventually("the last letters", lambda: self.drafts() == {"name": "MuseumM12", "channel": 36}, 5)
        self.assertEqual(kiosk.run(NOTES), [])

    def test_what_others_change_meanwhile_stays(self):
        self.form()
        kiosk.run(AWAY)
        self.lose()
        kiosk.key("2", Keys.TAB)
        daemon.start()
        kiosk.do({"screen.set": {"screen": "rename", "args": {"name": "Museum", "by": "another"}}})
        kiosk.run("isAway = false")
        eventually("the letter", lambda: self.drafts() == {"name": "Museum2"}, 5)
        self.assertEqual(daemon.control.get(kiosk.nav)["presented"]["chain"][0]["screen"]["args"]["by"], "another")

    def test_an_edit_on_its_way_leaves_what_others_change_meanwhile(self):
        for is_lost in (True, False):
            with self.subTest(is_lost=is_lost):
                kiosk.open(create=False)
                self.form()
                kiosk.run(AWAY)
                for letter in "23":
                    posts = kiosk.run("return posts")
                    kiosk.key(letter)
                    kiosk.until("an attempt", "return posts > arguments[0]", posts)
                if is_lost:
                    self.lose()
                    daemon.start()
                kiosk.do({"screen.set": {"screen": "rename", "args": {"name": "Museum", "by": "another"}}})
                kiosk.run("isAway = false")
                eventually("the letters", lambda: self.drafts() == {"name": "Museum23"}, 5)
                self.assertEqual(daemon.control.get(kiosk.nav)["presented"]["chain"][0]["screen"]["args"]["by"], "another")
                self.assertEqual(kiosk.run(NOTES), [])

    def test_each_act_that_replaces_arguments_is_made_again_of_a_newer_state(self):
        found = tests.driver.execute_async_script("""
          const done = arguments[0], draft = { channel: 36 };
          const state = (rev, by) => {
            const args = { channel: 1, by, draft };
            const screens = [{ id: "home", route: "home" }, { id: "wifi", route: "settings/network/wifi", args }];
            return { epoch: "e", rev, screens, parts: {}, presented: [{ screen: { id: "pin", route: "pin" } }] };
          };
          import("./acts.js").then(({ acts, edit, savePIN, resultActs }) => {
            const [old, newer] = [state(1, "us"), state(2, "another")], wifi = old.screens[1];
            const made = [
              edit(old, "wifi", { channel: 40 }), acts["dns.mode"](old, wifi, "manual"), acts["discard.discard"](old, { id: "pin" }, "wifi"),
              savePIN(old), resultActs(old, { route: "networks", args: { for: "wifi" } }, { network: "Foyer" }),
            ];
            const by = (act) => act.do.find((each) => each["screen.set"])["screen.set"].args.by;
            const again = made.map((act) => act.again(newer));
            const gone = { ...newer, epoch: "f", presented: [] };
            done([made.map((act) => [act.if.rev, by(act)]), again.map((act) => [act.if.rev, by(act)]),
              [made[0], made[2]].map((act) => act.again(gone).again(gone).if)]);
          });""")
        self.assertEqual(found, [
            [[1, "us"]] * 5, [[2, "another"]] * 5, [{"epoch": "e", "rev": 2}, {"epoch": "e", "visible": "pin", "rev": 2}]])

    def test_a_tap_without_a_connection_is_said_and_a_click_beside_it_is_not(self):
        self.form()
        self.lose()
        kiosk.click("[data-field=name]")
        kiosk.click(".sheet-box h2, .sheet-title")
        kiosk.click("[data-slot=sheet-close]")
        kiosk.until("the words", "return document.querySelector('[data-part=live]').textContent === arguments[0]", NOTHING)
        kiosk.until("the line", "return document.querySelector('.log-note')")
        self.assertEqual(kiosk.run(NOTES), [NOTHING])

    def test_each_tap_without_a_connection_is_said(self):
        self.form()
        self.lose()
        kiosk.run("""
          const live = document.querySelector("[data-part=live]");
          window.said = [];
          new MutationObserver(() => said.push(live.textContent)).observe(live, { childList: true });""")
        for count in (1, 2):
            kiosk.click("[data-slot=sheet-close]")
            kiosk.until("the words", "return said.filter((each) => each === arguments[0]).length === arguments[1]", NOTHING, count)
        # A screen reader says a text that comes in, not one that stays.
        self.assertEqual(kiosk.run("return said")[-3:], [NOTHING, "", NOTHING])

    def test_a_swipe_that_loses_its_connection_is_said_once(self):
        kiosk.do({"push": {"screen": {"id": "new", "title": "New", "route": "settings"}}})
        kiosk.settled()
        eventually("the display", lambda: kiosk.page()["display"] == "mine")
        x, y = kiosk.drag(0.4)
        self.lose()
        for step in range(6):
            kiosk.mouse("mouseMoved", x + 5 * step, y)
            kiosk.frames()
        kiosk.lift((x + 25, y))
        kiosk.until("the line", "return document.querySelector('.log-note')")
        self.assertEqual(kiosk.run(NOTES), [NOTHING])


class Ended(KioskTest):
    def test_no_key_reaches_the_kiosk_behind_the_notice_of_the_end(self):
        kiosk.open(create=False)
        self.addCleanup(tests.driver.get, "about:blank")
        kiosk.do({"push": {"screen": {"id": "settings", "title": "Settings", "route": "settings"}}})
        kiosk.top("settings")
        kiosk.tab_to("back", Keys.SHIFT + Keys.TAB)
        kiosk.do({"nav.close": {}})
        kiosk.until("the end", "return !document.querySelector('[data-part=notice]').hidden")
        kiosk.run(AWAY)
        eventually("no focus", lambda: kiosk.focus() == "nothing", 5)
        kiosk.key(Keys.ENTER, Keys.ESCAPE, Keys.BACKSPACE, Keys.ARROW_DOWN)
        # The browser has its own use for some keys.
        left = [kiosk.run("""
          return document.body.dispatchEvent(new KeyboardEvent("keydown", { ...arguments[0], bubbles: true, cancelable: true }))""", event)
            for event in ({"key": "ArrowLeft", "altKey": True}, {"key": "BrowserBack"}, {"key": "GoBack"}, {"key": "Escape"})]
        self.assertEqual(left, [True] * 4)
        for key in (Keys.TAB, Keys.SHIFT + Keys.TAB):
            kiosk.key(key)
            self.assertFalse(kiosk.run("return document.activeElement.closest('main') !== null"))
        self.assertEqual(kiosk.run("return posts"), 0)

    def test_the_notice_of_the_end_stays_if_a_state_came_in_the_same_frame(self):
        kiosk.open(create=False)
        self.addCleanup(tests.driver.get, "about:blank")
        kiosk.run("window.held = []; window.requestAnimationFrame = (frame) => held.push(frame)")
        kiosk.do({"push": {"screen": {"id": "last", "title": "Last"}}})
        kiosk.do({"nav.close": {}})
        kiosk.until("the end", "return !document.querySelector('[data-part=notice]').hidden")
        kiosk.run("for (const frame of held) frame(performance.now())")
        self.assertEqual(kiosk.run("const { hidden, textContent } = document.querySelector('[data-part=notice]'); return [hidden, textContent]"),
                         [False, "This navigation was closed.Reload the page to make a new one."])


if __name__ == "__main__":
    unittest.main()
