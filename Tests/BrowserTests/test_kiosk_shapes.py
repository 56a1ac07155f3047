"""The kiosk as a thing: its shapes, its log, its windows, what it says when it cannot begin or lost its connection."""
import unittest

import test_kiosk as tests
from harness import IS_LONG, TOKENS, eventually
from pages import console
from test_kiosk import DESK, PHONE, STRANGER, WALL, KioskTest, button, screen


def setUpModule():
    if not IS_LONG:
        raise unittest.SkipTest("most of its tests take more than 3 s: NAVD_TEST_LONG=1")
    global daemon, gateway, driver, kiosk
    tests.setUpModule()
    daemon, gateway, driver, kiosk = tests.daemon, tests.gateway, tests.driver, tests.kiosk


def tearDownModule():
    tests.tearDownModule()


class Shapes(KioskTest):
    def test_a_panel_is_a_tablet_whose_targets_can_be_touched(self):
        for window, shape, ratio in (((1280, 720), "landscape", 16 / 9), ((1080, 1920), "portrait", 9 / 16), (PHONE, "window", None)):
            with self.subTest(shape):
                kiosk.size(*window)
                kiosk.open(create=False)
                self.assertEqual(kiosk.page()["shape"], shape)
                box = kiosk.box("[data-device]")
                if ratio:
                    self.assertAlmostEqual(box["width"] / box["height"], ratio, delta=0.01)
                eventually("the idiom", lambda: daemon.control.get(kiosk.nav)["environment"].get("idiom", "phone") == ("pad" if ratio else "phone"))  # noqa: B023
                small = []
                for route in ("home", "settings/network/wifi", "settings/display"):
                    kiosk.do({"push": {"screen": screen(route, route=route, item={"rightItems": [button("Info", image="info")]})}})
                    kiosk.settled()
                    small += kiosk.run("""
                      return [...document.querySelectorAll(".device button, .device label, .panel button, .panel label")].filter((one) => one.checkVisibility()
                        && !one.closest("[inert]")).map((one) => [one.textContent, one.getBoundingClientRect()])
                        .filter(([, { width, height }]) => Math.min(width, height) < 43.9).map(([text, { width, height }]) => [text, width, height]);""")
                self.assertEqual(small, [])

    def test_the_panel_beside_the_device_stays_where_it_is(self):
        kiosk.size(1280, 720)
        kiosk.open(create=False)
        places = [kiosk.box(each) for each in ("[data-part=panel]", "[data-part=log]", "[data-part=open]")]
        for _ in range(3):
            kiosk.do({"push": {"screen": screen("One more page", route="settings")}}, animated=True)
            kiosk.settled()
        lines = kiosk.until("the lines", "const lines = [...document.querySelectorAll('.log-what')].map((each) => each.textContent); return lines.length > 3 && lines")
        self.assertEqual(lines, ["Opened One more page"] * 3 + ["Showing Harbour Museum"])
        self.assertEqual([kiosk.box(each) for each in ("[data-part=panel]", "[data-part=log]", "[data-part=open]")], places)

    def test_the_log_has_the_words_of_somebody_who_looks_at_the_screen(self):
        kiosk.open(create=False)
        kiosk.do({"push": {"screen": {"id": "s", "title": "Settings", "canPop": False, "item": {"rightItems": [{"id": "b", "title": "Scan"}]}}}})
        for operation in ({"screen.set": {"screen": "s", "title": "Options"}}, {"button.activate": {"button": "b"}},
                          {"present": {"screen": {"id": "p", "title": "PIN"}}}, {"dismiss": {}}, {"screen.set": {"screen": "s", "canPop": True}}, {"pop": {}}):
            kiosk.do(operation)
        wanted = ["Went back from Options", "Changed Options", "Closed PIN", "Opened PIN", "Pressed Scan", "Changed Options", "Opened Settings"]
        shown = "return [...document.querySelectorAll('.log-what')].map((each) => each.textContent)"
        eventually("the words", lambda: kiosk.run(shown)[:len(wanted)] == wanted)

    def test_the_chosen_shape_stands_out_in_each_scheme(self):
        for scheme in ("light", "dark"):
            with self.subTest(scheme):
                kiosk.prefer(prefers_color_scheme=scheme)
                kiosk.size(1280, 720)
                kiosk.open(create=False)
                track, chosen = kiosk.run("""
                  return [".shapes", ".shapes :checked + span"].map((each) =>
                    getComputedStyle(document.querySelector(each)).backgroundColor.match(/\\d+/g).map(Number)[0]);""")
                self.assertGreater(chosen, track + 30, "it is lighter than what it lies on")

    def test_a_clock_has_no_leading_zero(self):
        self.assertEqual(driver.execute_async_script("""
          const done = arguments[0];
          import("/view/view.js").then(({ drawClocks }) => {
            const place = document.createElement("p");
            const clock = place.appendChild(document.createElement("span"));
            clock.dataset.clock = "time";
            drawClocks(place, new Date(2026, 0, 1, 1, 37), "en-US");
            done(clock.textContent.replace(/\\s/g, " "));
          });"""), "1:37 AM")

    def test_the_texts_grow_with_those_of_the_reader_in_each_shape(self):
        for window, shape in ((PHONE, "window"), (DESK, "landscape"), (DESK, "portrait"), (DESK, "phone"), (WALL, "landscape")):
            with self.subTest(f"{window} {shape}"):
                kiosk.size(*window)
                kiosk.open(create=False, query=f"&shape={shape}")
                self.assertEqual(kiosk.page()["shape"], shape)
                size = "return parseFloat(getComputedStyle(document.querySelector('.row-title')).fontSize)"
                before, device = kiosk.run(size), kiosk.box("[data-device]")
                kiosk.run("document.documentElement.style.fontSize = '32px'")
                eventually("twice the size", lambda: abs(kiosk.run(size) - 2 * before) < 0.1)  # noqa: B023
                eventually("no overflow", lambda: tests.overflowing() == [])
                if shape != "window":
                    self.assertEqual(kiosk.box("[data-device]")["height"], device["height"])
                kiosk.run("document.documentElement.style.fontSize = ''")


class Absent(KioskTest):
    def test_a_tap_while_navd_is_away_is_not_carried_out_for_the_next_person(self):
        kiosk.open(create=False)
        kiosk.do({"push": {"screen": {"id": "a", "title": "A"}}})
        kiosk.top("a")
        daemon.kill()
        kiosk.until("the loss", "return document.documentElement.dataset.status === 'disconnected'")
        self.assertTrue(kiosk.run("return document.querySelector('.glass [data-part=banner]').checkVisibility()"))
        kiosk.click("[data-slot=back]")
        kiosk.until("the answer to the tap", "return document.querySelector('.log-note')?.textContent.includes('Nothing happened')")
        # What a program sends for a person waits a little.
        kiosk.run("import('/app.js').then(({ send }) => send({ do: [{ pop: {} }], if: { any: true } }))")
        kiosk.until("the refusal", "return [...document.querySelectorAll('.log-note')].some((each) => each.textContent.startsWith('Refused: '))")
        daemon.start()
        kiosk.until("the connection", "return document.documentElement.dataset.status === 'connected'")
        kiosk.settled()
        self.assertEqual([screen["id"] for screen in daemon.control.get(kiosk.nav)["screens"]], ["home", "a"])


class Windows(KioskTest):
    def notice(self, query, fragment):
        driver.get("about:blank")
        driver.get(f"http://{gateway.host}/{query}{fragment}")
        kiosk.until("the notice", "return !document.querySelector('[data-part=notice]').hidden")
        return kiosk.run("return document.querySelector('[data-part=notice]').innerText").split("\n")

    def test_a_page_that_cannot_begin_says_what_is_wrong_and_what_to_do(self):
        kiosk.open(create=False)
        kiosk.run("sessionStorage.clear()")
        self.assertEqual(self.notice("", "")[0], "This page needs a link with a code.")
        wrong, remedy = [line for line in self.notice("", "#c=" + "x" * 43) if line]
        self.assertEqual(wrong, "This link was used already, or is too old.")
        self.assertIn("newest link that navd-web printed", remedy)
        console(driver)
        wrong, remedy = [line for line in self.notice("", f"#t={STRANGER}") if line]
        self.assertEqual(wrong, "This link may not show the kiosk.")
        self.assertIn("a role of navd.conf", remedy)
        daemon.kill()
        try:
            wrong, remedy = [line for line in self.notice("", f"#t={TOKENS['alice']}") if line]
            self.assertEqual(wrong, "navd does not answer.")
            self.assertIn("systemctl start navd", remedy)
        finally:
            daemon.start()
        kiosk.until("the kiosk", "return document.querySelector('[data-part=notice]').hidden && !document.querySelector('[data-device]').hidden")

    def test_a_fifth_window_says_why_it_waits_and_begins_when_another_is_closed(self):
        kiosk.open(create=False)
        url, first = driver.current_url, driver.current_window_handle
        for number in range(4):
            driver.switch_to.new_window("tab")
            driver.get(f"{url}#t={TOKENS['alice']}")
            wanted = "connected" if number < 3 else "waiting"
            kiosk.until(f"window {number + 2}", "return document.documentElement.dataset.status === arguments[0]", wanted)
        self.assertIn("Close one", kiosk.run("return document.querySelector('[data-part=notice]').textContent"))
        fifth = driver.current_window_handle
        others = [each for each in driver.window_handles if each not in (first, fifth)]
        for each in others:
            driver.switch_to.window(each)
            driver.close()
        driver.switch_to.window(fifth)
        kiosk.settled()
        self.assertTrue(kiosk.run("return document.querySelector('[data-part=notice]').hidden"))
        driver.close()
        driver.switch_to.window(first)
