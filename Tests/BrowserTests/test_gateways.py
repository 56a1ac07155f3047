"""A page and several gateways: each navd-web has a daemon by a script (Fixtures/shards.py), and navs move between them.

The page is that of gateway a. The gateways name each other with --allow-origin, so the browser asks them by CORS.
"""
import http.server
import threading
import types
import unittest

from harness import HERE, MODULE, TOKEN_LINES, TOKENS, Directory, Gateway, eventually
from pages import PageTest, browser
from shards import Shards

ALICE, BOB = TOKENS["alice"], TOKENS["bob"]

WATCH = """
const [gateways, nav, token] = given;
window.client?.close();
window.client = await NavigationClient.connect({ gateways, token, name: "page", hb: 1000 });
window.revs = [];
(async () => { for await (const state of client.watch(nav, { everyRevision: true })) {
  revs.push(state.rev); window.last = state;
} })().catch((error) => { window.failure = String(error); });
await client.state(nav);
"""


def setUpModule():
    global shards, gateways, origins
    directory = Directory()
    unittest.addModuleCleanup(directory.remove)
    shards = Shards(directory.path)
    unittest.addModuleCleanup(shards.close)
    gateways = {}
    for name in "ab":
        daemon = types.SimpleNamespace(endpoint=shards.endpoint(name))
        gateways[name] = Gateway(daemon, page=f"{HERE}/page", module=MODULE)
        unittest.addModuleCleanup(gateways[name].close)
    origins = {name: f"http://{gateway.host}" for name, gateway in gateways.items()}
    shards.web.update(origins)
    # Each gateway needs the origin of the other one, so the first start was for the ports.
    for name, gateway in gateways.items():
        gateway.arguments += ["--allow-origin", origins["b" if name == "a" else "a"]]
        gateway.process.stop()
        gateway.start()
    PageTest.gateway, PageTest.driver = gateways["a"], browser()
    unittest.addModuleCleanup(PageTest.driver.quit)


class GatewayTest(PageTest):
    """A test in the page of gateway a, with a nav of its own."""

    count = 0

    def setUp(self):
        super().setUp()
        GatewayTest.count += 1
        self.nav = f"nav-{self.count}"

    def tearDown(self):
        try:
            # An open stream would be a line in the console of the next page.
            self.run_script("await window.client?.close()")
        finally:
            super().tearDown()

    def watch(self, *seeds, token=ALICE):
        self.run_script(WATCH, [origins[name] for name in seeds], self.nav, token)

    def push(self, screen):
        return self.run_script("return (await client.perform(given[0], [{ push: { screen: { id: given[1] } } }])).rev",
                               self.nav, screen)

    def shown(self, rev):
        """The revisions that a loop over all of them got, once it got this one."""
        return eventually(f"revision {rev}", lambda: (lambda revs: revs if revs and revs[-1] >= rev else None)(
            self.driver.execute_script("return window.failure ? [window.failure] : window.revs")))


class Gateways(GatewayTest):
    def test_a_nav_of_another_gateway_is_asked_for_there(self):
        shards.create(self.nav, "b")
        self.watch("a")
        self.assertEqual(self.push("x"), 2)
        self.assertEqual(self.shown(2), [1, 2])
        (one, _, _), (other, _, _) = shards.received("watch", self.nav)[:2]
        self.assertEqual([one, other], ["a", "b"])
        self.assertEqual([member for member, _, _ in shards.received("op", self.nav)], ["b"])
        # A browser sends a preflight for each address, so all posts to another origin have one.
        asked = self.run_script("return performance.getEntriesByType('resource').map(({ name }) => name)"
                                ".filter((each) => each.includes('/messages'))")
        self.assertEqual({each for each in asked if each.startswith(origins["b"])}, {f"{origins['b']}/nsp1/messages"})

    def test_every_revision_is_shown_once_while_the_nav_moves(self):
        shards.create(self.nav, "a")
        self.watch("a", "b")
        rev = 1
        for turn in range(12):
            shards.move(self.nav, "ab"[turn % 2], is_named=turn % 3 > 0)
            if turn % 5 == 4:
                shards.move(self.nav, None)
                self.driver.execute_script("client.perform(arguments[0], [{ push: { screen: { id: 'held' + arguments[1] } } }])"
                                           ".catch((error) => { window.failure = String(error); })", self.nav, turn)
                eventually("no owner", lambda: len(shards.received("op", self.nav)) > rev - 1)
                shards.move(self.nav, "ab"[turn % 2])
                rev += 1
                self.shown(rev)
            rev += 1
            self.assertEqual(self.push(f"x{turn}"), rev)
        self.assertEqual(self.shown(rev), list(range(1, rev + 1)))
        screens = [each["id"] for each in shards.navs[self.nav].screens]
        self.assertEqual(len(screens), len(set(screens)))
        self.assertEqual(self.driver.execute_script("return last.screens.map((each) => each.id)"), screens)

    def test_a_gateway_says_which_token_it_wants(self):
        shards.create(self.nav, "b")
        gateways["b"].reload_tokens([f"page {BOB} ui"])
        self.addCleanup(gateways["b"].reload_tokens, TOKEN_LINES)
        self.run_script("""
            const [a, b, nav, alice, bob] = given, asked = window.asked = [];
            window.client = await NavigationClient.connect({ gateways: [a], name: "page",
              token: async (address) => { asked.push(address); return address === b ? bob : alice; } });
            await client.perform(nav, [{ push: { screen: { id: "x" } } }]);""",
                        origins["a"], origins["b"], self.nav, ALICE, BOB)
        self.assertEqual(self.driver.execute_script("return asked"), [origins["a"], origins["b"]])
        self.noise = ("401",)
        failure = self.run_script("""
            const [a, nav, token] = given;
            await client.close();
            window.client = await NavigationClient.connect({ gateways: [a], token, name: "page" });
            const error = await client.perform(nav, [{ pop: {} }]).catch((each) => each);
            return [error.code, error.mayHaveHappened, client.status];""", origins["a"], self.nav, ALICE)
        self.assertEqual(failure, ["unauthorized", False, "connected"])

    def test_a_launch_code_is_one_of_its_gateway(self):
        shards.create(self.nav, "b")
        code = gateways["b"].code()
        self.run_script("""
            const [a, b, nav, alice, code] = given;
            const token = await launchToken({ url: b, code });
            if (await launchToken({ url: b }) !== token || await launchToken()) throw new Error("kept at the wrong place");
            window.client = await NavigationClient.connect({ gateways: [a], name: "page",
              token: (address) => address === b ? launchToken({ url: b }) : alice });
            await client.perform(nav, [{ push: { screen: { id: "x" } } }]);""",
                        origins["a"], origins["b"], self.nav, ALICE, code)
        self.assertEqual(shards.navs[self.nav].rev, 2)


class Losses(GatewayTest):
    # The browser reports each request that nobody answers.
    noise = ("net::ERR_", "Failed to load resource")

    def test_a_gateway_that_ends_with_its_daemon_is_replaced_by_another(self):
        shards.create(self.nav, "b")
        self.watch("b", "a")
        self.push("x")
        gateways["b"].kill()
        shards.move(self.nav, "a", is_named=False)
        self.addCleanup(gateways["b"].start)
        self.assertEqual(self.push("y"), 3)
        self.assertEqual(self.shown(3), [1, 2, 3])
        eventually("the status", lambda: self.driver.execute_script("return client.status") == "connected")

    def test_a_daemon_that_stops_behind_its_gateway_is_replaced_and_found_again(self):
        shards.create(self.nav, "b")
        self.watch("a", "b")
        self.push("x")
        shards.stop("b")
        shards.move(self.nav, "a")
        self.assertEqual(self.push("y"), 3)
        shards.start("b")
        shards.move(self.nav, "b")
        self.assertEqual(self.push("z"), 4)
        self.assertEqual(self.shown(4), [1, 2, 3, 4])


class Stranger(http.server.BaseHTTPRequestHandler):
    """A page without a policy, of an origin that no gateway names."""

    def do_GET(self):
        body = b"<!DOCTYPE html><html data-ready=1><link rel=icon href=data:,>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Strangers(PageTest):
    noise = ("",)

    def test_a_page_that_no_gateway_names_reads_nothing(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        before = len(shards.log)
        self.open(f"http://127.0.0.1:{server.server_address[1]}/")
        got = self.run_script("""
            const [origin, token] = given, got = [];
            const headers = { Authorization: `Bearer ${token}` };
            for (const [path, options] of [["/nsp1/stream", { headers }], ["/nsp1/code", { method: "POST", headers }],
                ["/nsp1/token", { method: "POST", body: "{}" }], ["/navigation-client.js", {}], ["/", {}]]) {
              await fetch(origin + path, options).then((answer) => got.push(`${path} ${answer.status}`), () => null);
            }
            return got;""", origins["a"], ALICE)
        self.assertEqual(got, [])
        self.assertEqual(len(shards.log), before)


if __name__ == "__main__":
    unittest.main()
