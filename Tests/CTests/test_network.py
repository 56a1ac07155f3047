"""libnavd over tcp: the keys of both sides, and what a wrong or revoked one means."""
import os
import shutil
import socket
import subprocess
import tempfile
import unittest

import navdlib as navd
from harness import BINARIES, Daemon
from navdlib import CLOSED, ENDED_CLIENT, UNREACHABLE


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class NetworkTests(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="nc-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.server, self.panel, self.stranger = (self.key("new", self.path(n)) for n in ("navd", "panel", "stranger"))
        self.key("authorize", "--role=ui", "panel", self.panel)
        port = free_port()
        self.endpoint = f"tcp://127.0.0.1:{port}"
        self.daemon = Daemon(f"[access]\nsecret-key = {self.path('navd')}\nkeys = {self.path('keys')}\n",
                             options=["--listen", self.endpoint])
        self.addCleanup(self.daemon.close)
        self.daemon.control.create("kiosk")

    def path(self, name):
        return os.path.join(self.directory, name)

    def key(self, *arguments):
        """Runs navctl key; returns what it printed."""
        return subprocess.run([os.path.join(BINARIES, "navctl"), "key", f"--keys={self.path('keys')}", *arguments],
                              check=True, capture_output=True, text=True).stdout.strip()

    def connect(self, file, server, timeout=60000):
        client = navd.Client(self.endpoint, server_key=server, key_file=self.path(file), timeout=timeout)
        self.addCleanup(client.close)
        return client

    def test_a_client_with_keys_takes_part_until_its_key_is_revoked(self):
        client = self.connect("panel", self.server)
        client.watch("kiosk")
        client.shown("kiosk", "home")
        client.perform("kiosk", {"push": {"screen": {"id": "wifi"}}})
        client.shown("kiosk", "home", "wifi")
        self.key("revoke", "panel")
        end = client.of_kind(ENDED_CLIENT)
        self.assertEqual((end.error.status, end.error.code), (CLOSED, "revoked"))

    def test_wrong_keys_are_errors_with_advice(self):
        for file, server, code in (("stranger", self.server, "forbidden"), ("panel", self.stranger, "handshake")):
            with self.assertRaises(navd.Failure) as caught:
                self.connect(file, server)
            self.assertEqual((caught.exception.status, caught.exception.code), (UNREACHABLE, code))
            self.assertTrue(caught.exception.advice)


if __name__ == "__main__":
    unittest.main()
