"""Section 16 of docs/protocol.md, claim by claim: requests, posts, sessions, tokens."""
import json
import os
import signal
import socket
import threading
import unittest

from clients import Page, line
from harness import TOKENS, Concurrently, Daemon, Directory, Gateway, closing, eventually

ALICE = TOKENS["alice"]


def setUpModule():
    global daemon, gateway, navs
    directory = Directory()
    directory.write("index.html", "<!doctype html><title>page</title>")
    module = directory.write("module.js", "export const a = 1;\n")
    daemon = Daemon()
    gateway = Gateway(daemon, page=directory.path, module=module, launch="ui",
                      options=["--allow-host=kiosk.example"])
    navs = iter(f"nav/{number}" for number in range(10000))
    unittest.addModuleCleanup(directory.remove)
    unittest.addModuleCleanup(daemon.close)
    unittest.addModuleCleanup(gateway.close)


def new_nav():
    nav = next(navs)
    daemon.control.create(nav)
    return nav


def revision(nav):
    return daemon.control.get(nav)["rev"]


def depth(nav):
    return len(daemon.control.get(nav)["screens"])


def push_line(number, nav, screen="a", **members):
    return line("op", {"id": number, "nav": nav, "do": [{"push": {"screen": {"id": screen}}}],
                       **members})


def padded(text, octets):
    """The line with spaces in its body, so that it has this many octets, LF included."""
    return text[:-3] + " " * (octets - len(text)) + text[-3:]


class PageTest(unittest.TestCase):
    def page(self, *arguments, **members):
        page = Page(gateway, *arguments, **members)
        self.addCleanup(page.close)
        return page


class Requests(PageTest):
    """The table of requests and the order of checks."""

    def test_files_are_served_without_a_token(self):
        answer = gateway.request("GET", "/index.html")
        self.assertEqual((answer.status, answer.body[:15]), (200, b"<!doctype html>"))
        self.assertEqual(gateway.request("GET", "/").status, 200)
        answer = gateway.request("GET", "/navigation-client.js")
        self.assertEqual((answer.status, answer.body), (200, b"export const a = 1;\n"))
        self.assertIn("javascript", answer.header("Content-Type"))
        answer = gateway.request("GET", "/missing.html")
        self.assertEqual(answer.status, 404)
        self.assertIsInstance(answer.json()["error"], str)

    def test_head_is_answered_where_get_is(self):
        for path in ("/", "/navigation-client.js", "/missing.html", "/nsp1/stream"):
            for token in (None, ALICE):
                got = [gateway.raw(f"{method} {path} HTTP/1.1\r\nHost: {gateway.host}\r\nNSP-Token: {token or 'none'}\r\n"
                                   "Connection: close\r\n\r\n".encode()) for method in ("HEAD", "GET") if method == "HEAD"
                       or path != "/nsp1/stream"]
                self.assertEqual({answer.status for answer in got}, {
                    404 if path == "/missing.html" else 200 if token or path != "/nsp1/stream" else 401})
                self.assertEqual(got[0].body, b"")
        self.assertEqual(gateway.request("PUT", "/").header("Allow"), "GET, HEAD")
        self.assertEqual(gateway.request("GET", "/nsp1/stream").header("WWW-Authenticate"), "Bearer")

    def test_requests_of_nsp1_need_a_token(self):
        for method, path in (("GET", "/nsp1/stream"), ("POST", "/nsp1/code"),
                             ("POST", "/nsp1/messages?stream=a&n=1")):
            body = None if method == "GET" else ""
            for headers in ((), [("Authorization", "Bearer wrong")], [("Authorization", ALICE)],
                            [("Authorization", "Bearer ")], [("Authorization", f"Basic {ALICE}")],
                            [("Cookie", f"token={ALICE}")], [("Authorization", f"Bearer {ALICE}x")],
                            [("Authorization", f"Bearer {ALICE[:-1]}")]):
                with self.subTest(path=path, headers=headers):
                    answer = gateway.request(method, path, headers=headers, body=body)
                    self.assertEqual(answer.status, 401)
                    self.assertIsInstance(answer.json()["error"], str)
        for path in (f"/nsp1/stream?token={ALICE}", f"/nsp1/code?access_token={ALICE}"):
            method = "GET" if "stream" in path else "POST"
            self.assertEqual(gateway.request(method, path, body="").status, 401)

    def test_no_answer_has_a_cookie_or_a_cors_header(self):
        answers = [
            gateway.request(*request, token=token, headers=headers, body="{}")
            for request in (("GET", "/"), ("GET", "/missing"), ("POST", "/nsp1/code"),
                            ("POST", "/nsp1/token"), ("OPTIONS", "/nsp1/stream"), ("PUT", "/"))
            for token in (None, ALICE)
            for headers in ((), [("Origin", "http://evil.test")], [
                ("Origin", f"http://{gateway.host}"), ("Access-Control-Request-Method", "POST")])]
        page = self.page()
        answers += [page.stream.response, page.post_raw("x"), page.post_raw("x", n=9)]
        for answer in answers:
            names = {name.lower() for name, _ in answer.headers}
            self.assertNotIn("set-cookie", names)
            self.assertEqual([name for name in names if name.startswith("access-control")], [])

    def test_the_checks_are_in_the_order_of_the_protocol(self):
        # Each fault alone, then each pair: the earlier one decides.
        good = dict(host=gateway.host, path="/nsp1/code", method="POST", origin=None, site=None,
                    token=ALICE)
        faults = [("host", "evil.test", 421), ("path", "/nsp1/other", 404), ("method", "GET", 405),
                  ("origin", "http://evil.test", 403), ("site", "cross-site", 403),
                  ("token", "wrong", 401)]

        def status(**request):
            headers = [(name, value) for name, value in (
                ("Origin", request["origin"]), ("Sec-Fetch-Site", request["site"])) if value]
            return gateway.request(
                request["method"], request["path"], host=request["host"], token=request["token"],
                headers=headers, body="").status

        self.assertEqual(status(**good), 200)
        for first, (name, value, code) in enumerate(faults):
            self.assertEqual(status(**{**good, name: value}), code, name)
            for other, bad, _ in faults[first + 1:]:
                with self.subTest(first=name, then=other):
                    self.assertEqual(status(**{**good, name: value, other: bad}), code)

    def test_methods(self):
        for path, right in (("/nsp1/token", "POST"), ("/nsp1/code", "POST"),
                            ("/nsp1/messages?stream=a&n=1", "POST"), ("/nsp1/stream", "GET"),
                            ("/navigation-client.js", "GET"), ("/index.html", "GET")):
            for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"):
                answer = gateway.request(method, path, token=ALICE, body="")
                self.assertEqual(answer.status, 405, (method, path))
            wrong = {"POST": "GET", "GET": "POST"}[right]
            answer = gateway.request(wrong, path, token=ALICE, body="" if wrong == "POST" else None)
            self.assertEqual(answer.status, 405, (wrong, path))

    def test_hosts(self):
        port = gateway.port
        for host in ("localhost", f"localhost:{port}", "127.0.0.1", "127.8.9.10:1", "[::1]",
                     f"[::1]:{port}", "kiosk.example", "kiosk.example:443", "localhost:65535"):
            with self.subTest(host=host):
                for path, method in (("/index.html", "GET"), ("/nsp1/code", "POST")):
                    answer = gateway.request(method, path, host=host, token=ALICE, body="")
                    self.assertEqual(answer.status, 200)

    def test_origins_and_sites(self):
        def status(host, *headers):
            return gateway.request(
                "POST", "/nsp1/code", host=host, token=ALICE, headers=headers, body="").status

        for host, origin, wanted in (
                (gateway.host, f"http://{gateway.host}", 200),
                (gateway.host, f"https://{gateway.host}", 403),
                (gateway.host, "null", 403), (gateway.host, "", 403),
                (gateway.host, "http://127.0.0.1", 403),
                (gateway.host, f"http://127.0.0.1:{gateway.port + 1}", 403),
                (gateway.host, f"http://localhost:{gateway.port}", 403),
                (gateway.host, f"http://{gateway.host}/", 403),
                (gateway.host, f"http://{gateway.host}.evil.test", 403),
                (gateway.host, f"http://evil@{gateway.host}", 403),
                ("localhost", "http://localhost", 200), ("localhost", "https://localhost", 403),
                ("kiosk.example", "http://kiosk.example", 200),
                ("kiosk.example", "https://kiosk.example", 200),
                ("kiosk.example:8443", "https://kiosk.example:8443", 200),
                ("kiosk.example", "https://kiosk.example:8443", 403),
                ("kiosk.example", "https://other.example", 403)):
            with self.subTest(host=host, origin=origin):
                self.assertEqual(status(host, ("Origin", origin)), wanted)
        for site, wanted in (("same-origin", 200), ("same-site", 403), ("cross-site", 403),
                             ("none", 403), ("", 403), ("same-origin, same-origin", 403)):
            with self.subTest(site=site):
                self.assertEqual(status(gateway.host, ("Sec-Fetch-Site", site)), wanted)


class Posts(PageTest):
    """Numbers, limits, whole or nothing."""

    def test_numbers(self):
        nav, page = new_nav(), self.page()
        self.assertEqual(page.n, 2)
        for n in (1, 1):
            answer = page.post_raw(push_line(50, nav, "low"), n=n)
            self.assertEqual((answer.status, answer.json()), (200, {"next": 2}))
        for n in (3, 4, 2**31, 2**53 - 1):
            answer = page.post_raw(push_line(51, nav, "high"), n=n)
            self.assertEqual((answer.status, answer.json()), (409, {"next": 2}), n)
        for n in ("0", "", "x", "-1", "2x", "+2", "2.0", "02x", "0x2", " 2", "99999999999999999999999"):
            answer = page.post_raw(push_line(52, nav, "odd"), n=n)
            self.assertIn(answer.status, (400, 409), n)
        answer = page.post_raw(push_line(1, nav, "a"), n=2)
        self.assertEqual((answer.status, answer.json()), (200, {"next": 3}))
        answer = page.post_raw(push_line(1, nav, "a"), n=2)
        self.assertEqual((answer.status, answer.json()), (200, {"next": 3}))
        self.assertEqual(page.answer(1)[0], "ok")
        page.n = 3
        self.assertEqual(page.request("ping")[0], "pong")
        self.assertEqual((revision(nav), depth(nav)), (2, 2))

    def test_a_lost_answer_can_be_posted_again(self):
        nav, page = new_nav(), self.page()
        for number in range(1, 11):
            body = push_line(number, nav, f"s{number}x").encode()
            head = (f"POST {page.path()} HTTP/1.1\r\nHost: {gateway.host}\r\n"
                    f"Authorization: Bearer {ALICE}\r\nContent-Length: {len(body)}\r\n\r\n")
            connection = socket.create_connection(("127.0.0.1", gateway.port))
            connection.sendall(head.encode() + body)
            connection.close()
            answer = page.post_raw(body)
            self.assertEqual((answer.status, answer.json()), (200, {"next": page.n + 1}))
            page.n += 1
            self.assertEqual(page.answer(number)[0], "ok")
        self.assertEqual(depth(nav), 11)

    def test_a_part_of_a_post_is_not_taken(self):
        nav, page = new_nav(), self.page()
        body = push_line(1, nav, "part").encode()
        head = (f"POST {page.path()} HTTP/1.1\r\nHost: {gateway.host}\r\n"
                f"Authorization: Bearer {ALICE}\r\nContent-Length: {len(body) + 9}\r\n\r\n")
        connection = socket.create_connection(("127.0.0.1", gateway.port))
        connection.sendall(head.encode() + body)
        connection.close()
        page.post(("ping", {"id": 2}))
        self.assertEqual(page.until(lambda verb, body: True)[0], "pong")
        self.assertEqual(revision(nav), 1)

    def test_two_posts_of_one_number_at_once_are_one(self):
        nav, page = new_nav(), self.page()
        for round in range(5):
            number = page.next_id()
            start = threading.Barrier(4)

            def post():
                start.wait()
                return page.post_raw(push_line(number, nav, f"x{number}"))
            runs = Concurrently(a=post, b=post, c=post, d=post)
            for name in "abcd":
                answer = runs.result(name)
                self.assertEqual((answer.status, answer.json()), (200, {"next": page.n + 1}))
            page.n += 1
            self.assertEqual(page.answer(number)[0], "ok")
        self.assertEqual(revision(nav), 6)

    def test_lines_of_another_form_take_nothing(self):
        nav, page = new_nav(), self.page()
        good = push_line(1, nav, "good")
        bad = ["{}", "[]", '["op"]', '["OP",{}]', '["op",[]]', '["op",1]', '["",{}]',
               '[1,{}]', '["op" {}]', '["op",{}', '"op",{}', '["op.x",{}]', '["hel lo",{}]', "x",
               '["op",{}]]', '["op",{}] x', '["op",{"a":tru}]'[:10], "\0", '["op",{}]\0',
               '["%s",{}]' % ("a" * 20), "\xff\xfe", '["op",\x01{}]', "[[" * 5000]
        taken = []
        for text in bad:
            octets = text.encode("latin-1")
            for body in (octets, octets + b"\n", good.encode() + octets + b"\n",
                         octets + b"\n" + good.encode()):
                answer = page.post_raw(body)
                if answer.status != 400:
                    taken.append((body[-60:], answer.status))
                    page.n += answer.status == 200
        self.assertEqual(taken, [])
        for body in ("", "\n", "\n\n", good + "\n" + good):
            self.assertEqual(page.post_raw(body).status, 400, body)
        self.assertEqual(revision(nav), 1)
        page.last_id = 1
        self.assertEqual(page.request("ping")[0], "pong")
        self.assertEqual(revision(nav), 1)

    def test_limits_of_octets(self):
        nav, page = new_nav(), self.page()
        # The body of the line has 7 octets less than the line: within the daemon's limit.
        fits = padded(push_line(1, nav, "fits"), 65536)
        answer = page.post_raw(padded(push_line(1, nav, "long"), 65538))
        self.assertEqual(answer.status, 413)
        answer = page.post_raw(line("ping", {"id": 9}) + padded(push_line(1, nav, "long"), 65538))
        self.assertEqual(answer.status, 413)
        together = fits + padded(push_line(2, nav, "also"), 65535) + "\n"
        self.assertEqual(page.post_raw(together[:-1] + line("ping", {"id": 3})).status, 413)
        for octets in (131073, 262144, 1 << 20):
            self.assertEqual(page.post_raw(b" " * octets).status, 413, octets)
        self.assertEqual(revision(nav), 1)
        both = fits + padded(push_line(2, nav, "also"), 65536)
        self.assertEqual(len(both), 131072)
        self.assertEqual(page.post_raw(both).status, 200)
        self.assertEqual((page.answer(1)[0], page.answer(2)[0]), ("ok", "ok"))
        self.assertEqual(depth(nav), 3)

    def test_the_last_line_feed_may_be_left_out(self):
        nav, page = new_nav(), self.page()
        body = push_line(1, nav, "a") + push_line(2, nav, "b")[:-1]
        self.assertEqual(page.post_raw(body).status, 200)
        self.assertEqual((page.answer(1)[0], page.answer(2)[0]), ("ok", "ok"))

    def test_no_such_stream(self):
        page, other = self.page(), self.page("bob")
        for stream in ("", "none", other.id, page.id + "x", page.id[:-1], "%00", "..", "a" * 4000):
            answer = gateway.request("POST", f"/nsp1/messages?stream={stream}&n=2", token=ALICE,
                                     body=line("ping", {"id": 1}))
            self.assertIn(answer.status, (410,) if stream else (400, 410), stream[:20])
        self.assertEqual(page.request("ping")[0], "pong")
        self.assertEqual(other.request("ping")[0], "pong")

    def test_a_line_with_an_odd_encoding_of_its_body_passes_unread(self):
        # The gateway does not read bodies: navd answers for what is wrong in them.
        page = self.page()
        for body, code in (('{"id":1,"id":2}', "bad-json"), ('{"id":1,"x":"\\ud800"}', "bad-json"),
                           ('{"id":' + "[" * 40 + "]" * 40 + "}", "bad-json")):
            if page.post_raw(f'["ping",{body}]\n').status == 200:
                page.n += 1
                verb, answer = page.until(lambda verb, _: verb != "mark")
                self.assertEqual((verb, answer["code"]), ("err", code))
        self.assertEqual(page.request("nonsense")[1]["code"], "bad-verb")

    def test_retry_after_while_navd_does_not_read(self):
        own = Daemon()
        with closing(own, Gateway(own)) as (_, beside):
            own.control.create("k")
            page = Page(beside)
            own.process.signal(signal.SIGSTOP)
            taken = []
            while True:
                number = page.next_id()
                # Invalid by its long name, so that the daemon changes nothing but once.
                body = padded(push_line(number, "k", f"p{number}"), 65000)
                answer = page.post_raw(body)
                if answer.status != 200:
                    break
                taken.append(number)
                page.n += 1
                self.assertLess(len(taken), 5000)
            self.assertEqual(answer.status, 503)
            self.assertTrue(int(answer.header("Retry-After")) >= 0)
            own.process.signal(signal.SIGCONT)
            eventually("taken", lambda: page.post_raw(body).status == 200)
            page.n += 1
            answers = [page.answer(each) for each in [*taken, number]]
            oks = [body["out"][0]["id"] for verb, body in answers if verb == "ok"]
            self.assertEqual(oks, [f"p{each}" for each in range(1, len(oks) + 1)])
            self.assertLessEqual(
                {body["code"] for verb, body in answers if verb == "err"}, {"limit", "busy"})
            page.close()


class Sessions(PageTest):
    """The hello, which the gateway writes, and what passes unread."""

    def test_the_first_line_is_a_hello(self):
        nav, page = new_nav(), self.page(hello=False)
        hello = line("hello", {"ver": [1, 1], "client": page.client, "nonce": "n"})
        for body in (line("ping", {"id": 1}), push_line(1, nav),
                     line("ping", {"id": 1}) + hello,
                     line("op", {"id": 1, "nav": nav, "client": page.client,
                                 "do": [{"push": {"screen": {"id": "a"}}}]}),
                     line("get", {"id": 1, "what": "stats"})):
            answer = page.post_raw(body)
            self.assertEqual(answer.status, 400, body)
        self.assertEqual(page.post_raw(hello + line("ping", {"id": 1})).status, 200)
        self.assertEqual(page.message()[0], "welcome")
        self.assertEqual(page.message()[0], "pong")
        self.assertEqual(revision(nav), 1)

    def test_you_describes_the_gateway_and_the_actor(self):
        page = self.page("reader")
        you = page.welcome["you"]
        self.assertEqual((you["via"], you["uid"], you["gid"], you["pid"]),
                         ("ipc", os.getuid(), os.getgid(), gateway.process.pid))
        self.assertEqual((you["actor"], you["role"]), ("reader", "read"))

    def test_the_principal_is_that_of_the_actor(self):
        nav, page = new_nav(), self.page()
        page.push(nav, "a")
        self.assertEqual(daemon.control.log(nav)[-1]["by"]["principal"], f"uid:{os.getuid()}/alice")

    def test_actor_and_flow_of_a_page_are_overwritten(self):
        admin = {"name": "boss", "role": "admin", "navs": ["*", "$*"]}
        for members in ({"actor": admin, "flow": "none"}, {"actor": None}, {"actor": "boss"},
                        {"actor": [admin]}, {"flow": "none", "extra": {"actor": admin}}):
            with self.subTest(members=members):
                page = self.page("reader", **members)
                self.assertIn("reader", json.dumps(page.welcome["you"]["actor"]))
                self.assertEqual(page.request("get", what="state", nav="$clients")[1]["code"],
                                 "forbidden")
                page.close()

    def test_no_form_of_a_hello_gets_another_actor(self):
        admin = '{"name":"boss","role":"admin","navs":["*","$*"]}'
        base = '"ver":[1,1],"client":"%s","nonce":"n","name":"tricky"'
        for text in (
                '["hello",{%s,"actor":A,"actor":A}]', '["hello",{"\\u0061ctor":A,%s}]',
                '["h\\u0065llo",{%s,"actor":A}]', '["hello",{"actor":A,%s}]', '["hello" ,{%s,"actor":A}]',
                '["hello",{%s,"name":"x\\",\\"actor\\":A"}]', '["hello",{"actor":A,%s}]}]',
                '["hello",{%s}],["hello",{%s,"actor":A}]', ' ["hello",{%s,"actor":A}]',
                '["hello",{%s,"window":1,"actor\\u0000":A,"actor":A}]', '["HELLO",{%s,"actor":A}]',
                '["hello",{%s,"actor":A,"other":["x",{"actor":A}]}]'):
            page = self.page("reader", hello=False)
            with self.subTest(text=text):
                body = text.replace("%s", base % page.client).replace("A", admin)
                for more in ("", "\n" + line("get", {"id": 1, "what": "state", "nav": "$clients"})):
                    answer = page.post_raw(body + more, n=page.n)
                    if answer.status != 200:
                        self.assertEqual(answer.status, 400)
                        continue
                    page.n += 1
                    page.post(("get", {"id": 2, "what": "state", "nav": "$clients"}))
                    verb, got = page.until(lambda _, body: body.get("id") == 2)
                    self.assertIn(got.get("code"), ("forbidden", "no-session"), got)
            page.close()

    def test_a_second_hello_is_rewritten_too(self):
        admin = {"name": "boss", "role": "admin", "navs": ["*", "$*"]}
        page = self.page("reader")
        page.hello(actor=admin, flow="none", name="again")
        self.assertEqual(daemon.control.client("again")["role"], "read")
        self.assertEqual(page.request("get", what="state", nav="$clients")[1]["code"], "forbidden")

    def test_members_of_the_hello_reach_navd(self):
        page = self.page(name="a name \" \\ \u202e </script>", window=20000, hb=1000)
        self.assertEqual((page.welcome["hb"], page.welcome["limits"]["window"]), (1000, 20000))
        self.assertIsNotNone(daemon.control.client("a name \" \\ \u202e </script>"))
        page.hello(ver=[1, 7])
        number = page.next_id()
        page.post(("hello", {"ver": [2, 3], "client": page.client, "nonce": "z"}))
        self.assertEqual(page.until(lambda verb, _: verb == "err")[1]["code"], "version")
        self.assertGreater(number, 0)

    def test_a_client_id_of_another_token_is_forbidden(self):
        page, other = self.page(), self.page("bob", hello=False)
        other.post(("hello", {"ver": [1, 1], "client": page.client, "nonce": "z"}))
        self.assertEqual(other.until(lambda verb, _: verb == "err")[1]["code"], "forbidden")
        self.assertEqual(page.request("ping")[0], "pong")


if __name__ == "__main__":
    unittest.main()
