"""The remote of examples/template: a page that goes back only from what its user saw."""
import os

from harness import MODULE, ROOT, TOKENS, Daemon, Gateway, eventually
from pages import PageTest, browser


def setUpModule():
    global driver
    driver = browser()


def tearDownModule():
    driver.quit()


class Remote(PageTest):
    #: A page without an icon, and the loss of the daemon.
    noise = ("favicon.ico", "ERR_", "nsp1/")

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.gateway = Gateway(self.daemon, page=os.path.join(ROOT, "examples", "template", "page"), module=MODULE)
        self.addCleanup(self.gateway.close)
        self.driver, self.control = driver, self.daemon.control
        self.control.create("kiosk")
        self.control.op("kiosk", {"nav.configure": {"routes": [{"match": "news", "screens": ["home", {"id": "news", "title": "News"}]}]}})
        driver.get("about:blank")
        driver.get(f"http://{self.gateway.host}/#t={TOKENS['alice']}")
        self.shows("h1", "Home")

    def look(self, selector, member="textContent"):
        return driver.execute_script("return document.querySelector(arguments[0])?.[arguments[1]]", selector, member)

    def shows(self, selector, text):
        eventually(f"{text} in {selector}", lambda: self.look(selector) == text)

    def test_a_tap_goes_where_its_button_says_and_back(self):
        self.assertTrue(self.look("#back", "disabled"))
        driver.find_element("id", "news").click()
        self.shows("h1", "News")
        self.shows("#place", "Home › News")
        self.assertTrue(self.look("small").startswith("revision 3 · "))
        driver.find_element("id", "back").click()
        self.shows("h1", "Home")
        self.assertEqual(self.look("#message"), "")

    def test_two_taps_at_once_take_one_screen(self):
        for name in ("a", "b"):
            self.control.op("kiosk", {"push": {"screen": {"id": name, "title": name}}})
        self.shows("h1", "b")
        driver.execute_script("const back = document.querySelector('#back'); back.click(); back.click()")
        self.shows("#message", "The kiosk has changed. Look, then tap again.")
        self.shows("h1", "a")

    def test_without_a_connection_the_buttons_do_nothing(self):
        self.daemon.kill()
        self.shows("[role=status]", "Connection lost")
        self.assertTrue(driver.execute_script("return [...document.querySelectorAll('button')].every((each) => each.disabled)"))
        self.daemon.start()
        self.shows("[role=status]", "")
        self.assertFalse(self.look("#home", "disabled"))
