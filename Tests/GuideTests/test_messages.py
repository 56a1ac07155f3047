"""The messages of docs/protocol.md and of navd-protocol(7): a daemon answers what the pages show."""
import json
import os
import re
import signal
import unittest
import zlib

import zmq

from blocks import blocks_of, text_of
from reader import DEADLINE, Daemon

MESSAGE = re.compile(r"^([→←]) (?:nsp1\.)?(\w+) +(\{.*(?:\n +.*)*)$", re.M)
#: What is another one in each run: of these members a page shows the type.
OWN = {"epoch", "boot", "t", "uid", "gid", "pid", "role", "principal", "server", "seq", "ask"}


def messages(text):
    """The direction, the verb and the body of each message; `…` stands for what is left out."""
    for arrow, verb, body in MESSAGE.findall(text):
        body = re.sub(r"\n +", "", body).replace("{…}", "{}").replace("[…]", "[]").replace(",…", "")
        yield arrow, verb, json.loads(body)


PAGE = [message for block in blocks_of(text_of("docs", "protocol.md")) if block.language == "json"
        for message in messages(block.text)]
MANUAL = list(messages(text_of("man", "navd-protocol.7.scd")))


def difference(real, shown, name=""):
    """Where a message is not as the page shows it. Members that the page leaves out are no difference."""
    if isinstance(shown, dict):
        if not isinstance(real, dict):
            return f"{name}: {real} instead of an object"
        for key, value in shown.items():
            if key not in real:
                return f"{name}: no member {key} in {real}"
            found = difference(real[key], value, key)
            if found:
                return found
        return None
    if name in OWN:
        return None if type(real) is type(shown) else f"{name}: {real} is of another type than {shown}"
    if isinstance(shown, list) and shown and isinstance(real, list) and len(real) == len(shown):
        return next(filter(None, (difference(*pair, name) for pair in zip(real, shown))), None)
    # An empty list can stand for `[…]`.
    return None if real == shown or shown == [] and isinstance(real, list) else f"{name}: {real} instead of {shown}"


class Peer:
    """A client that sends the messages of the page."""

    def __init__(self, endpoint):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        for option, value in ((zmq.LINGER, 0), (zmq.RCVTIMEO, int(1000 * DEADLINE))):
            self.socket.setsockopt(option, value)
        self.socket.connect(endpoint)

    def send(self, verb, body):
        self.socket.send_multipart([b"nsp1." + verb.encode(), json.dumps(body).encode()])

    def until(self, *verbs, **members):
        """The next message with one of these verbs and with these members."""
        while True:
            verb, body = self.socket.recv_multipart()
            verb, body = verb.decode().removeprefix("nsp1."), json.loads(body)
            if verb in verbs and members.items() <= body.items():
                return verb, body


def without_chains(value):
    """A message with the first 8 digits of each digest, which are the same in each run."""
    if isinstance(value, list):
        return [without_chains(each) for each in value]
    if isinstance(value, dict):
        return {name: each[:8] if name == "dig" else without_chains(each) for name, each in value.items()}
    return value[:8] if isinstance(value, str) and re.fullmatch("[0-9a-f]{24}", value) else value


class Messages(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(options=("--durability", "relaxed"))
        self.addCleanup(self.daemon.close)
        self.peer = self.enter(self.sent("hello"))

    def sent(self, verb, **members):
        return next(body for arrow, each, body in PAGE if arrow == "→" and each == verb and members.items() <= body.items())

    def shown(self, verb, **members):
        return next(body for arrow, each, body in PAGE if arrow == "←" and each == verb and members.items() <= body.items())

    def enter(self, hello):
        peer = Peer(self.daemon.endpoint)
        self.addCleanup(peer.socket.close)
        peer.send("hello", hello)
        peer.welcome = peer.until("welcome", nonce=hello["nonce"])[1]
        return peer

    def other(self):
        return self.enter({"ver": [1, 1], "client": os.urandom(16).hex(), "name": "remote", "nonce": "b5"})

    def answer(self, verb, message, peer=None):
        (peer or self.peer).send(verb, message)
        return (peer or self.peer).until("ok", "err", id=message["id"])

    def accepted(self, verb, message, peer=None):
        kind, answer = self.answer(verb, message, peer)
        self.assertEqual(kind, "ok", answer)
        return answer

    def change(self, number, *operations):
        """A change that no page shows, between those of the page."""
        return self.accepted("op", {"id": number, "nav": "kiosk", "if": {"any": True}, "do": list(operations)})

    def is_as_shown(self, real, shown):
        self.assertIsNone(difference(without_chains(real), without_chains(shown)))

    def test_a_session_its_watch_its_changes_and_a_pop_that_sees_another_screen(self):
        self.is_as_shown(self.peer.welcome, self.shown("welcome"))
        self.accepted("op", self.sent("op", id=1))
        joined = self.accepted("watch", self.sent("watch", id=2))
        self.is_as_shown(joined, self.shown("ok", id=2))
        self.is_as_shown(self.peer.until("snap")[1], self.shown("snap"))
        self.peer.send("op", self.sent("op", id=3))
        self.is_as_shown(self.peer.until("diff")[1], self.shown("diff"))
        self.change(4, {"transition.complete": {"tid": 2}})
        kind, refusal = self.answer("op", self.sent("op", id=7))
        self.assertEqual(kind, "err")
        self.is_as_shown(refusal, self.shown("err", id=7))
        self.peer.send("op", self.sent("op", id=8, do=[{"pop": {}}]))
        diff, answer = self.peer.until("diff", rev=4)[1], self.peer.until("ok", id=8)[1]
        self.is_as_shown(answer, self.shown("ok", id=8))
        self.change(10, {"push": {"screen": {"id": "more"}}})
        again = self.sent("watch", id=9)
        second = self.accepted("get", {"id": 11, "nav": "kiosk", "what": "state", "at": again["from"]["rev"]})["value"]
        again = {**again, "from": {**again["from"], "epoch": answer["epoch"], "dig": second["dig"]}}
        self.is_as_shown(self.accepted("watch", again, self.other()), self.shown("ok", id=9))
        # The manual has the watch and the pop again.
        real = [self.sent("watch", id=2), joined, self.sent("op", id=8, do=[{"pop": {}}]), diff, answer]
        self.assertEqual([verb for _, verb, _ in MANUAL], ["watch", "ok", "op", "diff", "ok"])
        for body, (_, _, shown) in zip(real, MANUAL):
            self.is_as_shown(body, {**shown, "id": body.get("id")} if "id" in shown else shown)

    def test_the_operations_of_each_kind(self):
        block = next(list(messages(block.text)) for block in blocks_of(text_of("docs", "protocol.md"))
                     if '"nav.create"' in block.text)
        self.assertEqual({(arrow, verb) for arrow, verb, _ in block}, {("→", "op")})
        self.assertGreater(len(block), 6)
        for _, _, message in block:
            if "rev" in message.get("if", {}):
                number, revision = 100, self.daemon.control.get("kiosk")["rev"]
                while revision < message["if"]["rev"]:
                    self.change(number, {"screen.set": {"screen": "wifi", "title": f"Wi-Fi {number}"}})
                    number, revision = number + 1, revision + 1
            self.accepted("op", message)

    def test_a_delegate_and_its_answer(self):
        self.accepted("op", self.sent("op", id=1))
        self.change(2, {"push": {"screen": {"id": "wifi"}}})
        self.accepted("delegate", self.sent("delegate"))
        self.other().send("op", {"id": 1, "nav": "kiosk", "if": {"top": "wifi"}, "do": [{"ui.backTap": {}}]})
        question, shown = self.peer.until("ask")[1], self.shown("ask")
        self.is_as_shown(question, {**shown, "rev": question["rev"]})
        self.peer.send("answer", {**self.sent("answer"), "ask": question["ask"]})
        self.is_as_shown(self.peer.until("settled")[1], self.shown("settled"))

    def test_credit_and_the_end_of_a_session(self):
        self.accepted("op", self.sent("op", id=1))
        self.accepted("watch", self.sent("watch", id=2))
        self.peer.send("credit", self.sent("credit"))
        # A credit that the daemon cannot read would have an err without an id before this answer.
        self.peer.send("ping", {"id": 30})
        self.assertEqual(self.peer.until("err", "pong")[0], "pong")
        peer = self.enter({**self.sent("hello"), "client": os.urandom(16).hex()})
        self.daemon.process.signal(signal.SIGTERM)
        self.is_as_shown(peer.until("bye")[1], self.shown("bye"))

    def test_the_digest_of_the_page_is_computed_as_it_shows(self):
        block = next(block for block in blocks_of(text_of("docs", "protocol.md"))
                     if block.language == "python" and "crc32" in block.text)
        names = {}
        exec(compile(block.text, "docs/protocol.md", "exec"), names)
        self.accepted("op", self.sent("op", id=1))
        self.assertEqual(self.accepted("op", self.sent("op", id=3))["dig"][:8], "%08x" % zlib.crc32(names["text"].encode()))

    def test_each_message_of_the_page_has_a_verb_that_a_test_sends(self):
        sent = {verb for arrow, verb, _ in PAGE if arrow == "→"}
        self.assertEqual(sent, {"hello", "watch", "op", "delegate", "answer", "credit"})


if __name__ == "__main__":
    unittest.main()
