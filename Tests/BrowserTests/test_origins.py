"""Attacks on a gateway that has partners (--allow-origin): what a page of another gateway may do, and nobody else.

docs/security.md points to the tests. test_attacks.py has the attacks on a gateway without partners.
"""
import json
import os
import subprocess
import unittest

from harness import BINARIES, DEADLINE, MODULE, ROOT, TOKENS, Daemon, Gateway

PAGE = os.path.join(ROOT, "Tests", "BrowserTests", "page")
ALICE, BOSS = TOKENS["alice"], TOKENS["boss"]
PARTNER, SECURE = "http://127.0.0.1:1", "https://b.example"
PROTOCOL = (("GET", "/nsp1/stream"), ("POST", "/nsp1/messages?stream=x&n=1"), ("POST", "/nsp1/code"),
            ("POST", "/nsp1/token"))
FILES = ("/", "/tests.js", "/navigation-client.js", "/none", "/nsp1/none")
# Origins that are nearly a partner's; a request of each is refused.
NEAR = ("http://127.0.0.1", "http://127.0.0.1:10", "http://127.0.0.1:01", "https://127.0.0.1:1", "http://127.0.0.1:1/",
        "http://127.0.0.1:1.evil.test", "http://evil.test:1", "http://127.0.0.1:1@evil.test", "HTTP://127.0.0.1:1",
        "http://localhost:1", "http://[::1]:1", "http://b.example", "https://b.example:443", "https://B.example",
        "https://b.example.", "https://a.b.example", "https://bb.example", "https://b.example\\@evil.test",
        f"{PARTNER} {SECURE}", f"{PARTNER},{SECURE}", "null", "*", "", "http://", "b.example")


def setUpModule():
    global daemon, gateway
    daemon = Daemon()
    unittest.addModuleCleanup(daemon.close)
    gateway = Gateway(daemon, page=PAGE, module=MODULE,
                      options=("--allow-origin", PARTNER, "--allow-origin", SECURE))
    unittest.addModuleCleanup(gateway.close)


def shared(answer):
    """The headers of an answer that open it to other origins."""
    return {name.lower(): value for name, value in answer.headers if name.lower().startswith("access-control")}


class Origins(unittest.TestCase):
    """None of these requests begins a session, so navd counts nothing but the count itself."""

    def setUp(self):
        self.before = daemon.control.standing()

    def tearDown(self):
        self.before["messages"] += 1
        self.assertEqual(daemon.control.standing(), self.before)

    def ask(self, method, path, origin, site=None, **request):
        headers = [("Origin", each) for each in ([origin] if isinstance(origin, str) else origin)]
        headers += [("Sec-Fetch-Site", site)] if site is not None else []
        return gateway.request(method, path, headers=headers + list(request.pop("more", ())), **request)

    def opens_nothing(self, answer, *statuses):
        self.assertIn(answer.status, statuses)
        self.assertEqual(shared(answer), {})
        self.assertIsNone(answer.header("Set-Cookie"))

    def test_only_the_exact_origin_of_a_partner_is_answered(self):
        """An origin compared by a prefix, a suffix, a pattern or without its port."""
        trade = json.dumps({"code": gateway.code()})
        for method, path in PROTOCOL:
            for origin in (*NEAR, (PARTNER, PARTNER), (PARTNER, "http://evil.test"), ("http://evil.test", PARTNER)):
                for site in (None, "same-site", "cross-site"):
                    with self.subTest(path=path, origin=origin, site=site):
                        self.opens_nothing(self.ask(method, path, origin, site, token=BOSS, body=trade), 403)
        self.assertEqual(self.ask("POST", "/nsp1/token", SECURE, "cross-site", body=trade).status, 200)

    def test_a_partner_gets_its_own_origin_and_no_credentials(self):
        """An origin that is reflected, a wildcard, credentials, an answer that a cache gives to another origin."""
        for origin in (PARTNER, SECURE):
            for site in (None, "same-site", "cross-site"):
                for method, path, status in (("GET", "/nsp1/stream", 401), ("POST", "/nsp1/code", 401),
                                             ("POST", "/nsp1/token", 400), ("POST", "/nsp1/messages?stream=x&n=1", 410)):
                    with self.subTest(origin=origin, site=site, path=path):
                        token = ALICE if status == 410 else None
                        answer = self.ask(method, path, origin, site, token=token, body="x")
                        self.assertEqual(answer.status, status)
                        self.assertEqual(shared(answer), {"access-control-allow-origin": origin,
                                                          "access-control-expose-headers": "Retry-After"})
                        self.assertEqual(answer.header("Vary"), "Origin")
        # Of the own page, nothing is shared, and a cache knows that this depends on the origin.
        answer = self.ask("POST", "/nsp1/code", f"http://{gateway.host}", "same-origin", token=ALICE, body="")
        self.assertEqual((answer.status, shared(answer), answer.header("Vary")), (200, {}, "Origin"))

    def test_a_partner_is_none_by_what_its_browser_says_of_the_site(self):
        """A forged Sec-Fetch-Site, and none that is not a browser's."""
        for origin, sites in ((PARTNER, ("same-origin", "none", "", "same-site,cross-site", "SAME-SITE", "partner")),
                              (f"http://{gateway.host}", ("same-site", "cross-site", "none"))):
            for site in sites:
                with self.subTest(origin=origin, site=site):
                    self.assertEqual(self.ask("POST", "/nsp1/code", origin, site, token=BOSS, body="").status, 403)
        for site in ("same-site", "cross-site"):
            self.opens_nothing(gateway.request("POST", "/nsp1/code", token=BOSS, body="",
                                               headers=[("Sec-Fetch-Site", site)]), 403)

    def preflight(self, path, origin=PARTNER, method="POST", headers="nsp-token", site="same-site", **request):
        more = [("Access-Control-Request-Method", method)] if method is not None else []
        more += [("Access-Control-Request-Headers", headers)] if headers is not None else []
        return self.ask("OPTIONS", path, origin, site, more=more, **request)

    def test_a_preflight_permits_what_the_client_sends_and_nothing_else(self):
        """Preflights that permit any method, any header, any origin, any path, or for a day."""
        for method, path in PROTOCOL:
            permitted = ["nsp-token", *(["nsp-number", "nsp-stream"] if "messages" in path else [])]
            for headers in (",".join(permitted), "nsp-token", None):
                answer = self.preflight(path, method=method, headers=headers)
                self.assertEqual((answer.status, answer.body), (204, b""))
                self.assertEqual(shared(answer), {
                    "access-control-allow-origin": PARTNER, "access-control-expose-headers": "Retry-After",
                    "access-control-allow-methods": method, "access-control-allow-headers": ", ".join(permitted),
                    "access-control-max-age": "600"})
                self.assertEqual(answer.header("Vary"), "Origin")
            others = [each for each in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "", "*", "post", None) if each != method]
            for wrong in (*({"method": other} for other in others), *({"headers": each} for each in (
                    "x-evil", "nsp-token,x-evil", "*", "NSP-Token", "cookie", "authorization", "nsp-token;", "nsp-evil",
                    *([] if "messages" in path else ["nsp-token,nsp-stream"]))),
                    *({"origin": each} for each in NEAR), {"site": "same-origin"}, {"site": "none"}):
                with self.subTest(path=path, wrong=wrong):
                    answer = self.preflight(path, **{"method": method, **wrong})
                    self.assertEqual(answer.status, 405)
                    self.assertNotIn("access-control-allow-methods", shared(answer))
                    if "origin" in wrong:
                        self.assertEqual(shared(answer), {})
        for path in FILES:
            self.opens_nothing(self.preflight(path), 404, 405)
        self.opens_nothing(self.preflight("/nsp1/code", host="evil.test"), 421)

    def test_a_partner_reads_no_file_and_nothing_by_another_name(self):
        """Files of the page to another origin; a rebound name with the origin of a partner."""
        for path in FILES:
            self.opens_nothing(self.ask("GET", path, PARTNER, "same-site"), 200, 404)
        for method, path in PROTOCOL:
            for host in ("evil.test", "127.0.0.1.evil.test"):
                self.opens_nothing(self.ask(method, path, PARTNER, "same-site", token=BOSS, body="", host=host), 421)

    def test_the_own_page_connects_to_partners_and_runs_none_of_their_files(self):
        """A policy that opens more than connections."""
        for path in ("/", "/tests.js", "/navigation-client.js"):
            policy = dict(part.split(" ", 1) for part in
                          gateway.request("GET", path).header("Content-Security-Policy").split("; "))
            self.assertEqual(policy["connect-src"], f"'self' {PARTNER} {SECURE}")
            self.assertEqual([name for name, value in policy.items() if "127.0.0.1" in value], ["connect-src"])

    def test_an_address_that_is_no_origin_is_refused_at_the_start(self):
        """Patterns, paths and other forms, which would never be equal to an origin, or to too many."""
        for text in ("*", "null", "http://*.example", "http://b.example/", "http://b.example/x", "b.example",
                     "http://b.example:80", "https://b.example:443", "HTTP://b.example", "http://B.example", "http://",
                     "http://b.example:x", "http://a@b.example", "http://b.example:080", "ftp://b.example", "",
                     "http://b.example; script-src *", "http://b.example http://c.example", "http://\u212a.example"):
            with self.subTest(text=text):
                done = subprocess.run(
                    [os.path.join(BINARIES, "navd-web"), "--listen", "127.0.0.1:0", "--allow-origin", text],
                    capture_output=True, text=True, timeout=DEADLINE)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("--allow-origin", done.stderr)


if __name__ == "__main__":
    unittest.main()
