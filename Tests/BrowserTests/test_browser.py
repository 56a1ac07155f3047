"""Pages in a real browser: the vectors, attacks of other pages, the kiosk."""
import http.server
import os
import subprocess
import threading
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from harness import BINARIES, ROOT, Daemon, Directory, Gateway, MODULE, TOKENS, closing, eventually

PAGE = os.path.join(ROOT, "Tests", "BrowserTests", "page")
VECTORS = os.path.join(ROOT, "Tests", "Conformance", "vectors.jsonl")
RULES = "MAP evil.test 127.0.0.1, MAP 127.evil.test 127.0.0.1, MAP localhost6 127.0.0.1"


def setUpModule():
    global daemon, gateway, driver, profile
    profile = Directory()
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--disable-dev-shm-usage", "--window-size=1280,960",
                     f"--host-resolver-rules={RULES}", f"--user-data-dir={profile.path}"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.set_script_timeout(60)
    daemon = Daemon()
    gateway = Gateway(daemon, page=PAGE, module=MODULE, launch="ui")


def tearDownModule():
    driver.quit()
    gateway.close()
    daemon.close()
    profile.remove()


def console():
    return [entry["message"] for entry in driver.get_log("browser")]


class PageTest(unittest.TestCase):
    """A test after which the console is empty and no policy was violated."""

    noise = ()

    def setUp(self):
        console()
        self.open(f"http://{gateway.host}/")

    def tearDown(self):
        left = [line for line in console() if not any(word in line for word in self.noise)]
        self.assertEqual(left, [])
        if not self.noise:
            self.assertEqual(driver.execute_script("return window.violations ?? []"), [])

    def open(self, url):
        driver.get("about:blank")
        driver.get(url)
        eventually("the page", lambda: driver.execute_script(
            "return document.documentElement.dataset.ready ?? null"))

    def run_script(self, script, *arguments):
        """Runs the body of an async function; returns its value or raises its error."""
        value = driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; const given = [...arguments].slice(0, -1);"
            "(async (...given) => {" + script + "})(...given)"
            ".then((value) => done({ value }), (error) => done({ error: String(error) }))", *arguments)
        if "error" in value:
            raise AssertionError(value["error"])
        return value["value"]


class Vectors(PageTest):
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


ATTACK = """
const target = given[0], token = given[1], got = [];
// A browser reports some of its refusals to nobody.
const attempt = (start) => Promise.race([new Promise(start), new Promise((resolve) => { setTimeout(resolve, 1000); })]);
const note = async (what, promise) => {
  try {
    const answer = await promise;
    if (answer.type !== "opaque") got.push(`${what}: ${answer.status} ${await answer.text()}`);
  } catch { }
};
const authorised = { headers: { Authorization: `Bearer ${token}` } };
const post = { method: "POST", body: '["hello",{}]' };
for (const path of ["/nsp1/stream", "/nsp1/messages?stream=x&n=1", "/nsp1/token", "/nsp1/code", "/", "/navigation-client.js"]) {
  const url = target + path;
  await note(`fetch ${path}`, fetch(url));
  await note(`authorised ${path}`, fetch(url, authorised));
  await note(`post ${path}`, fetch(url, { ...post, ...authorised }));
  await note(`simple post ${path}`, fetch(url, { ...post, headers: { "Content-Type": "text/plain" } }));
  await fetch(url, { ...post, mode: "no-cors" }).catch(() => null);
  await attempt((resolve) => { const source = new EventSource(url); source.onopen = () => { got.push(`events ${path}`); source.close(); resolve(); }; source.onerror = () => { source.close(); resolve(); }; });
  await attempt((resolve) => { const image = new Image(); image.onload = () => { got.push(`image ${path}`); resolve(); }; image.onerror = resolve; image.src = url; });
  await attempt((resolve) => { const script = document.createElement("script"); script.src = url; script.onload = () => { got.push(`script ${path}`); resolve(); }; script.onerror = resolve; document.head.append(script); });
  await attempt((resolve) => { const socket = new WebSocket(url.replace("http", "ws")); socket.onopen = () => { got.push(`socket ${path}`); resolve(); }; socket.onerror = resolve; });
  const frame = document.createElement("iframe");
  await attempt((resolve) => { frame.onload = resolve; frame.src = url; document.body.append(frame); });
  try { if (frame.contentDocument?.body?.textContent) got.push(`frame ${path}`); } catch { }
  const form = Object.assign(document.createElement("form"), { method: "POST", action: url, target: "sink", enctype: "text/plain" });
  form.append(Object.assign(document.createElement("input"), { name: '["hello",{}]', value: "" }));
  const sink = Object.assign(document.createElement("iframe"), { name: "sink" });
  document.body.append(sink, form);
  await attempt((resolve) => { sink.onload = resolve; form.submit(); });
}
return got;
"""


class Attacks(PageTest):
    # A browser reports each request that it or the gateway stopped.
    noise = ("",)

    @classmethod
    def setUpClass(cls):
        class Evil(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = b"<!DOCTYPE html><html data-ready=1><link rel=icon href=data:,><body>"
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()

    def attack(self, page, target):
        before = daemon.control.count_of_ops(), [each["name"] for each in daemon.control.clients()]
        self.open(page)
        got = self.run_script(ATTACK, target, TOKENS["boss"])
        # The module is a public file, which another page may run but not read.
        self.assertEqual([each for each in got if each != "script /navigation-client.js"], [])
        after = daemon.control.count_of_ops(), [each["name"] for each in daemon.control.clients()]
        self.assertEqual(after[0], before[0])
        self.assertEqual(len(after[1]), len(before[1]))

    def test_a_page_of_another_port_gets_nothing(self):
        port = self.server.server_address[1]
        self.attack(f"http://127.0.0.1:{port}/", f"http://{gateway.host}")

    def test_a_page_of_another_name_gets_nothing(self):
        port = self.server.server_address[1]
        self.attack(f"http://evil.test:{port}/", f"http://{gateway.host}")

    def test_a_name_that_was_rebound_gets_nothing(self):
        for name in ("evil.test", "127.evil.test", "localhost6"):
            driver.get(f"http://{name}:{gateway.port}/")
            text = driver.execute_script("return document.body.textContent")
            self.assertIn("loopback names only", text)
            status = self.run_script(
                "return (await fetch('/nsp1/stream', { headers: { Authorization: `Bearer ${given[0]}` } })).status",
                TOKENS["boss"])
            self.assertEqual(status, 421)


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
        console()


class Kiosk(unittest.TestCase):
    def test_the_kiosk_plays_its_scenario_and_all_mirrors_are_equal(self):
        environment = {**os.environ, "DEMO_SCRIPT": "1", "NAVD_BIN": BINARIES}
        done = subprocess.run([os.path.join(ROOT, "demo", "web")], env=environment, timeout=240,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("all mirrors equal", done.stdout)

    def test_hostile_texts_are_shown_and_run_nothing(self):
        hostile = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "javascript:alert(1)",
                   "\u202egnp.exe", "__proto__", "url(//evil.test/x)", "'\"&lt;`${1}", "x" * 2000]
        own = Gateway(daemon, page=os.path.join(ROOT, "demo", "kiosk"), module=MODULE)
        with closing(own):
            for number, text in enumerate(hostile):
                nav = f"hostile/{number}"
                screen = {"id": f"s{number}", "title": text, "route": "demo/text", "args": {text[:60]: text}}
                item = {"prompt": text, "rightItems": [{"id": "b", "title": text, "action": text}]}
                daemon.control.create(nav)
                daemon.control.op(nav, {"push": {"screen": {**screen, "item": item}}})
                driver.get("about:blank")
                console()
                driver.get(f"http://{own.host}/?nav={nav}#t={TOKENS['reader']}")
                eventually("the state", lambda: driver.execute_script(
                    "return document.documentElement.dataset.dig ?? null") == daemon.control.position(nav)[1])
                shown = driver.execute_script(
                    "return [document.documentElement.textContent, document.images.length, document.scripts.length,"
                    "Object.keys(Object.prototype).length]")
                self.assertIn(text, shown[0])
                self.assertEqual(shown[1:], [0, 1, 0])
                self.assertEqual(console(), [])


