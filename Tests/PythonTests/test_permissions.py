"""A socket that the permissions of files close to this user: no permission is not "not running"."""
import os
import stat
import subprocess
import sys
import unittest
from unittest import mock

from setting import DEADLINE, PACKAGE, Daemon, eventually
from navd import places

#: A user and a group that own nothing here; the group has a name.
USER, GROUP = 65533, 1

# Another user need not be able to read the checkout, which may lie in the home directory of root.
CONNECT = f"""
import os, navd, sys, time
os.setgroups([])
os.setgid({USER})
os.setuid({USER})
try:
    if sys.argv[2] == "denied":
        client = navd.Client(sys.argv[1])
        while not client._engine.denial:
            time.sleep(0.01)
    else:
        client = navd.connect(sys.argv[1], within=float(sys.argv[2]))
    print(client.status, flush=True)
    statuses = client.statuses()
    for word in sys.stdin:
        print(next(statuses), flush=True)
except navd.NavigationError as error:
    print(error, flush=True)
"""


@unittest.skipUnless(os.geteuid() == 0, "only root can run a program as another user")
class Permissions(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon(is_open=True)
        self.addCleanup(self.daemon.close)
        self.socket = self.daemon.directory / "op"

    def client(self, within):
        client = subprocess.Popen(
            [sys.executable, "-c", CONNECT, self.daemon.endpoint, str(within)], text=True, bufsize=1,
            env={"PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(client.wait, DEADLINE)
        self.addCleanup(client.stdout.close)
        self.addCleanup(client.stdin.close)
        self.addCleanup(client.kill)
        return client

    def test_the_group_and_the_command_are_named_at_once(self):
        for path, mode in ((self.daemon.directory.path, 0o750), (self.socket, 0o660)):
            former = stat.S_IMODE(os.stat(path).st_mode)
            os.chown(path, 0, GROUP)
            os.chmod(path, mode)
            # A wait for the end of `within` would be one for ever.
            text = self.client(60).stdout.readline()
            for word in ("forbidden: ", path, "group daemon", f"usermod -aG daemon {USER}"):
                self.assertIn(word, text)
            os.chmod(path, former)

    def test_a_socket_of_its_owner_alone_may_be_that_of_a_daemon_that_starts(self):
        os.chmod(self.socket, 0o600)
        text = self.client(0.2).stdout.readline()
        for word in ("forbidden: ", self.socket, "user root only", "socket-group"):
            self.assertIn(word, text)
        client = self.client("denied")
        self.assertEqual(client.stdout.readline(), "connecting\n")
        os.chmod(self.socket, 0o666)
        eventually("it is connected", lambda: self.status(client) == "connected\n")

    def status(self, client):
        client.stdin.write("\n")
        return client.stdout.readline()

    def test_a_client_goes_on_over_a_restart(self):
        client = self.client(60)
        self.assertEqual((client.stdout.readline(), self.status(client)), ("connected\n", "connected\n"))
        self.daemon.kill()
        self.assertEqual(self.status(client), "disconnected\n")
        # Only root can connect again, until the group is set.
        self.daemon.start()
        os.chown(self.socket, 0, GROUP)
        os.chmod(self.socket, 0o660)
        os.chmod(self.socket, 0o666)
        self.assertEqual(self.status(client), "connected\n")

    def test_an_open_socket_and_one_that_is_not_there_are_no_matter_of_permissions(self):
        for endpoint in (self.daemon.endpoint, "ipc:///nonexistent/op", "ipc://@abstract", "tcp://127.0.0.1:1"):
            self.assertIsNone(places.find_denial(endpoint))


class Places(unittest.TestCase):
    def test_the_directory_of_the_system_is_named_although_it_hides_its_socket(self):
        closed = mock.patch.object(os, "lstat", side_effect=PermissionError(13, "Permission denied"))
        with closed:
            self.assertEqual(places.find_endpoint({}, 0), "ipc:///run/navd/navd.sock")
            self.assertEqual(places.find_endpoint({"XDG_RUNTIME_DIR": "/x"}, 1), "ipc:///run/navd/navd.sock")


if __name__ == "__main__":
    unittest.main()
