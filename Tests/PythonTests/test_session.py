"""The core of the package, message by message (docs/protocol.md): sessions, ops, credit, duties."""
import json
import unittest
import zlib

from script import CLIENT, Script
from navd import NavigationError
from navd.core.actions import Answered, Asked, Closed, DutyChanged, Queued, Settled, Shown, StatusChanged, WatchEnded


class Sessions(unittest.TestCase):
    def test_hello_has_what_section_4_wants(self):
        script = Script(name="shell", window=32768)
        hello = script.open()
        self.assertEqual({**hello, "nonce": ""}, {
            "ver": [1, 1], "client": CLIENT, "name": "shell", "nonce": "", "window": 32768, "hb": 5000})
        self.assertEqual([event.status for event in script.of(StatusChanged)], ["connected"])

    def test_what_comes_before_the_welcome_is_discarded(self):
        script = Script()
        script.do(script.cluster.watch, "kiosk")
        script.do(script.cluster.connected, "ipc:///a", script.now)
        script.receive("welcome", nonce="another", boot="x")
        script.receive("ok", id=1, nav="kiosk", mode="snap", epoch="e", rev=1)
        self.assertEqual(script.bodies("watch"), [])

    def test_a_hello_that_is_refused_for_good_ends_the_client(self):
        script = Script()
        script.do(script.cluster.connected, "ipc:///a", script.now)
        script.receive("err", code="version", retry="no", msg="have 2", have=[2, 2])
        self.assertEqual(script.of(Closed)[0].error.code, "version")

    def test_a_hello_that_may_be_repeated_is_repeated_after_the_pause(self):
        script = Script()
        script.do(script.cluster.connected, "ipc:///a", script.now)
        script.receive("err", code="shutting-down", retry="later", msg="later", after=3000)
        script.wait(2.9)
        self.assertEqual(script.links, {})
        script.wait(6)
        self.assertIn("ipc:///a", script.links)

    def test_silence_of_three_heartbeats_is_a_loss(self):
        script = Script()
        script.open()
        script.wait(14.9)
        self.assertIn("ipc:///a", script.links)
        script.wait(0.2)
        self.assertNotIn("ipc:///a", script.links)
        self.assertEqual([event.status for event in script.of(StatusChanged)], ["connected", "disconnected"])

    def test_a_bye_is_answered_by_another_session(self):
        script = Script()
        script.open()
        script.receive("bye", why="shutting-down", after=500)
        self.assertEqual(script.links, {})
        script.wait(1)
        self.assertIn("ipc:///a", script.links)

    def test_fenced_and_revoked_are_the_end(self):
        for why in ("fenced", "revoked"):
            script = Script()
            script.open()
            script.receive("bye", why=why)
            self.assertEqual((script.of(Closed)[0].error.code, script.of(Closed)[0].error.reason), ("closed", why))

    def test_a_message_that_cannot_be_read_costs_the_session(self):
        for verb, body in (("snap", {"nav": "kiosk"}), ("diff", {"nav": 3}), ("ask", {"ask": 1, "nav": "a"}),
                           ("mark", {"at": [["kiosk", "1", "x"]]}), ("diffs", {"nav": "a", "list": [{}]})):
            script = Script()
            script.open()
            script.receive(verb, **body)
            self.assertEqual(script.links, {}, verb)

    def test_what_is_not_known_is_ignored(self):
        script = Script()
        script.open()
        script.watch()
        script.receive("later-verb", nav=["x"])
        script.receive("mark", t=0, at=[], more={"a": 1})
        self.assertIn("ipc:///a", script.links)
        self.assertTrue(script.cluster.mirror("kiosk").is_synced)

    def test_credit_comes_when_half_of_the_window_is_used(self):
        script = Script(window=16384)
        script.open(window=16384)
        script.watch()
        used = 0
        while not script.bodies("credit"):
            body = {"nav": "kiosk", "epoch": "e" * 16, "rev": 1, "ev": [{"a": {"x": "y" * 1000}}]}
            used += len(json.dumps(body))
            script.receive("event", **body)
            body = {"list": [{"t": 1, "dir": "in", "verb": "ping", "body": {"x": "y" * 1000}}]}
            used += len(json.dumps(body))
            script.receive("traced", **body)
        upto = script.last("credit")["upto"]
        self.assertGreater(used, 16384 // 2 - 2500)
        self.assertLess(used, 16384 // 2 + 2500)
        self.assertGreater(upto, 16384 + used)


class Requests(unittest.TestCase):
    def test_an_op_without_an_answer_is_sent_again_with_one_member_more(self):
        script = Script()
        script.open()
        id = script.op()
        first, = script.bodies("op")
        script.again(last=id)
        self.assertEqual(script.bodies("op"), [first[:-1] + b',"again":0}'])
        script.answer(id)
        self.assertEqual(script.of(Answered)[0].ok["rev"], 2)
        script.again(last=id)
        self.assertEqual(script.bodies("op"), [])

    def test_ids_rise_above_those_of_earlier_sessions(self):
        script = Script()
        script.open(last=40)
        self.assertEqual(json.loads(script.bodies("op")[-1])["id"] if script.op() and script.bodies("op") else 0, 41)

    def test_an_op_that_is_sent_again_says_what_the_client_had_seen(self):
        script = Script()
        script.open(seq=[[0, 7]])
        first = script.op()
        script.answer(first, seq=9)
        script.receive("mark", t=1, at=[], seq=[[0, 12]])
        script.op()
        body = script.bodies("op")[-1]
        script.receive("mark", t=1, at=[], seq=[[0, 20]])
        for newest in [25, 25, 11]:
            script.again(seq=[[0, newest]])
            self.assertEqual(script.bodies("op"), [body[:-1] + b',"again":12}'])

    def test_rows_of_diffs_count_and_those_of_virtual_navs_do_not(self):
        script = Script()
        script.open(seq=[[0, 7]])
        diff = {"epoch": "e" * 16, "base": 1, "rev": 2, "dig": "0" * 8, "ch": [], "ev": [], "depth": 1}
        script.receive("diff", nav="kiosk", seq=8, **diff)
        script.receive("diff", nav="$navs", seq=90, **diff)
        script.op()
        script.again(seq=[[0, 50]])
        self.assertEqual(script.last("op")["again"], 8)

    def test_rows_count_by_the_shard_of_the_nav(self):
        script = Script()
        shard = zlib.crc32(b"kiosk") % 1024
        script.open(features=["shards"], seq=[[0, 90], [shard, 5]])
        script.op()
        script.again(features=["shards"], seq=[[0, 95], [shard, 6]])
        self.assertEqual(script.last("op")["again"], 5)

    def test_an_op_that_a_daemon_has_not_done_is_new_to_the_next(self):
        script = Script()
        script.open(features=["shards"])
        id = script.op()
        script.refuse(id, "busy", "later", reason="no-owner", after=10)
        script.sent.clear()
        script.wait(6)
        self.assertNotIn("again", script.last("op"))

    def test_a_read_is_sent_again_unchanged(self):
        script = Script()
        script.open()
        script.do(script.cluster.request, "get", "kiosk", {})
        body, = script.bodies("get")
        script.again()
        self.assertEqual(script.bodies("get"), [body])

    def test_an_op_that_was_never_sent_may_wait_for_ever(self):
        script = Script()
        script.op()
        script.now += 10000
        script.wait(1)
        script.open()
        self.assertEqual(len(script.bodies("op")), 1)

    def late(self, script):
        """A tap that must be sent within two seconds."""
        members = {"do": [{"ui.backTap": {}}]}
        return script.do(script.cluster.request, "op", "kiosk", members, script.now + 2.0)

    def failed(self, script):
        return [(each.id, each.err["code"], each.err["effect"]) for each in script.of(Answered)]

    def test_a_late_op_fails_at_its_time_and_is_not_sent(self):
        script = Script()
        id = self.late(script)
        self.assertEqual(script.cluster.wake_at, script.now + 2.0)
        script.wait(1.9)
        self.assertEqual(self.failed(script), [])
        script.wait(0.2)
        self.assertEqual(self.failed(script), [(id, "expired", "none")])
        script.open()
        self.assertEqual(script.bodies("op"), [])

    def test_a_process_that_stood_still_fails_a_late_op_before_it_sends_anything(self):
        script = Script()
        id = self.late(script)
        script.now += 29.0
        script.open()
        self.assertEqual((script.bodies("op"), self.failed(script)), ([], [(id, "expired", "none")]))

    def test_a_late_op_that_is_under_way_is_awaited_and_not_sent_again(self):
        script = Script()
        script.open()
        id = self.late(script)
        self.assertEqual(len(script.bodies("op")), 1)
        script.wait(2.5)
        self.assertEqual(self.failed(script), [])
        script.lose()
        script.wait(0.1)
        self.assertEqual(self.failed(script), [(id, "expired", "unknown")])
        script.wait(6.0)
        script.sent.clear()
        script.open()
        self.assertEqual(script.bodies("op"), [])

    def test_a_held_op_fails_at_its_time_too(self):
        script = Script()
        script.open(features=["shards"])
        id = self.late(script)
        for _ in range(6):
            script.refuse(id, "busy", "later", reason="no-owner", nav="kiosk", after=400)
            script.sent.clear()
            script.wait(0.3)
            script.wait(0.3)
        self.assertEqual(self.failed(script), [(id, "expired", "none")])
        self.assertEqual(script.bodies("op"), [])

    def test_an_op_is_not_sent_under_another_principal(self):
        script = Script()
        script.open(you={"principal": "uid:1@a"})
        script.op()
        script.again(you={"principal": "key"})
        self.assertEqual(script.bodies("op"), [])
        self.assertEqual(script.of(Answered)[0].err["code"], "op-too-old")

    def test_busy_for_a_repeated_op_says_nothing(self):
        script = Script()
        script.open()
        id = script.op()
        script.again()
        script.refuse(id, "busy", "later", after=100)
        self.assertEqual(script.of(Answered), [])
        script.sent.clear()
        script.wait(6)
        self.assertEqual(len(script.bodies("op")), 1)

    def test_busy_for_a_new_op_is_its_answer(self):
        script = Script()
        script.open()
        script.refuse(script.op(), "busy", "later", after=100)
        self.assertEqual(script.of(Answered)[0].err["code"], "busy")

    def test_a_request_that_is_too_large_is_refused_at_once(self):
        script = Script()
        script.open(message=1024)
        with self.assertRaises(NavigationError) as caught:
            script.op(more="x" * 2000)
        self.assertEqual((caught.exception.code, caught.exception.reason), ("limit", "size"))

    def test_at_most_so_many_are_in_flight_as_the_daemon_takes(self):
        script = Script()
        script.open(inflight=2)
        first = script.op()
        for _ in range(4):
            script.op()
        self.assertEqual(len(script.bodies("op")), 2)
        script.answer(first)
        self.assertEqual(len(script.bodies("op")), 3)

    def test_queued_is_reported(self):
        script = Script()
        script.open()
        id = script.op()
        script.receive("queued", id=id, nav="kiosk", pos=3)
        self.assertEqual(script.of(Queued), [Queued(id, 3)])

    def test_a_forgotten_request_is_not_sent_any_more(self):
        script = Script()
        waiting = script.op()
        self.assertFalse(script.do(script.cluster.forget, waiting))
        script.open()
        self.assertEqual(script.bodies("op"), [])
        self.assertTrue(script.do(script.cluster.forget, script.op()))

    def test_no_session_opens_another_one(self):
        script = Script()
        script.open()
        script.refuse(script.op(), "no-session", "same")
        self.assertEqual((script.links, script.of(Answered)), ({}, []))

    def test_an_error_without_an_id_fails_what_is_open_and_nothing_else(self):
        script = Script()
        script.open()
        script.watch()
        op, read = script.op(), script.do(script.cluster.request, "get", "kiosk", {"what": "log"})
        script.do(script.cluster.watch, "other")
        script.do(script.cluster.want, "delegate", "kiosk", {"roles": ["veto"]}, True)
        script.events.clear()
        # Of a message that has no id by its form.
        script.hand("ipc:///a", "err", {"id": None, "verb": "answer", "code": "limit", "msg": "m", "effect": "none",
                                        "retry": "no"})
        self.assertEqual(script.events, [])
        script.receive("err", id=None, code="bad-json", msg="m", effect="none", retry="no")
        self.assertEqual([(each.id, each.err["code"], each.err["effect"]) for each in script.of(Answered)],
                         [(op, "bad-json", "unknown"), (read, "bad-json", "unknown")])
        self.assertEqual([(each.nav, each.error.code) for each in script.of(WatchEnded)], [("other", "bad-json")])
        self.assertEqual([each.error.code for each in script.of(DutyChanged)], ["bad-json"])
        # A later request is answered as ever, and the watch of before goes on.
        later = script.op()
        script.answer(later)
        self.assertEqual(script.of(Answered)[-1].id, later)
        self.assertTrue(script.cluster.current("kiosk", "full"))


class Watches(unittest.TestCase):
    def test_a_watch_resumes_from_its_mirror(self):
        script = Script()
        script.open()
        script.watch()
        script.again()
        self.assertEqual(script.last("watch")["from"], {"epoch": "e" * 16, "rev": 1, "dig": "68f0a522" + "c" * 16})

    def test_a_watch_that_may_be_repeated_is_repeated(self):
        script = Script()
        script.open()
        script.do(script.cluster.watch, "kiosk")
        script.refuse(script.last("watch")["id"], "shutting-down", "later", after=200)
        script.sent.clear()
        script.wait(0.1)
        self.assertEqual(script.bodies("watch"), [])
        script.wait(5)
        self.assertEqual(len(script.bodies("watch")), 1)

    def test_views_show_their_values(self):
        script = Script()
        script.open()
        script.do(script.cluster.watch, "kiosk", "top")
        script.receive("ok", id=script.last("watch")["id"], nav="kiosk", mode="latest", epoch="e", rev=1)
        script.receive("latest", nav="kiosk", view="top", epoch="e", rev=1, value={"id": "home", "ver": 1})
        self.assertEqual(script.of(Shown)[0].value.top.id, "home")
        script.receive("latest", nav="kiosk", view="top", epoch="e", rev=2, value=None)
        self.assertIsNone(script.of(Shown)[1].value.top)

    def test_an_unwatched_nav_shows_nothing(self):
        script = Script()
        script.open()
        script.watch()
        script.do(script.cluster.unwatch, "kiosk")
        self.assertEqual(script.last("unwatch")["nav"], "kiosk")
        script.receive("event", nav="kiosk", epoch="e" * 16, rev=1, ev=[])
        self.assertEqual(len(script.of(Shown)), 1)

    def test_a_watch_that_waits_goes_on_with_the_next_nav(self):
        script = Script()
        script.open()
        script.do(script.cluster.watch, "kiosk", "full", True)
        self.assertTrue(script.last("watch")["wait"])
        script.receive("queued", id=script.last("watch")["id"], nav="kiosk", pos=0)
        script.receive("ok", id=script.last("watch")["id"], nav="kiosk", mode="snap", why="join", epoch="e" * 16, rev=1)
        script.sent.clear()
        script.receive("end", nav="kiosk", view="full", epoch="e" * 16, rev=1, why="closed")
        self.assertTrue(script.of(WatchEnded)[0].is_closed)
        self.assertEqual((script.last("watch")["wait"], "from" in script.last("watch")), (True, False))
        script.again()
        self.assertTrue(script.last("watch")["wait"])
        # A loop that does not wait asks again, so that it learns that there is no nav.
        script.sent.clear()
        script.do(script.cluster.watch, "kiosk", "full", False)
        self.assertNotIn("wait", script.last("watch"))

    def test_a_watch_ends_with_the_right_to_read(self):
        script = Script()
        script.open()
        script.watch()
        script.receive("end", nav="kiosk", view="full", epoch="e" * 16, rev=1, why="forbidden")
        ended = script.of(WatchEnded)[0]
        self.assertEqual((ended.is_closed, ended.error.code), (False, "forbidden"))


class Duties(unittest.TestCase):
    def want(self, kind="lease", **options):
        script = Script()
        script.open()
        wanted = {"take": True, **options} if kind == "lease" else {"roles": ["veto"]}
        script.do(script.cluster.want, kind, "kiosk", wanted)
        return script

    def grant(self, script, kind="lease"):
        script.receive("ok", id=script.last(kind)["id"], nav="kiosk")

    def changes(self, script):
        return [(change.kind, change.what) for change in script.of(DutyChanged)]

    def test_roles_and_leases_are_taken_again_after_a_loss(self):
        for kind in ("lease", "delegate"):
            script = self.want(kind)
            self.grant(script, kind)
            script.again()
            self.grant(script, kind)
            self.assertEqual(self.changes(script), [(kind, "granted"), (kind, "interrupted"), (kind, "granted")])

    def test_force_counts_once(self):
        script = self.want(force=True)
        self.assertTrue(script.last("lease")["force"])
        script.again()
        self.assertNotIn("force", script.last("lease"))

    def test_a_lease_that_is_not_kept_ends_with_the_session(self):
        script = Script()
        script.open()
        script.do(script.cluster.want, "lease", "kiosk", {"take": True}, False)
        self.grant(script)
        script.again()
        self.assertEqual(script.bodies("lease"), [])
        self.assertEqual(script.of(DutyChanged)[-1].error.code, "lease-lost")

    def test_lost_ends_them_at_once(self):
        for kind, code in (("lease", "lease-lost"), ("delegate", "forbidden"), ("lease", "no-nav")):
            script = self.want(kind)
            self.grant(script, kind)
            script.receive("lost", nav="kiosk", of=kind, code=code, msg="over", owner="other")
            change = script.of(DutyChanged)[-1]
            self.assertEqual((change.what, change.error.code, change.error.owner), ("over", code, "other"))
            script.again()
            self.assertEqual(script.bodies(kind), [])

    def test_the_answer_to_a_request_under_way_decides_over_lost(self):
        script = self.want()
        self.grant(script)
        script.do(script.cluster.want, "lease", "kiosk", {"take": True, "force": True})
        script.receive("lost", nav="kiosk", of="lease", code="lease-lost", msg="over")
        self.grant(script)
        self.assertEqual(self.changes(script), [("lease", "granted"), ("lease", "granted")])

    def test_a_refusal_is_the_end(self):
        script = self.want()
        script.refuse(script.last("lease")["id"], "lease-lost", "resync", owner="other")
        self.assertEqual(script.of(DutyChanged)[0].error.owner, "other")

    def test_a_question_is_answered_once_and_only_while_it_is_open(self):
        script = self.want("delegate")
        self.grant(script, "delegate")
        for number in (1, 2):
            script.receive(
                "ask", ask=number, nav="kiosk", epoch="e", rev=1, within=2000, q={"shouldPop": {"screen": "x"}})
        script.do(script.cluster.answer, "kiosk", 1, True)
        script.do(script.cluster.answer, "kiosk", 1, False)
        script.receive("settled", ask=2, outcome="denied")
        script.do(script.cluster.answer, "kiosk", 2, True)
        self.assertEqual([json.loads(body) for body in script.bodies("answer")], [{"ask": 1, "value": True}])
        self.assertEqual((len(script.of(Asked)), script.of(Settled)), (2, [Settled("kiosk", 2)]))

    def test_a_question_that_nobody_settles_is_void_in_the_end(self):
        script = self.want("delegate")
        self.grant(script, "delegate")
        script.receive("ask", ask=1, nav="kiosk", epoch="e", rev=1, within=2000, q={"shouldPop": {"screen": "x"}})
        script.wait(7.1)
        self.assertEqual(script.of(Settled), [Settled("kiosk", 1)])

    def test_a_question_is_void_after_a_loss(self):
        script = self.want("delegate")
        self.grant(script, "delegate")
        script.receive("ask", ask=1, nav="kiosk", epoch="e", rev=1, within=2000, q={"shouldPop": {"screen": "x"}})
        script.again()
        self.assertEqual(script.of(Settled), [Settled("kiosk", 1)])
        script.do(script.cluster.answer, "kiosk", 1, True)
        self.assertEqual(script.bodies("answer"), [])

    def test_a_resignation_is_sent(self):
        for kind, members in (("lease", {"take": False}), ("delegate", {"roles": []})):
            script = self.want(kind)
            self.grant(script, kind)
            script.do(script.cluster.want, kind, "kiosk", None)
            self.assertEqual({**script.last(kind), "id": 0}, {"id": 0, "nav": "kiosk", **members})
            script.again()
            self.assertEqual(script.bodies(kind), [])


if __name__ == "__main__":
    unittest.main()
