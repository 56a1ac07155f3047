"""A client of NSP over HTTP in Python; it keeps the mirror of nsp.py, the reference client."""
import json
import os
import socket
import time

from harness import DEADLINE, TOKENS, Response, nsp


def line(verb, members):
    """A line as the protocol writes it: `["verb",BODY]` and LF."""
    return '["%s",%s]\n' % (verb, json.dumps(members))


def push(number, nav, screen, **members):
    return line("op", {"id": number, "nav": nav, "do": [{"push": {"screen": {"id": screen}}}], **members})


class Ended(Exception):
    """The stream has ended."""


class Refusal(Exception):
    """The gateway refused a request; `answer` is what it said."""

    def __init__(self, answer):
        super().__init__(f"{answer.status} {answer.body[:300]!r}")
        self.answer = answer


class Stream:
    """The messages from the daemon: one GET, read line by line."""

    def __init__(self, gateway, token, *, receive_buffer=None, host="127.0.0.1"):
        self.data, self.lines, self.is_over, self.received = b"", [], False, 0
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(DEADLINE)
        self.socket.connect((host, gateway.port))
        self.socket.sendall(
            f"GET /nsp1/stream HTTP/1.1\r\nHost: {host}:{gateway.port}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.data:
            chunk = self.socket.recv(65536)
            if not chunk:
                raise AssertionError(f"closed within the head: {self.data!r}")
            self.data += chunk
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        self.response = Response(head, b"")
        self.status = self.response.status
        self.is_chunked = self.response.header("Transfer-Encoding") == "chunked"
        self.partial = b""
        if self.data:
            self._parse()

    def line(self, deadline=DEADLINE):
        """The next line without its LF; raises Ended at the end and TimeoutError when late."""
        end = time.monotonic() + deadline
        while not self.lines:
            if self.is_over:
                raise Ended(self.partial)
            self.socket.settimeout(max(end - time.monotonic(), 0.001))
            try:
                self._take(self.socket.recv(262144))
            except ConnectionResetError:
                self._take(b"")
        return self.lines.pop(0)

    def _take(self, chunk):
        self.received += len(chunk)
        if not chunk:
            self.is_over = True
        self.data += chunk
        self._parse()

    def _parse(self):
        plain = self._unchunked() if self.is_chunked else self._all()
        parts = (self.partial + plain).split(b"\n")
        self.partial = parts.pop()
        self.lines += parts

    def _all(self):
        plain, self.data = self.data, b""
        return plain

    def _unchunked(self):
        plain = []
        while b"\r\n" in self.data:
            size, rest = self.data.split(b"\r\n", 1)
            length = int(size.split(b";")[0], 16)
            if len(rest) < length + 2:
                break
            if length == 0:
                self.is_over = True
            plain.append(rest[:length])
            self.data = rest[length + 2:]
        return b"".join(plain)

    def close(self):
        self.socket.close()


class Page:
    """A stream and the posts to it, as a page has them; no mirror."""

    def __init__(self, gateway, who="alice", *, token=None, hello=True, client=None,
                 receive_buffer=None, **members):
        self.gateway, self.token = gateway, token or TOKENS[who]
        self.client, self.last_id, self.inbox = client or os.urandom(16).hex(), 0, []
        self.stream = Stream(gateway, self.token, receive_buffer=receive_buffer)
        if self.stream.status != 200:
            raise Refusal(self.stream.response)
        verb, body, _ = self.message()
        assert verb == "stream", verb
        self.id, self.n = body["id"], body["next"]
        self.first = body
        if hello:
            self.welcome = self.hello(**members)

    def message(self, deadline=DEADLINE):
        """The next message: verb, body, octets of the body."""
        line = self.stream.line(deadline)
        verb, body = json.loads(line)
        if line.startswith(b'["%s",' % verb.encode()) and line.endswith(b"]"):
            return verb, body, len(line) - len(verb) - 5
        raise AssertionError(f"not of the form [\"verb\",BODY]: {line[:200]!r}")

    def until(self, wanted, deadline=DEADLINE):
        """The first message that `wanted(verb, body)` accepts; the others go to the inbox."""
        end = time.monotonic() + deadline
        while True:
            verb, body, octets = self.message(max(end - time.monotonic(), 0.001))
            if wanted(verb, body):
                return verb, body
            self.inbox.append((verb, body, octets))

    def end(self, deadline=DEADLINE):
        """Reads to the end of the stream and returns the verbs that came."""
        verbs, end = [], time.monotonic() + deadline
        try:
            while True:
                verbs.append(self.message(max(end - time.monotonic(), 0.001))[0])
        except Ended:
            return verbs

    def path(self, n=None):
        return f"/nsp1/messages?stream={self.id}&n={self.n if n is None else n}"

    def post_raw(self, body, n=None):
        """Posts octets as they are and returns the answer."""
        return self.gateway.request("POST", self.path(n), token=self.token, body=body)

    def post(self, *messages):
        """Posts messages, each (verb, members); raises Refusal unless they were taken."""
        body = "".join(line(verb, members) for verb, members in messages)
        answer = self.post_raw(body)
        if answer.status != 200:
            raise Refusal(answer)
        self.n += 1
        assert answer.json() == {"next": self.n}, answer.body
        return answer

    def hello(self, **members):
        nonce = os.urandom(4).hex()
        hello = {"ver": [1, 1], "client": self.client, "nonce": nonce, "name": "page", **members}
        self.post(("hello", hello))
        verb, body = self.until(lambda verb, body: body.get("nonce") == nonce or verb == "err")
        assert verb == "welcome", body
        self.last_id = max(self.last_id, body["ops"]["last"])
        return body

    def next_id(self):
        self.last_id += 1
        return self.last_id

    def request(self, verb, **members):
        """Sends one message and returns the verb and the body of its answer."""
        number = self.next_id()
        self.post((verb, {"id": number, **members}))
        return self.answer(number)

    def answer(self, number):
        return self.until(
            lambda verb, body: verb in ("ok", "err", "pong") and body.get("id") == number)

    def op(self, nav, *operations, guard=None, **members):
        return self.request("op", nav=nav, do=list(operations), **{"if": guard or {}}, **members)

    def push(self, nav, screen):
        return self.op(nav, {"push": {"screen": {"id": screen, "title": screen}}})

    def close(self):
        self.stream.close()


class WebNav(nsp.Nav):
    """The reference client's mirror over HTTP."""

    def __init__(self, gateway, who, nav, window=65536, **how):
        self.prepare(nav, window)
        self.page = Page(gateway, who, window=window, **how)
        self.id = self.page.welcome["ops"]["last"]
        self.watch()

    def send(self, verb, **body):
        self.page.post((verb, body))

    def frames(self):
        return self.page.message()

    def caught_up(self, control):
        """Steps until the mirror is the daemon's; returns the digest."""
        while True:
            rev, digest = control.position(self.nav)
            while self.ready()["rev"] < rev:
                self.step()
            # Beyond that revision, others have changed the nav meanwhile.
            if self.m["rev"] == rev:
                assert self.m["dig"] == digest, (rev, self.m["dig"], digest)
                return digest

    def close(self):
        self.page.close()
