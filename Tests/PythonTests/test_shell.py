"""The shell of the package without navd: queues, sockets that break, a thread that ends, places of sockets."""
import asyncio
import errno
import json
import os
import socket
import threading
import unittest
from unittest import mock

import zmq

from setting import DEADLINE, Concurrently, Directory, eventually
import navd
from navd import Event, NavigationError, State
from navd.places import find_endpoint
from navd.shell.link import Link
from navd.shell.pending import wait, wait_in_loop
from navd.shell.subscription import END, Subscription
from navd.shell.turns import Turns


def state(rev, *events):
    return State("kiosk", "controller", "e", rev, "d", (), (), {}, None, events=events)


class Loops(unittest.TestCase):
    def setUp(self):
        self.turns = Turns(lambda: None)

    def loop(self, keeps_all=False):
        return Subscription(self.turns, keeps_all)

    def offer(self, loop, value):
        with self.turns.turn():
            loop.offer(value)

    def test_a_value_that_comes_when_its_reader_leaves_is_kept(self):
        loop = self.loop(keeps_all=True)
        pending = loop.next()
        for rev in (1, 2):
            self.offer(loop, state(rev))
        # The value was delivered, and the reader has left without it.
        pending.cancel()
        self.assertEqual([wait(loop.next()).rev for _ in range(2)], [1, 2])
        self.assertRaises(TimeoutError, wait, loop.next(), 0.001)
        self.offer(loop, state(3))
        self.assertEqual(wait(loop.next()).rev, 3)

    def test_a_value_that_waited_is_kept_when_its_reader_leaves(self):
        loop = self.loop(keeps_all=True)
        for rev in (1, 2):
            self.offer(loop, state(rev))
        loop.next().cancel()
        self.assertEqual([wait(loop.next()).rev for _ in range(2)], [1, 2])
        newest = self.loop()
        self.offer(newest, state(1, Event("didPush", {"screen": "a"})))
        pending = newest.next()
        self.offer(newest, state(2, Event("didPush", {"screen": "b"})))
        pending.cancel()
        both = wait(newest.next())
        self.assertEqual((both.rev, [event.screen for event in both.events]), (2, ["a", "b"]))

    def test_the_end_of_a_loop_is_kept_when_its_reader_leaves(self):
        for is_waiting in (True, False):
            loop = self.loop()
            pending = loop.next() if is_waiting else None
            with self.turns.turn():
                loop.finish(NavigationError("no-nav", "closed"))
            (pending or loop.next()).cancel()
            self.assertRaises(NavigationError, wait, loop.next())
            self.assertIs(wait(loop.next()), END)
        # A loop that is closed gives nothing back.
        loop = self.loop()
        self.offer(loop, state(1))
        pending = loop.next()
        with self.turns.turn():
            loop.clear()
        pending.cancel()
        self.assertIs(wait(loop.next()), END)

    def test_a_cancelled_task_loses_no_revision(self):
        seen = []

        async def main():
            loop = self.loop(keeps_all=True)

            async def following():
                return await wait_in_loop(loop.next())
            for rev in range(1, 200):
                self.offer(loop, state(rev))
                task = asyncio.ensure_future(following())
                # From before its first step to behind its last one.
                for _ in range(rev % 5):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                if not task.cancelled():
                    seen.append(task.result().rev)
            with self.turns.turn():
                loop.finish(None)
            while (value := await following()) is not END:
                seen.append(value.rev)
        asyncio.run(main())
        self.assertEqual(seen, list(range(1, 200)))

    def test_a_loop_has_one_reader(self):
        loop = self.loop()
        loop.next()
        with self.assertRaisesRegex(RuntimeError, "make a watch for each"):
            loop.next()

    def test_a_slow_loop_skips_states_and_keeps_their_events(self):
        loop = self.loop()
        for rev in range(1, 5000):
            self.offer(loop, state(rev, Event("didPush", {"screen": str(rev)})))
        newest = wait(loop.next())
        self.assertEqual((newest.rev, len(newest.events), newest.is_resynchronised), (4999, 4096, True))
        self.assertEqual(newest.events[-1].screen, "4999")

    def test_a_loop_of_every_revision_that_is_far_behind_goes_on_with_the_newest(self):
        loop = self.loop(keeps_all=True)
        for rev in range(1, 4098):
            self.offer(loop, state(rev))
        first = wait(loop.next())
        self.assertEqual((first.rev, first.is_resynchronised), (4097, True))

    def test_an_end_comes_after_what_waits_and_its_error_once(self):
        loop = self.loop()
        self.offer(loop, state(1))
        with self.turns.turn():
            loop.finish(NavigationError("no-nav", "closed"))
            loop.offer(state(2))
        self.assertEqual(wait(loop.next()).rev, 1)
        self.assertRaises(NavigationError, wait, loop.next())
        self.assertIs(wait(loop.next()), END)

    def test_functions_of_callers_run_without_the_lock(self):
        seen = []
        with self.turns.turn():
            with self.turns.turn():
                self.turns.later(lambda: seen.append(Concurrently(turn=self.enter).result("turn")))
            self.assertEqual(seen, [])
        self.assertEqual(seen, [True])

    def enter(self):
        with self.turns.turn():
            return True

    def test_a_fault_of_such_a_function_is_reported_and_no_more(self):
        with mock.patch("threading.excepthook") as hook:
            with self.turns.turn():
                self.turns.later(lambda: 1 / 0)
                self.turns.later(lambda: None)
            self.assertIs(hook.call_args[0][0].exc_type, ZeroDivisionError)
        self.assertTrue(self.enter())


class Sockets(unittest.TestCase):
    """A ROUTER that a test plays."""

    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.endpoint = f"ipc://{self.directory / 'op'}"
        self.router = zmq.Context.instance().socket(zmq.ROUTER)
        self.router.setsockopt(zmq.LINGER, 0)
        self.router.setsockopt(zmq.RCVTIMEO, int(1000 * DEADLINE))
        self.router.bind(self.endpoint)
        self.addCleanup(self.router.close)

    def client(self):
        client = navd.Client(self.endpoint)
        self.addCleanup(client.close)
        return client

    def hello(self):
        peer, frame, body = self.router.recv_multipart()
        while frame != b"nsp1.hello":
            peer, frame, body = self.router.recv_multipart()
        return peer, json.loads(body)

    def welcome(self):
        peer, hello = self.hello()
        self.send(peer, "welcome", {"ver": 1, "nonce": hello["nonce"], "hb": 5000, "ops": {"last": 0}, "limits": {}})
        return peer

    def send(self, peer, verb, body):
        self.router.send_multipart([peer, b"nsp1." + verb.encode(), json.dumps(body).encode()])

    def test_what_cannot_be_read_costs_the_connection_and_no_more(self):
        client = self.client()
        for frames in ([b"nsp1.mark"], [b"nsp2.mark", b"{}"], [b"nsp1.mark", b"[]"], [b"nsp1.mark", b'{"at":'],
                       [b"nsp1.mark", b'{"at":NaN}'], [b"nsp1.\xff", b"{}"], [b"nsp1.x", b"[" * 100000]):
            peer = self.welcome()
            self.router.send_multipart([peer, *frames])
        self.welcome()
        eventually("connected", lambda: client.status == "connected")

    def test_requests_wait_for_room(self):
        client, large = self.client(), "x" * 60000
        self.welcome()
        calls = [client._engine.request("op", "kiosk", {"do": [{"push": {"screen": {"args": large}}}]}) for _ in range(60)]
        ids = []
        while len(ids) < len(calls):
            peer, frame, body = self.router.recv_multipart()
            if frame == b"nsp1.op":
                ids.append(json.loads(body)["id"])
                self.send(peer, "ok", {"id": ids[-1], "rev": len(ids)})
        self.assertEqual([wait(call, DEADLINE)["rev"] for call in calls], list(range(1, 61)))
        self.assertEqual(ids, sorted(ids))

    def test_a_process_without_descriptors_tries_again(self):
        real, faults = Link, []

        def fail(*arguments):
            if len(faults) < 3:
                faults.append(zmq.ZMQError(errno.EMFILE))
                raise faults[-1]
            return real(*arguments)
        with mock.patch("navd.shell.engine.Link", fail):
            client = self.client()
            self.welcome()
            eventually("connected", lambda: client.status == "connected")
        self.assertIn("Too many open files", client._engine.obstacle)

    def test_a_fault_of_the_package_ends_its_callers(self):
        with mock.patch("threading.excepthook") as hook:
            client = self.client()
            watch = client.watch("kiosk")
            other = Concurrently(next=lambda: next(watch))
            client._engine.cluster.tick = lambda now: 1 / 0
            client._engine.release()
            with self.assertRaises(NavigationError) as caught:
                other.result("next")
            self.assertEqual(caught.exception.code, "internal")
            eventually("the hook", lambda: hook.called)
        self.assertRaises(NavigationError, client.state, "kiosk")

    def test_a_client_that_is_closed_while_it_connects(self):
        client = self.client()
        other = Concurrently(ready=lambda: wait(client._engine.ready()))
        self.hello()
        client.close()
        with self.assertRaises(NavigationError) as caught:
            other.result("ready")
        self.assertEqual(caught.exception.code, "closed")

        async def attempt():
            return await navd.aio.connect(self.endpoint, within=0.01)
        with self.assertRaises(NavigationError) as caught:
            asyncio.run(attempt())
        self.assertEqual(caught.exception.code, "unreachable")
        self.assertEqual([each for each in threading.enumerate() if each.name == "navd"], [])


class Places(unittest.TestCase):
    def test_the_first_socket_that_may_be_trusted_is_taken(self):
        directory = Directory()
        self.addCleanup(directory.remove)
        os.mkdir(directory / "navd")
        environment = {"RUNTIME_DIRECTORY": directory.path, "XDG_RUNTIME_DIR": directory.path}
        with self.assertRaises(NavigationError):
            find_endpoint({**environment, "PATH": ""}, 54321)
        directory.write("navd.sock", "a file")
        with self.assertRaises(NavigationError) as caught:
            find_endpoint(environment, 54321)
        self.assertIn("navd.sock (not a socket)", caught.exception.message)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(directory / "navd/navd.sock")
            self.assertEqual(find_endpoint(environment, 54321), f"ipc://{directory / 'navd/navd.sock'}")

    def test_a_directory_in_tmp_that_another_user_made_is_skipped(self):
        user = os.geteuid() + 40000
        path = f"/tmp/navd-{user}"
        os.mkdir(path, 0o755)
        self.addCleanup(os.rmdir, path)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"{path}/navd.sock")
            self.addCleanup(os.unlink, f"{path}/navd.sock")
            with self.assertRaises(NavigationError) as caught:
                find_endpoint({}, user)
        self.assertIn("another user owns its directory", caught.exception.message)


if __name__ == "__main__":
    unittest.main()
