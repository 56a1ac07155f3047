"""Random laws: the core of the package against naive twins. `SEED=N` repeats one seed."""
import json
import os
import random
import unittest
import zlib

import setting
from script import Script
from twin import User, World, naive_checksum
from navd.core import checksum
from navd.core.digest import PARTS, RunningChecksum
from navd.guards import Guard
from navd.wire import copied, decode, encode

SEEDS = [int(os.environ["SEED"])] if "SEED" in os.environ else range(150)
ENDPOINTS = ("ipc:///a", "ipc:///b", "ipc:///c")
EXTRAS = [
    ("ask", {"ask": 1, "nav": "kiosk", "epoch": "e", "rev": 1, "within": 2000, "q": {"shouldPop": {"screen": "x"}}}),
    ("settled", {"ask": 1, "outcome": "allowed"}), ("queued", {"id": 1, "nav": "kiosk", "pos": 1}),
    ("lost", {"nav": "kiosk", "of": "delegate", "code": "forbidden", "msg": "x"}),
    ("latest", {"nav": "kiosk", "view": "top", "epoch": "e", "rev": 1, "value": {"id": "x", "ver": 1}}),
    ("end", {"nav": "kiosk", "view": "full", "epoch": "e", "rev": 1, "why": "moved", "endpoint": "ipc:///b"}),
    ("err", {"id": 1, "code": "moved", "retry": "same", "endpoint": "ipc:///b", "key": "k"}),
    ("err", {"id": 1, "code": "busy", "reason": "no-owner", "retry": "later", "after": 10}),
    ("bye", {"why": "shutting-down", "after": 10}), ("pong", {"id": 1, "boot": "x", "t": 1}),
    ("welcome", {"ver": 1, "nonce": "x", "hb": 5000, "ops": {"last": 0}, "limits": {"window": 65536}, "you": {}}),
]


class Digests(unittest.TestCase):
    def test_a_running_digest_equals_that_of_the_whole(self):
        for seed in SEEDS:
            rng = random.Random(seed)
            running, screens, parts = RunningChecksum(), [], {}
            for rev in range(1, 30):
                at = rng.randint(0, len(screens))
                gone = rng.randint(0, min(2, len(screens) - at))
                screens[at:at + gone] = [{"id": rng.choice("äbc") * 3, "ver": rev}] * rng.randint(0, 2)
                if rng.random() < 0.3:
                    parts[rng.choice(PARTS)] = {"ver": rev}
                lines = [f"{each['id']}@{each['ver']}" for each in screens]
                lines += [f":{name}@{parts[name]['ver']}" for name in PARTS if name in parts]
                found = running.update(screens, parts, at)
                self.assertEqual(found, naive_checksum_of(lines), f"SEED={seed}")
                self.assertEqual(checksum(screens, parts), found)


class Texts(unittest.TestCase):
    def test_what_is_written_is_read_again(self):
        for seed in SEEDS:
            rng = random.Random(seed)
            value = {"x": json_value(rng, 5)}
            self.assertEqual(decode(encode(value)), value, f"SEED={seed}")
            self.assertEqual(json.loads(encode(value)), value)


class Damage(unittest.TestCase):
    """Messages of the vectors with members that are missing or have other types."""

    VALUES = (None, True, -1, 2**60, 1.5, "", "x", [], [1], {}, {"a": 1}, [[]], ["kiosk", 1, "x"])

    def test_no_message_ends_a_client_or_spoils_a_mirror(self):
        lines = setting.text_of("Tests", "Conformance", "vectors.jsonl").strip("\n").split("\n")
        count = 0
        for seed in SEEDS:
            rng = random.Random(seed)
            vector = json.loads(rng.choice(lines))
            said = [step["from"] for step in vector.get("steps", []) if "from" in step]
            script = Script()
            script.open()
            script.do(script.cluster.watch, vector["nav"] if "nav" in vector else "kiosk")
            script.do(script.cluster.want, "delegate", vector.get("nav", "kiosk"), {"roles": ["veto"]})
            for verb, body in said + EXTRAS:
                body = json.loads(body) if isinstance(body, str) else body
                for _ in range(3):
                    script.hand("ipc:///a", rng.choice([verb, verb, "snap", "diff"]), self.damaged(rng, body))
                    count += 1
                    if "ipc:///a" not in script.links:
                        script.wait(6)
                        script.open()
                mirror = script.cluster.mirror(vector.get("nav", "kiosk"))
                if mirror and mirror.is_synced:
                    # Law: a mirror that counts as right has its digest.
                    state = mirror.state
                    self.assertEqual(
                        state.dig[:8], checksum([each.record for each in state.screens], state.parts), seed)
        print(f"{count} damaged messages")

    def damaged(self, rng, body):
        body = json.loads(json.dumps(body))
        for _ in range(rng.choice([0, 1, 1, 2])):
            place = body
            while True:
                keys = list(place) if isinstance(place, dict) else list(range(len(place)))
                if not keys:
                    break
                key = rng.choice(keys)
                if isinstance(place[key], (dict, list)) and place[key] and rng.random() < 0.7:
                    place = place[key]
                elif rng.random() < 0.3:
                    del place[key]
                    break
                else:
                    place[key] = copied(rng.choice(self.VALUES))
                    break
        return body


class Chaos(unittest.TestCase):
    """Navs move, daemons end, connections break, messages are damaged; then everything heals."""

    def test_every_op_happens_once_and_mirrors_are_right(self):
        totals = {"asked": 0, "ok": 0, "refused": 0, "unknown": 0, "cuts": 0, "moves": 0}
        for seed in SEEDS:
            try:
                Scene(seed, totals).run()
            except AssertionError as failure:
                raise AssertionError(f"SEED={seed}: {failure}") from failure
        print(f"{len(SEEDS)} seeds: {totals}")
        if len(SEEDS) > 1:
            for name in ("ok", "refused", "cuts", "moves"):
                self.assertGreater(totals[name], 100, name)


class Scene:
    """One seed."""

    def __init__(self, seed, totals):
        self.rng, self.totals = random.Random(seed), totals
        self.world = World(self.rng, ENDPOINTS)
        for name in ("kiosk", "till/1"):
            self.world.create(name, self.rng.choice(ENDPOINTS))
        self.users = [User(self.world, self.rng.sample(ENDPOINTS, 2), number) for number in (1, 2)]
        self.wanted = {user: set() for user in self.users}
        for user in self.users:
            for name in self.world.navs:
                user.cluster.watch(name)
            user.act()

    def run(self):
        for _ in range(300):
            self.step()
        self.heal()
        self.check()

    def step(self):
        user, name = self.rng.choice(self.users), self.rng.choice(list(self.world.navs))
        turn = self.rng.random()
        if turn < 0.45:
            self.deliver(user)
        elif turn < 0.6:
            self.request(user, name)
        elif turn < 0.72:
            self.pass_time(self.rng.choice([0.01, 0.1, 1.0]))
        elif turn < 0.76:
            self.world.move(name, self.rng.choice([*ENDPOINTS, None]))
            self.totals["moves"] += 1
        elif turn < 0.8 and user.connections:
            user.cut(self.rng.choice(list(user.connections)))
            self.totals["cuts"] += 1
        elif turn < 0.82:
            endpoint = self.rng.choice(ENDPOINTS)
            (self.world.kill if self.world.up[endpoint] else self.world.start)(endpoint)
        elif turn < 0.85:
            self.want(user, name)
        elif turn < 0.87:
            self.world.force(name)
        elif turn < 0.9:
            self.deliver(user, self.damage)
        else:
            self.deliver(user)

    def request(self, user, name):
        mirror = user.cluster.mirror(name)
        if self.rng.random() < 0.2:
            user.ask("get", name, {"what": "state"})
        elif self.rng.random() < 0.6 or not (mirror and mirror.is_synced):
            user.ask("op", name, {"do": [{"push": {"screen": {"id": f"s{self.rng.getrandbits(40):x}"}}}]})
        else:
            user.ask("op", name, {"if": Guard.top(mirror.state).members, "do": [{"pop": {}}]})

    def want(self, user, name):
        kind = self.rng.choice(["delegate", "lease"])
        if (name, kind) in self.wanted[user] and self.rng.random() < 0.3:
            self.wanted[user].discard((name, kind))
            user.cluster.want(kind, name, None)
        else:
            self.wanted[user].add((name, kind))
            more = {"force": True} if self.rng.random() < 0.3 else {}
            user.cluster.want(kind, name, {"roles": ["veto"]} if kind == "delegate" else {"take": True, **more})
        user.act()

    def deliver(self, user, change=lambda verb, body: body):
        """Lets one thing happen between a client and a daemon."""
        places = [endpoint for endpoint, each in user.connections.items() if each.up or each.down]
        if user.opening and (not places or self.rng.random() < 0.5):
            return user.open()
        if not places:
            return None
        endpoint = self.rng.choice(places)
        connection = user.connections[endpoint]
        if connection.down and (not connection.up or self.rng.random() < 0.6):
            return user.receive(endpoint, change)
        return connection.take()

    def damage(self, verb, body):
        """Spoils what a watch gets; the digest has to find it."""
        if verb == "diff":
            body = {**body, "ch": self.rng.choice([[], [{"at": 0, "del": ["none"], "ins": []}]])}
        elif verb == "snap" and body["last"]:
            body = {**body, "dig": "0" * 24}
        return body

    def pass_time(self, seconds):
        self.world.now += seconds
        for user in self.users:
            user.tick()

    def heal(self):
        for endpoint, is_up in self.world.up.items():
            if not is_up:
                self.world.start(endpoint)
        for name, owner in self.world.owners.items():
            if owner is None:
                self.world.move(name, self.rng.choice(ENDPOINTS))
        for _ in range(2000):
            busy = [user for user in self.users
                    if user.opening or any(each.up or each.down for each in user.connections.values())]
            for user in busy:
                self.deliver(user)
            if not busy:
                if self.is_quiet():
                    return
                # A client may wait up to its longest pause; a daemon shows that it is there.
                self.pass_time(0.5)
                for endpoint in ENDPOINTS:
                    for connection in self.world.connections(endpoint):
                        if connection.is_open:
                            connection.put("mark", {"t": 0, "at": []})
        raise AssertionError(f"no end: {self.what_is_open()}")

    def is_quiet(self):
        return not self.what_is_open()

    def what_is_open(self):
        found = []
        for user in self.users:
            found += [("asked", id) for id in user.asked if id not in user.answers]
            for name in self.world.navs:
                mirror = user.cluster.mirror(name)
                if not (mirror and mirror.is_synced and mirror.state.rev == self.world.navs[name].rev):
                    found.append(("mirror", name, mirror and mirror._phase))
        return found

    def check(self):
        for user in self.users:
            assert user.closed is None and not user.ended, (user.closed, user.ended)
            for id, (verb, name) in user.asked.items():
                answer = user.answers[id]
                self.totals["asked"] += 1
                if verb != "op":
                    continue
                times = self.world.navs[name].performed.count((user.client, id))
                is_unknown = not answer.ok and answer.err["effect"] == "unknown"
                self.totals["ok" if answer.ok else "unknown" if is_unknown else "refused"] += 1
                assert times <= 1 if is_unknown else times == bool(answer.ok), f"{id} was performed {times} times"
            for name, nav in self.world.navs.items():
                state = user.cluster.mirror(name).state
                assert json.dumps([screen.record for screen in state.screens]) == json.dumps(nav.screens)
                assert state.dig == nav.dig and state.dig[:8] == naive_checksum(nav.screens)
            self.check_duties(user)

    def check_duties(self, user):
        for name, kind in self.wanted[user]:
            change = user.duties.get((name, kind))
            owner = self.world.owners[name]
            has = owner in user.connections and (name, kind) in user.connections[owner].duties
            is_over = change is not None and change.what == "over"
            assert has != is_over, f"{name} {kind}: {change} but {has}"


def naive_checksum_of(lines):
    return "%08x" % zlib.crc32("\n".join(lines).encode())


def json_value(rng, depth):
    kind = rng.randrange(8 if depth else 6)
    if kind < 6:
        return [None, True, rng.randint(-2**53, 2**53), rng.random(), "ä\u2028\U0001f600\"\\\n"[:rng.randint(0, 7)],
                "__proto__"][kind]
    if kind == 6:
        return [json_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {f"k{index}": json_value(rng, depth - 1) for index in range(rng.randint(0, 3))}


if __name__ == "__main__":
    unittest.main()
