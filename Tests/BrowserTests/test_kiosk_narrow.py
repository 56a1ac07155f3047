"""The kiosk with texts of twice the size: the browser halves the window, and no word breaks inside."""
import unittest

import test_kiosk as tests
from pages import BROKEN_WORDS
from test_kiosk import KioskTest, screen

ROUTES = ("home", "guide", "settings", "settings/network", "settings/network/wifi", "networks", "dns", "settings/display", "about", "status", "unknown")


def setUpModule():
    global kiosk
    tests.setUpModule()
    kiosk = tests.kiosk


def tearDownModule():
    tests.tearDownModule()


class Narrow(KioskTest):
    def test_no_word_of_a_page_breaks_inside_and_no_value_is_missing(self):
        for width in (195, 320):
            kiosk.size(width, 422, scale=2)
            kiosk.open(create=False)
            for route in ROUTES:
                with self.subTest(f"{width} {route}"):
                    record = screen("Page", route=route, args={"network": "Attic", "channel": 11, "mode": "manual", "server": "192.0.2.53"})
                    kiosk.do({"setStack": {"screens": ["home", record]}})
                    kiosk.settled()
                    self.assertEqual(kiosk.run(BROKEN_WORDS), [])
                    self.assertEqual(kiosk.run("""
                      return [...document.querySelectorAll(".row-value")].filter((each) => each.checkVisibility()).map((each) => {
                        const [own, row] = [each, each.closest(".row")].map((one) => one.getBoundingClientRect());
                        return own.left >= row.left && own.right <= row.right && own.bottom <= row.bottom;
                      }).filter((isInside) => !isInside);"""), [])


if __name__ == "__main__":
    unittest.main()
