#!/usr/bin/env python3
"""cluster.py ENDPOINTS NAV: a client of several daemons (docs/protocol.md §17), on the mirror of nsp.py.

`ClusterClient` has one session for each endpoint, all with one `client` and ids that rise over all of them. A nav has
a home, the endpoint of the daemon that had it last; navs without one are asked for at the base. `moved` changes the
home, and everything about the nav goes there: watches by `from`, unanswered messages (ops with `again`), roles and
leases anew. One thread does everything, in `step`.
"""
import json
import os
import random
import sys
import time

import zmq
from zmq.utils.monitor import recv_monitor_message

import nsp

CONNECT = 2.0  # how long the socket may take to connect, and the daemon to welcome the client
GONE = (zmq.EVENT_DISCONNECTED, zmq.EVENT_CLOSED, zmq.EVENT_HANDSHAKE_FAILED_AUTH,
        zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL)


def pause(tries):
    """A pause in seconds that is longer each time, up to 5 s."""
    return min(5.0, 0.1 * 2 ** min(tries, 16)) * random.uniform(0.5, 1)


class Mirror(nsp.Mirror):
    """The mirror of one nav; its watches go where the nav is."""

    def __init__(self, client, nav):
        self.client, self.nav = client, nav
        self.is_due, self.how, self.states = False, {}, 0

    def watch(self, **how):
        # While it waits, a diff must count as one of an earlier watch.
        self.how, self.is_due, self.pending = how, True, "due"

    def adopt(self, f1, screens, parts):
        super().adopt(f1, screens, parts)
        self.states += 1

    @property
    def is_right(self):
        return self.m is not None and self.pending is None


class Duty:
    """Delegate roles or a lease, to hold wherever the nav is."""

    def __init__(self, verb, nav, wanted):
        self.verb, self.nav, self.wanted = verb, nav, wanted
        self.is_due, self.is_held, self.pending = True, False, None


class Flight:
    """A message without an answer: its octets, and the endpoints to which it went since."""

    def __init__(self, verb, id, nav, body):
        self.verb, self.id, self.nav, self.body = verb, id, nav, body
        self.sent, self.is_due, self.sends, self.seen, self.principal = [], True, 0, 0, None


class Session:
    """The connection to one endpoint; `phase` is greeting, open or lost."""

    def __init__(self, endpoint, hello, window, keys):
        self.endpoint, self.phase, self.window = endpoint, "greeting", window
        self.nonce, self.used, self.upto, self.inflight = os.urandom(4).hex(), 0, window, 64
        self.until, self.heard, self.hb = time.monotonic() + CONNECT, None, hello["hb"] / 1000
        self.greeting = json.dumps({**hello, "nonce": self.nonce}).encode()
        self.has_greeted = False
        self.sock = zmq.Context.instance().socket(zmq.DEALER)
        # After a loss, libzmq would send on a connection without a session.
        for option, value in ((zmq.LINGER, 0), (zmq.RECONNECT_IVL, 86_400_000)):
            self.sock.setsockopt(option, value)
        if keys:
            self.sock.curve_serverkey, self.sock.curve_publickey, self.sock.curve_secretkey = keys
        self.monitor = self.sock.get_monitor_socket()
        self.sock.connect(endpoint)

    def send(self, verb, body):
        """Whether the socket took the message."""
        try:
            self.sock.send_multipart([b"nsp1." + verb.encode(), body], zmq.NOBLOCK)
            return True
        except zmq.Again:
            return False

    def close(self):
        self.phase = "lost"
        self.sock.disable_monitor()
        self.monitor.close(0)
        self.sock.close()


class ClusterClient:
    """A client of all daemons of a cluster.

    `endpoints` are the first ones to ask. `keys` is the client's own CURVE pair, and `server_keys` has the keys of
    daemons by endpoint; those of others come with `moved`. `on_ask` gets each question to a delegate.
    """

    def __init__(self, endpoints, *, name="cluster.py", window=65536, hb=5000, keys=None, server_keys=(),
                 on_ask=lambda ask: True, now=time.monotonic):
        self.seeds, self.base, self.seen = list(endpoints), endpoints[0], nsp.Seen()
        self.keys, self.server_keys, self.on_ask, self.now = keys, dict(server_keys), on_ask, now
        self.hello = {"ver": [1, 1], "client": os.urandom(16).hex(), "name": name, "window": window, "hb": hb}
        self.window, self.id = window, 0
        self.sessions, self.homes, self.held = {}, {}, {}
        self.lost = {}  # endpoint → (how often in a row, when to try again)
        self.moves = {}  # of each nav since its last answer
        self.mirrors, self.duties, self.flights, self.answers = {}, {}, {}, {}
        self.asked = {}  # (endpoint, id) of a watch, a delegate or a lease → what it was for
        self.poller = zmq.Poller()

    # What callers ask for.

    def watch(self, nav):
        """The mirror of a nav, which follows it from now on."""
        if nav not in self.mirrors:
            self.mirrors[nav] = Mirror(self, nav)
            self.mirrors[nav].watch()
        return self.mirrors[nav]

    def unwatch(self, nav):
        self.mirrors.pop(nav)
        session = self.sessions.get(self.home(nav))
        if session and session.phase == "open":
            self.id += 1
            session.send("unwatch", json.dumps({"id": self.id, "nav": nav}).encode())

    def begin(self, verb, nav=None, **members):
        """Sends an `op`, a `get` or a `cluster` message, again until it is answered; returns its id."""
        self.id += 1
        named = {} if nav is None else {"nav": nav}
        body = json.dumps({"id": self.id, **named, **members}).encode()
        self.flights[self.id] = Flight(verb, self.id, nav, body)
        return self.id

    def wait(self, id, within=60.0):
        """The `ok` of a message; raises nsp.Refused with the `err`."""
        self.until(lambda: id in self.answers, within)
        verb, answer = self.answers.pop(id)
        if verb == "err":
            raise nsp.Refused(answer)
        return answer

    def request(self, verb, nav=None, within=60.0, **members):
        return self.wait(self.begin(verb, nav, **members), within)

    def op(self, nav, guard, *do, within=60.0, **more):
        """Performs operations; a mirror of the nav shows them when this returns."""
        answer = self.request("op", nav, within, do=list(do), **{"if": guard}, **more)
        mirror = self.mirrors.get(nav)
        if mirror:
            self.until(lambda: mirror.is_right and mirror.m["rev"] >= answer["rev"], within)
        return answer

    def state(self, nav, within=60.0):
        """The newest state of a mirror."""
        mirror = self.watch(nav)
        self.until(lambda: mirror.is_right, within)
        return mirror.m

    def push(self, nav, **screen):
        return self.op(nav, {"epoch": self.state(nav)["epoch"]}, {"push": {"screen": screen}})

    def pop(self, nav):
        state = self.state(nav)
        top = state["screens"][-1]["id"] if state["screens"] else None
        return self.op(nav, {"epoch": state["epoch"], "top": top}, {"pop": {}})

    def hold(self, verb, nav, within=60.0, **wanted):
        """Takes roles (`delegate`, roles=[…]) or the display (`lease`, take=True), wherever the nav goes."""
        # Only the end of a watch says that a nav moves, and its roles end with that.
        self.watch(nav)
        duty = self.duties[verb, nav] = Duty(verb, nav, wanted)
        self.until(lambda: duty.is_held, within)
        return duty

    def until(self, condition, within=60.0):
        end = time.monotonic() + within
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"not within {within:g} s; lost: {self.lost}, held: {self.held}")
            self.step(min(0.5, end - time.monotonic()))

    def close(self):
        for session in list(self.sessions.values()):
            self.id += 1
            if session.phase == "open":
                session.send("bye", json.dumps({"id": self.id}).encode())
            self.end(session)

    # The loop.

    def step(self, within=0.5):
        """Sends what is due, and handles what arrives in the time, at most one round of it."""
        now = self.now()
        self.keep_time(now)
        self.send_due(now)
        for sock, _ in self.poller.poll(max(0, min(within, self.next_time() - self.now())) * 1000):
            session = next((each for each in self.sessions.values() if sock in (each.sock, each.monitor)), None)
            if session and sock is session.monitor:
                self.handle_event(session)
            elif session:
                self.receive(session)

    def next_time(self):
        times = [self.now() + 0.5, *self.held.values()]
        times += [each.until for each in self.sessions.values() if each.phase == "greeting"]
        times += [at for endpoint, (_, at) in self.lost.items() if endpoint in self.needed()]
        return min(times)

    def keep_time(self, now):
        for session in list(self.sessions.values()):
            is_late = session.phase == "greeting" and now > session.until
            is_silent = session.phase == "open" and now > session.heard + 3 * session.hb
            if is_late or is_silent:
                self.lose(session)
        for nav in [nav for nav, until in self.held.items() if until <= now]:
            del self.held[nav]
        for endpoint in self.needed():
            if endpoint not in self.sessions and self.lost.get(endpoint, (0, 0))[1] <= now:
                self.open(endpoint)

    def needed(self):
        navs = [*self.mirrors, *(nav for _, nav in self.duties), *(each.nav for each in self.flights.values())]
        return dict.fromkeys([self.base, *(self.home(nav) for nav in navs)])

    def open(self, endpoint):
        keys = (self.server_keys[endpoint], *self.keys) if self.keys else None
        session = self.sessions[endpoint] = Session(endpoint, self.hello, self.window, keys)
        for sock in (session.sock, session.monitor):
            self.poller.register(sock, zmq.POLLIN)

    def end(self, session):
        for sock in (session.sock, session.monitor):
            self.poller.unregister(sock)
        del self.sessions[session.endpoint]
        session.close()

    def handle_event(self, session):
        event = recv_monitor_message(session.monitor)["event"]
        if event == zmq.EVENT_HANDSHAKE_SUCCEEDED and not session.has_greeted:
            session.has_greeted = session.send("hello", session.greeting)
        elif event in GONE:
            while session.phase != "lost" and self.receive(session):  # what came before the end
                pass
            if session.phase != "lost":
                self.lose(session)

    def home(self, nav):
        return self.homes.get(nav, self.base)

    def send_due(self, now):
        for nav, mirror in list(self.mirrors.items()):
            session = self.open_session(nav)
            if session and mirror.is_due:
                mirror.pending, mirror.is_due = self.wish(session, mirror, "watch", nav, **mirror.how), False
        for (verb, nav), duty in list(self.duties.items()):
            session = self.open_session(nav)
            if session and duty.is_due:
                duty.pending, duty.is_due = self.wish(session, duty, verb, nav, **duty.wanted), False
        count = {}
        for flight in list(self.flights.values()):
            session = self.open_session(flight.nav)
            if not session:
                continue
            count[session] = count.get(session, 0) + 1
            if flight.is_due and count[session] <= session.inflight:
                self.send_flight(session, flight, now)

    def open_session(self, nav):
        session = self.sessions.get(self.home(nav))
        return session if session and session.phase == "open" and nav not in self.held else None

    def wish(self, session, what, verb, nav, **members):
        self.id += 1
        self.asked[session.endpoint, self.id] = what
        session.send(verb, json.dumps({"id": self.id, "nav": nav, **members}).encode())
        return self.id

    def send_flight(self, session, flight, now):
        # Daemons remember ops by principal.
        if flight.verb == "op" and flight.sends and flight.principal != session.principal:
            return self.settle(flight.id, "err", {"id": flight.id, "code": "op-too-old", "effect": "unknown"})
        seen = min(self.seen.of(flight.nav), flight.seen if flight.sends else 2**53)
        body = flight.body[:-1] + b', "again": %d}' % seen if flight.verb == "op" and flight.sends else flight.body
        if session.send(flight.verb, body):
            flight.seen, flight.principal = seen, flight.principal if flight.sends else session.principal
            flight.is_due, flight.sends = False, flight.sends + 1
            flight.sent.append(session.endpoint)

    # What arrives.

    def receive(self, session):
        """Handles one message; whether there was one."""
        try:
            frame, body = session.sock.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return False
        verb, f1 = frame[5:].decode(), json.loads(body)
        if session.phase == "greeting":
            self.greet(session, verb, f1)
            return True
        session.heard = self.now()
        if verb in ("snap", "diff", "diffs", "latest", "event"):
            session.used += len(body)
        if verb in ("ok", "diff", "mark"):
            self.seen.note(f1)
        if verb in ("ok", "err"):
            self.answer(session, verb, f1)
        elif verb in ("snap", "diff", "diffs"):
            for each in f1.get("list", [f1]):
                self.replicate(session, f1["nav"], "snap" if verb == "snap" else "diff", each)
        elif verb == "mark":
            for nav, rev, dig in f1["at"]:
                mirror = self.mirror_at(session, nav)
                if mirror and mirror.is_right and (rev > mirror.m["rev"] or (rev, dig) != (rev, mirror.m["dig"])
                                                   and rev == mirror.m["rev"]):
                    mirror.suspect()
        elif verb == "end":
            self.finish_watch(session, f1)
        elif verb == "ask" and ("delegate", f1["nav"]) in self.duties:
            value = self.on_ask(f1)
            if value is not None:
                session.send("answer", json.dumps({"ask": f1["ask"], "value": value}).encode())
        elif verb == "bye":
            self.lose(session, f1.get("after", 0) / 1000)
        if session.phase == "open" and session.used > session.upto - session.window // 2:
            session.upto = session.used + session.window
            session.send("credit", json.dumps({"upto": session.upto}).encode())
        return True

    def greet(self, session, verb, f1):
        if verb == "err":
            self.lose(session, 1.0)
        if verb != "welcome" or f1["nonce"] != session.nonce:
            return  # older messages
        session.phase, session.heard, session.hb = "open", self.now(), f1["hb"] / 1000
        session.inflight = f1["limits"].get("inflight", 64)
        session.principal = f1["you"].get("principal")
        session.window = min(self.window, f1["limits"]["window"])
        session.upto = session.window
        self.id = max(self.id, f1["ops"]["last"])
        self.seen.begin(f1)
        self.lost.pop(session.endpoint, None)

    def mirror_at(self, session, nav):
        """The mirror of a nav, if this session is the one that follows it."""
        return self.mirrors.get(nav) if self.home(nav) == session.endpoint else None

    def replicate(self, session, nav, verb, f1):
        mirror = self.mirror_at(session, nav)
        if mirror and mirror.pending is None:
            getattr(mirror, verb)(f1)
            self.serve(nav)

    def serve(self, nav):
        """The nav has an owner that answers."""
        self.moves.pop(nav, None)

    def answer(self, session, verb, f1):
        is_elsewhere = f1.get("code") == "moved" or f1.get("reason") == "no-owner"
        what = self.asked.pop((session.endpoint, f1["id"]), None)
        if what is not None:
            if what.pending == f1["id"]:
                self.answer_wish(what, verb, f1, session, is_elsewhere)
            return
        flight = self.flights.get(f1["id"])
        if not flight:
            return
        if session.endpoint in flight.sent:
            flight.sent.remove(session.endpoint)
        if is_elsewhere:
            # Of several answers from there, or from a former home, only the last one counts.
            if session.endpoint in flight.sent or flight.is_due or self.home(flight.nav) != session.endpoint:
                return
            flight.is_due, flight.sends = True, flight.sends - 1
            self.follow(session, flight.nav, f1)
        elif f1.get("code") == "busy" and flight.sends > 1:
            # An earlier daemon may have performed it, so this is no answer.
            flight.is_due = True
            self.held[flight.nav] = self.now() + max(f1.get("after", 0) / 1000, pause(flight.sends))
        else:
            self.settle(f1["id"], verb, f1)
            self.serve(flight.nav)

    def settle(self, id, verb, f1):
        del self.flights[id]
        self.answers[id] = verb, f1

    def answer_wish(self, what, verb, f1, session, is_elsewhere):
        what.pending = None
        if is_elsewhere:
            self.put_off(what.nav)
            self.follow(session, what.nav, f1)
        elif verb == "err" and f1.get("retry") in ("later", "same"):
            self.put_off(what.nav)
            self.held[what.nav] = self.now() + max(f1.get("after", 0) / 1000, pause(0))
        elif isinstance(what, Mirror):
            self.serve(what.nav)
            if verb == "err":
                del self.mirrors[what.nav]
                raise nsp.Refused(f1)
        else:
            self.serve(what.nav)
            what.is_held = verb == "ok"
            if verb == "err":
                del self.duties[what.verb, what.nav]
                raise nsp.Refused(f1)

    def finish_watch(self, session, f1):
        mirror = self.mirror_at(session, f1["nav"])
        if not mirror or mirror.pending is not None:
            return  # the end of a watch before
        if f1["why"] == "moved":
            self.put_off(f1["nav"])
            self.follow(session, f1["nav"], f1)
        else:
            del self.mirrors[f1["nav"]]

    # Where navs are.

    def put_off(self, nav):
        """Everything about the nav begins anew at its next daemon, from the mirror that there is."""
        mirror = self.mirrors.get(nav)
        if mirror:
            mirror.tmp = []
            mirror.resume()
        for verb in ("delegate", "lease"):
            duty = self.duties.get((verb, nav))
            if duty:
                duty.is_due, duty.is_held, duty.pending = True, False, None

    def follow(self, session, nav, f1):
        """Handles `moved`, as an `err` or an `end`, and `no-owner`."""
        now, endpoint = self.now(), f1.get("endpoint")
        if endpoint is None:
            if nav not in self.held:
                self.moves.pop(nav, None)
                # Not longer each time: the daemon says when to ask. A random part spreads the clients.
                after = f1.get("after", 0) / 1000
                self.held[nav] = now + after + random.uniform(0, after / 4 + 0.01)
            return
        if f1.get("key"):
            self.server_keys[endpoint] = f1["key"].encode()
        tries = self.moves[nav] = self.moves.get(nav, 0) + 1
        self.held.pop(nav, None)
        if tries <= 2 and endpoint in self.lost:
            # It may be back, as the daemon that names it says.
            self.lost[endpoint] = self.lost[endpoint][0], now
        if tries > 2:
            self.held[nav] = now + min(0.5, pause(tries - 3))
        self.move(nav, endpoint)

    def move(self, nav, endpoint):
        self.homes[nav] = endpoint
        self.put_off(nav)
        for flight in self.flights.values():
            if flight.nav == nav and not flight.is_due:
                flight.is_due = True

    def lose(self, session, least=0.0):
        """The session is over. After a second failure in a row, other daemons are asked about its navs."""
        self.end(session)
        endpoint, was_open = session.endpoint, session.phase == "lost" and session.heard is not None
        tries = self.lost.get(endpoint, (0, 0))[0] + 1
        # Until the lease of its daemon ends, the others name it, so while they answer the pauses stay short.
        longest = 0.5 if any(each.phase == "open" for each in self.sessions.values()) else 5.0
        self.lost[endpoint] = tries, self.now() + max(least, min(longest, pause(tries - 1)))
        navs = [nav for nav in {*self.mirrors, *(nav for _, nav in self.duties),
                                *(each.nav for each in self.flights.values())} if self.home(nav) == endpoint]
        for flight in self.flights.values():
            flight.sent = [each for each in flight.sent if each != endpoint]
        other = self.other(endpoint) if not was_open or least > 0.1 else None
        if other and self.base == endpoint:
            self.base = other
        for nav in navs:
            self.move(nav, other or endpoint)

    def other(self, endpoint):
        """Another endpoint to ask: one with a session, those of the configuration first."""
        known = [each for each in dict.fromkeys([*self.seeds, *self.homes.values(), *self.sessions])
                 if each != endpoint]
        is_open = [each for each in known if each in self.sessions and self.sessions[each].phase == "open"]
        fresh = [each for each in known if each not in self.lost]
        return (is_open or fresh or sorted(known, key=lambda each: self.lost[each][1]) or [None])[0]


if __name__ == "__main__":
    client = ClusterClient(sys.argv[1].split(","))
    state = client.state(sys.argv[2])
    print([each["id"] for each in state["screens"]], state["rev"], state["dig"])
    print(client.push(sys.argv[2], title="Hello", route="hello")["rev"], client.pop(sys.argv[2])["out"])
    client.close()
