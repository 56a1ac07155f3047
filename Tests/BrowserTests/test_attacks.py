"""What has hurt servers of loopback before, tried on the gateway: a test for each row of such a list.

No attack may get data or start an operation, so the tests compare what navd counted before and after.
docs/security.md points to the tests; test_attack_pages.py has the attacks by pages, test_transport.py the order of checks
and the rules of a good request.
"""
import contextlib
import json
import os
import subprocess
import unittest

from clients import Page, line, push
from harness import BINARIES, MODULE, ROOT, TOKENS, Daemon, Directory, Gateway, closing

PAGE = os.path.join(ROOT, "Tests", "BrowserTests", "page")
ALICE, BOSS = TOKENS["alice"], TOKENS["boss"]
FILES = (("GET", "/"), ("GET", "/tests.js"), ("GET", "/navigation-client.js"))
PROTOCOL = (("GET", "/nsp1/stream"), ("POST", "/nsp1/messages?stream=x&n=1"), ("POST", "/nsp1/code"),
            ("POST", "/nsp1/token"))
SECURITY = {
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin"}
STRANGER = 4009  # A user who is no gateway.


def setUpModule():
    global daemon, gateway
    daemon = Daemon(f"[access]\nrole = admin uid:{STRANGER}\n", is_open=True)
    unittest.addModuleCleanup(daemon.close)
    gateway = Gateway(daemon, page=PAGE, module=MODULE, launch="ui")
    unittest.addModuleCleanup(gateway.close)


def shape(answer):
    """An answer without its date."""
    return answer.status, sorted(each for each in answer.headers if each[0] != "Date"), answer.body


class Attack(unittest.TestCase):
    """A test from which no message may reach navd."""

    def setUp(self):
        self.before = daemon.control.standing()

    def tearDown(self):
        self.before["messages"] += 1
        self.assertEqual(daemon.control.standing(), self.before)

    def ask(self, method, path, *, beside=None, **request):
        return self.closed((beside or gateway).request(method, path, **request))

    def closed(self, answer):
        """What holds for every answer: it opens nothing to others, and has no token."""
        names = {name.lower() for name, _ in answer.headers}
        self.assertEqual({name for name in names if name.startswith("access-control") or name in (
            "set-cookie", "upgrade", "location", "refresh", "sec-websocket-accept")}, set())
        self.assertNotIn(answer.status, (101, 301, 302, 303, 307, 308))
        for name, value in SECURITY.items():
            self.assertEqual(answer.header(name), value, (answer.status, name))
        self.assertIn("frame-ancestors 'none'", answer.header("Content-Security-Policy"))
        for token in TOKENS.values():
            self.assertNotIn(token, f"{answer.headers} {answer.body}")
        return answer

    def refused(self, answer, *statuses):
        self.assertIn(answer.status, statuses)
        self.assertEqual(list(answer.json()), ["error"])


class Requests(Attack):
    def test_rebinding_a_name_that_leads_here_is_misdirected(self):
        """DNS rebinding: no Host check. The check itself: prefixes, other forms, Origin equal to Host."""
        trade = json.dumps({"code": gateway.code()})
        for host in ("evil.test", "127.evil.test", "127.0.0.1.evil.test", "localhost.evil.test", "localhost6",
                     "xlocalhost", "localhost.", "127.1", "2130706433", "0x7f.1", "127.0.0.01", "0.0.0.0", "[::]",
                     "[::ffff:127.0.0.1]", "[::1%lo]", "::1", "user@127.0.0.1", "localhost@evil.test", "localhost/",
                     "127.0.0.1,evil.test", "localhost evil.test", "localhost%00.evil.test", "localho\u017ft", "",
                     "localhost:", "localhost:65536", "127.0.0.1:80@evil.test", f":{gateway.port}"):
            for method, path in FILES + PROTOCOL:
                with self.subTest(host=host, path=path):
                    # With the best of rights, as a rebound page would send it.
                    headers = [("Origin", f"http://{host}"), ("Sec-Fetch-Site", "same-origin")]
                    octets = "".join(f"{name}: {value}\r\n" for name, value in (
                        ("Host", host), *headers, ("Authorization", f"Bearer {BOSS}"), ("Connection", "close"),
                        ("Content-Length", len(trade) if method == "POST" else 0)))
                    body = trade if method == "POST" else ""
                    answer = gateway.raw(f"{method} {path} HTTP/1.1\r\n{octets}\r\n{body}".encode())
                    self.refused(self.closed(answer), 421)
        # None of them has used up the code.
        self.assertEqual(self.ask("POST", "/nsp1/token", body=trade).status, 200)

    def test_rebinding_by_no_name_two_names_or_a_name_elsewhere(self):
        """DNS rebinding: raw requests without Host, with two, in absolute form, by headers of proxies."""
        good = f"Host: {gateway.host}\r\n"
        for head, status in (("", 400), ("Host: evil.test\r\n" + good, 400), (good + "host: evil.test\r\n", 400),
                             (good + good, 400), ("X-Forwarded-Host: localhost\r\n", 400),
                             ("Host: evil.test\r\nX-Forwarded-Host: localhost\r\n", 421),
                             ("Host: evil.test\r\nForwarded: host=localhost\r\n", 421)):
            for method, path in FILES + PROTOCOL:
                with self.subTest(path=path, head=head):
                    answer = gateway.raw(f"{method} {path} HTTP/1.1\r\n{head}Authorization: Bearer {BOSS}\r\n"
                                         "Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
                    self.assertEqual((answer.status, b"error" in answer.body), (status, True))
        for target in ("http://evil.test/", f"http://{gateway.host}/nsp1/code", "//evil.test/nsp1/code", "evil.test:80"):
            for host, statuses in ((gateway.host, (404, 405)), ("evil.test", (421,))):
                for method in ("GET", "POST", "CONNECT"):
                    with self.subTest(target=target, method=method, host=host):
                        self.refused(self.ask(method, target, host=host, token=ALICE, body=""), *statuses)

    def test_another_origin_or_none_gets_nothing(self):
        """Absent Origin let through: the token is the first check, the origin the second, each on its own."""
        trade, own = json.dumps({"code": gateway.code()}), f"http://{gateway.host}"
        for method, path in PROTOCOL:
            for headers in ([("Origin", "http://evil.test")], [("Origin", "null")], [("Origin", f"{own}.evil.test")],
                            [("Origin", f"http://localhost:{gateway.port}")], [("Origin", f"{own}0")],
                            [("Origin", "http://evil.test"), ("Sec-Fetch-Site", "same-origin")],
                            [("Origin", own), ("Sec-Fetch-Site", "same-site")], [("Sec-Fetch-Site", "cross-site")],
                            [("Origin", "http://evil.test"), ("Origin", own)]):
                with self.subTest(path=path, headers=headers):
                    self.refused(self.ask(method, path, token=BOSS, headers=headers, body=trade), 403)
            for headers in ([], [("Origin", own)], [("Sec-Fetch-Site", "same-origin")], [("Referer", f"{own}/")]):
                if path != "/nsp1/token":
                    self.refused(self.ask(method, path, headers=headers, body=line("hello", {})), 401)
        self.assertEqual(self.ask("POST", "/nsp1/token", body=trade).status, 200)

    def test_no_preflight_is_permitted_and_no_connection_upgraded(self):
        """Permissive CORS, WebSocket without a check of the origin."""
        upgrade = [("Upgrade", "websocket"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
                   ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Protocol", f"nsp1, {BOSS}")]
        for _, path in PROTOCOL + FILES:
            for origin in ("http://evil.test", f"http://{gateway.host}", "null"):
                self.refused(self.ask("OPTIONS", path, headers=[
                    ("Origin", origin), ("Access-Control-Request-Method", "POST"),
                    ("Access-Control-Request-Headers", "authorization"),
                    ("Access-Control-Request-Private-Network", "true")]), 405)
            for headers in (upgrade, [("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABkAAQCAAAAAAIAAAAA")]):
                status = self.ask("GET", path, headers=headers).status
                self.assertIn(status, (401, 405) if path.startswith("/nsp1/") else (200,), path)

    def test_no_get_acts_whatever_it_says_its_method_is(self):
        """Bound to all interfaces, opens URLs: no route that acts by GET."""
        made = gateway.code()
        for path in ("/nsp1/code", "/nsp1/token", f"/nsp1/token?code={made}", "/nsp1/messages?stream=x&n=1",
                     "/nsp1/code?_method=POST", f"/?c={made}", f"/index.html?code={made}"):
            for headers in ([], [("X-HTTP-Method-Override", "POST")]):
                answer = self.ask("GET", path, token=ALICE, headers=headers, body=json.dumps({"code": made}))
                self.assertEqual(answer.status, 405 if path.startswith("/nsp1/") else 200, path)
        self.assertEqual(self.closed(gateway.trade(made)).status, 200)

    def test_the_gateway_listens_on_loopback_alone(self):
        """Bound to all interfaces."""
        self.assertEqual(listening(gateway.process.pid), [("0100007F", gateway.port)])
        for address in ("0.0.0.0:0", "[::]:0", "0:0", "192.0.2.1:0", "[::ffff:10.0.0.1]:0", "evil.test:0"):
            done = subprocess.run(
                [os.path.join(BINARIES, "navd-web"), "--endpoint", daemon.endpoint, "--listen", address],
                capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (address, done.stderr))

    def test_no_path_leads_to_a_file_outside_or_to_another_route(self):
        """Rebinding and a file tool: no path from a request to a file."""
        directory = Directory()
        self.addCleanup(directory.remove)
        for name in ("page", "page/sub"):
            os.mkdir(directory / name)
        for name in ("secret.html", "page/.hidden.html", "page/plain", "page/a\\b.html"):
            directory.write(name, "SECRET")
        directory.write("page/sub/page.html", "PUBLIC")
        os.symlink("../secret.html", directory / "page/link.html")
        os.symlink("..", directory / "page/up")
        whole = directory / "secret.html"
        paths = [f"/{one}{slash}secret.html" for one in (
            "..", "%2e%2e", ".%2e", "%252e%252e", "%c0%ae%c0%ae", "\uff0e\uff0e", "..;", "sub/../..", "..%00", "up")
            for slash in ("/", "%2f", "%5c", "\\", "//", "/./")]
        paths += [whole, f"/{whole}", f"file://{whole}", whole.replace("/", "%2f"), "/link.html", "/.hidden.html",
                  "/%2ehidden.html", "/plain", "/plain%00.html", "/a\\b.html", "/a%5cb.html", "/up/secret.html",
                  "/sub/page.html%00/../../../secret.html", "/sub/page.html/", "/sub", "/sub/", "/%zz", "/tokens",
                  "/navigation-client.js/../../secret.html", "/nsp1/../../secret.html", "/nsp1//code", "//nsp1/code",
                  "/x/../nsp1/code", "/NSP1/code", "/nsp1/code/", "/nsp1/code%00", "/nsp1/code;x", "/nsp1%2f%2fcode"]
        with closing(Gateway(daemon, page=directory / "page", module=MODULE)) as own:
            for path in paths:
                for method in ("GET", "POST"):
                    with self.subTest(path=path, method=method):
                        answer = self.ask(method, path, beside=own, token=ALICE, body="")
                        self.refused(answer, 400, 404, 405)
            self.assertEqual(self.ask("GET", "/sub/page.html", beside=own).body, b"PUBLIC")

    def test_a_used_code_and_a_wrong_one_get_the_same_answer(self):
        """Token in the browser's argv: the code works once, and says nothing when it does not."""
        used, near = gateway.code(), gateway.code()
        self.assertEqual(gateway.trade(used).status, 200)
        answers = [shape(self.ask("POST", "/nsp1/token", body=json.dumps({"code": value})))
                   for value in (used, near[:-1], near + "x", near.swapcase(), "", ALICE, BOSS, "*", near + "\u0000")]
        self.assertEqual(answers[0][0], 401)
        self.assertEqual(answers, [answers[0]] * len(answers))
        self.assertEqual(gateway.trade(near).status, 200)

    def test_all_wrong_tokens_get_the_same_answer(self):
        """Token first: nothing tells a near token from none."""
        for method, path in PROTOCOL[:3]:
            answers = [shape(self.ask(method, path, body="", headers=[] if value is None else [
                ("Authorization", value)])) for value in (
                    None, "", "Bearer", f"Bearer {BOSS[:-1]}", f"Bearer {BOSS}x", f"Bearer {BOSS.lower()}",
                    f"Bearer {BOSS} {BOSS}", f"Basic {BOSS}", BOSS, f'Bearer "{BOSS}"', "Bearer *", f"Bearer{BOSS}",
                    "Bearer " + "A" * 4000, f"Bearer %42{BOSS[1:]}")]
            self.assertEqual(answers[0][0], 401)
            self.assertEqual(answers, [answers[0]] * len(answers))

    def test_the_gateway_has_no_token_in_its_arguments_or_environment(self):
        """Token in argv, visible to other users."""
        words = b""
        for name in ("cmdline", "environ"):
            with open(f"/proc/{gateway.process.pid}/{name}", "rb") as file:
                words += file.read()
        self.assertIn(b"--tokens", words)
        self.assertEqual([token for token in TOKENS.values() if token.encode() in words], [])

    def test_cookies_change_nothing(self):
        """Cookies shared across ports: any local server would get them, and set them."""
        cookies = [("Cookie", f"token={ALICE}; session={BOSS}; Authorization=Bearer {ALICE}; __Host-token={ALICE}")]
        for method, path in FILES + PROTOCOL:
            plain, with_cookies = (self.ask(method, path, headers=headers, body="") for headers in ((), cookies))
            self.assertEqual(shape(with_cookies), shape(plain), path)

    def test_a_token_elsewhere_than_in_its_header_does_nothing(self):
        """?token= in logs and history: in the header only."""
        for name in ("token", "access_token", "Authorization", "bearer", "t", "c"):
            for method, path in PROTOCOL[:3]:
                joined = f"{path}{'&' if '?' in path else '?'}{name}={ALICE}"
                self.refused(self.ask(method, joined, body=f"{name}={ALICE}"), 401)
        for name in ("X-Authorization", "Proxy-Authorization", "X-Auth-Token", "X-Api-Key", "Sec-WebSocket-Protocol",
                     "Referer"):
            for value in (f"Bearer {ALICE}", ALICE, f"token={ALICE}"):
                self.refused(self.ask("POST", "/nsp1/code", headers=[(name, value)], body=""), 401)


def listening(pid):
    """The TCP sockets on which a process listens: the address in hexadecimal digits, and the port."""
    own = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            own.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    found = []
    for family in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{family}") as file:
            rows = [row.split() for row in file.readlines()[1:]]
        for row in rows:
            if row[3] == "0A" and f"socket:[{row[9]}]" in own:
                address, port = row[1].split(":")
                found.append((address, int(port, 16)))
    return found


class Greetings(unittest.TestCase):
    """A page without a session does nothing: what follows a refused `hello` is not done by the gateway's rights."""

    def setUp(self):
        self.nav = f"greetings/{self._testMethodName[-30:]}"
        daemon.control.create(self.nav)
        self.before = daemon.control.position(self.nav)
        self.addCleanup(daemon.control.rest)

    def greeting(self, **members):
        client = os.urandom(16).hex()
        return client, line("hello", {"ver": [1, 1], "client": client, "nonce": "n", "name": "x", **members})

    def more(self, client):
        """What would change the nav or read it, within a session and without one."""
        return (push(1, self.nav, "a") + push(2, self.nav, "b", client=client)
                + push(3, self.nav, "c", client=os.urandom(16).hex())
                + line("op", {"id": 4, "nav": self.nav, "client": client, "do": [{"nav.close": {}}], "if": {"any": True}})
                + line("get", {"id": 5, "nav": self.nav, "what": "state"}) + line("get", {"id": 6, "nav": "$clients"})
                + line("get", {"id": 7, "what": "stats"}) + line("watch", {"id": 8, "nav": self.nav}))

    def is_refused(self, own, code, **members):
        """Sends a `hello` that navd refuses, with more in the same post, before the answer and after it."""
        for is_together in (True, False):
            page = Page(own, "reader", hello=False)
            with self.subTest(together=is_together, **members), closing(page):
                client, hello = self.greeting(**members)
                client = members.get("client", client)
                self.assertEqual(page.post_raw(hello + (self.more(client) if is_together else "")).status, 200)
                page.n += 1
                answers = []
                if not is_together:
                    # It may be there before or after navd's answer.
                    answer = page.post_raw(self.more(client))
                    self.assertIn(answer.status, (200, 410), answer.body)
                with contextlib.suppress(Exception):
                    while True:
                        answers.append(page.message(3))
                self.assertEqual([(verb, body.get("code")) for verb, body, _ in answers], [("err", code)])
                self.assertTrue(page.stream.is_over, "the stream ends")
                self.assertEqual(page.post_raw(self.more(client)).status, 410)
            self.assertEqual(daemon.control.position(self.nav), self.before)

    def test_a_hello_of_another_version_is_followed_by_nothing(self):
        self.is_refused(gateway, "version", ver=[2, 2])

    def test_a_hello_with_the_client_id_of_another_is_followed_by_nothing(self):
        with closing(Page(gateway, "bob")) as other:
            self.is_refused(gateway, "forbidden", client=other.client)
            self.assertEqual(other.request("ping")[0], "pong")

    @unittest.skipUnless(os.geteuid() == 0, "only root can start a gateway as another user")
    def test_a_hello_of_a_gateway_that_is_none_is_followed_by_nothing(self):
        with closing(Gateway(daemon, user=STRANGER)) as own:
            self.is_refused(own, "forbidden")

    def test_what_follows_a_bye_or_a_second_hello_that_is_refused_is_not_done(self):
        for between in (line("bye", {"id": 9}), self.greeting(ver=[2, 2])[1]):
            page = Page(gateway, "reader", hello=False)
            client, hello = self.greeting()
            self.assertEqual(page.post_raw(hello + between + self.more(client)).status, 200)
            page.n += 1
            with contextlib.suppress(Exception):
                while page.message(1)[1].get("id") != 8:
                    pass
            # A session that goes on has the rights of its token.
            page.post_raw(self.more(client))
            page.close()
            daemon.control.rest()
            self.assertEqual(daemon.control.position(self.nav), self.before, between)


if __name__ == "__main__":
    unittest.main()
