"""Pages of other origins in a real browser, which attack the gateway; and what a page of our own leaves behind.

No attack may get data or start an operation, so the tests compare what navd counted before and after.
docs/security.md points to the tests; test_attacks.py has the attacks by raw requests.
"""
import contextlib
import http.server
import os
import re
import socket
import threading
import unittest

from harness import MODULE, ROOT, TOKENS, Daemon, Gateway, eventually
from pages import PageTest, browser

PAGE = os.path.join(ROOT, "Tests", "BrowserTests", "page")
RULES = "MAP evil.test 127.0.0.1, MAP 127.evil.test 127.0.0.1, MAP localhost6 127.0.0.1"
ALICE, BOSS = TOKENS["alice"], TOKENS["boss"]


def setUpModule():
    global daemon, gateway
    daemon = Daemon()
    unittest.addModuleCleanup(daemon.close)
    gateway = Gateway(daemon, page=PAGE, module=MODULE, launch="ui")
    unittest.addModuleCleanup(gateway.close)


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
const element = (name, members, what) => attempt((resolve) => {
  const made = Object.assign(document.createElement(name), members);
  made.onload = () => { got.push(what); resolve(); };
  made.onerror = resolve;
  document.head.append(made);
});
const authorised = { headers: { Authorization: `Bearer ${token}` } };
const post = { method: "POST", body: '["hello",{}]' };
const form = async (url, enctype) => {
  const name = `sink-${Math.random()}`;
  const made = Object.assign(document.createElement("form"), { method: "POST", action: url, target: name, enctype });
  made.append(Object.assign(document.createElement("input"), { name: '["hello",{}]', value: "" }));
  const sink = Object.assign(document.createElement("iframe"), { name });
  document.body.append(sink, made);
  await attempt((resolve) => { sink.onload = resolve; made.submit(); });
  try { if (sink.contentDocument?.body?.textContent) got.push(`form ${url}`); } catch { }
};
const all = async (path) => {
  const url = target + path;
  await Promise.all([
    note(`fetch ${path}`, fetch(url)),
    note(`credentials ${path}`, fetch(url, { credentials: "include" })),
    note(`authorised ${path}`, fetch(url, authorised)),
    note(`post ${path}`, fetch(url, { ...post, ...authorised })),
    note(`simple post ${path}`, fetch(url, { ...post, headers: { "Content-Type": "text/plain" } })),
    note(`no-cors ${path}`, fetch(url, { ...post, mode: "no-cors" })),
    note(`keepalive ${path}`, fetch(url, { ...post, mode: "no-cors", keepalive: true })),
  ]);
  navigator.sendBeacon(url, post.body);
  navigator.sendBeacon(url, new Blob([post.body], { type: "text/plain" }));
  await Promise.all([
    attempt((resolve) => {
      const source = new EventSource(url);
      source.onopen = () => { got.push(`events ${path}`); source.close(); resolve(); };
      source.onerror = () => { source.close(); resolve(); };
    }),
    attempt((resolve) => {
      const socket = new WebSocket(url.replace("http", "ws"));
      socket.onopen = () => { got.push(`socket ${path}`); resolve(); };
      socket.onerror = resolve;
    }),
    element("img", { src: url }, `image ${path}`),
    element("script", { src: url }, `script ${path}`),
    element("script", { src: url, type: "module" }, `module ${path}`),
    element("link", { href: url, rel: "stylesheet" }, `style ${path}`),
    element("link", { href: url, rel: "preload", as: "script" }, `preload ${path}`),
    element("link", { href: url, rel: "modulepreload" }, `modulepreload ${path}`),
    import(url).then(() => { got.push(`import ${path}`); }, () => null),
    navigator.serviceWorker?.register(url).then(() => { got.push(`worker ${path}`); }, () => null),
    attempt((resolve) => {
      try {
        const worker = new Worker(url, { type: "module" });
        worker.onmessage = () => { got.push(`worker ${path}`); resolve(); };
        worker.onerror = resolve;
      } catch { resolve(); }
    }),
    form(url, "text/plain"), form(url, "application/x-www-form-urlencoded"),
  ]);
  document.head.append(Object.assign(document.createElement("link"), { href: url, rel: "prefetch" }));
};
await Promise.all(given[2].map(all));
return got;
"""
PATHS = ["/nsp1/stream", "/nsp1/messages?stream=x&n=1", "/nsp1/token", "/nsp1/code", "/", "/tests.js",
         "/navigation-client.js"]


class Recorder:
    """A proxy in front of the gateway that keeps what passes."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.requests, self.answers = [], []
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", gateway.port))
                for source, target, kept in ((near, far, self.requests), (far, near, self.answers)):
                    kept.append(bytearray())
                    threading.Thread(target=self.copy, args=(source, target, kept[-1]), daemon=True).start()

    @staticmethod
    def copy(source, target, kept):
        with contextlib.suppress(OSError):
            while chunk := source.recv(65536):
                kept.extend(chunk)
                target.sendall(chunk)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def heads(self):
        """Method, path and status of each request; a connection of the gateway's takes several at most in a row."""
        for request, answer in zip(list(self.requests), list(self.answers)):
            lines = re.findall(rb"^([A-Z]+) (\S+) HTTP/1\.1\r$", bytes(request), re.MULTILINE)
            statuses = re.findall(rb"^HTTP/1\.1 (\d{3}) ", bytes(answer), re.MULTILINE)
            for (method, path), status in zip(lines, statuses):
                yield method.decode(), path.decode(), int(status)

    def close(self):
        self.listener.close()


class Evil(http.server.BaseHTTPRequestHandler):
    """The page of an attacker, for each path."""

    def do_GET(self):
        body = b"<!DOCTYPE html><html data-ready=1><link rel=icon href=data:,><body><a id=open>open</a>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Pages(PageTest):
    """Other pages in a real browser, and what a page of our own leaves behind."""

    # A browser reports each request that it or the gateway stopped.
    noise = ("",)

    @classmethod
    def setUpClass(cls):
        cls.driver, cls.gateway = browser(rules=RULES), gateway
        cls.addClassCleanup(cls.driver.quit)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.evil = server.server_address[1]

    def setUp(self):
        super().setUp()
        self.recorder = Recorder()
        self.addCleanup(self.recorder.close)
        self.before = daemon.control.standing()

    def nothing_has_reached_navd(self):
        self.before["messages"] += 1
        self.assertEqual(daemon.control.standing(), self.before)

    def attack(self, page):
        self.open(page)
        self.assertEqual(self.run_script(ATTACK, f"http://{self.recorder.host}", BOSS, PATHS), [])
        self.nothing_has_reached_navd()
        asked = list(self.recorder.heads())
        # The browser did send most of it: refusals by the gateway count, not those of the browser alone.
        for path in PATHS[:4]:
            for method in ("GET", "POST"):
                with self.subTest(method=method, path=path):
                    statuses = {status for each, to, status in asked if (each, to) == (method, path)}
                    self.assertTrue(statuses and statuses <= {403, 405}, statuses)
        self.assertEqual({status for method, _, status in asked if method == "OPTIONS"}, {405})

    def test_a_page_of_another_port_gets_nothing(self):
        """Another loopback port: same-site, but another origin."""
        self.attack(f"http://127.0.0.1:{self.evil}/")

    def test_a_page_of_another_origin_gets_nothing(self):
        """Permissive CORS; absent Origin."""
        self.attack(f"http://evil.test:{self.evil}/")

    def test_rebinding_a_page_by_a_name_that_leads_here_gets_nothing(self):
        """DNS rebinding: the page is of the same origin as the gateway, by a name that is not allowed."""
        for name in ("evil.test", "127.evil.test", "localhost6"):
            self.driver.get(f"http://{name}:{gateway.port}/")
            self.assertIn("loopback names only", self.driver.execute_script("return document.body.textContent"))
            statuses = self.run_script(
                "const headers = { Authorization: `Bearer ${given[0]}` }, got = [];"
                "for (const path of given[1]) for (const method of ['GET', 'POST'])"
                "  got.push((await fetch(path, { method, headers })).status);"
                "return [...new Set(got)]", BOSS, PATHS)
            self.assertEqual(statuses, [421])
        self.nothing_has_reached_navd()

    def test_a_page_in_a_frame_of_another_runs_nothing(self):
        for page, sandbox in ((f"http://127.0.0.1:{self.evil}/", None), (f"http://evil.test:{self.evil}/", None),
                              (f"http://evil.test:{self.evil}/", "allow-scripts allow-same-origin")):
            self.open(page)
            self.run_script(
                "const frame = document.createElement('iframe'); if (given[1]) frame.sandbox = given[1];"
                "await new Promise((resolve) => {"
                "  frame.onload = resolve; frame.src = given[0]; document.body.append(frame); })",
                f"http://{gateway.host}/#t={BOSS}", sandbox)
            self.driver.switch_to.frame(0)
            shown = self.driver.execute_script(
                "return [location.protocol, document.documentElement.dataset.ready ?? null]")
            self.driver.switch_to.default_content()
            self.assertEqual(shown, ["chrome-error:", None], page)
        self.nothing_has_reached_navd()

    def test_a_window_that_another_page_opened_has_no_handle_to_it(self):
        self.open(f"http://127.0.0.1:{self.evil}/")
        first = self.driver.current_window_handle
        self.driver.execute_script(
            "document.getElementById('open').onclick = () => { window.opened = window.open(arguments[0], 'x'); }",
            f"http://{gateway.host}/")
        self.driver.find_element("id", "open").click()
        second = eventually("a window", lambda: [each for each in self.driver.window_handles if each != first])[0]
        self.driver.switch_to.window(second)
        try:
            eventually("the page", lambda: self.driver.execute_script(
                "return document.documentElement.dataset.ready ?? null"))
            self.assertEqual(self.driver.execute_script("return [window.opener, window.name]"), [None, ""])
            self.driver.switch_to.window(first)
            # A severed window counts as closed, although it is open.
            self.assertEqual(self.driver.execute_script("return [opened.closed, opened.length]"), [True, 0])
            self.driver.switch_to.window(second)
        finally:
            self.driver.close()
            self.driver.switch_to.window(first)
        self.nothing_has_reached_navd()

    def test_a_launched_page_leaves_no_trace_of_its_code_and_its_token(self):
        """Token in argv; ?token= in logs and history: a code in the fragment, which works once and is removed."""
        made = gateway.code()
        self.open(f"http://{self.recorder.host}/index.html?nav=x#c={made}")
        token = self.run_script("return await launchToken()")
        self.is_only_in_headers("traces/launch", token, made)
        self.assertEqual(gateway.trade(made).status, 401)

    def test_a_page_that_was_given_a_token_leaves_no_trace_of_it(self):
        """?token= in logs and history: removed from the address, in no request but in its header."""
        self.open(f"http://{self.recorder.host}/?nav=x#t={ALICE}")
        self.assertEqual(self.run_script("return await launchToken()"), ALICE)
        self.is_only_in_headers("traces/given", ALICE)

    def is_only_in_headers(self, nav, *secrets):
        """Makes the page a client and loads things by it; the secrets must be in no other place afterwards."""
        daemon.control.create(nav)
        places = self.run_script(
            "const client = await NavigationClient.connect({ token: given[0], name: 'page' });"
            "await client.perform(given[1], [{ push: { screen: { id: 'a' } } }]);"
            "await client.close(); await fetch('/icon.svg'); await fetch('/none');"
            "return { address: [location.href], referrer: [document.referrer], cookie: [document.cookie],"
            "  state: [JSON.stringify(history.state)], storage: [JSON.stringify(localStorage)],"
            "  loads: performance.getEntriesByType('resource').map((each) => each.name),"
            "  history: (window.navigation?.entries() ?? []).map((each) => each.url),"
            "  page: [document.documentElement.outerHTML], caches: await caches.keys(),"
            "  databases: (await indexedDB.databases()).map((each) => each.name) }", secrets[0], nav)
        self.assertEqual(daemon.control.get(nav)["rev"], 2)
        daemon.control.rest()
        self.driver.get("about:blank")
        self.driver.back()
        eventually("the page", lambda: self.driver.execute_script(
            "return document.documentElement.dataset.ready ?? null"))
        places["going back"] = [self.driver.current_url]
        sent = b"".join(bytes(each) for each in self.recorder.requests)
        bare = re.sub(rb"\r\nNSP-Token: [^\r]+", b"", sent)
        bare = re.sub(rb'\r\n\r\n\{"code":"[^"]+"\}', b"", bare)
        for secret in secrets:
            self.assertIn(secret.encode(), sent)
            self.assertNotIn(secret.encode(), bare)
            self.assertNotIn(secret, gateway.process.log())
            self.assertEqual([place for place, texts in places.items() if secret in str(texts)], [])
        headers = {name.lower() for name in re.findall(rb"^([\w-]+): ", bare, re.MULTILINE)}
        self.assertEqual(headers & {b"referer", b"cookie"}, set())
        received = b"".join(bytes(each) for each in self.recorder.answers)
        self.assertEqual(received.count(secrets[0].encode()), len(secrets) - 1)


if __name__ == "__main__":
    unittest.main()
