"""docs/protocol.md: the walk through a session, and CURVE, with plain pyzmq."""
import os
import re
import subprocess
import sys
import unittest

import zmq
from zmq.utils.monitor import recv_monitor_message

from blocks import ROOT, blocks_of, text_of
from reader import DEADLINE, Reader, eventually
from curve import CurveTest, navctl

PAGE = text_of("docs", "protocol.md")


def section(heading):
    """The text from a heading to the next one."""
    return re.search(rf"^{re.escape(heading)}\n(.*?)^##", PAGE, re.S | re.M)[1]


class Walk(unittest.TestCase):
    def test_the_session_has_the_messages_of_the_page(self):
        reader = Reader(section("### A session in ten messages"))
        self.addCleanup(reader.close)
        self.assertEqual(reader.follow(), len(reader.blocks))
        shown = reader.blocks[-1].text.splitlines()
        self.assertEqual(len(shown), 10)
        self.assertTrue(all(re.match(r"[→←] nsp1\.[a-z]+ \{", line) for line in shown), shown)


class Alone(unittest.TestCase):
    """Programs that end without a daemon, instead of waiting for ever."""

    def ends(self, *arguments):
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=DEADLINE,
                              env={"NAVD_ENDPOINT": "ipc:///nonexistent/navd.sock", "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr.splitlines()[-1]

    def test_the_program_of_the_page_ends(self):
        program = next(each.text for each in blocks_of(section("### A session in ten messages")) if each.language == "python")
        self.assertEqual(self.ends("-c", program), "zmq.error.Again: Resource temporarily unavailable")

    def test_the_client_in_python_ends(self):
        client = os.path.join(ROOT, "Tests", "ProcessTests", "Fixtures", "nsp.py")
        self.assertEqual(self.ends(client, "ipc:///nonexistent/navd.sock", "kiosk", "0.5"),
                         "TimeoutError: no navd answers at ipc:///nonexistent/navd.sock")


class Curve(CurveTest, unittest.TestCase):
    def test_the_client_of_the_page_gets_an_answer(self):
        reader = Reader(section("### CURVE, over tcp"), has_daemon=False, environment={
            "NAVD_TCP": self.endpoint, "NAVD_SERVER_KEY": self.server, "NAVD_KEY": self.directory / "panel.key"})
        self.addCleanup(reader.close)
        self.assertEqual(reader.follow(), len(reader.blocks))

    def secret(self, name):
        with open(self.directory / name, encoding="ascii") as file:
            return file.read().strip().encode()

    def failure(self, *, key=None, server=None, identity=None):
        """The end of the handshake, as the page writes it."""
        context = zmq.Context()
        client = context.socket(zmq.DEALER)
        try:
            if key:
                client.curve_serverkey = (server or self.server).encode()
                client.curve_secretkey, client.curve_publickey = self.secret(key), zmq.curve_public(self.secret(key))
            if identity:
                client.identity = identity
            monitor = client.get_monitor_socket()
            client.connect(self.endpoint)
            while monitor.poll(1000 * DEADLINE):
                found = recv_monitor_message(monitor)
                name = zmq.Event(found["event"]).name
                if name.startswith("HANDSHAKE_"):
                    return f"`{name}`" + (f" with {int(found['value'])}" if name.endswith("AUTH") else "")
            return "nothing"
        finally:
            client.disable_monitor()
            context.destroy(0)

    def test_the_faults_are_the_events_of_the_page(self):
        rows = [line.strip("|").split("|") for line in section("### CURVE, over tcp").splitlines() if line.startswith("|")]
        events = {fault.strip(): event.strip() for fault, event, *_ in rows}
        wrong = navctl("key", "public", self.directory / "other.key")
        for fault, given in {
            "the client's key is not authorised, or nothing is granted to it": {"key": "other.key"},
            "the public key of another server": {"key": "panel.key", "server": wrong},
            "no CURVE: NULL or PLAIN": {},
            "a routing id": {"key": "panel.key", "identity": b"x"},
        }.items():
            # The end of the stream and its reset look different to libzmq, and either can come first.
            self.assertIn(self.failure(**given), events[fault], fault)
        self.assertEqual(self.failure(key="panel.key"), "`HANDSHAKE_SUCCEEDED`")
        for line in ("its key is not authorised", "it chose its own routing id"):
            eventually(line, lambda line=line: line in self.daemon.process.log())

    def test_the_domains_are_those_of_the_code(self):
        code = text_of("Sources", "TransportGuard", "RouterPreparation.swift")
        self.assertEqual(set(re.findall(r'"(navd\.\w+)"', code)), {"navd.tcp", "navd.ipc"})
        for block in blocks_of(section("### CURVE, over tcp")):
            self.assertIn(block.language, ("python", "text"))


if __name__ == "__main__":
    unittest.main()
