"""libnavd beside the built daemon: watches, changes, guards, decisions, losses."""
import os
import unittest

import navdlib as navd
from harness import Daemon, eventually
from navdlib import ACTIVITY, ANSWER, CONNECTED, DISCONNECTED, DISPLAY, ENDED, QUESTION, RESULT, ROLES, SETTLED, STATE

WIFI = {"push": {"screen": {"id": "wifi", "title": "Wi-Fi"}}}
POP = {"pop": {}}


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.daemon.control.create("kiosk")

    def connect(self, **options):
        client = navd.Client(self.daemon.endpoint, **options)
        self.addCleanup(client.close)
        return client

    def watching(self, name="test"):
        client = self.connect(name=name)
        client.watch("kiosk")
        return client, client.shown("kiosk", "home")

    def refused(self, code, function, *arguments, **options):
        with self.assertRaises(navd.Failure) as caught:
            function(*arguments, **options)
        self.assertEqual(caught.exception.code, code)
        self.assertTrue(caught.exception.advice and caught.exception.message)
        return caught.exception


class ChangeTests(DaemonTest):
    def test_a_watch_shows_every_change_with_its_events(self):
        client, state = self.watching()
        self.assertEqual((state["kind"], state["rev"]), ("controller", 1))
        self.daemon.control.op("kiosk", WIFI)
        event = client.until("the push", lambda e: e.kind == STATE)
        self.assertEqual([screen["id"] for screen in event.json["screens"]], ["home", "wifi"])
        self.assertEqual(event.json["resolved"]["middle"]["title"], "Wi-Fi")
        self.assertEqual((event.change["base"], event.change["cause"], event.change["by"]["name"]),
                         (1, "api", "control"))
        self.assertIn({"didPush": {"screen": "wifi"}}, event.change["ev"])
        client.unwatch("kiosk")
        self.assertIsNone(client.state("kiosk"))
        self.daemon.control.op("kiosk", {"popToRoot": {}})
        client.get("kiosk")
        client.pump()
        self.assertEqual([e for e in client.events if e.kind == STATE], [])

    def test_a_pop_takes_only_what_was_seen(self):
        client, state = self.watching()
        reply = client.perform("kiosk", WIFI)
        self.assertEqual((reply["rev"], reply["top"], reply["out"]), (2, "wifi", [{"id": "wifi"}]))
        seen = client.shown("kiosk", "home", "wifi")
        self.daemon.control.op("kiosk", POP)
        client.shown("kiosk", "home")
        error = self.refused("desync", client.perform, "kiosk", POP, guard=client.guard(seen))
        self.assertEqual((error.status, error.retry, error.may_have_happened), (navd.REFUSED, 2, 0))
        self.assertEqual((error.body["top"], error.body["since"]["by"]["name"]), ("home", "control"))
        self.refused("guard-required", client.perform, "kiosk", POP)
        for what in ("top", "stack", "rev", "visible", "epoch"):
            guard = client.guard(client.state("kiosk"), what)
            self.assertEqual(guard["epoch"], state["epoch"])
            client.perform("kiosk", {"screen.set": {"screen": "home", "title": what}}, guard=guard)
            client.until(what, lambda e: e.kind == STATE and e.json["screens"][0]["title"] == what)
        self.assertEqual(client.state("kiosk")["rev"], 8)

    def test_a_submitted_change_is_answered_after_its_own_state(self):
        client, state = self.watching()
        first = client.submit("kiosk", WIFI, guard={"top": "home"}, flags=navd.ANIMATED, within=60000)
        second = client.submit("kiosk", POP, guard={"top": "wifi"})
        self.assertGreater(second, first)
        kinds = []
        answer = client.until("an answer", lambda e: kinds.append(e.kind) or e.kind == ANSWER)
        self.assertEqual((answer.id, answer.json["top"], answer.error), (first, "wifi", None))
        self.assertIn(STATE, kinds)
        answer = client.of_kind(ANSWER)
        self.assertEqual((answer.id, answer.error.code), (second, "transition-in-progress"))
        client.perform("kiosk", {"transition.complete": {"tid": 2}})
        queued = client.submit("kiosk", WIFI)
        self.assertEqual(client.of_kind(ANSWER).error.code, "duplicate-screen")
        self.assertGreater(queued, second)

    def test_values_are_read(self):
        client, state = self.watching()
        self.assertEqual(client.get("kiosk")["dig"], state["dig"])
        self.assertEqual([entry["rev"] for entry in client.get("kiosk", "log")], [1])
        self.assertIn("sessions", client.get(None, "stats"))
        self.refused("no-nav", client.get, "another")
        self.refused("misuse", client.get, "kiosk", "everything")

    def test_a_watch_ends_with_its_nav_and_with_a_nav_that_is_none(self):
        client, state = self.watching()
        client.await_result("kiosk", "home")
        self.daemon.control.op("kiosk", {"nav.close": {}})
        self.assertEqual(client.of_kind(RESULT).json, {"screen": "home"})
        self.assertEqual(client.of_kind(ENDED, "kiosk").error.code, "closed")
        self.assertIsNone(client.state("kiosk"))
        client.watch("kiosk")
        self.assertEqual(client.of_kind(ENDED, "kiosk").error.code, "no-nav")
        self.daemon.control.create("kiosk")
        client.watch("kiosk")
        client.watch("kiosk")
        client.shown("kiosk", "home")

    def test_events_without_a_revision_arrive(self):
        client, state = self.watching()
        client.perform("kiosk", {"item.set": {"screen": "home", "rightItems": [
            {"id": "scan", "title": "Scan", "action": "scan"}]}})
        self.daemon.control.op("kiosk", {"button.activate": {"button": "scan"}})
        self.assertEqual(client.of_kind(ACTIVITY).json["ev"], [{"buttonActivated": {"button": "scan", "action": "scan"}}])

    def test_a_slow_program_catches_up(self):
        client, state = self.watching()
        for number in range(1500):
            self.daemon.control.op("kiosk", {"screen.set": {"screen": "home", "title": f"{number:01000}"}})
        rev, digest = self.daemon.control.position("kiosk")
        last = client.until("the end", lambda e: e.kind == STATE and e.json["rev"] == rev)
        self.assertEqual(last.json["dig"], digest)
        self.assertEqual(client.is_synced("kiosk"), 1)


class DecisionTests(DaemonTest):
    def test_a_delegate_decides(self):
        shell, state = self.watching("shell")
        remote, _ = self.watching("remote")
        shell.delegate("kiosk", "veto")
        self.assertEqual(shell.of_kind(ROLES).json, {"status": "active", "roles": ["veto"]})
        for value, outcome in ((False, "denied"), (True, "allowed")):
            remote.submit("kiosk", WIFI)
            question = shell.of_kind(QUESTION)
            self.assertEqual((question.nav, question.json["kind"], question.json["screen"]),
                             ("kiosk", "shouldPush", "wifi"))
            shell.answer(question.id, value)
            settled = shell.of_kind(SETTLED)
            self.assertEqual((settled.id, settled.json["outcome"]), (question.id, outcome))
            answer = remote.of_kind(ANSWER)
            self.assertEqual(answer.error.code if answer.error else None, None if value else "vetoed")
        shell.answer(question.id, True)
        shell.delegate("kiosk")
        self.assertEqual(shell.of_kind(ROLES).json["status"], "ended")
        remote.perform("kiosk", {"popToRoot": {}})
        shell.delegate("another", "veto")
        self.assertEqual(shell.of_kind(ROLES).error.code, "no-nav")

    def test_one_client_holds_the_display(self):
        one, two = self.connect(name="one"), self.connect(name="two")
        one.lease("kiosk")
        self.assertEqual(one.of_kind(DISPLAY).json, {"status": "active", "owner": "one"})
        two.lease("kiosk")
        event = two.of_kind(DISPLAY)
        self.assertEqual((event.json["status"], event.error.code), ("ended", "lease-lost"))
        two.lease("kiosk", navd.FORCE)
        self.assertEqual(two.of_kind(DISPLAY).json["status"], "active")
        event = one.of_kind(DISPLAY)
        self.assertEqual((event.json["status"], event.error.code), ("ended", "lease-lost"))
        two.lease("kiosk", navd.RELEASE)
        self.assertEqual((two.of_kind(DISPLAY).json["status"], two.events), ("ended", []))

    def test_a_screen_gives_its_result(self):
        client, state = self.watching()
        client.await_result("kiosk", "wifi")
        client.perform("kiosk", WIFI)
        client.shown("kiosk", "home", "wifi")
        client.perform("kiosk", {"pop": {"result": {"ssid": "attic"}}}, guard={"top": "wifi"})
        self.assertEqual(client.of_kind(RESULT).json, {"screen": "wifi", "result": {"ssid": "attic"}})
        # Presented screens too, and one that was there before the call.
        client.perform("kiosk", {"present": {"screen": {"id": "pin"}}})
        client.until("pin", lambda e: e.kind == STATE and e.json["presented"].get("chain"))
        client.await_result("kiosk", "pin")
        client.perform("kiosk", {"dismiss": {}})
        self.assertEqual(client.of_kind(RESULT).json, {"screen": "pin"})


class LossTests(DaemonTest):
    def test_a_client_goes_on_after_the_daemon_was_killed(self):
        client, state = self.watching()
        client.lease("kiosk", kept=1)
        client.delegate("kiosk", "veto")
        client.until("the display", lambda e: e.kind == DISPLAY and e.json["status"] == "active")
        eventually("its state", lambda: client.pump() or client.state("kiosk")["environment"].get("owner"))
        seen = client.state("kiosk")
        self.daemon.kill()
        client.of_kind(DISCONNECTED)
        self.assertEqual((client.is_synced("kiosk"), client.state("kiosk")), (0, seen))
        lost = self.refused("unreachable", client.guard, seen)
        self.assertEqual((lost.status, lost.retry, lost.may_have_happened), (navd.UNREACHABLE, 2, 0))
        self.assertIn("decide again on the next state of kiosk", lost.message)
        number = client.submit("kiosk", {"screen.set": {"screen": "home", "title": "Once"}})
        late = self.refused("expired", client.perform, "kiosk", WIFI, timeout=100)
        self.assertEqual((late.status, late.may_have_happened), (navd.TIMEOUT, 0))
        self.daemon.start()
        client.of_kind(CONNECTED)
        client.until("the roles", lambda e: e.kind == ROLES and e.json["status"] == "active")
        client.until("the display", lambda e: e.kind == DISPLAY and e.json["status"] == "active")
        answer = client.until("the answer", lambda e: e.kind == ANSWER and e.id == number)
        self.assertIsNone(answer.error)
        eventually("a right mirror", lambda: client.pump() or client.is_synced("kiosk"))
        self.assertEqual(client.state("kiosk")["screens"][0]["title"], "Once")
        names = [name for entry in self.daemon.control.log("kiosk") for name in entry.get("do", [])]
        self.assertEqual(names.count("screen.set"), 1)

    def test_a_tap_while_the_daemon_is_away_never_happens(self):
        client, _ = self.watching()
        client.perform("kiosk", WIFI)
        self.daemon.kill()
        client.of_kind(DISCONNECTED)
        tap = {"ui.backTap": {}}
        number = client.submit("kiosk", tap, guard={"any": True})
        chosen = client.submit("kiosk", POP, guard={"any": True}, within=100)
        late = self.refused("expired", client.perform, "kiosk", tap, guard={"any": True})
        self.assertEqual((late.status, late.may_have_happened), (navd.TIMEOUT, 0))
        # Their answers do not wait for the daemon either.
        for each in (chosen, number):
            answer = client.until("the answer", lambda e: e.kind == ANSWER and e.id == each)
            self.assertEqual((answer.error.code, answer.error.may_have_happened), ("expired", 0))
        self.daemon.start()
        client.of_kind(CONNECTED)
        self.assertEqual(client.get("kiosk")["rev"], 2)

    def test_a_watch_waits_for_its_nav_and_for_the_next_one(self):
        client = self.connect()
        client.watch("later", wait=1)
        self.daemon.kill()
        self.daemon.start()
        self.daemon.control.create("later")
        client.shown("later", "home")
        self.daemon.control.op("later", {"nav.close": {}})
        ended = client.of_kind(ENDED, "later")
        self.assertEqual(ended.error.code, "closed")
        self.daemon.control.create("later")
        client.shown("later", "home")
        self.assertEqual(client.is_synced("later"), 1)
        client.watch("none")
        self.assertEqual(client.of_kind(ENDED, "none").error.code, "no-nav")

    def test_a_client_can_begin_before_the_daemon(self):
        self.daemon.kill()
        os.unlink(self.daemon.endpoint.removeprefix("ipc://"))
        client = self.connect(timeout=0)
        client.watch("kiosk")
        number = client.submit("kiosk", WIFI)
        self.assertEqual(client.pump(), False)
        self.daemon.start()
        self.assertIn("navd/", client.of_kind(CONNECTED).json["server"])
        self.assertIsNone(client.until("the answer", lambda e: e.id == number).error)
        eventually("the state", lambda: client.pump() or client.state("kiosk"))

    def test_no_daemon_is_an_error_with_advice(self):
        for endpoint, status, code in (("ipc:///nonexistent/navd.sock", navd.UNREACHABLE, "unreachable"),
                                       ("no address", navd.SYSTEM, "system"),
                                       ("tcp://127.0.0.1:1", navd.UNREACHABLE, "key")):
            with self.assertRaises(navd.Failure) as caught:
                navd.Client(endpoint, timeout=100)
            self.assertEqual((caught.exception.status, caught.exception.code), (status, code))
            self.assertTrue(caught.exception.advice)


if __name__ == "__main__":
    unittest.main()
