"""Pages in Debian's Chromium, and what holds after each test in one."""
import os
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from harness import eventually

# Keeps what a page must never do; it runs before the page's own scripts.
WITNESS = """
window.witness = { violations: [], dialogs: [], errors: [], said: [] };
addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
  witness.violations.push(`${violatedDirective} ${blockedURI}`);
});
addEventListener("error", (event) => witness.errors.push(String(event.message)), true);
addEventListener("unhandledrejection", (event) => witness.errors.push(String(event.reason)));
for (const name of ["alert", "confirm", "prompt", "print", "open"]) {
  window[name] = (...given) => { witness.dialogs.push([name, ...given]); };
}
const natives = [Object, Array, String, Function, Number, Map, Set, Promise].map((each) => each.prototype);
const namesOf = () => JSON.stringify(natives.map((each) => Reflect.ownKeys(each).map(String)));
const before = namesOf();
window.witness.isUnchanged = () => namesOf() === before;
"""


# The words in sight that break inside, with the element around each; JSON has no places to break at.
BROKEN_WORDS = r"""
const broken = [], range = document.createRange(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const { data, parentElement } = texts.currentNode;
  if (!parentElement.checkVisibility({ visibilityProperty: true }) || parentElement.closest(".unseen, .record, code, del, ins")) continue;
  for (const { 0: word, index } of data.matchAll(/(?<![\p{L}\p{N}])\p{L}{2,}(?![\p{L}\p{N}])/gu)) {
    range.setStart(texts.currentNode, index);
    range.setEnd(texts.currentNode, index + word.length);
    if (new Set([...range.getClientRects()].filter(({ width }) => width).map(({ top }) => Math.round(top))).size > 1) broken.push([word, parentElement.outerHTML.slice(0, 99)]);
  }
}
return broken;
"""


def browser(*, rules="", arguments=(), is_whole=False):
    """A Chromium without a window; `rules` maps names to addresses, as in "MAP evil.test 127.0.0.1".

    The shell around its engine takes half of the processor's time; the whole browser also hides tabs and caches pages.
    """
    options = Options()
    options.binary_location = "/usr/bin/chromium" if is_whole else "/usr/lib/chromium/chromium-headless-shell"
    given = ["--disable-dev-shm-usage", "--window-size=1280,960", *(["--headless=new"] if is_whole else []), *arguments]
    if rules:
        given.append(f"--host-resolver-rules={rules}")
    if os.geteuid() == 0:
        given.append("--no-sandbox")
    for argument in given:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.set_script_timeout(60)
    return driver


def console(driver):
    """The lines that the browser reported since the last call."""
    return [entry["message"] for entry in driver.get_log("browser")]


def witness(driver):
    """Makes the browser run WITNESS first in the documents of the present tab."""
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITNESS})


class PageTest(unittest.TestCase):
    """A test in the page of `host`, after which the console is empty and no policy was violated.

    `setUpModule` sets `PageTest.driver` and `PageTest.gateway`. `noise` are words of lines that may be left.
    """

    driver, gateway, noise = None, None, ()

    def setUp(self):
        # The page of the test before may still miss a gateway that has ended.
        self.driver.get("about:blank")
        console(self.driver)
        self.open(f"http://{self.gateway.host}/")

    def tearDown(self):
        left = [line for line in console(self.driver) if not any(word in line for word in self.noise)]
        self.assertEqual(left, [])
        if not self.noise:
            self.assertEqual(self.driver.execute_script("return window.violations ?? []"), [])

    def open(self, url):
        self.driver.get("about:blank")
        self.driver.get(url)
        eventually("the page", lambda: self.driver.execute_script(
            "return document.documentElement.dataset.ready ?? null"))

    def run_script(self, script, *arguments):
        """Runs the body of an async function; returns its value or raises its error."""
        value = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; const given = [...arguments].slice(0, -1);"
            "(async (...given) => {" + script + "})(...given)"
            ".then((value) => done({ value }), (error) => done({ error: String(error) }))", *arguments)
        if "error" in value:
            raise AssertionError(value["error"])
        return value["value"]
