"""Children of fork: the parent's client is `forked` at once, and another client works."""
import asyncio
import ctypes
import multiprocessing
import os
import signal
import traceback
import unittest

from daemons import DaemonTest
from setting import DEADLINE
import navd
from navd import operations as op

#: What a child does at most; a call that hangs ends it.
SECONDS = int(DEADLINE)


def in_child(body, fork=os.fork):
    """Returns the status of a child that runs a function: 0 if it raises nothing."""
    child = fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(SECONDS)
            body()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def push(endpoint, screen):
    """What a worker of multiprocessing does."""
    with navd.connect(endpoint, within=DEADLINE) as client:
        return client.perform("kiosk", [op.push({"id": screen})]).top


class Forks(DaemonTest):
    def test_each_call_of_the_parents_client_is_forked_at_once(self):
        watch, statuses, client = self.client.watch("kiosk"), self.client.statuses(), self.client
        state, lease = watch.take(DEADLINE), client.lease("kiosk")
        other = self.connect("asyncio")

        async def of_asyncio():
            loop = await navd.aio.connect(self.daemon.endpoint, within=DEADLINE)
            def body():
                self.caught("forked", lambda: asyncio.run(loop.perform("kiosk", [op.pop_to_root()])))
                self.assertEqual(loop.status, "closed")
            self.assertEqual(in_child(body), 0)
            await loop.close()

        def body():
            for call in (
                lambda: client.perform("kiosk", [op.pop_to_root()]), lambda: client.pop(state),
                lambda: client.state("kiosk"), lambda: client.state("kiosk", within=60),
                lambda: client.get("kiosk"), client.ping, client.statuses, lambda: next(watch),
                lambda: watch.take(60), lambda: next(statuses), lambda: client.watch("kiosk"),
                lambda: client.result("kiosk", "home"), lambda: client.lease("kiosk"),
                lambda: client.delegate("kiosk", veto=bool), lambda: other.ping(within=60),
            ):
                error = self.caught("forked", call)
                self.assertFalse(error.may_have_happened)
            self.assertEqual((client.status, lease.is_held, lease.wait_lost().code), ("closed", False, "forked"))
            # All that frees is allowed, and does nothing to the parent.
            for free in (watch.close, statuses.close, lease.end, client.close, other.close):
                free()
        self.assertEqual(in_child(body), 0)
        asyncio.run(of_asyncio())
        self.assertEqual((self.client.state("kiosk").screens[-1].id, lease.is_held), ("home", True))
        self.client.perform("kiosk", [op.push({"id": "later"})])
        self.assertEqual(watch.take(DEADLINE).screens[-1].id, "later")

    def test_another_client_works_in_a_child_and_in_its_child(self):
        def body():
            self.assertEqual(push(self.daemon.endpoint, "child"), "child")
            client = navd.connect(self.daemon.endpoint, within=DEADLINE)
            def deeper():
                self.caught("forked", client.ping)
                self.assertEqual(push(self.daemon.endpoint, "grandchild"), "grandchild")
            self.assertEqual(in_child(deeper), 0)
            client.ping()

            async def of_asyncio():
                async with navd.aio.connect(self.daemon.endpoint, within=DEADLINE) as loop:
                    return (await loop.state("kiosk")).screens[-1].id
            self.assertEqual(asyncio.run(of_asyncio()), "grandchild")
        self.assertEqual(in_child(body), 0)
        self.assertEqual(self.ids(), ["home", "child", "grandchild"])

    def test_a_fork_that_python_does_not_see_is_one(self):
        def body():
            self.caught("forked", self.client.ping)
            self.assertEqual(push(self.daemon.endpoint, "c"), "c")
        self.assertEqual(in_child(body, ctypes.PyDLL(None).fork), 0)

    def test_multiprocessing_with_fork(self):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            tops = pool.starmap(push, [(self.daemon.endpoint, f"s{number}") for number in range(4)])
        self.assertEqual(sorted(tops), ["s0", "s1", "s2", "s3"])
        self.client.ping()

    def test_a_program_becomes_a_daemon_after_it_has_connected(self):
        reading, writing = os.pipe()

        def body():
            client = navd.connect(self.daemon.endpoint, within=DEADLINE)
            if os.fork() > 0:
                os._exit(0)
            os.setsid()
            self.caught("forked", client.ping)
            client.close()
            os.write(writing, push(self.daemon.endpoint, "daemon").encode())
        self.assertEqual(in_child(body), 0)
        self.assertEqual(os.read(reading, 100), b"daemon")
        os.close(reading)
        os.close(writing)

    def test_a_fork_while_other_threads_hold_the_lock(self):
        for _ in range(20):
            self.client._engine.turns._lock.acquire()
            try:
                self.assertEqual(in_child(lambda: self.caught("forked", self.client.ping)), 0)
            finally:
                self.client._engine.turns._lock.release()

    def test_the_garbage_collector_frees_a_parents_client_in_a_child(self):
        def body():
            import gc
            del self.client
            self._cleanups.clear()
            gc.collect()
            self.assertEqual(push(self.daemon.endpoint, "x"), "x")
        self.assertEqual(in_child(body), 0)
        self.client.ping()


if __name__ == "__main__":
    unittest.main()
