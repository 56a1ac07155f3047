"""What the kiosk has of UIKit after iOS 12: menus of buttons and of the title, badges, subtitles."""
import os
import unittest

from selenium.webdriver.common.keys import Keys

from harness import MODULE, Daemon, Gateway, eventually, kiosk_page
from kiosk import Kiosk
from pages import browser, console

SCREENSHOTS = os.environ.get("NAVD_TEST_SCREENSHOTS")


def setUpModule():
    global driver, kiosk
    driver = browser()
    unittest.addModuleCleanup(driver.quit)
    daemon = Daemon()
    unittest.addModuleCleanup(daemon.close)
    gateway = Gateway(daemon, page=kiosk_page(), module=MODULE)
    unittest.addModuleCleanup(gateway.close)
    kiosk = Kiosk(driver, daemon, gateway)
    kiosk.size(390, 844)


def keep_picture(name):
    """Keeps a picture for a person to look at."""
    if SCREENSHOTS:
        driver.save_screenshot(os.path.join(SCREENSHOTS, f"{name}.png"))


class Menus(unittest.TestCase):
    def setUp(self):
        console(driver)
        kiosk.open()

    def tearDown(self):
        self.assertEqual(console(driver), [])
        self.assertEqual(kiosk.run("return window.violations"), [])

    def test_menus_badges_and_subtitles_are_drawn_and_a_choice_reaches_navd(self):
        sort = {"id": "sort", "title": "Sort", "changesSelectionAsPrimaryAction": True, "badge": 12, "menu": [
            {"id": "age", "title": "By age", "state": "on"}, {"id": "size", "title": "By size", "isEnabled": False},
            {"title": "By name", "children": [{"id": "up", "title": "A to Z"}, {"id": "down", "title": "Z to A"}]}]}
        kiosk.do({"push": {"screen": {"id": "mail", "title": "Mail", "route": "settings", "item": {
            "subtitle": "3 unread", "largeTitleDisplayMode": "never", "titleMenu": [{"id": "copy", "title": "Copy", "action": "copy"}],
            "rightItems": [{"id": "save", "title": "Save", "style": "prominent"}, sort]}}}})
        kiosk.top("mail")
        shown = "return document.querySelector('.bar-layer:not([inert]) [data-slot=%s]')?.innerText"
        self.assertEqual(kiosk.run(shown % "subtitle"), "3 unread")
        self.assertEqual(kiosk.run(shown % "badge"), "12")
        kiosk.click("[data-button=sort]")
        kiosk.until("the menu", "return document.querySelector('[data-slot=menu]')?.innerText.includes('Z to A')")
        keep_picture("menu")
        # The arrow keys pass the title of the submenu; the disabled element chooses nothing.
        self.assertEqual(kiosk.focus(), "menu-element")
        kiosk.key(Keys.ARROW_DOWN, Keys.ENTER)
        kiosk.until("the menu still", "return document.querySelector('[data-slot=menu]') !== null")
        kiosk.key(Keys.ARROW_DOWN, Keys.ENTER)
        eventually("the choice", lambda: "up" in [
            element["id"] for element in kiosk.daemon.control.get(kiosk.nav)["screens"][-1]["item"]["rightItems"][1]["menu"][2]["children"]
            if element.get("state") == "on"])
        kiosk.click("h1[data-slot=title]")
        kiosk.until("the title's menu", "return document.querySelector('[data-element=copy]') !== null")
        kiosk.key(Keys.ESCAPE)
        self.assertEqual(kiosk.run("return document.querySelector('.menu')"), None)
        kiosk.top("mail")


if __name__ == "__main__":
    unittest.main()
