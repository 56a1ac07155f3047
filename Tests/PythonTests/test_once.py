"""An op is performed once, whoever comes between its first sending and the next: the package and navctl."""
import json
import os

import zmq

from setting import BINARIES, DEADLINE, Concurrently, Process, eventually
from daemons import DaemonTest
from front import Front
import navd

PUSH = {"push": {"screen": {"title": "Pay 10"}}}
#: More clients than the daemon remembers of a user (docs/protocol.md, §14).
CROWD = 1060


class Once(DaemonTest):
    def setUp(self):
        super().setUp()
        self.daemon.control.create("other")
        self.front = Front(self.daemon)
        self.addCleanup(self.front.close)

    def crowd(self):
        """As many clients as the daemon remembers change another nav; each has one op."""
        sock = zmq.Context.instance().socket(zmq.DEALER)
        sock.setsockopt(zmq.LINGER, 0)
        sock.setsockopt(zmq.RCVTIMEO, int(1000 * DEADLINE))
        sock.connect(self.daemon.endpoint)
        self.addCleanup(sock.close)
        change = {"screen.set": {"screen": "home", "title": "x"}}
        for number in range(CROWD):
            body = {"id": 1, "client": os.urandom(16).hex(), "nav": "other", "do": [change]}
            body["do"][0]["screen.set"]["title"] = str(number)
            sock.send_multipart([b"nsp1.op", json.dumps(body).encode()])
            self.assertEqual(sock.recv_multipart()[0], b"nsp1.ok")

    def lose(self, way, begin, *, restarts=False):
        """Loses the answer to a push or the push itself, lets the crowd come, and mends the link."""
        self.front.loses = way
        begin()
        eventually("the push", lambda: self.front.is_losing and len(self.ids()) == (2 if way == "down" else 1))
        self.front.cut()
        if way == "down" or restarts:
            self.crowd()
        if restarts:
            self.daemon.kill()
            self.daemon.start()
        self.front.open()

    def push(self, way, **how):
        """What the package says of a push whose answer or request is lost."""
        client = navd.connect(self.front.endpoint, within=DEADLINE)
        self.addCleanup(client.close)
        calls = []
        self.lose(way, lambda: calls.append(Concurrently(
            push=lambda: self.outcome(client))), **how)
        return calls[0].result("push")

    @staticmethod
    def outcome(client):
        try:
            return client.perform("kiosk", [PUSH]).changed
        except navd.NavigationError as error:
            return error.code, error.may_have_happened

    def test_a_forgotten_op_is_refused_and_not_performed_again(self):
        self.assertEqual(self.push("down"), ("op-too-old", True))
        self.assertEqual(len(self.ids()), 2)

    def test_the_same_after_the_daemon_was_killed(self):
        self.assertEqual(self.push("down", restarts=True), ("op-too-old", True))
        self.assertEqual(len(self.ids()), 2)

    def test_an_op_that_never_arrived_is_performed(self):
        self.assertIs(self.push("up"), True)
        self.assertEqual(len(self.ids()), 2)

    def navctl(self, way):
        """What navctl, a client of the Swift library, says of such a push."""
        processes = []
        arguments = [os.path.join(BINARIES, "navctl"), "--endpoint", self.front.endpoint, "--timeout", f"{DEADLINE:g}s",
                     "op", "kiosk", json.dumps(PUSH)]
        self.lose(way, lambda: processes.append(Process(arguments, self.daemon.directory / "navctl.log")))
        return processes[0].ended(), processes[0].log()

    def test_navctl_does_not_perform_a_forgotten_op_again(self):
        status, text = self.navctl("down")
        self.assertIn("op-too-old", text)
        self.assertNotEqual(status, 0)
        self.assertEqual(len(self.ids()), 2)

    def test_navctl_performs_an_op_that_never_arrived(self):
        status, text = self.navctl("up")
        self.assertEqual((status, len(self.ids())), (0, 2), text)
