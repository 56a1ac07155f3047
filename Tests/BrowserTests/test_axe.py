"""Reach: inspector, recording and kiosk against axe-core, by keys alone, and with texts of twice the size.

axe-core is in a package of PyPI, which `make test-long` installs. All this takes more than a minute, so it is left to that.
"""
import os
import unittest

from selenium.webdriver.common.keys import Keys

from harness import IS_LONG, MODULE, ROOT, Directory, Gateway, kiosk_page
from inspectors import InspectorTest, page_directory, start
from kiosk import Kiosk

SOURCE = os.path.join(ROOT, ".build", "pypi", "axe_playwright_python", "axe.min.js")
TABS = ("stream", "compare", "why", "sessions", "refusals", "plots")
LOOKS = (("light", 1280, 800), ("dark", 1280, 800), ("light", 390, 844), ("dark", 390, 844))
NAV = "axe/kiosk"
RUN = """
const done = arguments[0];
axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => done(violations.flatMap(({ id, help, nodes }) =>
  nodes.map(({ target, html, any, all }) => `${id}: ${help}: ${target.join(" ")} ${html.slice(0, 160)} ${(any[0] ?? all[0])?.message ?? ""}`))),
  (error) => done([String(error)]));
"""
# What Tab must reach, and what has the focus now. A group of radio buttons or of tabs is one stop.
TABBABLE = """
window.stops = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter((each) =>
  each.tabIndex >= 0 && !each.disabled && !each.closest("[inert]") && each.checkVisibility({ checkVisibilityCSS: true })
  && !each.matches("details:not([open]) > :not(summary) *, [type=radio]:not(:checked)"));
return stops.length;
"""
FOCUS = """
const one = document.activeElement, { outlineStyle, boxShadow, borderColor } = getComputedStyle(one);
const { width, height } = one.getBoundingClientRect();
return [stops.indexOf(one), one === document.body || outlineStyle !== "none" || boxShadow !== "none", one.outerHTML.slice(0, 100), width > 0 && height > 0];
"""
# Controls and headings whose text is cut.
CUT = """
const poor = [];
for (const each of document.querySelectorAll("button, [role=tab], summary, label, h1, h2, [role=columnheader], .status, dt")) {
  if (!each.checkVisibility({ checkVisibilityCSS: true }) || each.closest("[data-device], .device, [role=list], .pool, .unseen, dialog:not([open])")) continue;
  if (each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline") poor.push(`${each.scrollWidth} > ${each.clientWidth} ${each.outerHTML.slice(0, 100)}`);
}
const { scrollWidth, clientWidth } = document.documentElement;
if (scrollWidth > clientWidth) {
  const wide = [...document.querySelectorAll("body *")].filter((each) => each.getBoundingClientRect().right > clientWidth && !each.closest(".pool, .unseen"));
  poor.push(`the page is ${scrollWidth} wide: ${wide.slice(0, 4).map((each) => each.outerHTML.slice(0, 80)).join(" | ")}`);
}
return poor;
"""


def setUpModule():
    if not IS_LONG:
        raise unittest.SkipTest("it takes more than a minute: NAVD_TEST_LONG=1")
    if not os.path.exists(SOURCE):
        raise unittest.SkipTest(f"{SOURCE} is missing: `make test-long` installs it")
    start()
    control = InspectorTest.daemon.control
    control.create(NAV)
    control.create("axe/other")
    for name in ("settings", "wifi"):
        control.op(NAV, {"push": {"screen": {"id": name, "title": name.title(), "route": name}}})
    control.op(NAV, {"item.set": {"screen": "wifi", "prompt": "Choose", "rightItems": [{"id": "add", "systemItem": "add"}]}})


class Reach(InspectorTest):
    kiosk_beside = None

    def tearDown(self):
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.driver.execute_cdp_cmd("Page.setFontSizes", {"fontSizes": {"standard": 16, "fixed": 13}})
        super().tearDown()

    # --- The three pages --------------------------------------------------------------------------

    def live_page(self, **fragment):
        self.open(NAV, **fragment)
        self.live(NAV)
        self.enabled("[data-part=previous]")

    def recording(self):
        directory = Directory()
        self.addCleanup(directory.remove)
        path = directory / "ticket.html"
        self.assertEqual(self.daemon.navctl("record", NAV, path, "--html", "--page", page_directory())[0], 0)
        self.driver.get(f"file://{path}")
        self.until("the recording", "return document.documentElement.dataset.state === 'recording'")
        self.enabled("[data-part=previous]")
        self.until("its last button", "return document.querySelector('[data-part=live]').disabled")

    def kiosk(self):
        if Reach.kiosk_beside is None:
            gateway = Gateway(self.daemon, page=kiosk_page(), module=MODULE)
            unittest.addModuleCleanup(gateway.close)
            Reach.kiosk_beside = Kiosk(self.driver, self.daemon, gateway)
        Reach.kiosk_beside.open()
        return Reach.kiosk_beside

    def appear(self, scheme, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.until("the size", f"return innerWidth === {width}")

    # --- axe-core ---------------------------------------------------------------------------------

    def faults(self):
        if not self.run_("return typeof axe !== 'undefined'"):
            with open(SOURCE, encoding="utf-8") as file:
                self.run_(file.read())
        return self.driver.execute_async_script(RUN)

    def test_axe_finds_a_planted_fault(self):
        self.live_page()
        self.run_("const one = document.createElement('button'); document.querySelector('.acts').append(one)")
        self.assertEqual([fault.split(":")[0] for fault in self.faults()], ["button-name"])

    def test_the_inspector_holds_axe_in_each_view(self):
        self.live_page(with_=1)
        for look in LOOKS:
            self.appear(*look)
            for tab in TABS if look == LOOKS[0] else ("stream", "compare"):
                self.tab(tab)
                with self.subTest(look=look, tab=tab):
                    self.assertEqual(self.faults(), [])

    def test_the_dialogs_of_the_inspector_hold_axe(self):
        self.live_page()
        self.click("[data-part=legend] summary")
        for part in ("help", "bookmarks"):
            self.click(f"[data-part={part}]")
            with self.subTest(part):
                self.assertEqual(self.faults(), [])
            self.run_("document.querySelector('dialog[open]').close()")

    def test_a_nav_that_is_not_there_and_a_wrong_filter_hold_axe(self):
        self.open("axe/nowhere", filter="author:me")
        self.until("the reason", "return document.querySelector('[data-part=stage-notice]')?.textContent.includes('no nav')")
        self.assertEqual(self.faults(), [])

    def test_a_recording_holds_axe(self):
        self.recording()
        for look in LOOKS:
            self.appear(*look)
            with self.subTest(look=look):
                self.assertEqual(self.faults(), [])

    def test_the_kiosk_holds_axe(self):
        kiosk = self.kiosk()
        for look in LOOKS:
            self.appear(*look)
            for what in ("home", "page", "sheet"):
                if what == "page":
                    kiosk.do({"push": {"screen": {"id": "settings", "title": "Settings", "route": "settings"}}})
                if what == "sheet":
                    kiosk.do({"present": {"screen": {"id": "pin", "title": "PIN"}, "style": "formSheet"}})
                kiosk.settled()
                with self.subTest(look=look, what=what):
                    self.assertEqual(self.faults(), [])
            kiosk.do({"dismiss": {}})
            kiosk.do({"popToRoot": {}})

    # --- Keys -------------------------------------------------------------------------------------

    def tour(self):
        """Presses Tab until the focus has been everywhere, or nothing new comes; each place must show it."""
        count = self.run_(TABBABLE)
        self.assertGreater(count, 3)
        found, hidden = set(), []
        for _ in range(2 * count + 5):
            self.key(Keys.TAB)
            index, shows, what, has_size = self.run_(FOCUS)
            found.add(index)
            if not shows or not has_size and index >= 0:
                hidden.append(what)
            if found >= set(range(count)):
                break
        missed = self.run_("return stops.filter((_, index) => !arguments[0].includes(index)).map((each) => each.outerHTML.slice(0, 120))", sorted(found))
        self.assertEqual((missed, hidden), ([], []))

    def test_keys_alone_reach_everything_in_the_inspector(self):
        self.live_page()
        self.blur()
        self.tour()

    def test_keys_alone_reach_everything_in_a_recording_and_travel_in_it(self):
        self.recording()
        newest = self.place()[2]
        self.tour()
        self.blur()
        self.key(Keys.ARROW_LEFT)
        self.becomes("the revision before", str(int(newest) - 1), lambda: self.place()[2])
        self.key("2")
        self.until("the comparison", "return document.querySelector('[data-part=compare-facts]')?.checkVisibility()")

    def test_keys_alone_reach_everything_in_the_kiosk(self):
        kiosk = self.kiosk()
        kiosk.do({"push": {"screen": {"id": "settings", "title": "Settings", "route": "settings"}}})
        kiosk.settled()
        self.tour()

    # --- Texts ------------------------------------------------------------------------------------

    def twice(self, selector):
        """Doubles the size of texts that the browser is set to."""
        before = self.run_("return parseFloat(getComputedStyle(document.querySelector(arguments[0])).fontSize)", selector)
        self.driver.execute_cdp_cmd("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})
        self.until("the texts", lambda: self.run_(
            "return parseFloat(getComputedStyle(document.querySelector(arguments[0])).fontSize)", selector) >= 1.95 * before)

    def test_texts_of_twice_the_size_are_whole_in_the_inspector(self):
        self.live_page()
        for size in ((1280, 800), (390, 844)):
            self.appear("light", *size)
            self.twice(".brand")
            for tab in TABS:
                self.tab(tab)
                with self.subTest(size=size, tab=tab):
                    self.becomes("no text that is cut", [], lambda: self.run_(CUT))
            self.driver.execute_cdp_cmd("Page.setFontSizes", {"fontSizes": {"standard": 16, "fixed": 13}})

    def test_texts_of_twice_the_size_are_whole_in_a_recording(self):
        self.recording()
        self.appear("light", 1280, 800)
        self.twice(".brand")
        self.becomes("no text that is cut", [], lambda: self.run_(CUT))

    def test_texts_of_twice_the_size_are_whole_in_the_kiosk(self):
        self.kiosk()
        self.appear("light", 390, 844)
        self.twice(".row-title")
        self.becomes("no text that is cut", [], lambda: self.run_(CUT))


if __name__ == "__main__":
    unittest.main()
