"""The package against the built navd as a black box: stacks, results, delegates, leases."""
import asyncio
import threading
import unittest
from unittest import mock

from setting import DEADLINE, Concurrently, eventually
from daemons import HOME, DaemonTest
import navd
import navd.aio
from navd import Guard, NavigationError, operations as op


class Stacks(DaemonTest):
    def test_a_watch_shows_each_revision_with_events_and_authors(self):
        watch = self.client.watch("kiosk", every_revision=True)
        first = watch.take(DEADLINE)
        self.assertEqual((first.rev, first.top.title, first.is_resynchronised), (1, "Home", True))
        wifi = navd.ScreenDescription(
            id="wifi", title="Wi-Fi", route="settings/wifi", args={"band": 5}, item=navd.ItemDescription(
                right_items=[navd.ButtonDescription(id="scan", title="Scan", action="wifi.scan")]))
        reply = self.client.perform("kiosk", [op.push(wifi)])
        state = watch.take(DEADLINE)
        self.assertEqual((state.rev, state.dig, state.top.id, state.depth), (reply.rev, reply.dig, "wifi", 2))
        self.assertEqual((state.top.args, state.top.route, state.cause, state.by.name),
                         ({"band": 5}, "settings/wifi", "api", "shell"))
        self.assertIn("didPush", [event.name for event in state.events])
        self.assertEqual((state.bar.title, state.bar.left[0].text, state.bar.right[0].title), ("Wi-Fi", "Home", "Scan"))
        self.client.perform("kiosk", [op.activate_button("scan")])
        pressed, = watch.take(DEADLINE).events
        self.assertEqual((pressed.name, pressed.details["action"]), ("buttonActivated", "wifi.scan"))

    def test_what_a_screen_reader_says_is_in_the_slots_the_menu_and_the_title(self):
        gear = navd.ButtonDescription(
            id="gear", image="gear", title="Setup", is_enabled=False, is_selected=True, accessibility_label="Settings",
            accessibility_hint="Opens them", accessibility_identifier="settings")
        self.client.perform("kiosk", [
            op.set_item("home", {"accessibilityLabel": "Start", "language": "fr"}),
            op.push(navd.ScreenDescription(
                id="wifi", title="Wi-Fi", accessibility_label="Page", language="de",
                item=navd.ItemDescription(right_items=[gear], accessibility_label="Wireless", language="en-GB")))])
        state = self.client.state("kiosk")
        back, button = state.bar.left[0], state.bar.right[0]
        self.assertEqual((back.accessibility_label, back.language), ("Start", "fr"))
        self.assertEqual((back.menu[0].accessibility_label, back.menu[0].language), ("Start", "fr"))
        self.assertEqual((button.title, button.is_enabled, button.is_selected, button.accessibility_label,
                          button.accessibility_hint, button.details["accessibilityIdentifier"]),
                         ("Setup", False, True, "Settings", "Opens them", "settings"))
        self.assertEqual((state.bar.title_accessibility_label, state.bar.title_language), ("Wireless", "en-GB"))
        with self.assertRaises(navd.NavigationError) as refused:
            self.client.perform("kiosk", [op.activate_button("gear")])
        self.assertEqual((refused.exception.code, refused.exception.reason), ("unknown-button", "disabled"))

    def test_a_slow_loop_gets_the_newest_state_and_all_events(self):
        watch = self.client.watch("kiosk")
        watch.take(DEADLINE)
        for index in range(20):
            self.client.perform("kiosk", [op.push({"id": f"s{index}x"})])
        state = watch.take(DEADLINE)
        self.assertEqual((state.depth, len([e for e in state.events if e.name == "didPush"])), (21, 20))

    def test_views(self):
        with self.client.watch("kiosk", view="top") as tops, self.client.watch("kiosk", view="bar") as bars:
            self.assertEqual(tops.take(DEADLINE).top.id, "home")
            self.assertEqual(bars.take(DEADLINE).bar.title, "Home")
            self.client.perform("kiosk", [op.set_title("home", "Start")])
            self.assertEqual(bars.take(DEADLINE).bar.title, "Start")

    def test_a_pop_takes_away_only_what_was_seen(self):
        self.client.perform("kiosk", [op.push({"id": "a"}), op.push({"id": "b"})])
        seen = self.client.state("kiosk")
        self.assertEqual(self.client.pop(seen).popped, ["b"])
        error = self.caught("desync", self.client.pop, seen)
        self.assertEqual((error.reason, error.top, error.retry, error.may_have_happened), ("top", "a", "resync", False))
        self.assertEqual((error.since.popped, error.since.name), ("b", "shell"))
        self.assertEqual(self.ids(), ["home", "a"])

    def test_a_removal_without_a_guard_is_refused(self):
        self.client.perform("kiosk", [op.push({"id": "a"})])
        for operation in (op.pop(), op.back_tap(), op.set_stack(["home"]), op.revert(1), op.close(),
                          op.replace({"id": "c"}), op.insert({"id": "c"}, at=1)):
            self.caught("guard-required", self.client.perform, "kiosk", [operation])
        self.assertEqual(self.ids(), ["home", "a"])
        self.client.perform("kiosk", [op.pop()], guard=Guard.override)
        self.assertEqual(self.ids(), ["home"])

    def test_guards(self):
        self.client.perform("kiosk", [op.push({"id": "a"}), op.present({"id": "p"}, style="formSheet")])
        state = self.client.state("kiosk")
        self.assertEqual((state.visible.id, state.presented[0].style), ("p", "formSheet"))
        guard = Guard.stack(state) & Guard.visible(state) & Guard.life(state)
        self.client.perform("kiosk", [op.dismiss(), op.set_stack(["home"])], guard=guard)
        self.caught("desync", self.client.perform, "kiosk", [op.push({"id": "b"})], guard=Guard.revision(state))
        self.caught("desync", self.client.perform, "kiosk", [op.push({"id": "b"})], guard={"top": None})
        self.client.perform("kiosk", [op.push({"id": "b"})], guard={"top": "home", "depth": 1, "has": ["home"]})

    def test_reads(self):
        log = self.client.get("kiosk", "log", limit=1)
        self.assertEqual(log["value"][0]["cause"], "api")
        self.assertEqual(self.client.get(None, "stats")["value"]["navs"], 1)
        self.assertEqual(self.client.get("kiosk", "state", at=1)["value"]["rev"], 1)
        self.assertEqual(self.client.get("kiosk", "screen", screen="home")["value"]["title"], "Home")
        self.assertGreater(self.client.ping(within=DEADLINE).t, 0)
        self.assertEqual(self.client.features, frozenset())

    def test_the_directory_of_navs(self):
        with self.client.watch("$navs") as watch:
            state = watch.take(DEADLINE)
            self.assertEqual(([each.id for each in state.screens], state.top, state.bar), (["kiosk"], None, None))

    def test_a_state_that_is_larger_than_a_message_comes_in_parts(self):
        for index in range(6):
            self.client.perform("kiosk", [op.push({"id": f"x{index}", "args": "y" * 60000})])
        state = self.client.state("kiosk", within=DEADLINE)
        self.assertEqual((state.depth, len(state.top.args)), (7, 60000))

    def test_a_watch_ends_when_its_nav_is_closed(self):
        watch = self.client.watch("kiosk")
        state = watch.take(DEADLINE)
        self.client.perform("kiosk", [op.close()], guard=Guard.stack(state))
        self.assertEqual(list(watch), [])
        self.caught("no-nav", next, self.client.watch("kiosk"))
        self.caught("no-nav", self.client.state, "kiosk")

    def test_threads_share_a_client(self):
        def work(number):
            nav = f"n{number % 4}"
            for turn in range(10):
                self.client.perform(nav, [op.push({"id": f"t{number}.{turn}"})])
                state = self.client.state(nav)
                assert f"t{number}.{turn}" in {screen.id for screen in state.screens}, state
        for number in range(4):
            self.client.perform(f"n{number}", [op.create(HOME)])
        threads = Concurrently(**{f"t{number}": lambda number=number: work(number) for number in range(8)})
        with self.client.watch("n0", every_revision=True) as watch:
            while watch.take(DEADLINE).depth < 21:
                pass
        for name in list(threads.threads):
            threads.result(name)
        self.assertEqual(self.client.state("n3").rev, 21)

    def test_a_loop_that_another_thread_closes_ends(self):
        watch = self.client.watch("kiosk")
        watch.take(DEADLINE)
        other = Concurrently(loop=lambda: list(watch))
        eventually("the loop waits", lambda: watch._subscription._reader is not None)
        watch.close()
        self.assertEqual(other.result("loop"), [])
        eventually("the watch is over", lambda: self.daemon.control.get(None, "stats")["watches"] == 0)


class Transitions(DaemonTest):
    def test_an_operation_waits_for_a_transition(self):
        self.client.perform("kiosk", [op.configure({"transitionDeadline": 60000})])
        self.client.perform("kiosk", [op.push({"id": "a"})], animated=True)
        state = self.client.state("kiosk")
        self.assertTrue(state.is_moving)
        error = self.caught("transition-in-progress", self.client.perform, "kiosk", [op.push({"id": "b"})])
        self.assertGreater(error.after, 0)
        queued, seen = threading.Event(), []

        def note(position):
            # It may use the client, and a fault of it is none of the client.
            seen.append((position, self.client.state("kiosk").is_moving))
            queued.set()
            raise ValueError
        with mock.patch("threading.excepthook"):
            other = Concurrently(push=lambda: self.client.perform(
                "kiosk", [op.push({"id": "b"})], on_busy="queue", on_queued=note))
            self.assertTrue(queued.wait(DEADLINE))
        self.assertEqual(seen, [(1, True)])
        self.client.perform("kiosk", [op.complete_transition(state.part("transition")["tid"])])
        self.assertEqual(other.result("push").top, "b")

    def test_a_call_that_waits_too_long_fails(self):
        self.client.perform("kiosk", [op.configure({"transitionDeadline": 60000})])
        self.client.perform("kiosk", [op.push({"id": "a"})], animated=True)
        error = self.caught(
            "expired", self.client.perform, "kiosk", [op.push({"id": "b"})], on_busy="queue", within=0.2)
        self.assertEqual((error.may_have_happened, error.nav), (True, "kiosk"))
        self.client.perform("kiosk", [op.complete_transition(self.client.state("kiosk").part("transition")["tid"])])
        self.assertEqual(self.ids(), ["home", "a"])


class Results(DaemonTest):
    def test_a_screen_gives_its_result(self):
        choice = self.client.result("kiosk", "picker")
        self.client.perform("kiosk", [op.push({"id": "picker"})])
        self.client.pop(self.client.state("kiosk"), result={"network": "attic"})
        self.assertEqual(choice.wait(DEADLINE), {"network": "attic"})

    def test_a_presented_screen_gives_its_result_at_the_end_of_the_transition(self):
        pin = self.client.result("kiosk", "pin")
        self.client.perform("kiosk", [op.present({"id": "pin"})])
        self.client.perform("kiosk", [op.dismiss(result="0000")], animated=True)
        self.client.perform("kiosk", [op.complete_transition(self.client.state("kiosk").part("transition")["tid"])])
        self.assertEqual(pin.wait(DEADLINE), "0000")

    def test_a_screen_that_goes_otherwise_gives_none(self):
        gone = self.client.result("kiosk", "a")
        self.client.perform("kiosk", [op.push({"id": "a"})])
        self.client.perform("kiosk", [op.set_stack(["home"])], guard=Guard.stack(self.client.state("kiosk")))
        self.assertIsNone(gone.wait(DEADLINE))
        self.caught("expired", self.client.result("kiosk", "never").wait, 0.05)

    def test_a_wait_that_was_left_goes_on_in_the_next_one(self):
        self.caught("expired", (choice := self.client.result("kiosk", "picker")).wait, 0.001)
        self.client.perform("kiosk", [op.push({"id": "picker"})])
        self.caught("expired", choice.wait, 0.001)
        self.client.pop(self.client.state("kiosk"), result=7)
        self.assertEqual([choice.wait(DEADLINE), choice.wait(DEADLINE)], [7, 7])

        async def main():
            async with navd.aio.connect(self.daemon.endpoint, within=DEADLINE) as client:
                picked = client.result("kiosk", "picker")

                async def attempt():
                    try:
                        async with asyncio.timeout(0.001):
                            return await picked
                    except TimeoutError:
                        return None
                self.assertIsNone(await attempt())
                await client.perform("kiosk", [op.push({"id": "picker"})])
                self.assertIsNone(await attempt())
                await client.pop(await client.state("kiosk"), result=8)
                return [await picked, await picked]
        self.assertEqual(asyncio.run(main()), [8, 8])


class Delegates(DaemonTest):
    def test_a_veto(self):
        other, seen = self.connect("delegate"), []

        def veto(question):
            seen.append((question.kind, question.screen, question.cause, question.is_over))
            return question.screen != "editor" or question.kind == "shouldPush"
        duty = other.delegate("kiosk", veto=veto)
        self.client.perform("kiosk", [op.push({"id": "editor"})])
        error = self.caught("vetoed", self.client.pop, self.client.state("kiosk"))
        self.assertEqual(error.members["by"], "delegate")
        self.assertEqual(seen, [("shouldPush", "editor", None, False), ("shouldPop", "editor", "api", False)])
        duty.end()
        self.assertEqual((duty.lost.code, duty.is_held), ("closed", False))
        # The daemon gets the end of the roles a little later.
        eventually("a pop", lambda: self.attempt(self.client.pop, self.client.state("kiosk")))

    def test_a_delegate_that_fails_is_reported_and_the_settings_decide_at_once(self):
        self.client.perform("kiosk", [op.configure({"veto": {"deadline": 60000, "policy": "deny"}})])

        def veto(question):
            raise RuntimeError("boom")
        other = self.connect("delegate")
        with mock.patch("threading.excepthook") as hook:
            duty = other.delegate("kiosk", veto=veto)
            self.caught("delegate-timeout", self.client.perform, "kiosk", [op.push({"id": "a"})])
            eventually("the report", lambda: hook.called)
        self.assertIs(hook.call_args[0][0].exc_type, RuntimeError)
        duty.end()

        async def main():
            reports = []
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: reports.append(context))
            async with navd.aio.connect(self.daemon.endpoint, within=DEADLINE) as client:
                await client.delegate("kiosk", veto=veto)
                await client.delegate("kiosk", veto=lambda question: "yes")
                for kind in (TypeError, RuntimeError):
                    with self.assertRaises(NavigationError) as caught:
                        await client.perform("kiosk", [op.push({"id": "a"})])
                    self.assertEqual(caught.exception.code, "delegate-timeout")
                    self.assertIsInstance(reports.pop()["exception"], kind)
                    await client.delegate("kiosk", veto=veto)
        asyncio.run(main())

    def test_silence_is_no_answer(self):
        self.client.perform("kiosk", [op.configure({"veto": {"deadline": 200, "policy": "deny"}})])
        over, other = threading.Event(), self.connect("delegate")

        def veto(question):
            question.when_over(over.set)
            over.wait(DEADLINE)
        other.delegate("kiosk", veto=veto)
        self.caught("delegate-timeout", self.client.perform, "kiosk", [op.push({"id": "a"})])
        self.assertTrue(over.wait(DEADLINE))

    def test_an_animator_and_orientations(self):
        other = self.connect("delegate")
        other.delegate("kiosk", animator=lambda question: navd.Animation("slide", 0.3),
                       interaction=lambda question: "finger",
                       orientations=navd.Orientations(["portrait", "landscapeLeft"], "portrait"))
        self.client.perform("kiosk", [op.push({"id": "a"})], animated=True)
        state = self.client.state("kiosk")
        transition = state.part("transition")
        found = transition["animator"], transition["duration"], transition["driver"]
        self.assertEqual(found, ("slide", 300, "finger"))
        self.assertEqual(state.part("environment")["orientations"]["preferred"], "portrait")


class Leases(DaemonTest):
    def test_one_client_holds_the_display(self):
        first, second = self.connect("first"), self.connect("second")
        with first.lease("kiosk") as lease:
            self.assertTrue(lease.is_held)
            error = self.caught("lease-lost", second.lease, "kiosk")
            self.assertEqual(error.owner, "first")
            self.caught("lease-lost", second.perform, "kiosk", [op.set_environment({"scale": 3})])
            first.perform("kiosk", [op.set_environment({"scale": 3})])
        # The display is given back without waiting for the daemon.
        lease = eventually("the display is free", lambda: self.attempt(second.lease, "kiosk"))
        lease.end()

    def test_a_display_that_is_taken_by_force_is_reported_at_once(self):
        first, second = self.connect("first"), self.connect("second")
        lease = first.lease("kiosk")
        taken = second.lease("kiosk", force=True)
        error = lease.wait_lost(DEADLINE)
        self.assertEqual((error.code, error.owner, lease.is_held), ("lease-lost", "second", False))
        taken.end()
        # It does not come back by itself.
        self.daemon.kill()
        self.daemon.start()
        first.ping()
        self.assertIsNone(self.daemon.control.get("kiosk")["environment"].get("owner"))

    def test_a_lease_ends_with_its_nav(self):
        lease = self.client.lease("kiosk")
        self.client.perform("kiosk", [op.close()], guard=Guard.override)
        self.assertEqual(lease.wait_lost(DEADLINE).code, "no-nav")

    def test_a_second_call_replaces_the_first(self):
        first = self.client.lease("kiosk")
        second = self.client.lease("kiosk")
        self.assertEqual((first.lost.code, second.is_held), ("replaced", True))


class Refusals(DaemonTest):
    def test_what_navctl_reads_leaves_no_refusal(self):
        """The daemon keeps the last 256 refusals, for who looks for a reason."""
        for words in ("list", "list --clients", "status", "doctor", "show kiosk", "verify", "log kiosk", "history kiosk",
                      "why kiosk", "config", "config origin", "stats", "wait kiosk --depth 1", "watch kiosk --count 1"):
            self.daemon.navctl(*words.split())
        self.assertEqual(self.daemon.control.get(what="refusals"), [])
        self.assertIsNone(self.client.get(None, "cluster").get("value"))

    def test_after_a_restart_navctl_lists_where_each_nav_is(self):
        self.client.perform("kiosk", [op.push({"id": "wifi"})])
        self.client.close()
        self.daemon.kill()
        self.daemon.start()
        line = next(line for line in self.daemon.navctl("list")[1].splitlines() if line.startswith("kiosk"))
        self.assertEqual(line.split()[:4], ["kiosk", "2", "2", "wifi"])


if __name__ == "__main__":
    unittest.main()
