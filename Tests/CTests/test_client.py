"""Threads, the descriptor, processes, and the end of clients: beside a daemon, or a socket that plays one."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest

import navdlib as navd
import vectors
from harness import Concurrently, Daemon, eventually
from navdlib import ANSWER, DISCONNECTED, ENDED_CLIENT, STATE


class ThreadTests(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.daemon.control.create("kiosk")

    def test_threads_share_a_client(self):
        client = navd.Client(self.daemon.endpoint)
        self.addCleanup(client.close)
        client.watch("kiosk")
        threads, count = 4, 100

        def perform(name):
            for number in range(count):
                client.perform("kiosk", {"screen.set": {"screen": "home", "title": f"{name} {number}"}})
                client.get("kiosk", "top")
                client.state("kiosk")
        workers = Concurrently(**{f"t{each}": lambda each=each: perform(each) for each in range(threads)})
        revision = client.of_kind(STATE).json["rev"]
        # One thread takes the events, and it gets all changes in order; those that wait join.
        while revision < 1 + threads * count:
            event = client.of_kind(STATE)
            self.assertEqual(event.change["base"], revision)
            self.assertGreater(event.json["rev"], revision)
            revision = event.json["rev"]
        for each in range(threads):
            workers.result(f"t{each}")

    def test_states_that_wait_join_with_the_events_of_all(self):
        client = navd.Client(self.daemon.endpoint)
        self.addCleanup(client.close)
        client.watch("kiosk")
        client.shown("kiosk", "home")
        for number in range(20):
            self.daemon.control.op("kiosk", {"push": {"screen": {"id": f"s-{number}"}}})
        # The blocking call reads all that has arrived, the states first.
        self.assertEqual(client.get("kiosk")["rev"], 21)
        event = client.of_kind(STATE)
        self.assertEqual((event.json["rev"], event.change["base"], event.change["cause"]), (21, 1, "api"))
        self.assertNotIn("relation", event.change)
        self.assertEqual([each["didPush"]["screen"] for each in event.change["ev"] if "didPush" in each],
                         [f"s-{number}" for number in range(20)])

    def test_clients_of_many_threads_are_independent(self):
        def one():
            for _ in range(5):
                client = navd.Client(self.daemon.endpoint)
                client.watch("kiosk")
                client.shown("kiosk", "home")
                client.close()
        workers = Concurrently(**{f"t{each}": one for each in range(4)})
        for each in range(4):
            workers.result(f"t{each}")
        eventually("the sessions end", lambda: self.daemon.control.get(what="stats")["sessions"] == 0)

    def test_the_descriptor_is_readable_exactly_while_there_is_something_to_do(self):
        client = navd.Client(self.daemon.endpoint, heartbeat=60000)
        self.addCleanup(client.close)
        client.watch("kiosk")
        client.shown("kiosk", "home")
        eventually("nothing to do", lambda: not client.pump() and not client.wait(0))
        for number in range(50):
            self.daemon.control.op("kiosk", {"screen.set": {"screen": "home", "title": f"{number}"}})
            self.assertTrue(client.wait(navd.DEADLINE * 1000))
            client.of_kind(STATE)
        # A blocking call reads the socket, and leaves the events that it found to navd_next.
        for number in range(50):
            client.perform("kiosk", {"screen.set": {"screen": "home", "title": f"again {number}"}})
            self.assertTrue(client.wait(0))
            handle = navd.lib.navd_next(client.handle)
            self.assertEqual(navd.lib.navd_event_kind(handle), STATE)
            navd.lib.navd_event_free(handle)
        eventually("nothing to do", lambda: not client.pump() and not client.wait(0))

    def test_a_call_hides_no_message_that_has_arrived(self):
        # The timer of the heartbeat is far away, so that it cannot help.
        client = navd.Client(self.daemon.endpoint, heartbeat=60000)
        self.addCleanup(client.close)
        client.watch("kiosk")
        client.shown("kiosk", "home")
        for number in range(300):
            # The state of the one call arrives at some time during the other ones.
            client.submit("kiosk", {"screen.set": {"screen": "home", "title": f"{number}"}})
            for _ in range(number % 7):
                client.lease("kiosk", navd.RELEASE)
            kinds = set()
            while not {STATE, ANSWER} <= kinds:
                self.assertTrue(client.wait(navd.DEADLINE * 1000), (number, kinds))
                client.pump()
                kinds |= {event.kind for event in client.events}
                client.events.clear()


class ForkTests(unittest.TestCase):
    """Children of fork: the parent's client is `forked` at once, and another client works."""

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.daemon.control.create("kiosk")
        self.client = navd.Client(self.daemon.endpoint)
        self.addCleanup(self.client.close)

    def in_child(self, body):
        """Runs a function in a child; a call that hangs ends it."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(int(navd.DEADLINE))
                body()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def forked(self, client):
        for call in (lambda: client.get("kiosk"), lambda: client.watch("kiosk"), lambda: client.state("kiosk"),
                     lambda: client.perform("kiosk", {"popToRoot": {}}, timeout=2**31 - 1),
                     lambda: client.submit("kiosk", {"popToRoot": {}}), lambda: client.lease("kiosk"),
                     lambda: client.delegate("kiosk", "veto")):
            with self.assertRaises(navd.Failure) as caught:
                call()
            failure = caught.exception
            self.assertEqual((failure.status, failure.code, failure.may_have_happened), (navd.MISUSE, "forked", 0))
        self.assertEqual((navd.lib.navd_fd(client.handle), client.is_synced("kiosk")), (-1, -1))

    def works(self, client, screen):
        client.watch("kiosk")
        client.shown("kiosk", "home")
        client.perform("kiosk", {"push": {"screen": {"id": screen}}})
        client.shown("kiosk", "home", screen)
        client.perform("kiosk", {"pop": {}}, guard={"top": screen})

    def test_each_call_of_the_parents_client_is_forked_at_once(self):
        self.client.watch("kiosk")
        event = self.client.until("the state", lambda each: each.kind == STATE)

        def body():
            self.forked(self.client)
            # The end is an event, once, for programs that wait for events alone.
            self.client.pump()
            ends = [each for each in self.client.events if each.kind == ENDED_CLIENT]
            self.assertEqual([each.error.code for each in ends], ["forked"])
            self.assertIsNone(navd.lib.navd_next(self.client.handle))
            self.client.close()
            self.assertEqual(event.json["rev"], 1)
        self.in_child(body)
        self.assertEqual(self.client.get("kiosk")["rev"], 1)
        self.works(navd.Client(self.daemon.endpoint), "later")

    def test_another_client_works_in_a_child_and_in_its_child(self):
        def deeper(parent):
            self.forked(parent)
            self.works(navd.Client(self.daemon.endpoint), "grandchild")

        def body():
            client = navd.Client(self.daemon.endpoint)
            self.works(client, "child")
            self.client.close()
            self.in_child(lambda: deeper(client))
            client.get("kiosk")
        self.in_child(body)
        self.assertEqual(self.client.get("kiosk")["rev"], 5)

    def test_the_threads_of_a_child_share_a_client(self):
        # Swift's Mutex would end the child: it remembers the thread's number in the parent.
        def body():
            client = navd.Client(self.daemon.endpoint)
            workers = Concurrently(**{f"t{each}": lambda: [client.get("kiosk", "top") for _ in range(50)]
                                      for each in range(3)})
            for _ in range(50):
                client.get("kiosk", "top")
            for each in range(3):
                workers.result(f"t{each}")
        self.in_child(body)

    def test_a_fork_beside_busy_threads(self):
        ends = threading.Event()

        def work():
            while not ends.is_set():
                navd.Client(self.daemon.endpoint).close()
                self.client.state("kiosk")
        workers = Concurrently(a=work, b=work)
        try:
            for number in range(30):
                def body():
                    self.forked(self.client)
                    self.client.close()
                    self.works(navd.Client(self.daemon.endpoint), f"s{number}")
                self.in_child(body)
        finally:
            ends.set()
        workers.result("a")
        workers.result("b")

    def test_a_program_becomes_a_daemon_after_it_has_connected(self):
        reading, writing = os.pipe()

        def body():
            client = navd.Client(self.daemon.endpoint)
            if os.fork() > 0:
                os._exit(0)
            os.setsid()
            self.forked(client)
            client.close()
            self.works(navd.Client(self.daemon.endpoint), "daemon")
            os.write(writing, b"works")
        self.in_child(body)
        self.assertEqual(os.read(reading, 10), b"works")
        os.close(reading)
        os.close(writing)


# Another user need not be able to read the checkout, which may lie in the home directory of root.
CONNECT = """
import os
import sys
import navdlib as navd
os.setgroups([])
os.setgid(1)
os.setuid(65533)
try:
    navd.Client(sys.argv[1], timeout=int(sys.argv[2])).close()
except navd.Failure as failure:
    print(failure.status, failure.code, failure.message, failure.advice, sep="\\n")
"""


@unittest.skipUnless(os.geteuid() == 0, "only root can run a program as another user")
class PermissionTests(unittest.TestCase):
    """No permission is not "not running"."""

    def setUp(self):
        self.daemon = Daemon(is_open=True)
        self.addCleanup(self.daemon.close)

    def connect(self, timeout):
        done = subprocess.run(
            [sys.executable, "-c", CONNECT, self.daemon.endpoint, str(timeout)],
            capture_output=True, text=True, timeout=navd.DEADLINE,
            env={"PYTHONPATH": navd.HERE, "PYTHONDONTWRITEBYTECODE": "1", "NAVD_LIBRARY": navd.LIBRARY})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_the_group_and_the_command_are_named_at_once(self):
        self.assertEqual(self.connect(int(navd.DEADLINE * 1000)), [])
        socket, directory = self.daemon.directory / "op", self.daemon.directory.path
        # The group "root" is not that of the program.
        for path, mode in ((socket, 0o660), (directory, 0o750)):
            os.chmod(path, mode)
            # A wait for the timeout would be one for ever.
            status, code, message, advice = self.connect(2**31 - 1)
            self.assertEqual((int(status), code), (navd.UNREACHABLE, "forbidden"))
            self.assertIn(f"{path}{'/' if path == directory else ''} is open to group root", message)
            self.assertIn("usermod -aG root 65533", advice)
        os.chmod(directory, 0o755)
        os.chmod(socket, 0o600)
        status, code, message, advice = self.connect(300)
        self.assertEqual((code, "user root only" in message, "socket-group" in advice), ("forbidden", True, True))


SUBMIT = """
import sys
import navdlib as navd
client = navd.Client(sys.argv[1])
client.perform("kiosk", {"push": {"screen": {"id": sys.argv[2]}}}, timeout=60000)
client.close()
"""


class NamespaceTests(unittest.TestCase):
    def test_a_time_limit_holds_in_another_time_namespace(self):
        # Ten days more, and half of the time since the boot less.
        offsets = [864000, -int(time.clock_gettime(time.CLOCK_BOOTTIME) / 2)]
        if subprocess.run(["unshare", "-T", "--boottime", "1", "true"], capture_output=True).returncode != 0:
            self.skipTest("this user can make no time namespaces")
        daemon = Daemon()
        self.addCleanup(daemon.close)
        daemon.control.create("kiosk")
        for number, offset in enumerate(offsets):
            done = subprocess.run(
                ["unshare", "-T", "--boottime", str(offset), sys.executable, "-c", SUBMIT, daemon.endpoint, f"s{number}"],
                capture_output=True, text=True, timeout=navd.DEADLINE, env={
                    "PATH": os.environ["PATH"], "PYTHONPATH": navd.HERE, "PYTHONDONTWRITEBYTECODE": "1",
                    "NAVD_LIBRARY": navd.LIBRARY})
            self.assertEqual(done.returncode, 0, done.stderr)


class EndTests(unittest.TestCase):
    def setUp(self):
        directory = tempfile.mkdtemp(prefix="nc-", dir="/tmp")
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.daemon = vectors.Daemon(directory, 0)
        self.client = self.daemon.client
        self.daemon.wait("the barrier", lambda: self.daemon.barriers)

    def test_the_end_of_a_client_is_its_last_event(self):
        number = self.client.submit("kiosk", {"pop": {}})
        self.daemon.awaited("op")
        self.daemon.send("bye", '{"why":"fenced"}')
        end = self.daemon.wait("the end", lambda: self.daemon.take(ENDED_CLIENT))
        self.assertEqual((end.error.status, end.error.code), (navd.CLOSED, "fenced"))
        answers = {event.id: event.error for event in self.client.events if event.kind == ANSWER}
        self.assertEqual(set(answers), {number, self.daemon.barrier})
        self.assertTrue(all(error.may_have_happened and error.status == navd.CLOSED for error in answers.values()))
        self.client.events.clear()
        # What still arrives must not wake the program for ever.
        self.daemon.send("mark", '{"t":0,"at":[]}')
        self.assertEqual((self.client.pump(), self.client.wait(50), self.client.is_synced("kiosk")), (False, False, 0))
        for call in (lambda: self.client.perform("kiosk", {"pop": {}}), lambda: self.client.watch("kiosk"),
                     lambda: self.client.get("kiosk"), lambda: self.client.state("kiosk")):
            with self.assertRaises(navd.Failure) as caught:
                call()
            self.assertEqual((caught.exception.status, caught.exception.code), (navd.CLOSED, "fenced"))
        self.daemon.router.close()
        self.client.close()

    def test_a_free_waits_for_the_call_of_another_thread(self):
        def perform():
            with self.assertRaises(navd.Failure) as caught:
                self.client.perform("kiosk", {"pop": {}}, timeout=200)
            return caught.exception.status
        worker = Concurrently(perform=perform)
        self.daemon_reads_until("op")
        freed = threading.Thread(target=self.client.close)
        freed.start()
        self.assertEqual(worker.result("perform"), navd.TIMEOUT)
        self.assertEqual(self.daemon_reads_until("bye").keys(), {"id"})
        freed.join(navd.DEADLINE)
        self.assertFalse(freed.is_alive())
        self.assertEqual(navd.lib.navd_fd(self.client.handle), -1)
        self.daemon.router.close()

    def daemon_reads_until(self, verb):
        """Plays the daemon alone, while another thread has the client; answers the farewell."""
        while True:
            self.assertTrue(self.daemon.router.poll(navd.DEADLINE * 1000))
            peer, frame, body = self.daemon.router.recv_multipart()
            body = json.loads(body)
            if frame == b"nsp1.bye":
                self.daemon.send("ok", json.dumps({"id": body["id"]}))
            if frame == b"nsp1." + verb.encode():
                return body

    def test_a_message_that_cannot_be_read_begins_another_session(self):
        self.daemon.send("ok", "[")
        self.daemon.wait("the loss", lambda: self.daemon.take(DISCONNECTED))
        self.daemon.opened()
        self.daemon.close()


if __name__ == "__main__":
    unittest.main()
