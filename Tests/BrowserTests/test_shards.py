"""ClusterClient of Fixtures/cluster.py against daemons by a script (Fixtures/shards.py): navs move between them."""
import json
import random
import types
import unittest

from clients import Page
from harness import Daemon, Directory, Gateway, nsp
from cluster import ClusterClient
from shards import Shards


class ShardTest(unittest.TestCase):
    """A test with a cluster of `names` and a client that knows `seeds` of it."""

    names, seeds = "ab", "ab"

    def setUp(self):
        directory = Directory()
        self.addCleanup(directory.remove)
        self.shards = Shards(directory.path, self.names)
        self.addCleanup(self.shards.close)
        self.client = ClusterClient([self.shards.endpoint(each) for each in self.seeds], hb=1000)
        self.addCleanup(self.client.close)

    def ids(self, nav):
        return [each["id"] for each in self.client.state(nav)["screens"]]

    def way(self, verb, nav=None):
        """The members to which messages went, with their ids."""
        return [(member, json.loads(body)["id"]) for member, _, body in self.shards.received(verb, nav)]


class Moves(ShardTest):
    def test_a_nav_of_another_daemon_is_asked_for_there_by_the_same_octets(self):
        self.shards.create("near", "a")
        self.shards.create("far", "b")
        for nav in ("far", "near", "far"):
            self.client.push(nav, id=f"x{self.client.id}")
        (one, _, first), (other, _, second) = self.shards.received("watch", "far")[:2]
        self.assertEqual((one, other, json.loads(first)["nav"]), ("a", "b", "far"))
        ops = self.way("op")
        self.assertEqual([member for member, _ in ops], ["b", "a", "b"])
        self.assertEqual([id for _, id in ops], sorted({id for _, id in ops}))
        self.assertEqual({client for _, client, _ in self.shards.received("hello")}, {self.client.hello["client"]})
        # An op that a daemon without the nav gets first.
        self.shards.create("third", "b")
        self.client.request("op", "third", do=[{"push": {"screen": {"id": "y"}}}])
        (one, _, first), (other, _, second) = self.shards.received("op", "third")
        self.assertEqual((one, other, first), ("a", "b", second))

    def test_a_watch_goes_on_from_its_revision(self):
        self.shards.create("kiosk", "a")
        self.client.push("kiosk", id="x")
        mirror, states = self.client.watch("kiosk"), self.client.watch("kiosk").states
        self.shards.move("kiosk", "b")
        self.client.push("kiosk", id="y")
        self.assertEqual(self.ids("kiosk"), ["home", "x", "y"])
        self.assertEqual(mirror.states, states + 1)
        _, _, body = self.shards.received("watch", "kiosk")[-1]
        self.assertEqual(json.loads(body)["from"]["rev"], 2)

    def test_a_nav_that_nobody_has_is_asked_for_again_after_pauses(self):
        self.shards.create("kiosk", "a")
        self.client.state("kiosk")
        self.shards.move("kiosk", None)
        first = self.client.begin("op", "kiosk", do=[{"push": {"screen": {"id": "x"}}}])
        second = self.client.begin("op", "kiosk", do=[{"push": {"screen": {"id": "y"}}}])
        asked = len(self.shards.received("watch", "kiosk"))
        self.client.until(lambda: len(self.shards.received("watch", "kiosk")) >= asked + 3)
        self.shards.move("kiosk", "b")
        self.client.wait(first)
        self.client.wait(second)
        self.assertEqual(self.ids("kiosk"), ["home", "x", "y"])

    def test_a_nav_that_is_sent_in_a_circle_is_followed_after_longer_and_longer_pauses(self):
        self.shards.create("kiosk", "a")

        def to(name):
            return lambda verb, body: [("err", {"id": body["id"], "nav": "kiosk", "code": "moved", "retry": "same",
                                                **self.shards.place(name)})] if verb == "op" else None
        self.shards.members["a"].instead, self.shards.members["b"].instead = to("b"), to("a")
        id = self.client.begin("op", "kiosk", do=[{"push": {"screen": {"id": "x"}}}])
        self.client.until(lambda: len(self.way("op")) == 3)
        pauses = []
        for count in (4, 5, 6):
            start = self.client.now()
            self.client.until(lambda: len(self.way("op")) == count)
            pauses.append(self.client.now() - start)
        for pause, least in zip(pauses, (0.05, 0.1, 0.2)):
            self.assertGreaterEqual(pause, least)
        self.shards.members["a"].instead = lambda verb, body: None
        self.client.wait(id)
        self.assertEqual({each for _, each in self.way("op")}, {id})

    def test_roles_and_a_lease_are_taken_again(self):
        self.shards.create("kiosk", "a")
        duties = [self.client.hold("delegate", "kiosk", roles=["veto"]), self.client.hold("lease", "kiosk", take=True)]
        self.shards.move("kiosk", "b")
        self.client.until(lambda: self.client.home("kiosk") == self.shards.endpoint("b"))
        self.client.until(lambda: all(duty.is_held for duty in duties))
        verbs = {verb for _, nav, verb in self.shards.members["b"].duties if nav == "kiosk"}
        self.assertEqual(verbs, {"delegate", "lease"})

    def test_an_error_that_is_none_of_the_way_is_raised(self):
        with self.assertRaises(nsp.Refused) as caught:
            self.client.request("op", "nobody", do=[{"pop": {}}])
        self.assertEqual(caught.exception.args[0]["code"], "no-nav")


class Losses(ShardTest):
    def test_an_op_whose_answer_is_lost_with_its_daemon_happens_once(self):
        self.shards.create("kiosk", "a")
        self.client.state("kiosk")
        self.shards.members["a"].loses = lambda verb, body: verb == "op"
        id = self.client.begin("op", "kiosk", do=[{"push": {"screen": {"id": "x"}}}])
        self.client.until(lambda: self.shards.navs["kiosk"].rev == 2)
        self.shards.stop("a")
        self.shards.move("kiosk", "b")
        self.assertEqual(self.client.wait(id)["rev"], 2)
        self.assertEqual(self.ids("kiosk"), ["home", "x"])
        (_, _, first), (_, _, second) = self.shards.received("op", "kiosk")[0], self.shards.received("op", "kiosk")[-1]
        self.assertEqual(first[:-1] + b', "again": 0}', second)

    def test_a_daemon_that_is_taken_for_the_owner_until_its_lease_ends(self):
        self.shards.create("kiosk", "a")
        self.client.state("kiosk")
        self.shards.stop("a")
        id = self.client.begin("op", "kiosk", do=[{"push": {"screen": {"id": "x"}}}])
        # The other one names the dead one twice.
        self.client.until(lambda: len([at for at, _ in self.way("op")]) >= 2)
        self.shards.move("kiosk", "b")
        self.assertEqual(self.client.wait(id)["rev"], 2)

    def test_a_daemon_that_comes_back_is_found(self):
        self.shards.create("kiosk", "a")
        self.client.state("kiosk")
        for turn in range(3):
            self.shards.stop("a")
            self.client.until(lambda: self.shards.endpoint("a") in self.client.lost)
            self.shards.start("a")
            self.client.push("kiosk", id=f"x{turn}")
        self.assertEqual(self.ids("kiosk"), ["home", "x0", "x1", "x2"])


class OneDaemon(unittest.TestCase):
    """A real navd is a cluster of one."""

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.daemon.control.create("kiosk")
        # An address of a daemon that is not there comes first.
        self.client = ClusterClient([f"{self.daemon.endpoint}-none", self.daemon.endpoint], hb=1000)
        self.addCleanup(self.client.close)

    def test_every_op_happens_once_over_kills(self):
        wanted = ["home"]
        for turn in range(5):
            ids = []
            for count in range(10):
                wanted.append(f"s{turn}.{count}x")
                ids.append(self.client.begin("op", "kiosk", do=[{"push": {"screen": {"id": wanted[-1]}}}]))
            self.client.until(lambda: ids[3] in self.client.answers)
            self.daemon.kill()
            self.daemon.start()
            for id in ids:
                self.client.wait(id)
            rev, dig = self.daemon.control.position("kiosk")
            self.client.until(lambda: self.client.state("kiosk")["rev"] >= rev)
            state = self.client.state("kiosk")
            self.assertEqual(([each["id"] for each in state["screens"]], state["rev"], state["dig"]), (wanted, rev, dig))

    def test_roles_a_lease_and_reads(self):
        self.client.on_ask = lambda ask: ask["q"].get("shouldPop", {}).get("screen") != "editor"
        self.client.hold("delegate", "kiosk", roles=["veto"])
        self.client.hold("lease", "kiosk", take=True)
        self.client.push("kiosk", id="editor")
        with self.assertRaises(nsp.Refused) as caught:
            self.client.pop("kiosk")
        self.assertEqual(caught.exception.args[0]["code"], "vetoed")
        self.assertEqual(self.client.request("get", "kiosk", what="state")["value"]["dig"],
                         self.client.state("kiosk")["dig"])


class Addresses(unittest.TestCase):
    def test_a_gateway_tries_the_addresses_of_navd_in_turn(self):
        directory = Directory()
        self.addCleanup(directory.remove)
        shards = Shards(directory.path, "ab")
        self.addCleanup(shards.close)
        places = ",".join([f"ipc://{directory / 'none'}", shards.endpoint("a"), shards.endpoint("b")])
        gateway = Gateway(types.SimpleNamespace(endpoint=places))
        self.addCleanup(gateway.close)

        def member():
            page = Page(gateway, "alice")
            page.close()
            return page.welcome["boot"][0]
        self.assertEqual(member(), "a")
        shards.stop("a")
        self.assertEqual(member(), "b")
        shards.start("a")
        self.assertEqual(member(), "a")


class Seed(ShardTest):
    names, seeds = "abc", "ab"

    def test_the_first_endpoint_is_down(self):
        self.shards.create("kiosk", "c")
        self.shards.stop("a")
        self.client.push("kiosk", id="x")
        self.assertEqual(self.ids("kiosk"), ["home", "x"])


class Chaos(ShardTest):
    names, seeds = "abc", "abc"

    def test_every_op_happens_once_and_in_order_while_navs_move_at_random(self):
        for seed in (1, 2, 3):
            with self.subTest(seed=seed):
                self.run_with(random.Random(seed), seed)

    def run_with(self, choices, seed):
        navs = [f"nav-{seed}-{index}" for index in range(4)]
        for nav in navs:
            self.shards.create(nav, choices.choice("abc"))
            self.client.watch(nav)
        wanted = {nav: ["home"] for nav in navs}

        def shake(left):
            """Moves one nav, with the new owner in its `end` or not, or takes its owner away for a while."""
            nav = choices.choice(navs)
            to = choices.choice("abc") if self.shards.owners[nav] is None or left[0] == 0 else choices.choice("abc-")
            left[0] -= 1
            self.shards.move(nav, None if to == "-" else to, is_named=choices.random() < 0.5)

        for count in range(60):
            nav = choices.choice(navs)
            wanted[nav].append(f"s{count}")
            id = self.client.begin("op", nav, do=[{"push": {"screen": {"id": f"s{count}"}}}])
            left = [choices.randrange(5)]

            def is_answered():
                if left[0] > 0:
                    shake(left)
                elif self.shards.owners[nav] is None:
                    self.shards.move(nav, choices.choice("abc"))
                return id in self.client.answers
            self.client.until(is_answered)
            self.client.wait(id)
        for nav in navs:
            if self.shards.owners[nav] is None:
                self.shards.move(nav, "a")
            self.assertEqual([each["id"] for each in self.shards.navs[nav].screens], wanted[nav])
            self.client.until(lambda: self.ids(nav) == wanted[nav])


if __name__ == "__main__":
    unittest.main()
