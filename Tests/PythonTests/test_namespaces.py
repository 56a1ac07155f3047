"""Namespaces: clocks that differ between a client and a daemon, and users that the daemon's does not map."""
import os
import subprocess
import sys
import time
import unittest

from setting import BINARIES, DEADLINE, PACKAGE, Daemon
import navd
from harness import Refused
from navd import operations as op

CLIENT = """
import navd, sys
from navd import operations as op
from navd.shell.desk import _due
with navd.connect(sys.argv[1], within=60) as client:
    client.perform("kiosk", [op.push({"id": sys.argv[2]})], within=60)
    print(_due(0)["due"])
"""


def boot():
    """The time of this machine since its boot, in milliseconds."""
    return 1000 * time.clock_gettime(time.CLOCK_BOOTTIME)


#: Ten days more, and half of the time since the boot less.
OFFSETS = (864000, -int(boot() / 2000))


def within(offset, *command):
    return ["unshare", "-T", "--boottime", str(offset), *command]


def can_unshare():
    done = subprocess.run(within(1, "true"), capture_output=True)
    return done.returncode == 0 and os.readlink("/proc/self/ns/time") == os.readlink("/proc/self/ns/time_for_children")


@unittest.skipUnless(can_unshare(), "this user can make no time namespaces")
class Namespaces(unittest.TestCase):
    def run_in(self, offset, *command):
        done = subprocess.run(
            within(offset, *command), capture_output=True, text=True, timeout=DEADLINE,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_client_elsewhere_in_time_has_the_clock_of_the_machine(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        daemon.control.create("kiosk")
        for number, offset in enumerate(OFFSETS):
            before = boot() - 1
            due = int(self.run_in(offset, sys.executable, "-c", CLIENT, daemon.endpoint, f"s{number}"))
            self.assertTrue(before <= due <= boot() + 1, (before, due, offset))
            self.run_in(offset, os.path.join(BINARIES, "navctl"), "--endpoint", daemon.endpoint, "--timeout", "60s",
                        "pop", "kiosk", "--top", f"s{number}")

    def test_a_daemon_elsewhere_in_time_has_the_clock_of_the_machine(self):
        for offset in OFFSETS:
            daemon = Daemon()
            self.addCleanup(daemon.close)
            daemon.process.stop()
            daemon.arguments = within(offset, *daemon.arguments)
            daemon.start()
            with navd.connect(daemon.endpoint, within=DEADLINE) as client:
                client.perform("kiosk", [op.create({"id": "home"})], within=DEADLINE)
                self.assertEqual(self.late(daemon, -1000), "expired")
                self.assertEqual(self.late(daemon, 60000), None)

    def late(self, daemon, milliseconds):
        """The code of an op that is due so long from now; None for a performed one."""
        try:
            daemon.control.request("op", nav="kiosk", client=daemon.control.own, due=round(boot() + milliseconds),
                                   do=[{"screen.set": {"screen": "home", "title": "x"}}])
            return None
        except Refused as refused:
            return refused.args[0]["code"]


if __name__ == "__main__":
    unittest.main()


MAPPED = ["unshare", "--user", "--map-root-user"]


def can_map():
    return os.geteuid() == 0 and subprocess.run([*MAPPED, "true"], capture_output=True).returncode == 0


@unittest.skipUnless(can_map(), "this user can make no user namespaces, or can run nothing as another user")
class Users(unittest.TestCase):
    def daemon(self, configuration):
        daemon = Daemon(configuration, is_open=True, before=MAPPED)
        self.addCleanup(daemon.close)
        return daemon

    def navctl(self, daemon, user, *words):
        command = [os.path.join(BINARIES, "navctl"), "--endpoint", daemon.endpoint, "--timeout", "60s", *words]
        done = subprocess.run(
            ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command], capture_output=True,
            text=True, timeout=DEADLINE, env={"PATH": os.environ["PATH"]}, cwd="/")
        return done.returncode, done.stdout + done.stderr

    def test_outside_users_own_nothing_and_have_no_role_without_a_line(self):
        daemon = self.daemon("")
        daemon.process.says("the user namespace does not map all users")
        daemon.control.create("kiosk")
        for user in 1234, 65534:
            self.assertNotEqual(self.navctl(daemon, user, "push", "kiosk", "a", "--new")[0], 0)
        daemon = self.daemon("[access]\nrole = ui uid:65534\n")
        daemon.control.create("kiosk")
        status, text = self.navctl(daemon, 1234, "push", "kiosk", "a", "--new")
        self.assertEqual(status, 0, text)
        # What one of them makes belongs to none.
        status, text = self.navctl(daemon, 1234, "create", "till")
        self.assertEqual(status, 0, text)
        for user in 1234, 4321, 65534:
            for words in ("close", "kiosk", "--any"), ("close", "till", "--any"), ("backup",):
                status, text = self.navctl(daemon, user, *words)
                self.assertNotEqual(status, 0, (user, words, text))
                self.assertIn("uid:65534", text, words)
