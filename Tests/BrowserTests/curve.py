"""A daemon over tcp with CURVE, the keys of clients, and `navctl key` that makes them."""
import os
import socket
import subprocess

from harness import BINARIES, DEADLINE, Daemon, Directory


def navctl(*words):
    done = subprocess.run([os.path.join(BINARIES, "navctl"), *words], capture_output=True, text=True, timeout=DEADLINE,
                          env={"PATH": "/usr/bin:/bin", "HOME": "/tmp"})
    if done.returncode:
        raise AssertionError(f"navctl {words}: {done.stderr}")
    return done.stdout.strip()


class CurveTest:
    """The part of a test case with such a daemon: `panel.key` is authorised as `panel`, `other.key` is not."""

    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        os.mkdir(self.directory / "keys")
        for name in ("navd.key", "panel.key", "other.key"):
            navctl("key", "new", self.directory / name)
        self.server = navctl("key", "public", self.directory / "navd.key")
        navctl("key", "authorize", "panel", navctl("key", "public", self.directory / "panel.key"), "--role", "ui",
               "--keys", self.directory / "keys")
        self.daemon = self.serve()
        self.addCleanup(self.daemon.close)

    def serve(self):
        """Starts a daemon on a port that the kernel chooses; another program may take the port before."""
        lines = f"[access]\nsecret-key = {self.directory / 'navd.key'}\nkeys = {self.directory / 'keys'}\n"
        for attempt in range(5):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.endpoint = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
            try:
                return Daemon(lines, options=("--listen", self.endpoint))
            except AssertionError as error:
                if attempt == 4 or "in use" not in str(error):
                    raise
        return None
