"""What the tests of the package against the built navd share."""
import unittest

from setting import DEADLINE, Daemon
import navd
from navd import NavigationError, operations as op

HOME = navd.ScreenDescription(id="home", title="Home")


class DaemonTest(unittest.TestCase):
    """A test with a daemon of its own, and a nav `kiosk`."""

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.client = self.connect("shell")
        self.client.perform("kiosk", [op.create(HOME), op.attach()])

    def connect(self, name, **options):
        client = navd.connect(self.daemon.endpoint, name=name, within=DEADLINE, **options)
        self.addCleanup(client.close)
        return client

    def ids(self):
        return [screen["id"] for screen in self.daemon.control.get("kiosk")["screens"]]

    def caught(self, code, function, *arguments, **options):
        with self.assertRaises(NavigationError) as caught:
            function(*arguments, **options)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception

    def attempt(self, function, *arguments):
        """What a function returns; None if the daemon refuses."""
        try:
            return function(*arguments)
        except NavigationError:
            return None
