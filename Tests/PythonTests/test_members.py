"""The package against two built daemons of a cluster on a PostgreSQL server of its own: navs move, one is killed."""
import glob
import itertools
import os
import shutil
import subprocess
import tempfile
import unittest

from setting import BINARIES, DEADLINE, Concurrently, Directory, Process, eventually
import navd
from navd import operations as op

NAVS = [f"n{number}" for number in range(4)]


class Server:
    """A PostgreSQL server with a database `navd`; root lets the user `postgres` run it."""

    def __init__(self):
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.path = tempfile.mkdtemp(prefix="np-", dir="/tmp")
        self.prefix = ()
        if os.geteuid() == 0:
            shutil.chown(self.path, "postgres", "postgres")
            self.prefix = ("runuser", "-u", "postgres", "--")
        try:
            self.run("initdb", "-D", f"{self.path}/data", "-A", "trust", "-U", "navd", "--no-sync")
            self.run("pg_ctl", "-D", f"{self.path}/data", "-l", f"{self.path}/log", "-w", "start", "-o",
                     f"-k {self.path} -c listen_addresses=''")
            self.run("createdb", "-h", self.path, "-U", "navd", "navd")
        except BaseException:
            self.close()
            raise

    def run(self, program, *words):
        subprocess.run([*self.prefix, f"{self.programs}/{program}", *words], check=True, timeout=DEADLINE, cwd="/",
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close(self):
        try:
            self.run("pg_ctl", "-D", f"{self.path}/data", "-m", "immediate", "stop")
        except subprocess.CalledProcessError:
            pass
        shutil.rmtree(self.path, ignore_errors=True)


class Member:
    """A navd-cluster."""

    def __init__(self, server, name):
        self.directory = Directory()
        self.endpoint = f"ipc://{self.directory / 'op'}"
        config = self.directory.write("navd.conf", (
            f"[cluster]\ndatabase = host={server.path} user=navd dbname=navd\n"
            f"member = {name}\nhost = here\nlease = 3000\n"))
        command = [os.path.join(BINARIES, "navd-cluster"), "--listen", self.endpoint, "--config", config]
        # As its unit does: a server that answers too late on a busy machine ends the start with status 7.
        for tries in range(5):
            self.process = Process(command, self.directory / f"log{tries}")
            try:
                self.process.says("serving ")
                break
            except AssertionError:
                if tries == 4 or self.process.popen.returncode != 7:
                    raise

    def close(self):
        if self.process.is_running:
            self.process.kill()
        self.directory.remove()


class Members(unittest.TestCase):
    def setUp(self):
        server = Server()
        self.addCleanup(server.close)
        self.members = {}
        for name in "ab":
            self.members[name] = Member(server, name)
            self.addCleanup(self.members[name].close)
        self.client = navd.connect(",".join(each.endpoint for each in self.members.values()), within=DEADLINE)
        self.addCleanup(self.client.close)
        try:
            eventually("each has a half", lambda: sorted(self.owned().values()) == [512, 512])
        except AssertionError as error:
            logs = "\n".join(f"{name}: {each.process.log()}" for name, each in self.members.items())
            raise AssertionError(f"{error}: {self.owned()}\n{logs}") from None

    def owned(self):
        return {each["name"]: each["owned"] for each in self.client.get(None, "cluster")["value"]["members"]}

    def test_everything_goes_on_over_moves_and_the_loss_of_a_daemon(self):
        for nav in NAVS:
            self.client.perform(nav, [op.create({"id": "home"}), op.attach()])
        watches = {nav: self.client.watch(nav, every_revision=True) for nav in NAVS}
        seen = {nav: [watch.take(DEADLINE).rev] for nav, watch in watches.items()}
        lease = self.client.lease("n0")
        roles = self.client.delegate("n0", veto=lambda question: True)
        moves = Concurrently(moves=self.move)
        for turn in itertools.count():
            for nav in NAVS:
                self.client.perform(nav, [op.push({"id": f"x{turn}"})])
                self.client.pop(self.client.state(nav))
            if turn >= 5 and not moves.threads["moves"].is_alive():
                break
        moves.result("moves")
        # It has followed, and has a session with each.
        self.assertEqual(len(self.client._engine.cluster._members), 2)
        self.members["a"].process.kill()
        for nav in NAVS:
            self.client.perform(nav, [op.push({"id": "last"})])
        for nav, watch in watches.items():
            last = self.client.state(nav)
            self.assertEqual([screen.id for screen in last.screens], ["home", "last"])
            while seen[nav][-1] < last.rev:
                seen[nav].append(watch.take(DEADLINE).rev)
            # No revision is missing, and none came twice.
            self.assertEqual(seen[nav], list(range(1, last.rev + 1)))
        eventually("the lease and the roles", lambda: lease.is_held and roles.is_held)
        self.assertEqual((lease.lost, roles.lost), (None, None))

    def move(self):
        """Moves each nav to either daemon, and back."""
        for to, nav in itertools.product("abab", NAVS):
            words = ["--endpoint", self.members["a"].endpoint, "cluster", "move", nav, to]
            done = subprocess.run(
                [os.path.join(BINARIES, "navctl"), *words], capture_output=True, text=True, timeout=DEADLINE,
                env={"PATH": "/usr/bin:/bin", "HOME": "/tmp"})
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
