"""The core of the package with several daemons, message by message (docs/protocol.md, §17)."""
import json
import unittest

from script import Script
from navd import NavigationError
from navd.core.actions import Answered, Closed, DutyChanged, StatusChanged, WatchEnded

A, B, C = "ipc:///a", "ipc:///b", "ipc:///c"


class Moves(unittest.TestCase):
    def moved(self, id, to, endpoint=A, **more):
        self.script.hand(endpoint, "err", {
            "id": id, "nav": "kiosk", "code": "moved", "retry": "same", "effect": "none", "endpoint": to, **more})

    def leave(self, to):
        """Moves the nav away from its watches, roles and leases."""
        self.script.hand(A, "end", {"nav": "kiosk", "view": "full", "epoch": "e" * 16, "rev": 1, "why": "moved",
                                    "endpoint": to})

    def setUp(self):
        self.script = Script(A)
        self.script.open(A)

    def test_the_same_octets_go_where_the_nav_is(self):
        id = self.script.op()
        self.moved(id, B)
        self.assertIn(B, self.script.links)
        self.script.open(B)
        self.assertEqual(self.script.bodies("op", B), self.script.bodies("op", A))
        self.script.answer(id, B)
        self.assertEqual(self.script.of(Answered)[0].id, id)
        # The next one goes there at once, and one about another nav does not.
        self.script.op()
        self.script.op("other")
        self.assertEqual((len(self.script.bodies("op", B)), len(self.script.bodies("op", A))), (2, 2))

    def test_all_sessions_have_one_identity_and_rising_ids(self):
        id = self.script.op()
        self.moved(id, B)
        hello = self.script.open(B)
        self.assertEqual(hello["client"], self.script.last("hello", A)["client"])
        later = self.script.op("other")
        self.assertGreater(later, id)

    def test_a_watch_goes_on_from_its_revision(self):
        self.script.watch()
        self.leave(B)
        self.script.open(B)
        self.assertEqual(self.script.last("watch", B)["from"]["rev"], 1)
        self.assertEqual(self.script.of(WatchEnded), [])

    def test_roles_and_leases_without_a_watch_follow(self):
        for kind, wanted in (("lease", {"take": True}), ("delegate", {"roles": ["veto"]})):
            self.script.do(self.script.cluster.want, kind, "kiosk", wanted)
            self.script.receive("ok", id=self.script.last(kind)["id"], nav="kiosk")
        self.leave(B)
        self.script.open(B)
        self.assertEqual(len(self.script.bodies("lease", B) + self.script.bodies("delegate", B)), 2)
        whats = [(change.kind, change.what) for change in self.script.of(DutyChanged)]
        self.assertEqual(whats[2:], [("delegate", "interrupted"), ("lease", "interrupted")])

    def test_a_lease_leads_a_nav_on_whose_watch_is_unanswered(self):
        self.script.watch()
        self.script.do(self.script.cluster.want, "lease", "kiosk", {"take": True})
        self.script.receive("ok", id=self.script.last("lease")["id"], nav="kiosk")
        # The mirror is wrong, so that a second watch is under way when the nav moves.
        self.script.receive("mark", t=0, at=[["kiosk", 1, "00000000"]])
        self.leave(B)
        self.assertIn(B, self.script.links)

    def test_a_nav_that_nobody_has_is_asked_for_after_the_pause(self):
        id = self.script.op()
        self.script.refuse(id, "busy", "later", A, nav="kiosk", reason="no-owner", after=1000)
        self.script.wait(0.9)
        self.assertEqual(len(self.script.bodies("op")), 1)
        self.script.wait(1)
        self.assertEqual(len(self.script.bodies("op")), 2)
        self.assertEqual(self.script.of(Answered), [])

    def test_daemons_that_send_a_nav_in_a_circle_are_asked_after_growing_pauses(self):
        id, times = self.script.op(), []
        self.moved(id, B)
        self.script.open(B)
        place = B
        for _ in range(6):
            before, other = self.script.now, A if place == B else B
            count = len(self.script.bodies("op", other))
            self.moved(id, other, place)
            place = other
            while len(self.script.bodies("op", place)) == count and self.script.now < before + 10:
                self.script.wait(0.01)
                for endpoint in (A, B):
                    self.script.receive("mark", endpoint, t=0, at=[])
            times.append(round(self.script.now - before, 2))
            if times[-1] > 9:
                break
        for time, longest in zip(times, [0, 200, 400, 500, 500, 500]):
            self.assertLess(time, longest / 1000 + 0.03, times)

    def test_one_request_asks_whether_the_daemon_has_the_nav(self):
        first, second = self.script.op(), self.script.op()
        self.assertEqual(len(self.script.bodies("op", A)), 2)
        self.moved(first, B)
        self.script.open(B)
        # Both follow; the second one waits until the daemon has answered the first.
        self.assertEqual(len(self.script.bodies("op", B)), 1)
        self.script.answer(first, B)
        self.assertEqual(json.loads(self.script.bodies("op", B)[1])["id"], second)

    def test_an_answer_from_before_the_move_counts_and_a_late_moved_does_not(self):
        first, second = self.script.op(), self.script.op()
        self.moved(first, B)
        self.moved(second, C)
        self.assertNotIn(C, self.script.links)
        self.script.open(B)
        self.script.answer(first, B)
        self.script.answer(second, B)
        self.assertEqual([event.id for event in self.script.of(Answered)], [first, second])

    def test_an_endpoint_over_tcp_needs_a_key(self):
        id = self.script.op()
        self.moved(id, "tcp://192.0.2.1:7117", key="k" * 40)
        err = self.script.of(Answered)[0].err
        self.assertEqual((err["code"], err["effect"], err["endpoint"]), ("moved", "none", "tcp://192.0.2.1:7117"))
        self.assertIn("NAVD_KEY", err["msg"])

    def test_the_key_of_a_daemon_comes_with_its_address(self):
        script = Script(A, has_key=True)
        script.open(A)
        id = script.op()
        body = {"id": id, "nav": "kiosk", "code": "moved", "retry": "same", "endpoint": "tcp://192.0.2.1:1", "key": "k"}
        script.hand(A, "err", body)
        self.assertEqual(script.links["tcp://192.0.2.1:1"].key, "k")


class Losses(unittest.TestCase):
    def test_the_next_address_is_asked_if_one_cannot_be_reached(self):
        script = Script(A, B)
        self.assertEqual(list(script.links), [A])
        id = script.op()
        script.lose(A)
        self.assertEqual(list(script.links), [B])
        script.open(B)
        script.answer(id, B)
        self.assertEqual(script.of(Answered)[0].ok["rev"], 2)

    def test_a_daemon_that_does_not_accept_the_client_is_left_out(self):
        script = Script(A, B)
        error = NavigationError("forbidden", "no key")
        script.do(script.cluster.refused, A, error, script.now)
        self.assertEqual((list(script.links), script.of(Closed)), ([B], []))
        script.do(script.cluster.refused, B, error, script.now)
        self.assertIs(script.of(Closed)[0].error, error)

    def test_two_addresses_of_one_daemon_are_one_session_in_the_end(self):
        script = Script(A)
        script.open(A, boot="same")
        id = script.op()
        script.op("other")
        script.hand(A, "err", {"id": id, "nav": "kiosk", "code": "moved", "retry": "same", "endpoint": B})
        script.do(script.cluster.connected, B, script.now)
        # The daemon keeps the session with the last `hello`.
        script.receive("bye", A, why="fenced")
        self.assertEqual((script.of(Closed), list(script.links)), ([], [B]))
        hello = script.last("hello", B)
        script.receive("welcome", B, ver=1, nonce=hello["nonce"], boot="same", hb=5000, ops={"last": 0})
        self.assertEqual(len(script.bodies("op", B)), 2)
        self.assertEqual(script.of(StatusChanged)[-1].status, "connected")

    def test_a_daemon_that_refuses_one_of_its_addresses_is_asked_at_the_other(self):
        script = Script(A)
        script.open(A)
        moved = {"nav": "kiosk", "code": "moved", "retry": "same", "effect": "none", "msg": "elsewhere"}
        id = script.op()
        script.hand(A, "err", {**moved, "id": id, "endpoint": B})
        script.open(B)
        # C is another address of A, which knows the client by another principal there.
        script.hand(B, "err", {**moved, "id": id, "endpoint": C})
        script.do(script.cluster.connected, C, script.now)
        script.receive("err", C, code="forbidden", retry="no", msg="in use")
        self.assertEqual(sorted(script.links), [A, B])
        script.answer(id, A)
        second = script.op("other")
        script.hand(A, "err", {**moved, "nav": "other", "id": second, "endpoint": B})
        script.hand(B, "err", {**moved, "nav": "other", "id": second, "endpoint": C})
        script.wait(1)
        script.answer(second, A, "other")
        self.assertEqual([event.id for event in script.of(Answered)], [id, second])

    def test_a_nav_behind_an_address_that_refuses_the_client_fails_in_the_end(self):
        script = Script(A)
        script.open(A)
        moved = {"nav": "kiosk", "code": "moved", "retry": "same", "effect": "none", "msg": "elsewhere", "endpoint": B}
        first = script.op()
        script.hand(A, "err", {**moved, "id": first})
        script.do(script.cluster.refused, B, NavigationError("forbidden", "no key"), script.now)
        script.hand(A, "err", {**moved, "id": first})
        err = script.of(Answered)[0].err
        self.assertEqual((err["id"], err["code"], err["effect"]), (first, "forbidden", "none"))
        script.do(script.cluster.watch, "kiosk")
        script.hand(A, "err", {**moved, "id": script.last("watch", A)["id"]})
        self.assertEqual(script.of(WatchEnded)[0].error.code, "forbidden")
        script.do(script.cluster.want, "lease", "kiosk", {"take": True})
        script.hand(A, "err", {**moved, "id": script.last("lease", A)["id"]})
        self.assertEqual(script.of(DutyChanged)[0].error.code, "forbidden")

    def test_a_session_that_no_nav_needs_ends(self):
        script = Script(A)
        script.open(A)
        id = script.op()
        script.hand(A, "err", {"id": id, "nav": "kiosk", "code": "moved", "retry": "same", "endpoint": B})
        script.open(B)
        script.answer(id, B)
        for _ in range(5):
            script.wait(3)
            for endpoint in list(script.links):
                script.receive("mark", endpoint, t=0, at=[])
        self.assertEqual((list(script.links), len(script.bodies("bye", B))), ([A], 1))

    def test_the_end_of_the_client_ends_all_sessions(self):
        script = Script(A)
        script.open(A)
        script.do(script.cluster.leave)
        self.assertEqual(len(script.bodies("bye")), 1)
        self.assertEqual(script.cluster.wake_at, float("inf"))


if __name__ == "__main__":
    unittest.main()
