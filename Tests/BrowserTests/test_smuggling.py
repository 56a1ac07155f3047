"""Requests that hide in the body of another one: none is executed, whoever disagrees about where a body ends."""
import contextlib
import os
import re
import select
import socket
import unittest

from clients import Page, push
from harness import MODULE, ROOT, TOKENS, Daemon, Gateway, eventually

PAGE = os.path.join(ROOT, "Tests", "BrowserTests", "page")
ALICE = TOKENS["alice"]


def setUpModule():
    global daemon, gateway
    daemon = Daemon()
    unittest.addModuleCleanup(daemon.close)
    gateway = Gateway(daemon, page=PAGE, module=MODULE)
    unittest.addModuleCleanup(gateway.close)


class Hidden(unittest.TestCase):
    """A request that hides in another one is never executed, whoever disagrees about where a body ends."""

    def setUp(self):
        self.nav = f"hidden/{self._testMethodName[-30:]}"
        daemon.control.create(self.nav)
        self.page, self.number = Page(gateway), 100
        self.addCleanup(daemon.control.rest)
        self.addCleanup(self.page.close)

    def hidden(self):
        """A request that pushes a screen, as the page itself would send it."""
        self.number += 1
        body = push(self.number, self.nav, f"h{self.number}")
        return (f"POST {self.page.path()} HTTP/1.1\r\nHost: {gateway.host}\r\nAuthorization: Bearer {ALICE}\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}").encode()

    def head(self, *headers, method="POST", path="/nsp1/token", host=None):
        more = "".join(f"{each}\r\n" for each in headers)
        return f"{method} {path} HTTP/1.1\r\nHost: {host or gateway.host}\r\n{more}\r\n".encode()

    def answers(self, octets, count=None):
        """Sends octets; returns the statuses of the answers that come, or of the first `count`."""
        with socket.create_connection(("127.0.0.1", gateway.port), 60) as connection:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(octets)
            if count is None:
                # The gateway has one thread: whoever comes later is served after what it can read already.
                for _ in range(2):
                    gateway.request("GET", "/icon.svg")
            data, statuses = b"", []
            with contextlib.suppress(ConnectionResetError):
                while len(statuses) != count:
                    if count is None and not select.select([connection], [], [], 0)[0]:
                        break
                    chunk = connection.recv(65536)
                    if not chunk:
                        break
                    data += chunk
                    statuses = [int(each) for each in re.findall(rb"HTTP/1\.1 (\d{3}) [A-Z]", data)]
        return statuses

    def revision(self):
        return daemon.control.get(self.nav)["rev"]

    def untouched(self, what):
        # A hidden request that was taken had the number of this post, which would then be taken no more.
        self.page.last_id += 1
        self.page.post(("ping", {"id": self.page.last_id}))
        self.assertEqual(self.page.until(lambda verb, _: verb != "mark", 10)[0], "pong", what)
        self.assertEqual(self.revision(), 1, what)

    def test_a_request_behind_a_whole_one_is_executed(self):
        # The control of the other test: a hidden request that were taken would be seen.
        self.assertEqual(self.answers(self.head("Content-Length: 2") + b"{}" + self.hidden(), 2), [400, 200])
        self.page.n += 1
        eventually("the push", lambda: self.revision() == 2)

    def test_no_body_is_a_request_whatever_its_framing_and_the_answer_to_its_head(self):
        for headers in ("Content-Length: 0\r\nContent-Length: N", "Content-Length: N\r\nContent-Length: 0",
                        "Content-Length: 0, N", "Content-Length: +N", "Content-Length: -1", "Content-Length: 0xN",
                        "Content-Length: 18446744073709551616", "Content-Length:", "Content-Length: x",
                        "Content-Length: N\r\nTransfer-Encoding: chunked", "Transfer-Encoding: identity",
                        "Transfer-Encoding: chunked, identity", "Transfer-Encoding: xchunked",
                        "Transfer-Encoding: \x0bchunked", "Content-Length : N", "Content-Length\t: N",
                        "Content-Length\x0b: N", "Content-Length\x00: N", "Content-Length: N\x00",
                        "Transfer-Encoding : chunked", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding:",
                        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"):
            for form in (b"%s", b"0\r\n\r\n%s"):
                hidden = self.hidden()
                head = self.head(headers.replace("N", str(len(hidden))))
                with self.subTest(headers=headers, form=form):
                    self.assertNotIn(200, self.answers(head + form % hidden))
                    self.untouched(headers)
        for size in (b"x", b"-1", b"+5", b"0x5", b"", b"ffffffffffffffff", b"5 5"):
            self.answers(self.head("Transfer-Encoding: chunked") + size + b"\r\n" + self.hidden())
            self.untouched(size)
        for head in (dict(path="/"), dict(path="/none"), dict(method="PUT"), dict(path="/nsp1/code"),
                     dict(host="evil.test"), dict(method="GET", path="/nsp1/stream"), dict(method="OPTIONS")):
            for chunked in (False, True):
                hidden = self.hidden()
                body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(hidden), hidden) if chunked else hidden
                framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(hidden)}"
                self.assertLessEqual(len(self.answers(self.head(framing, **head) + body)), 1)
                self.untouched(head)


if __name__ == "__main__":
    unittest.main()
