"""Attacks on the inspector: pages of other origins, raw requests, used launch codes, and users without rights.

test_attacks.py and test_attack_pages.py try the gateway at length. These are the same attacks on the inspector,
and the attacks that only an inspector has: a page that writes, and a user that reads without the right.
"""
import http.client
import http.server
import json
import os
import re
import threading
import unittest

import test_attack_pages as pages
from clients import Page, line
from harness import IS_LONG, TOKENS, Directory, Process, eventually
from inspectors import BINARIES, Inspector, InspectorTest, page_directory, start
from pages import witness

SECRET = "vault/plans"
LIMITED = "LimitedLimitedLimitedLimited0005"
TOKENS.setdefault("limited", LIMITED)
LINES = [f"boss {TOKENS['boss']} admin * $*", f"limited {LIMITED} ui open/*"]
PATHS = ["/nsp1/stream", "/nsp1/messages?stream=x&n=1", "/nsp1/token", "/nsp1/code", "/"]
PROTOCOL = (("GET", "/nsp1/stream"), ("POST", "/nsp1/messages?stream=x&n=1"), ("POST", "/nsp1/code"), ("POST", "/nsp1/token"))


def setUpModule():
    start(rules=pages.RULES, tokens=LINES)
    # The recorder of test_attack_pages.py stands in front of the gateway of its module.
    pages.gateway = InspectorTest.inspector
    control = InspectorTest.daemon.control
    for nav in ("open/one", "open/two", SECRET, f"{SECRET}-b"):
        control.create(nav)
    control.op(SECRET, {"push": {"screen": {"id": "secret-screen", "title": "Secret title"}}})


class Requests(InspectorTest):
    """Raw requests. None of them may reach navd."""

    def setUp(self):
        self.before = self.daemon.control.standing()

    def tearDown(self):
        self.before["messages"] += 1
        self.assertEqual(self.daemon.control.standing(), self.before)

    def test_a_host_that_is_not_ours_gets_nothing(self):
        boss, own = TOKENS["boss"], self.inspector.host
        for host, status in (("evil.test", 421), ("127.evil.test", 421), ("localhost6", 421), ("127.0.0.1.evil.test", 421),
                             ("localhost.", 421), ("127.1", 421), (f"evil.test:{self.inspector.port}", 421)):
            for method, path in (*PROTOCOL, ("GET", "/")):
                with self.subTest(host=host, path=path):
                    answer = self.inspector.request(method, path, host=host, token=boss, body="" if method == "POST" else None)
                    self.assertEqual((answer.status, list(answer.json())), (status, ["error"]))
        for head in ("", f"Host: {own}\r\nHost: {own}\r\n", f"Host: evil.test\r\nHost: {own}\r\n"):
            for method, path in (*PROTOCOL, ("GET", "/")):
                with self.subTest(head=head, path=path):
                    answer = self.inspector.raw(f"{method} {path} HTTP/1.1\r\n{head}Authorization: Bearer {boss}\r\n"
                                                "Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
                    self.assertEqual(answer.status, 400)
        for target in (f"http://{own}/nsp1/code", "http://evil.test/", "//evil.test/nsp1/code"):
            self.assertIn(self.inspector.request("POST", target, token=boss, body="").status, (404, 405))

    def test_another_origin_a_wrong_token_and_other_methods_get_nothing(self):
        own = f"http://{self.inspector.host}"
        for method, path in PROTOCOL:
            for headers in ([("Origin", "http://evil.test")], [("Origin", "null")], [("Origin", f"{own}0")],
                            [("Origin", own), ("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "cross-site")]):
                with self.subTest(path=path, headers=headers):
                    answer = self.inspector.request(method, path, token=TOKENS["boss"], headers=headers, body="")
                    self.assertEqual(answer.status, 403)
            if path != "/nsp1/token":
                for token in (None, "x" * 32, TOKENS["boss"][:-1]):
                    self.assertEqual(self.inspector.request(method, path, token=token, body="").status, 401)
            for other in {"GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"} - {method}:
                with self.subTest(path=path, method=other):
                    answer = self.inspector.request(other, path, token=TOKENS["boss"], body="")
                    self.assertEqual(answer.status, 405)
                    self.assertFalse([name for name, _ in answer.headers if name.lower().startswith("access-control")])

    def test_a_used_code_and_a_wrong_one_get_nothing(self):
        made = self.inspector.request("POST", "/nsp1/code", token=TOKENS["boss"]).json()["code"]
        self.assertEqual(self.inspector.trade(made).status, 200)
        for code in (made, made[:-1], "x" * len(made), ""):
            self.assertIn(self.inspector.trade(code).status, (400, 401))


class Writers(InspectorTest):
    def setUp(self):
        pass

    def tearDown(self):
        pass

    def test_a_post_that_would_change_something_is_refused(self):
        page = Page(self.inspector, "boss")
        self.addCleanup(page.close)
        before, nav = self.daemon.control.get("open/one")["rev"], {"nav": "open/one"}
        for verb, members in (
                ("op", {"do": [{"push": {"screen": {"id": "x"}}}], "if": {"any": True}, **nav}), ("delegate", {"roles": ["veto"], **nav}),
                ("lease", {"take": True, **nav}), ("answer", {"ask": 1, "value": True}), ("cluster", {}),
                ("get", {"what": "backup"}), ("get", {"what": "reload"})):
            with self.subTest(verb=verb, what=members.get("what")):
                self.assertEqual(page.post_raw(line(verb, {"id": page.next_id(), **members})).status, 403)
        # One such message among good ones: none of them was taken.
        good = line("get", {"id": page.next_id(), "what": "state", **nav})
        self.assertEqual(page.post_raw(good + line("op", {"id": page.next_id(), "do": [{"pop": {}}], **nav})).status, 403)
        verb, answer = page.request("get", what="state", **nav)
        self.assertEqual((verb, answer["rev"]), ("ok", before))
        self.assertEqual(self.daemon.control.get("open/one")["rev"], before)
        self.assertEqual(sum(self.daemon.control.get(what="stats")["operations"].values()), 5)


class Rights(InspectorTest):
    def test_a_user_without_the_right_sees_neither_name_nor_count(self):
        recorder = pages.Recorder()
        self.addCleanup(recorder.close)
        code = self.inspector.request("POST", "/nsp1/code", token=LIMITED).json()["code"]
        self.driver.get(f"http://{recorder.host}/#c={code}&nav=open%2Fone")
        self.until("the nav", lambda: self.place()[:1] == ("open/one",))
        for tab in ("stream", "why", "sessions", "refusals", "plots"):
            self.tab(tab)
        # Without the right, a view names it; an empty table would mean that there is nothing.
        for name, selector in (("sessions", "[data-view=sessions]"), ("refusals", "[data-view=refusals]")):
            self.tab(name)
            self.until(name, f"return document.querySelector({selector!r}).textContent.trim().length > 0")
            self.assertEqual(self.rows(f"{selector} [data-session], {selector} [data-refusal]"), [])
        # Each refusal is listed for administrators, so a view asks once.
        def refusals():
            return len([each for each in self.daemon.control.get(what="refusals") if each["code"] == "forbidden"])
        count = refusals()
        self.assertGreater(count, 0)
        for name in ("sessions", "refusals", "sessions", "refusals"):
            self.tab(name)
        self.assertEqual(refusals(), count)
        # Searching and linking lead no further.
        self.run_("""
          const field = document.querySelector("[data-part=search]");
          field.value = "vault"; field.dispatchEvent(new Event("input", { bubbles: true }));""")
        text = self.run_("return document.documentElement.outerHTML.replaceAll('value=\"vault\"', '')")
        self.assertNotIn("Secret", text)
        self.assertNotIn("plans", text)
        self.link(SECRET)
        self.until("the refusal", lambda: self.place()[0] != "open/one" or "vault" in self.run_("return location.hash"))
        self.assertNotIn("Secret title", self.run_("return document.documentElement.outerHTML"))
        self.assertNotIn("secret-screen", self.run_("return document.documentElement.outerHTML"))
        sent = b"".join(bytes(each) for each in recorder.requests)
        names = {name.lower() for name in re.findall(rb"^([\w-]+): ", sent, re.MULTILINE)}
        self.assertEqual(names & {b"referer", b"cookie"}, set())
        self.assertEqual(re.sub(rb'\{"code":"[^"]+"\}', b"", sent).count(code.encode()), 0)
        received = b"".join(bytes(each) for each in recorder.answers)
        self.assertNotIn(b"Secret title", received)
        self.assertNotIn(b"plans-b", received)
        stream = re.sub(rb"HTTP/1\.1 200.*?\r\n\r\n", b"", received, flags=re.S)
        self.assertNotIn(b'"id":"vault/plans"', stream)
        shown = self.run_("return [...document.querySelectorAll('[role=treeitem][data-nav]')].map((each) => each.dataset.nav)")
        self.assertFalse([nav for nav in shown if nav and nav.startswith("vault")], shown)
        count = self.run_("return document.querySelector('[data-view=tree]').dataset.count ?? null")
        self.assertIn(count, (None, "0", "1", "2"))


class Pages(InspectorTest):
    """Other pages in a browser, which reports each request that it or the inspector stopped."""

    noise = ("",)

    def setUp(self):
        super().setUp()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), pages.Evil)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.evil = server.server_address[1]

    def tearDown(self):
        pass

    def visit(self, url):
        self.driver.get(url)
        self.until("the page", "return document.readyState === 'complete'")

    def attack(self, origin):
        recorder = pages.Recorder()
        self.addCleanup(recorder.close)
        before = self.daemon.control.standing()
        self.visit(origin)
        got = self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);"
            "(async () => {" + pages.ATTACK + "})().then(done, (error) => done(String(error)))",
            f"http://{recorder.host}", TOKENS["boss"], PATHS)
        self.assertEqual(got, [])
        before["messages"] += 1
        self.assertEqual(self.daemon.control.standing(), before)
        statuses = {status for _, path, status in recorder.heads() if path != "/"}
        self.assertTrue(statuses and statuses <= {403, 405}, statuses)

    def test_a_page_of_another_origin_gets_nothing(self):
        self.attack(f"http://evil.test:{self.evil}/")

    @unittest.skipUnless(IS_LONG, "test_attack_pages.py tries another port too")
    def test_a_page_of_another_port_gets_nothing(self):
        self.attack(f"http://127.0.0.1:{self.evil}/")

    def test_a_name_that_leads_here_gets_nothing(self):
        before = self.daemon.control.standing()
        for name in ("evil.test", "127.evil.test", "localhost6"):
            self.visit(f"http://{name}:{self.inspector.port}/")
            statuses = self.driver.execute_async_script(
                "const [token, paths, done] = arguments, headers = { Authorization: `Bearer ${token}` };"
                "Promise.all(paths.flatMap((path) => ['GET', 'POST'].map((method) => "
                "fetch(path, { method, headers }).then(({ status }) => status)))).then((all) => done([...new Set(all)]))",
                TOKENS["boss"], PATHS)
            self.assertEqual(statuses, [421], name)
        before["messages"] += 1
        self.assertEqual(self.daemon.control.standing(), before)

    def test_a_frame_shows_nothing(self):
        self.visit(f"http://evil.test:{self.evil}/")
        self.driver.execute_async_script(
            "const [url, done] = arguments, frame = document.createElement('iframe');"
            "frame.onload = () => done(); frame.src = url; document.body.append(frame);", self.inspector.url(nav="open/one"))
        self.driver.switch_to.frame(0)
        protocol = self.run_("return location.protocol")
        self.driver.switch_to.default_content()
        self.assertEqual(protocol, "chrome-error:")


class Traces(InspectorTest):
    # The second page's code is refused, which the browser reports.
    noise = ("401",)

    def test_a_code_works_once_and_leaves_no_trace(self):
        """Run as a person runs it: the address is on its output, and nothing of it is anywhere else."""
        directory = Directory()
        self.addCleanup(directory.remove)
        process = Process(
            [os.path.join(BINARIES, "navd-web"), "--inspector", "--endpoint", self.daemon.endpoint, "--page", page_directory(),
             "--nav", "open/one"], directory / "log")
        self.addCleanup(lambda: process.is_running and process.kill())
        url = process.says(r"(http://127\.0\.0\.1:(\d+)/#c=([^&\s]+)\S*)")
        address, port, code = url[1], url[2], url[3]
        self.driver.get("about:blank")
        self.driver.get(address)
        self.until("the nav", lambda: self.place()[0] == "open/one")
        self.live("open/one")
        places = self.run_("""
          return [location.href, document.referrer, document.cookie, JSON.stringify(history.state), JSON.stringify(localStorage),
            document.documentElement.outerHTML, ...performance.getEntries().map(({ name, entryType }) =>
              entryType === "navigation" ? "" : name), ...(window.navigation?.entries() ?? []).map(({ url }) => url)];""")
        token = self.run_("return Object.values(sessionStorage).find((each) => /^[\\w-]{40,}$/.test(each)) ?? null")
        for secret in filter(None, (code, token)):
            self.assertFalse([place for place in places if secret in str(place)], "in the page")
            with open(f"/proc/{process.pid}/cmdline", "rb") as file:
                self.assertNotIn(secret.encode(), file.read())
        if token:
            self.assertNotIn(token, process.log())
        # The address again, in a window of its own, opens nothing.
        first = self.driver.current_window_handle
        self.driver.switch_to.new_window("window")
        try:
            witness(self.driver)
            self.driver.get(address)
            eventually("the answer", lambda: self.run_("return document.documentElement.dataset.state") == "expired")
            self.assertEqual(self.run_("return document.querySelectorAll('[role=treeitem]').length"), 0)
            self.assertIn("navctl inspect", self.run_("return document.querySelector('[data-part=expired]').textContent"))
        finally:
            self.driver.close()
            self.driver.switch_to.window(first)
        answer = self.used(port, code)
        self.assertEqual(answer, 401)

    def used(self, port, code):
        body = json.dumps({"code": code})
        connection = http.client.HTTPConnection("127.0.0.1", int(port))
        connection.request("POST", "/nsp1/token", body)
        return connection.getresponse().status


if __name__ == "__main__":
    unittest.main()
