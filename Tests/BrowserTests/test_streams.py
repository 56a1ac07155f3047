"""Section 16 of docs/protocol.md, claim by claim: credit, slow readers, and the end of streams."""
import json
import os
import signal
import socket
import struct
import time
import unittest

from clients import Page, Refusal, Stream, WebNav, line
from harness import (IS_LONG, TOKEN_LINES, TOKENS, Concurrently, Daemon, Gateway, Process, closing,
                     eventually)

ALICE = TOKENS["alice"]
# As much credit as a page can name: then only the socket limits what is sent.
ENDLESS = 2**53 - 1


def setUpModule():
    global daemon, gateway, slow, navs
    daemon = Daemon("[limits]\nconnections-per-principal = 1024\nresume-revisions = 32\n")
    unittest.addModuleCleanup(daemon.close)
    gateway = Gateway(daemon, launch="ui")
    unittest.addModuleCleanup(gateway.close)
    navs = iter(f"nav/{number}" for number in range(10000))
    # These take 5 to 15 s each, so they run beside all others.
    slow = Concurrently(no_hello=end_without_hello, takes_nothing=end_without_taking,
                        stopped=end_with_a_stopped_navd, busy=wait_for_a_stopped_navd, **({"code": late_code} if IS_LONG else {}))


def new_nav():
    nav = next(navs)
    daemon.control.create(nav)
    return nav


def session(name, of=None):
    return (of or daemon).control.client(name)


def end_without_hello():
    page, start = Page(gateway, hello=False), time.monotonic()
    page.end()
    return time.monotonic() - start


def end_without_taking():
    """The seconds from the last octet that a page took to the end of its session."""
    own = Daemon()
    with closing(own, Gateway(own)) as (_, beside):
        own.control.create("k")
        page = Page(beside, name="lazy", receive_buffer=4096, window=1 << 20, hb=60000)
        other = WebNav(beside, "bob", "k")
        page.post(("credit", {"upto": ENDLESS}), ("watch", {"id": page.next_id(), "nav": "k"}))
        start, number = time.monotonic(), 0
        while session("lazy", own):
            number += 1
            own.control.op("k", {"screen.set": {"screen": "home", "args": os.urandom(15000).hex()}})
            other.caught_up(own.control)
            # Soon nothing more fits; what follows only keeps the session at work.
            time.sleep(0.02)
            if time.monotonic() - start > 60:
                raise AssertionError("the session outlived its page by 60 s")
        seconds = time.monotonic() - start
        other.page.close()
        page.close()
        return seconds


def processor_seconds(process):
    """The time of processors that all threads of a process have used."""
    with open(f"/proc/{process.pid}/stat") as file:
        members = file.read().rpartition(")")[2].split()
    return (int(members[11]) + int(members[12])) / os.sysconf("SC_CLK_TCK")


def end_with_a_stopped_navd():
    """The last verbs of a page whose hello navd does not answer, the seconds until then, and those of the processor.

    The best of three pages: each second can have other work.
    """
    own, best = Daemon(), None
    with closing(own, Gateway(own)) as (_, beside):
        own.process.signal(signal.SIGSTOP)
        for _ in range(3):
            used, start = processor_seconds(beside.process), time.monotonic()
            page = Page(beside, hello=False)
            page.post(("hello", {"ver": [1, 1], "client": page.client, "nonce": "n"}))
            verbs, seconds = page.end(), time.monotonic() - start
            used = processor_seconds(beside.process) - used
            if best is None or seconds < best[1]:
                best = verbs, seconds, used
            if seconds < 5.5:
                break
        return best


def wait_for_a_stopped_navd():
    """The seconds of the processor in 3 s in which navd takes nothing, and the answers that come when it does."""
    own = Daemon()
    with closing(own, Gateway(own)) as (_, beside):
        page, posts = Page(beside, hb=60000), 0
        own.process.signal(signal.SIGSTOP)
        while page.post_raw(line("ping", {"id": posts + 1, "more": "x" * 60000})).status == 200:
            page.n += 1
            posts += 1
        used = processor_seconds(beside.process)
        time.sleep(3)
        used = processor_seconds(beside.process) - used
        own.process.signal(signal.SIGCONT)
        answers = [page.until(lambda verb, _: verb == "pong")[1]["id"] for _ in range(posts)]
        return used, answers, posts


def late_code():
    code = gateway.request("POST", "/nsp1/code", token=ALICE, body="").json()["code"]
    time.sleep(61)
    return gateway.trade(code).status


class Finding(Gateway):
    """A gateway without --endpoint: it finds the socket of navd below XDG_RUNTIME_DIR."""

    def start(self):
        os.mkdir(self.directory / "navd", 0o700)
        del self.arguments[1:3]
        self.process = Process(
            [*self.arguments, "--listen", self.listen], self.directory / "navd-web.log",
            environment={"XDG_RUNTIME_DIR": self.directory.path})
        self.port = int(self.process.says(r"serving on \S+:(\d+)")[1])


class PageTest(unittest.TestCase):
    def page(self, *arguments, **members):
        page = Page(gateway, *arguments, **members)
        self.addCleanup(page.close)
        return page

    def nav(self, who, nav, **members):
        mirror = WebNav(gateway, who, nav, **members)
        self.addCleanup(mirror.close)
        return mirror


class Down(PageTest):
    def test_the_form_of_the_stream(self):
        page = self.page(hello=False)
        self.assertEqual(page.stream.response.header("Content-Type"), "application/x-ndjson")
        self.assertEqual(page.first["next"], 1)
        self.assertIsInstance(page.first["id"], str)
        self.assertNotEqual(page.first["id"], self.page(hello=False).first["id"])

    def test_a_line_feed_in_a_value_does_not_break_the_line(self):
        nav = new_nav()
        mirror, page = self.nav("alice", nav), self.page()
        mirror.ready()
        for number, space in enumerate(("\n", "\r\n", "\n\n\t\n", " \n ")):
            text = (r'{"id":%%d,"nav":"%s","client":"%s","if":{"any":true},"do":[{"push":{"screen":'
                    r'{"id":"lf%d","args":{~"a":~[1,~2~]~,~"s":~"x\ny\u000a"~}}}}]}'
                    % (nav, daemon.control.own, number))
            daemon.control.request("op", raw=text.replace("~", space))
            mirror.caught_up(daemon.control)
            self.assertEqual(mirror.m["screens"][-1]["args"], {"a": [1, 2], "s": "x\ny\n"})
            value = page.request("get", nav=nav)[1]["value"]
            self.assertEqual(value["screens"][-1]["args"], {"a": [1, 2], "s": "x\ny\n"})

    def test_a_diff_comes_before_the_ok_that_reports_it(self):
        nav, page = new_nav(), self.page()
        page.request("watch", nav=nav)
        for number in range(1, 41):
            body = page.push(nav, f"p{number}x")[1] if number % 2 else page.op(
                nav, {"pop": {}}, guard={"any": True})[1]
            revisions = [each["rev"] for verb, each, _ in page.inbox if verb == "diff"]
            self.assertEqual(revisions[-1:], [body["rev"]])

    def test_a_large_state_comes_in_parts_and_in_order(self):
        nav = new_nav()
        for number in range(12):
            daemon.control.op(nav, {"push": {"screen": {"id": f"l{number}", "args": "x" * 40000}}})
        mirror = self.nav("alice", nav)
        mirror.caught_up(daemon.control)
        self.assertEqual(len(mirror.m["screens"]), 13)

    def test_marks_come_and_a_page_need_not_say_anything(self):
        page = self.page(hb=1000)
        for _ in range(4):
            self.assertEqual(page.message()[0], "mark")
        self.assertEqual(page.request("ping")[0], "pong")


class Credit(PageTest):
    def test_without_credit_navd_sends_a_window_and_one_message(self):
        nav = new_nav()
        page = self.page(window=16384, flow="none")
        page.request("watch", nav=nav)
        for number in range(40):
            daemon.control.op(nav, {"screen.set": {"screen": "home", "args": "x" * 4000}},
                              {"screen.set": {"screen": "home", "title": f"t{number}"}})
        page.request("ping")
        page.request("get", nav=nav)  # the daemon has sent what it may
        octets = [octets for verb, _, octets in page.inbox if verb in ("snap", "diff", "diffs")]
        self.assertLess(sum(octets[:-1]), 16384)
        self.assertGreater(sum(octets), 8192)
        # The page counts the octets of bodies; with that much credit everything comes.
        page.post(("credit", {"upto": sum(octets) + (1 << 20)}))
        rev = daemon.control.get(nav)["rev"]
        page.until(lambda verb, body: verb in ("snap", "diff", "diffs") and rev == (
            body.get("list") or [body])[-1]["rev"])

    def test_credit_counts_the_octets_of_bodies(self):
        # A mirror that counts so never stalls: many windows go through.
        nav = new_nav()
        mirror = self.nav("alice", nav, window=16384)
        for number in range(60):
            daemon.control.op(nav, {"screen.set": {"screen": "home", "args": f"{number:05}" * 400}})
        mirror.caught_up(daemon.control)
        self.assertGreater(mirror.used, 16384)

    def test_a_slow_reader_holds_little_and_converges(self):
        nav = new_nav()
        page = self.page(receive_buffer=4096, window=1 << 20, name="slow", hb=60000)
        page.post(("credit", {"upto": ENDLESS}), ("watch", {"id": page.next_id(), "nav": nav}),
                  ("watch", {"id": page.next_id(), "nav": nav, "view": "top"}))
        before, sent = gateway.process.resident(), 0
        for number in range(500):
            args = os.urandom(16000).hex()
            daemon.control.op(nav, {"screen.set": {"screen": "home", "args": args}})
            sent += len(args)
        lag = daemon.control.get(what="stats")["lag"]
        self.assertGreater(lag["max"], 100)
        held = gateway.process.resident() - before
        # Of so small a buffer, the kernel may never announce that there is room again.
        page.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        last, seen, tops = daemon.control.get(nav), page.stream.received, []

        def is_last(verb, body):
            tops.extend([body["rev"]] if verb == "latest" else [])
            return (verb in ("snap", "diff", "diffs") and body.get("last", True)
                    and (body.get("list") or [body])[-1]["rev"] == last["rev"])
        _, body = page.until(is_last)
        while last["rev"] not in tops:
            is_last(*page.message()[:2])
        self.assertEqual((body.get("list") or [body])[-1]["dig"], last["dig"])
        # Late come the octets in the kernel's buffers, the 4 MiB that navd keeps for a client that
        # gives more credit than it takes, and then the newest state instead of all revisions.
        self.assertLess(page.stream.received - seen, sent * 2 / 3)
        self.assertLess(len(tops), 400)
        self.assertLess(held, 2 << 20)


class End(PageTest):
    def test_a_closed_socket_ends_the_session_within_a_second(self):
        def cut(page):
            page.stream.socket.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            page.close()
        for how, end in (("close", Page.close), ("reset", cut),
                         ("no more to say", lambda page: page.stream.socket.shutdown(2))):
            best = 60
            for attempt in range(5):
                # The heartbeat is long, so that no write meets the closed socket.
                page = self.page(hb=60000, name=f"{how} {attempt}")
                self.assertIsNotNone(session(f"{how} {attempt}"))
                start = time.monotonic()
                end(page)
                eventually("the end", lambda: session(f"{how} {attempt}") is None)
                best = min(best, time.monotonic() - start)
                if best < 1:
                    break
            self.assertLess(best, 1, how)

    def test_without_hello_the_stream_ends(self):
        self.assertGreater(slow.result("no_hello"), 8)

    def test_a_page_that_takes_nothing_loses_its_stream(self):
        seconds = slow.result("takes_nothing", 90)
        self.assertGreater(seconds, 13)
        self.assertLess(seconds, 40)

    def test_a_navd_that_does_not_answer_is_gone(self):
        verbs, seconds, used = slow.result("stopped", 90)
        self.assertEqual(verbs[-1], "gone")
        self.assertGreater(seconds, 4.9)
        # The end of its time sends `gone`, not the next event of the server up to 1 s later.
        self.assertLess(seconds, 5.8)
        self.assertLess(used, 1)

    def test_what_a_stopped_navd_does_not_take_waits_and_is_taken_later(self):
        used, answers, posts = slow.result("busy")
        self.assertGreater(posts, 2)
        self.assertEqual(answers, list(range(1, posts + 1)))
        self.assertLess(used, 1)

    def test_a_gateway_without_endpoint_waits_for_the_socket_of_navd(self):
        own = Finding(daemon)
        with closing(own):
            page = Page(own, hello=False)
            page.post(("hello", {"ver": [1, 1], "client": page.client, "nonce": "n"}))
            own.process.says("navd.sock: not there")
            os.link(daemon.endpoint.removeprefix("ipc://"), own.directory / "navd/navd.sock")
            self.assertEqual(page.until(lambda verb, _: verb != "mark")[0], "welcome")
            page.close()

    def test_gone_and_again(self):
        own = Daemon()
        with closing(own, Gateway(own)) as (_, beside):
            own.control.create("k")
            mirror = WebNav(beside, "alice", "k")
            mirror.push(id="a1")
            page, mine = mirror.page, mirror.id + 1
            op = {"id": mine, "nav": "k", "do": [{"push": {"screen": {"id": "a2"}}}]}
            page.post(("op", op))
            own.kill()
            self.assertEqual(page.end()[-1], "gone")
            with self.assertRaises(Refusal) as refused:
                page.post(("ping", {"id": 5}))
            self.assertEqual(refused.exception.answer.status, 410)
            # navd is away: another stream is gone too, at once or after 5 s.
            away = Page(beside, hello=False)
            away.post_raw(line("hello", {"ver": [1, 1], "client": page.client, "nonce": "n"}))
            self.assertEqual(away.end()[-1], "gone")
            own.start()
            again = Page(beside, client=page.client)
            self.assertGreaterEqual(again.welcome["ops"]["last"], mine - 1)
            again.last_id = mine
            mode = again.request("watch", nav="k",
                                 **{"from": {key: mirror.m[key] for key in ("epoch", "rev", "dig")}})
            self.assertEqual(mode[1]["mode"], "resume")
            # The unanswered op again, octet for octet: it ran once, whichever answer was lost.
            again.post(("op", op))
            self.assertEqual(again.answer(mine)[0], "ok")
            screens = [each["id"] for each in own.control.get("k")["screens"]]
            self.assertEqual(screens, ["home", "a1", "a2"])
            again.close()

    def test_the_gateway_says_gone_when_it_stops(self):
        own = Gateway(daemon)
        with closing(own):
            pages = [Page(own) for _ in range(3)] + [Page(own, hello=False)]
            own.process.signal(signal.SIGTERM)
            for page in pages:
                self.assertEqual(page.end()[-1:], ["gone"])
            self.assertEqual(own.process.ended(), 0)

    def test_navd_stops_in_order(self):
        own = Daemon()
        with closing(own, Gateway(own)) as (_, beside):
            page = Page(beside)
            own.process.stop()
            verbs = page.end()
            self.assertIn("bye", verbs)
            self.assertTrue(beside.process.is_running)

    def test_two_pages_with_one_client_fence_each_other(self):
        first = self.page()
        second = self.page(client=first.client)
        self.assertEqual(first.until(lambda verb, _: verb == "bye")[1]["why"], "fenced")
        self.assertIn(first.end(), ([], ["gone"]))
        with self.assertRaises(Refusal) as refused:
            first.post(("ping", {"id": 9}))
        self.assertEqual(refused.exception.answer.status, 410)
        self.assertEqual(second.request("ping")[0], "pong")

    def test_a_bye_of_the_page_ends_its_session(self):
        page = self.page(name="leaver")
        self.assertEqual(page.request("bye")[0], "ok")
        eventually("the end", lambda: session("leaver") is None)

    def test_the_streams_end_with_a_killed_gateway(self):
        own = Gateway(daemon)
        with closing(own):
            Page(own, name="orphan")
            own.kill()
            eventually("the end", lambda: session("orphan") is None)

    def test_256_streams(self):
        own = Gateway(daemon)
        with closing(own):
            pages = [Page(own, name=f"many {number}") for number in range(256)]
            refused = Stream(own, ALICE)
            self.assertEqual(refused.status, 503)
            self.assertGreaterEqual(int(refused.response.header("Retry-After")), 1)
            for page in pages[::51]:
                self.assertEqual(page.request("ping")[0], "pong")
            self.assertEqual(own.request("GET", "/nsp1/stream", token="wrong").status, 401)
            pages.pop().close()

            def another():
                stream = Stream(own, ALICE)
                if stream.status == 200:
                    pages.append(stream)
                return stream.status == 200
            eventually("a free stream", another)
            for page in pages:
                page.close()
            eventually("no session", lambda: not [
                each for each in daemon.control.clients() if each["name"].startswith("many")])


class Tokens(unittest.TestCase):
    def test_a_launch_code_works_once(self):
        code = gateway.codes()[-1]
        for wrong in ("", code[:-1], code + "x", code.swapcase(), "x" * 43):
            self.assertEqual(gateway.trade(wrong).status, 401)
        for body in ("", "{}", "[]", '{"code":1}', '{"code":null}', "x", '{"code":["a"]}',
                     json.dumps({"code": "x" * 200000})):
            answer = gateway.request("POST", "/nsp1/token", body=body)
            self.assertIn(answer.status, (400, 401, 413), body[:40])
        answer = gateway.trade(code)
        self.assertEqual(answer.status, 200)
        traded = answer.json()
        self.assertEqual(set(traded), {"token", "name", "role", "navs"})
        self.assertEqual((traded["role"], type(traded["navs"])), ("ui", list))
        self.assertEqual(gateway.trade(code).status, 401)
        page = Page(gateway, token=traded["token"])
        self.assertEqual(page.request("ping")[0], "pong")
        page.close()
        eventually("another code", lambda: gateway.codes()[-1] != code)
        # Another address is printed for a printed one, not for the code of a page with the same rights.
        codes = gateway.codes()
        for _ in range(2):
            own = gateway.request("POST", "/nsp1/code", token=traded["token"], body="").json()
            self.assertEqual(gateway.trade(own["code"]).status, 200)
        self.assertEqual(gateway.codes(), codes)

    def test_a_page_asks_for_a_code_of_its_rights(self):
        for name, role in (("alice", "ui"), ("reader", "read"), ("boss", "admin")):
            answer = gateway.request("POST", "/nsp1/code", token=TOKENS[name], body="")
            self.assertEqual((answer.status, set(answer.json())), (200, {"code", "seconds"}))
            self.assertEqual(answer.json()["seconds"], 60)
            traded = gateway.trade(answer.json()["code"]).json()
            self.assertEqual((traded["role"], traded["navs"]),
                             (role, ["*", "$*"] if name == "boss" else ["*"]))
            self.assertNotEqual(traded["token"], TOKENS[name])
            self.assertEqual(gateway.trade(answer.json()["code"]).status, 401)

    def test_of_many_trades_at_once_one_succeeds(self):
        code = gateway.request("POST", "/nsp1/code", token=ALICE, body="").json()["code"]
        runs = Concurrently(**{str(each): lambda: gateway.trade(code).status for each in range(8)})
        self.assertEqual(sorted(runs.result(str(each)) for each in range(8)), [200] + 7 * [401])

    @unittest.skipUnless(IS_LONG, "takes 61 s")
    def test_a_code_expires(self):
        self.assertEqual(slow.result("code", 120), 401)

    def test_tokens_of_the_file_outlive_the_gateway(self):
        own = Gateway(daemon)
        with closing(own):
            for end in (lambda: own.kill(), lambda: own.process.stop()):
                page = Page(own)
                end()
                own.start()
                again = Page(own, client=page.client)
                self.assertEqual(again.request("ping")[0], "pong")
                again.close()

    def test_hangup_reads_the_tokens_again(self):
        own = Gateway(daemon)
        with closing(own):
            kept, new = Page(own, "bob"), "NewNewNewNewNewNewNewNewNewNew05"
            own.set_tokens([TOKEN_LINES[1], f"new {new} ui"])
            self.assertEqual(own.request("POST", "/nsp1/code", token=new, body="").status, 401)
            own.process.signal(signal.SIGHUP)
            eventually("the new token", lambda: own.request(
                "POST", "/nsp1/code", token=new, body="").status == 200)
            self.assertEqual(own.request("POST", "/nsp1/code", token=ALICE, body="").status, 401)
            self.assertEqual(kept.request("ping")[0], "pong")
            # A file that cannot be used leaves the tokens as they are.
            for lines, mode in ((["one"], 0o600), ([f"other {new}"], 0o644)):
                own.set_tokens(lines, mode)
                log = own.process.log()
                own.process.signal(signal.SIGHUP)
                eventually("a message", lambda: own.process.log() != log)
                self.assertTrue(own.process.is_running)
                self.assertEqual(own.request("POST", "/nsp1/code", token=new, body="").status, 200)
            kept.close()

    def test_a_removed_token_ends_its_streams(self):
        own = Gateway(daemon)
        with closing(own):
            page = Page(own, name="removed")
            own.set_tokens(TOKEN_LINES[1:])
            own.process.signal(signal.SIGHUP)
            page.end()
            eventually("the end", lambda: session("removed") is None)


if __name__ == "__main__":
    unittest.main()
