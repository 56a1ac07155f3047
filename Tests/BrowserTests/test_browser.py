"""Pages in a real browser: the vectors, launch codes, kills, the kiosk."""
import os
import subprocess
import unittest

from harness import BINARIES, MODULE, ROOT, TOKENS, Daemon, Gateway, eventually
from pages import PageTest, browser, console

PAGE = os.path.join(ROOT, "Tests", "BrowserTests", "page")
VECTORS = os.path.join(ROOT, "Tests", "Conformance", "vectors.jsonl")


def setUpModule():
    global daemon, gateway, driver
    driver = browser()
    daemon = Daemon()
    gateway = Gateway(daemon, page=PAGE, module=MODULE, launch="ui")
    PageTest.driver, PageTest.gateway = driver, gateway


def tearDownModule():
    driver.quit()
    gateway.close()
    daemon.close()


class Vectors(PageTest):
    maxDiff = None

    def vectors(self, spoil=""):
        with open(VECTORS, encoding="utf-8") as file:
            text = file.read()
        function = f"(message) => {{ {spoil}; return message; }}" if spoil else "undefined"
        return text.count("\n"), self.run_script(
            f"return runVectors(given[0], {function})", text)

    def test_the_client_passes_every_vector(self):
        count, result = self.vectors()
        self.assertEqual((result["failed"], result["passed"]), ([], count))
        self.assertGreater(count, 300)

    def test_a_spoiled_message_turns_the_runner_red(self):
        for spoil in ("if (message.body.dig) message = {...message, body: {...message.body, dig: '00000000'}}",
                      "if (message.body.rev) message = {...message, body: {...message.body, rev: message.body.rev + 1}}",
                      "if (message.body.list) message = {...message, body: {...message.body, list: []}}"):
            _, result = self.vectors(spoil)
            self.assertNotEqual(result["failed"], [], spoil)


class Launch(PageTest):
    noise = ("401",)

    def test_a_launch_code_opens_one_page_once(self):
        code = gateway.codes()[-1]
        url = f"http://{gateway.host}/#c={code}"
        self.open(url)
        token = self.run_script("return await launchToken()")
        self.assertTrue(token)
        self.assertEqual(driver.execute_script("return location.hash"), "")
        self.assertEqual(self.run_script(
            "const client = await NavigationClient.connect({ token: given[0], name: 'launched' });"
            "const status = client.status; await client.close(); return status", token), "connected")
        driver.execute_script("sessionStorage.clear()")
        self.open(url)
        self.assertEqual(self.run_script("return await launchToken().catch(() => null)"), None)


class Client(PageTest):
    def test_a_page_follows_changes_and_is_refused_by_its_guards(self):
        daemon.control.create("browser/client")
        found = self.run_script("""
          const client = await NavigationClient.connect({ token: given[0], name: "page" });
          const nav = "browser/client", seen = [];
          const loop = (async () => {
            for await (const state of client.watch(nav, { everyRevision: true })) {
              seen.push(state.rev);
              if (state.top.id === "last") break;
            }
          })();
          const state = await client.state(nav);
          await client.perform(nav, [{ push: { screen: { id: "a" } } }], { if: Guard.top(state) });
          const refused = await client.perform(nav, [{ pop: {} }], { if: Guard.top(state) }).catch((error) => error);
          await client.perform(nav, [{ push: { screen: { id: "last" } } }]);
          await loop;
          const { rev, dig } = await client.state(nav);
          await client.close();
          return { seen, code: refused.code, rev, dig };
        """, TOKENS["alice"])
        self.assertEqual(found["code"], "desync")
        self.assertEqual(found["seen"], list(range(found["seen"][0], found["rev"] + 1)))
        self.assertEqual((found["rev"], found["dig"]), daemon.control.position("browser/client"))

    def test_pages_go_on_over_kills_of_navd_and_of_the_gateway(self):
        daemon.control.create("browser/kills")
        self.run_script("""
          window.client = await NavigationClient.connect({ token: given[0], name: "survivor" });
          window.mirror = null;
          (async () => { for await (const state of client.watch("browser/kills")) window.mirror = state; })();
        """, TOKENS["alice"])
        for number, end in enumerate((daemon, gateway, daemon, gateway)):
            sent = f"window.sent = client.perform('browser/kills', [{{ push: {{ screen: {{ id: 's{number}' }} }} }}])"
            driver.execute_script(sent + ".then(() => 'ok', (error) => error.code)")
            end.kill()
            end.start()
            # Sent before the kill or after it: it is done once.
            self.assertEqual(self.run_script("return await window.sent"), "ok")
        screens = [each["id"] for each in daemon.control.get("browser/kills")["screens"]]
        self.assertEqual(screens, ["home", "s0", "s1", "s2", "s3"])
        eventually("the mirror", lambda: tuple(driver.execute_script(
            "return [mirror.rev, mirror.dig]")) == daemon.control.position("browser/kills"))
        self.run_script("await client.close()")
        console(driver)


class Kiosk(unittest.TestCase):
    def test_the_kiosk_plays_its_scenario_and_all_mirrors_are_equal(self):
        environment = {**os.environ, "DEMO_SCRIPT": "1", "NAVD_BIN": BINARIES}
        done = subprocess.run([os.path.join(ROOT, "demo", "web")], env=environment, timeout=240,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("all mirrors equal", done.stdout)
