"""A client of the package's core, and a test that plays its daemons message by message."""
import json
import random

import setting  # noqa: F401 - the path of the package
from navd.core import Address, Cluster, Options
from navd.core.actions import Drop, Open, Send

CLIENT = "0123456789abcdef" * 2
SNAP = {"kind": "controller", "epoch": "e" * 16, "rev": 1, "i": 0, "last": True, "why": "join", "dig": "68f0a522" + "c" * 16,
        "screens": [{"id": "home", "ver": 1}]}


class Script:
    """What the client did, and what it gets."""

    def __init__(self, *seeds, has_key=False, **options):
        self.now, self.sent, self.events, self.links = 100.0, [], [], {}
        self.cluster = Cluster([Address(seed) for seed in seeds or ["ipc:///a"]],
                               Options(CLIENT, random=random.Random(7), **options), has_key=has_key)
        self.cluster.start(self.now)
        self.act()

    def act(self):
        for action in self.cluster.take():
            if isinstance(action, Send):
                self.sent.append((action.endpoint, action.verb, action.body))
            elif isinstance(action, Open):
                self.links[action.address.endpoint] = action.address
            elif isinstance(action, Drop):
                self.links.pop(action.endpoint, None)
            else:
                self.events.append(action)

    def do(self, function, *arguments):
        """Calls a function of the client and performs its actions; returns the result."""
        result = function(*arguments)
        self.act()
        return result

    def receive(self, verb, endpoint="ipc:///a", **body):
        self.hand(endpoint, verb, body)

    def hand(self, endpoint, verb, body):
        """Hands a message over that may itself have an endpoint."""
        self.cluster.receive(endpoint, verb, body, len(json.dumps(body)), self.now)
        self.act()
        self.cluster.applied()
        self.act()

    def open(self, endpoint="ipc:///a", *, last=0, seq=(), features=(), you=None, boot=None, **limits):
        """Connects, and answers the `hello`."""
        self.do(self.cluster.connected, endpoint, self.now)
        hello = self.last("hello", endpoint)
        self.receive("welcome", endpoint, ver=1, nonce=hello["nonce"], boot=boot or endpoint, hb=5000, you=you or {},
                     features=list(features), ops={"last": last, "seq": list(seq)}, limits={"inflight": 64, "message": 65536, **limits})
        return hello

    def lose(self, endpoint="ipc:///a"):
        self.do(self.cluster.lost, endpoint, self.now)

    def again(self, endpoint="ipc:///a", **welcome):
        """Loses the connection, lets the pause pass, and opens another session."""
        self.lose(endpoint)
        self.wait(6.0)
        assert endpoint in self.links, self.links
        self.sent.clear()
        self.open(endpoint, **welcome)

    def wait(self, seconds):
        self.now += seconds
        self.do(self.cluster.tick, self.now)

    def bodies(self, verb, endpoint=None):
        """What was sent with a verb, to one daemon or to all."""
        return [body for each, sent, body in self.sent if sent == verb and endpoint in (None, each)]

    def last(self, verb, endpoint=None):
        found = self.bodies(verb, endpoint)
        assert found, f"no {verb} was sent: {self.sent}"
        return json.loads(found[-1])

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    def op(self, nav="kiosk", **members):
        return self.do(self.cluster.request, "op", nav, {"do": [{"push": {"screen": {"id": "x"}}}], **members})

    def answer(self, id, endpoint="ipc:///a", nav="kiosk", **more):
        self.receive("ok", endpoint, id=id, nav=nav, epoch="e" * 16, rev=2, changed=True, **more)

    def refuse(self, id, code, retry, endpoint="ipc:///a", **more):
        self.receive("err", endpoint, id=id, code=code, retry=retry, effect="none", msg=code, **more)

    def watch(self, nav="kiosk", endpoint="ipc:///a"):
        """Watches a nav, and gives the client a snapshot."""
        self.do(self.cluster.watch, nav)
        self.receive("ok", endpoint, id=self.last("watch", endpoint)["id"], nav=nav, mode="snap", epoch="e" * 16, rev=1)
        self.receive("snap", endpoint, nav=nav, **SNAP)
