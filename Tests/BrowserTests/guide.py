"""docs/browser.md as a program and as tables, and what its tests share."""
import os
import re
import shutil

from harness import MODULE, ROOT, TOKENS, Daemon, Directory, Gateway, eventually
from pages import PageTest, browser, console

PAGE = os.path.join(ROOT, "Tests", "BrowserTests", "page")
GUIDE = os.environ.get("NAVD_GUIDE", os.path.join(ROOT, "docs", "browser.md"))
#: What all clients share.
CLIENTS = os.path.join(ROOT, "docs", "clients.md")
TYPES = f"{os.path.splitext(MODULE)[0]}.d.ts"


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def program():
    """The blocks of JavaScript of the guide, in order, as one module."""
    return "\n".join(re.findall(r"^```js\n(.*?)^```$", text_of(GUIDE), re.S | re.M))


def running():
    """The program without its last two steps: it goes on to watch, and its delegate stays."""
    lines = program().splitlines()
    left = [line for line in lines if line not in ("stop();", "await client.close();")]
    assert len(left) == len(lines) - 2
    return "\n".join([*left, "export { client };", ""])


def table(head, page=None):
    """The rows of the table of the guide, or of another page, whose first line is this, without its head."""
    rows = text_of(page or GUIDE).split(f"\n{head}\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def words(cells):
    return [cell.strip("`") for cell in cells]


def setUpModule():
    global pages, driver
    pages = Directory()
    shutil.copytree(PAGE, pages.path, dirs_exist_ok=True)
    pages.write("guide.js", program())
    pages.write("running.js", running())
    driver = browser()


def tearDownModule():
    driver.quit()
    pages.remove()


class GuideTest(PageTest):
    """A test with a daemon, a gateway and a tab of its own."""

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.gateway = Gateway(self.daemon, page=pages.path, module=MODULE, launch="ui")
        self.addCleanup(self.gateway.close)
        self.addCleanup(driver.get, "about:blank")
        self.driver, self.control = driver, self.daemon.control
        super().setUp()

    def run_module(self, name, fragment=""):
        """Opens the page that runs a module, and waits for the end of the module."""
        self.open(f"http://{self.gateway.host}/run.html?{name}{fragment}")
        self.assertEqual(self.ended(), "")

    def ended(self):
        return eventually("the end of the module", lambda: self.look(
            "document.documentElement.dataset.ended === undefined ? null : [document.documentElement.dataset.ended]"))[0]

    def launched(self, name):
        self.run_module(name, f"#c={self.gateway.codes()[-1]}")

    def look(self, expression):
        return self.driver.execute_script(f"return {expression}")

    def connected(self, script, *arguments, who="alice"):
        """Runs a script with a `client` in the page of the tests, and closes the client."""
        return self.run_script(
            f"const client = await NavigationClient.connect({{ token: '{TOKENS[who]}', name: 'page' }});"
            "const caught = (promise) => promise.then((value) => ({ value }), (error) => error);"
            "try {" + script + "} finally { await client.close(); }", *arguments)

    def stack(self, nav="kiosk"):
        return [screen["id"] for screen in self.control.get(nav)["screens"]]

    def printed(self):
        """The lines that the program printed; whatever else the console has is a fault."""
        all_lines = console(self.driver)
        lines = [re.fullmatch(r"http://[^ ]+/(?:guide|running)\.js \d+:\d+ (.*)", line) for line in all_lines]
        self.assertNotIn(None, lines, all_lines)
        return [line[1] for line in lines]
