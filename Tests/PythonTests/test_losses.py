"""The package against a navd that ends, hangs and comes back; the interface for asyncio."""
import asyncio
import gc
import itertools
import signal
import subprocess
import sys
import threading
import unittest

from setting import DEADLINE, PACKAGE, Concurrently, Process, eventually
from daemons import DaemonTest
import navd
from navd import NavigationError, operations as op


class Losses(DaemonTest):
    def test_every_op_happens_once_over_kills(self):
        watch = self.client.watch("kiosk", every_revision=True)
        seen = [watch.take(DEADLINE).rev]
        other = Concurrently(read=lambda: seen.extend(state.rev for state in watch))
        wanted, replies = ["home"], []

        def push():
            for turn in range(60):
                wanted.append(f"p{turn}")
                replies.append(self.client.perform("kiosk", [op.push({"id": wanted[-1]})]))
        pushes = Concurrently(push=push)
        for count in (10, 25, 40):
            eventually("some pushes", lambda: len(replies) >= count)
            self.daemon.kill()
            self.daemon.start()
        pushes.result("push")
        self.assertEqual(self.ids(), wanted)
        self.assertEqual([reply.rev for reply in replies], list(range(2, 62)))
        eventually("all revisions", lambda: seen[-1] == 61)
        # A watch resumes behind the last state, so no revision comes twice or is missing.
        self.assertEqual(seen, list(range(1, 62)))
        watch.close()
        other.result("read")

    def test_a_tap_while_the_daemon_is_away_never_happens(self):
        self.client.perform("kiosk", [op.push({"id": "a"})])
        self.daemon.kill()
        for operation in (op.back_tap(), op.activate_button("b"), op.finish_gesture()):
            error = self.caught("expired", self.client.perform, "kiosk", [operation], guard={"top": "a"})
            self.assertFalse(error.may_have_happened)
        self.daemon.start()
        self.client.state("kiosk", within=DEADLINE)
        self.assertEqual(self.ids(), ["home", "a"])

    def test_a_watch_waits_for_its_nav_and_for_the_next_one(self):
        for view in ("full", "top"):
            with self.subTest(view):
                nav = f"later/{view}"
                loop = self.client.watch(nav, view=view, wait=True)
                maker = self.connect("maker")
                self.caught("no-nav", self.client.watch(nav, view=view).take, DEADLINE)
                self.daemon.kill()
                self.daemon.start()
                maker.perform(nav, [op.create({"id": "home"})])
                self.assertEqual(loop.take(DEADLINE).rev, 1)
                maker.perform(nav, [op.close()], guard=navd.Guard.override)
                maker.perform(nav, [op.create({"id": "again"})])
                self.assertEqual(loop.take(DEADLINE).top.id, "again")
                loop.close()

    def test_roles_and_leases_come_back(self):
        self.client.delegate("kiosk", veto=lambda question: question.kind == "shouldPush")
        lease = self.client.lease("kiosk")
        passing = self.connect("passing").lease
        self.client.perform("kiosk", [op.push({"id": "a"})])
        self.daemon.kill()
        eventually("interrupted", lambda: not lease.is_held)
        self.daemon.start()
        eventually("held again", lambda: lease.is_held)
        self.caught("vetoed", self.client.pop, self.client.state("kiosk"))
        self.caught("lease-lost", passing, "kiosk")

    def test_a_lease_that_is_not_kept_ends_with_the_connection(self):
        lease = self.client.lease("kiosk", keeping=False)
        self.daemon.kill()
        self.assertEqual(lease.wait_lost(DEADLINE).code, "lease-lost")
        self.daemon.start()

    def test_the_status_reports_the_loss(self):
        statuses = self.client.statuses()
        self.assertEqual(next(statuses), "connected")
        state = self.client.state("kiosk")
        watch = self.client.watch("kiosk")
        watch.take(DEADLINE)
        self.daemon.kill()
        self.assertEqual(statuses.take(DEADLINE), "disconnected")
        error = self.caught("unreachable", self.client.pop, state)
        self.assertEqual(error.message, "the connection is lost, and the client connects again; decide again on the next"
                                        " state of kiosk")
        self.assertEqual((error.reason, error.retry, error.may_have_happened), (None, "resync", False))
        expired = self.caught("expired", self.client.perform, "kiosk", [op.push({"id": "x"})], within=0.05)
        self.assertFalse(expired.may_have_happened)
        self.daemon.start()
        self.assertEqual(statuses.take(DEADLINE), "connected")
        self.assertEqual(self.ids(), ["home"])
        self.client.close()
        self.assertEqual(list(statuses), ["closed"])

    def test_a_guard_of_a_client_that_was_closed_promises_no_connection(self):
        state = self.client.state("kiosk")
        watch = self.client.watch("kiosk")
        watch.take(DEADLINE)
        self.daemon.kill()
        eventually("lost", lambda: self.client._engine.cluster.is_lost("kiosk"))
        self.client.close()
        self.assertEqual(self.caught("closed", self.client.pop, state).retry, "no")
        self.daemon.start()

    def test_a_daemon_that_hangs_counts_as_lost(self):
        client = self.connect("impatient", heartbeat=1.0)
        statuses = client.statuses()
        next(statuses)
        self.daemon.process.signal(signal.SIGSTOP)
        self.assertEqual(statuses.take(DEADLINE), "disconnected")
        self.daemon.process.signal(signal.SIGCONT)
        self.assertEqual(statuses.take(DEADLINE), "connected")

    def test_what_is_under_way_fails_when_the_client_is_closed(self):
        self.daemon.kill()
        other = Concurrently(push=lambda: self.client.perform("kiosk", [op.push({"id": "x"})]))
        eventually("it waits", lambda: self.client._engine._requests)
        self.client.close()
        error = self.caught("closed", other.result, "push")
        self.assertFalse(error.may_have_happened)
        self.caught("closed", self.client.state, "kiosk")
        self.caught("closed", next, self.client.watch("kiosk"))
        self.daemon.start()

    def test_a_client_without_a_daemon_says_why(self):
        for within in (0.2, 2, 20):
            error = self.caught("unreachable", navd.connect, self.daemon.endpoint + "-none", within=within)
            if "nothing listens at" in error.message:
                break
        self.assertIn("nothing listens at", error.message)


class Ends(DaemonTest):
    def stats(self, name):
        return self.daemon.control.get(None, "stats")[name]

    def test_a_client_that_nobody_has_any_more_ends(self):
        watch = navd.connect(self.daemon.endpoint, within=DEADLINE).watch("kiosk")
        watch.take(DEADLINE)
        # The loop keeps its client.
        gc.collect()
        self.assertEqual((self.stats("sessions"), watch._client.status), (2, "connected"))
        before = set(threading.enumerate())
        del watch
        gc.collect()
        eventually("its session is over", lambda: self.stats("sessions") == 1)
        eventually("its thread is over", lambda: len(before & set(threading.enumerate())) == len(before) - 1)

    def test_a_loop_that_nobody_has_any_more_ends_its_watch(self):
        for _ in self.client.watch("kiosk"):
            break
        gc.collect()
        eventually("no watch", lambda: self.stats("watches") == 0)

    def test_a_person_interrupts_a_loop(self):
        code = "import navd; watch = navd.connect().watch('kiosk'); print(next(watch).rev, flush=True); next(watch)"
        log = self.daemon.directory / "program.log"
        program = Process(["env", "--default-signal=INT", sys.executable, "-c", code], log, environment={
            "PYTHONPATH": PACKAGE, "NAVD_ENDPOINT": self.daemon.endpoint, "PYTHONDONTWRITEBYTECODE": "1"})
        program.says("1\n")
        program.signal(signal.SIGINT)
        self.assertEqual(program.ended(), -signal.SIGINT)
        self.assertIn("KeyboardInterrupt", program.log())

    def test_a_program_that_ends_without_a_word_ends_its_client(self):
        code = "import navd; client = navd.connect(); print(client.state('kiosk').rev)"
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=DEADLINE,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": PACKAGE, "NAVD_ENDPOINT": self.daemon.endpoint,
                 "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))
        eventually("its session is over", lambda: self.stats("sessions") == 1)


class Asyncio(DaemonTest):
    def test_the_interface_for_asyncio(self):
        asyncio.run(asyncio.wait_for(self.session(), DEADLINE))

    async def session(self):
        async with navd.aio.connect(self.daemon.endpoint, name="async") as client:
            states = []

            async def follow():
                async for state in client.watch("kiosk", every_revision=True):
                    states.append(state)
            follower = asyncio.create_task(follow())
            await client.perform("kiosk", [op.push({"id": "a"}), op.push({"id": "b"})])
            choice = client.result("kiosk", "c")
            await client.perform("kiosk", [op.push({"id": "c"})])
            await client.pop(await client.state("kiosk"), result=[1])
            self.assertEqual(await choice, [1])
            asked = []

            async def veto(question):
                asked.append(question.screen)
                return False
            async with await client.delegate("kiosk", veto=veto):
                with self.assertRaises(NavigationError) as caught:
                    await client.pop(await client.state("kiosk"))
            self.assertEqual((caught.exception.code, asked), ("vetoed", ["b"]))
            lease = await client.lease("kiosk")
            taken = await asyncio.to_thread(self.client.lease, "kiosk", force=True)
            self.assertEqual((await lease.wait_lost()).code, "lease-lost")
            taken.end()
            self.assertEqual((await client.get("kiosk", "stats"))["value"]["depth"], 3)
            self.assertTrue((await client.ping()).boot)
            statuses = client.statuses()
            self.assertEqual(await anext(statuses), "connected")
            await client.close()
            self.assertEqual([status async for status in statuses], ["closed"])
            with self.assertRaises(NavigationError):
                await follower
            tops = [top for top, _ in itertools.groupby(state.top.id for state in states)]
            self.assertEqual(tops[-3:], ["b", "c", "b"])

    def test_a_call_that_is_cancelled_does_not_wait(self):
        async def session():
            client = await navd.aio.connect(self.daemon.endpoint, name="async")
            watch = client.watch("kiosk")
            await anext(watch)
            for _ in range(3):
                with self.assertRaises(TimeoutError):
                    await asyncio.wait_for(anext(watch), 0.02)
            await client.perform("kiosk", [op.push({"id": "a"})])
            self.assertEqual((await anext(watch)).top.id, "a")
            self.daemon.kill()
            task = asyncio.create_task(client.perform("kiosk", [op.push({"id": "b"})]))
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(client._engine._requests, {})
            self.daemon.start()
            await client.close()
        asyncio.run(asyncio.wait_for(session(), DEADLINE))
        self.assertEqual(self.ids(), ["home", "a"])

    def test_a_question_that_is_over_cancels_its_coroutine(self):
        self.client.perform("kiosk", [op.configure({"veto": {"deadline": 100, "policy": "allow"}})])

        async def session():
            cancelled = asyncio.Event()

            async def veto(question):
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    cancelled.set()
                    raise
            async with navd.aio.connect(self.daemon.endpoint, name="async") as client:
                await client.delegate("kiosk", veto=veto)
                await client.perform("kiosk", [op.push({"id": "a"})])
                await cancelled.wait()
        asyncio.run(asyncio.wait_for(session(), DEADLINE))


if __name__ == "__main__":
    unittest.main()
