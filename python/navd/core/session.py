"""The session with one daemon (docs/protocol.md, §4 to §12): life, credit, requests."""

from __future__ import annotations

from math import inf

from ..state import Latest, State, View
from ..wire import JSON, Body, encode
from .actions import DutyKind, Queued, Send
from .flights import Flight
from .messages import Unreadable, check
from .mirror import Mirror
from .session_answers import SessionAnswers
from .session_moves import SessionMoves
from .session_state import Ids, Options, Phase
from .wishes import Duty, Watch, duty_key, watch_key

__all__ = ["Ids", "Options", "Phase", "Session"]

_CREDIT_VERBS = frozenset(["snap", "diff", "diffs", "latest", "event", "traced"])


class Session(SessionAnswers, SessionMoves):
    """The state machine of one session at a time, with watches, requests and duties over all.

    It has neither clock nor I/O. Callers pass each event with the time in seconds, and then perform
    the actions of `take` in order.
    """

    # Events.

    def connected(self, now: float) -> None:
        """Handle a new connection: say `hello`."""
        if self.phase is Phase.CLOSED:
            return
        self._forget_session()
        self.phase = Phase.GREETING
        self._hb = self._options.heartbeat
        self._heard = now
        self._nonce = f"{self._options.random.getrandbits(64):016x}"
        self._send("hello", {
            "ver": [1, 1], "client": self._options.client, "name": self._options.name,
            "nonce": self._nonce, "window": self._options.window,
            "hb": round(1000 * self._options.heartbeat)})

    def tick(self, now: float) -> None:
        """Handle deadlines: silence, postponed requests, questions without a `settled`."""
        self._drop_late(now)
        if self.phase not in (Phase.GREETING, Phase.OPEN):
            return
        if now >= self._silent_at:
            self.lost(now)
        if self.phase is not Phase.OPEN:
            return
        for number in [number for number, ask in self._asks.items() if ask.until <= now]:
            self._void(number)
        for wish in [wish for wish in self._wishes() if wish.retry_at <= now]:
            self._send_wish(wish)
        postponed = self.flights.postponed
        for id in [id for id, at in postponed.items() if at <= now]:
            del postponed[id]
        for nav in [nav for nav, until in self._delayed_until.items() if until <= now]:
            self._drop_flights([each for each in self.flights.values() if each.nav == nav and not each.is_sent], now)
            self._send_delayed(nav)
        self._send_waiting()

    def receive(self, verb: str, body: Body, octets: int, now: float) -> None:
        """Handle a message; `octets` is the length of its body."""
        if self.phase not in (Phase.GREETING, Phase.OPEN):
            return
        try:
            check(verb, body)
        except Unreadable:
            self.lost(now)
            return
        self._heard = now
        if self.phase is Phase.GREETING:
            self._receive_greeting(verb, body, now)
            return
        if verb in _CREDIT_VERBS:
            self._used += octets
        if verb == "ok" or verb == "pong":
            self._receive_ok(body, now)
        elif verb == "err":
            self._receive_err(body, now)
        elif verb == "queued":
            self._actions.append(Queued(body["id"], body.get("pos", 0)))
            flight, key = self.flights.get(body["id"]), self._asked.get(body["id"])
            self._confirm(flight.nav if flight else key[1] if key else None)
        elif verb in ("snap", "diff"):
            self._ids.seen.note(body)
            self._replicate(body["nav"], verb, body, now)
        elif verb == "diffs":
            for diff in body["list"]:
                self._ids.seen.note(diff)
                self._replicate(diff["nav"], "diff", diff, now)
        elif verb == "mark":
            self._ids.seen.note_all(body.get("seq", []))
            for nav, rev, dig in (entry[:3] for entry in body["at"]):
                self._replicate(nav, "mark", {"rev": rev, "dig": dig}, now)
        elif verb == "event":
            self._receive_event(body)
        elif verb == "latest":
            self._receive_latest(body)
        elif verb == "ask":
            self._receive_ask(body, now)
        elif verb == "settled":
            self._void(body["ask"])
        elif verb == "lost":
            self._receive_lost(body)
        elif verb == "end":
            self._receive_end(body)
        elif verb == "bye":
            self._receive_bye(body, now)

    def applied(self) -> None:
        """Send `credit` if half of the window is used; call it after the actions are performed."""
        if self.phase is Phase.OPEN and self._used + self._window // 2 > self._upto:
            self._upto = self._used + self._window
            self._send("credit", {"upto": self._upto})

    def leave(self) -> None:
        """End the session for good."""
        if self.phase is Phase.OPEN:
            self._send("bye", {"id": self._ids.take()})
        self.phase = Phase.CLOSED

    # What users ask for.

    def mirror(self, nav: str) -> Mirror | None:
        """Return the mirror of a full watch, even while it may be wrong."""
        watch = self._watches.get(watch_key(nav, "full"))
        return watch.mirror if watch else None

    def is_behind(self, state: State) -> bool:
        """Whether an answer has reported a later revision; without credit, it precedes the diff."""
        watch = self._watches.get(watch_key(state.nav, "full"))
        known = watch.answered if watch else None
        return known is not None and known[0] == state.epoch and known[1] > state.rev

    def current(self, nav: str, view: View) -> State | Latest | None:
        """Return the value of a watch, if it is known to be right."""
        watch = self._watches.get(watch_key(nav, view))
        if watch is None or self.phase is not Phase.OPEN:
            return None
        if watch.mirror is None:
            return watch.latest
        return watch.mirror.state if watch.mirror.is_synced else None

    def watch(self, nav: str, view: View, waits: bool = False) -> None:
        """Watch a nav, in this session and in all later ones; begin again if it `waits` no more."""
        key = watch_key(nav, view)
        watch = self._watches.get(key)
        if watch and (waits or not watch.waits):
            return
        if watch is None:
            watch = Watch(nav, view, Mirror(nav) if view == "full" else None)
        watch.waits = waits
        self._watches[key] = watch
        if self.phase is Phase.OPEN:
            self._send_wish(watch)

    def unwatch(self, nav: str, view: View) -> None:
        """End a watch."""
        key = watch_key(nav, view)
        if self._watches.pop(key, None) is None:
            return
        self._drop_requests(key)
        if self.phase is Phase.OPEN:
            self._send("unwatch", {"id": self._ids.take(), "nav": nav, "view": view})

    def request(
        self, verb: str, nav: str | None, members: Body, until: float = inf
    ) -> int:
        """Send a request, and again after each loss until it is answered; return its id.

        From `until` on, a request that is not under way fails with `expired`.

        Raises NavigationError `limit` if it is too large, ValueError or TypeError if it cannot be
        written.
        """
        named: Body = {} if nav is None else {"nav": nav}
        body = encode({"id": self._ids.next, **named, **members})
        self._check_size(verb, body)
        flight = Flight(self._ids.take(), verb, nav, body, until=until)
        self.flights[flight.id] = flight
        self._send_waiting()
        return flight.id

    def forget(self, id: int) -> bool:
        """Drop a request; return whether it was sent, so that it may have happened."""
        flight = self.flights.take(id)
        self._send_waiting()
        return flight is not None and flight.send_count > 0

    def want(self, kind: DutyKind, nav: str, wanted: Body | None, is_kept: bool = True) -> None:
        """Register roles or take a display, in this session and in later ones; None ends it."""
        key = duty_key(kind, nav)
        if wanted is not None:
            self._check_size(kind, encode({"id": self._ids.next, "nav": nav, **wanted}))
        self._drop_requests(key)
        if kind == "delegate":
            self._void_all(nav)
        if wanted is not None:
            duty = self._duties[key] = Duty(nav, kind, wanted, is_kept)
            if self.phase is Phase.OPEN:
                self._send_wish(duty)
        elif self._duties.pop(key, None) and self.phase is Phase.OPEN:
            self._resign(kind, nav)

    def answer(self, number: int, value: JSON) -> None:
        """Answer a question, unless it is void; raises an error if that cannot be sent."""
        ask = self._asks.get(number)
        if self.phase is not Phase.OPEN or ask is None or ask.is_answered:
            return
        body = encode({"ask": number, "value": value})
        self._check_size("answer", body)
        ask.is_answered = True
        self._actions.append(Send("answer", body))
