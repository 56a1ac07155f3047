"""What administrators see of clients and navs: trace, and the columns of list."""
import json
import os
import pathlib
import subprocess
import unittest

import zmq

from scene import NAVCTL, Scene


class Trace(unittest.TestCase):
    def setUp(self):
        self.scene = Scene()
        self.addCleanup(self.scene.close)
        self.scene.furnish()

    def trace(self, *words):
        return subprocess.Popen(
            [NAVCTL, "trace", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.scene.environment)

    def run_until_it_ends(self, trace, *command):
        """Sends a command until the trace, which began at some time, has seen enough; returns its lines."""
        while trace.poll() is None:
            self.scene.must(*command)
        output, errors = trace.communicate(timeout=60)
        self.assertEqual((trace.returncode, errors), (0, ""))
        return output.splitlines()

    def test_a_line_has_the_process_and_what_it_wants(self):
        lines = self.run_until_it_ends(self.trace("kiosk", "--count", "2"), "set", "kiosk", "screen", "wifi", "title=X")
        self.assertRegex(lines[0], rf"^[0-9:.]{{12}}  in   op        navctl, uid {os.getuid()}, pid \d+  id 1  kiosk  "
                                   r"screen.set  \d+ B$")
        self.assertRegex(lines[1], r"^[0-9:.]{12}  out  ok        navctl, uid \d+, pid \d+  id 1  kiosk  rev \d+  \d+ B$")

    def test_texts_can_be_redacted(self):
        trace = self.trace("kiosk", "--count", "1", "--redact", "-o", "json")
        lines = self.run_until_it_ends(trace, "set", "kiosk", "screen", "wifi", "title=Secret")
        record = json.loads(lines[0])
        self.assertEqual(record["body"]["do"][0]["screen.set"]["title"], "(6 characters)")
        self.assertNotIn("Secret", lines[0])

    def test_what_exceeds_the_limit_is_counted(self):
        path = os.path.join(self.scene.daemon.directory.path, "trace")
        with open(path, "w", encoding="utf-8") as file:
            trace = subprocess.Popen(
                [NAVCTL, "trace", "--client", "flood", "-o", "json"], stdout=file, env=self.scene.environment)
        self.addCleanup(trace.wait)
        self.addCleanup(trace.kill)
        context = zmq.Context()
        self.addCleanup(context.destroy, 0)
        socket = context.socket(zmq.DEALER)
        self.addCleanup(socket.close, 0)
        socket.connect(self.scene.daemon.endpoint)
        socket.send_multipart([b"nsp1.hello", json.dumps({
            "ver": [1, 1], "client": "0" * 31 + "7", "name": "flood", "nonce": "n"}).encode()])
        pings = 0
        while '"dropped"' not in (text := pathlib.Path(path).read_text("utf-8")):
            self.assertIsNone(trace.poll())
            for _ in range(500):
                pings += 1
                socket.send_multipart([b"nsp1.ping", json.dumps({"id": pings}).encode()])
            # Each one is answered, whatever the trace drops.
            while json.loads(socket.recv_multipart()[1]).get("id") != pings:
                pass
        self.assertGreater(pings, 500)
        types = {json.loads(line)["type"] for line in text.splitlines() if line.endswith("}")}
        self.assertEqual(types, {"traced", "dropped"})

    def test_all_goes_alone(self):
        result = self.scene.navctl("trace", "--all", "kiosk")
        self.assertEqual(result.status, 2)
        self.assertIn("--all goes without NAV", result.errors)

    def test_list_has_the_position_of_each_nav(self):
        self.scene.must("push", "kiosk", "dns", "--title", "DNS")
        lines = self.scene.must("list").splitlines()
        self.assertRegex(lines[0], r"^NAV +REV +DEPTH +TOP +WATCHES +CHANGED +OWNER$")
        self.assertRegex(lines[1], r"^hud +1 +0 +- +0 +[0-9TZ:-]{20} +uid:\d+$")
        self.assertRegex(lines[2], r"^kiosk +6 +4 +dns +0 +[0-9TZ:-]{20} +uid:\d+$")
        self.assertIn("BEHIND", self.scene.must("list", "--clients"))


if __name__ == "__main__":
    unittest.main()
