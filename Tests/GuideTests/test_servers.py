"""Programs that serve until they are stopped: examples of navd-exporter(8) and navd-web(8) start, answer and end at Ctrl-C."""
import os
import shlex
import signal
import socket
import unittest
import urllib.request

from reader import BINARIES, Daemon, Directory, eventually
from harness import Process
import pages


class Servers(unittest.TestCase):
    def start(self, page):
        """Runs the one block of a page that this test owns; returns the program and its directory."""
        [found] = [each for each in pages.found() if (each.page, each.way, each.owner) == (page, "run", "Tests/GuideTests/test_servers.py")]
        daemon, directory = Daemon(), Directory()
        self.addCleanup(directory.remove)
        self.addCleanup(daemon.close)
        os.mkdir(directory / "page")
        directory.write("page/index.html", "the page")
        words = [word.replace("~", directory.path).replace("/run/user/1000", directory.path) for word in shlex.split(found.block.text)]
        process = Process([os.path.join(BINARIES, words[0]), *words[1:]], directory / "log", environment={"NAVD_ENDPOINT": daemon.endpoint})
        self.addCleanup(process.kill)
        return process, directory

    def ends_at_ctrl_c(self, process):
        process.popen.send_signal(signal.SIGINT)
        eventually("its end", lambda: not process.is_running)
        self.assertEqual(process.popen.returncode, 0, process.log())

    def test_an_exporter_serves_its_metrics_on_a_socket(self):
        process, directory = self.start("man/navd-exporter.8.scd")
        process.says("serving on")
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(directory / "navd-exporter.sock")
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            with client.makefile(encoding="utf-8") as answer:
                self.assertIn("navd_serving 1", answer.read())
        self.ends_at_ctrl_c(process)

    def test_a_gateway_prints_the_address_of_a_page(self):
        process, _ = self.start("man/navd-web.8.scd")
        address = process.says(r"open (http://\S+)#c=")[1]
        with urllib.request.urlopen(address) as answer:
            self.assertEqual(answer.read(), b"the page")
        self.ends_at_ctrl_c(process)


if __name__ == "__main__":
    unittest.main()
