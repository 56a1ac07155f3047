"""Threads, the descriptor, processes, and the end of clients: beside a daemon, or a socket that plays one."""
import json
import os
import shutil
import tempfile
import threading
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
        revisions = []
        while not revisions or revisions[-1] < 1 + threads * count:
            event = client.of_kind(STATE)
            revisions.append(event.json["rev"])
        for each in range(threads):
            workers.result(f"t{each}")
        # One thread takes the events, and it gets all of them in order.
        self.assertEqual(revisions, list(range(1, 2 + threads * count)))

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

    def test_a_client_belongs_to_its_process(self):
        client = navd.Client(self.daemon.endpoint)
        self.addCleanup(client.close)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                client.get("kiosk")
            except navd.Failure as failure:
                status = 0 if (failure.status, failure.code) == (navd.MISUSE, "forked") else 2
            if navd.lib.navd_next(client.handle) or navd.lib.navd_is_synced(client.handle, b"kiosk") != -1:
                status = 3
            client.close()
            os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(client.get("kiosk")["rev"], 1)

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
