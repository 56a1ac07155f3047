"""The fields of a session, and the messages that it sends."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from random import Random

from ..errors import NavigationError
from ..wire import Body, encode
from .actions import Action, Answered, Closed, DutyChanged, Send, Settled
from .flights import ROOM, Flight, Flights, Seen
from .wishes import Duty, Key, OpenAsk, Watch, Wish

__all__ = ["Ids", "Options", "Phase", "SessionState"]

_USUAL_OCTETS = 65536
_USUAL_FLIGHTS = 64
_MOST_CONFIRMED = 4096


class Phase(enum.Enum):
    """The state of a session."""

    UNCONNECTED = enum.auto()
    #: `hello` was sent; everything but its answer belongs to an earlier session.
    GREETING = enum.auto()
    OPEN = enum.auto()
    #: Over for good.
    CLOSED = enum.auto()


@dataclass(slots=True)
class Ids:
    """The next id and the rows seen so far, which the sessions of a client share."""

    next: int = 1
    seen: Seen = field(default_factory=Seen)

    def take(self) -> int:
        """Return an id that no message had before."""
        self.next += 1
        return self.next - 1


@dataclass(frozen=True, slots=True)
class Options:
    """The identity of a client, and the settings of its sessions."""

    #: 32 hex digits, new for each run of the process.
    client: str
    name: str = ""
    #: The flow-control window in octets.
    window: int = 65536
    #: The heartbeat interval in seconds.
    heartbeat: float = 5.0
    #: The source of nonces and pauses.
    random: Random = field(default_factory=Random)

    def pause(self, attempt: int) -> float:
        """Return a random pause up to a bound, which doubles from 0.1 s to 5 s."""
        bound: float = min(5.0, 0.1 * 2 ** min(attempt, 16))
        return bound * self.random.random()


class SessionState:
    """The fields of a session, and the functions that send and end."""

    def __init__(self, options: Options, ids: Ids) -> None:
        self._options = options
        self._ids = ids
        self._actions: list[Action] = []
        self._nonce = ""
        self._hb = options.heartbeat
        self._window = options.window
        self._used = self._upto = 0
        self._heard = 0.0
        self._attempts = 0
        self._most_octets = _USUAL_OCTETS
        self._most_flights = _USUAL_FLIGHTS
        self._watches: dict[Key, Watch] = {}
        self._duties: dict[Key, Duty] = {}
        self._asks: dict[int, OpenAsk] = {}
        #: What each id of a watch, `delegate` or `lease` of this session was for.
        self._asked: dict[int, Key] = {}
        #: The navs about which nothing is sent, and until when.
        self._delayed_until: dict[str | None, float] = {}
        #: How many answers may still come about requests that another session sends again.
        self._departed: dict[int, int] = {}
        #: The requests for roles and leases that another session goes on with.
        self._stray: dict[int, Key] = {}
        #: The navs that the daemon has, by its answers in this session.
        self._confirmed: set[str] = set()
        self.phase = Phase.UNCONNECTED
        self.flights = Flights()
        #: Whether the daemon is one of several, so that it may not have a nav.
        self.is_divided = False
        #: The client's name in the rules of the cluster; None if the daemon is alone.
        self.principal: str | None = None
        #: The run of the daemon, by the last `welcome`.
        self.boot: str | None = None

    def take(self) -> list[Action]:
        """Return the actions since the last call."""
        actions, self._actions = self._actions, []
        return actions

    @property
    def wake_at(self) -> float:
        """The time of the next `tick`; infinite while nothing has a deadline."""
        at = min((each.expires_at for each in self.flights.values()), default=inf)
        if self.phase not in (Phase.GREETING, Phase.OPEN):
            return at
        at = min(at, self._silent_at)
        if self.phase is Phase.OPEN:
            for wish in self._wishes():
                at = min(at, wish.retry_at)
            at = min([at, *(ask.until for ask in self._asks.values()),
                      *self.flights.postponed.values(),
                      *self._delayed_until.values()])
        return at

    @property
    def _silent_at(self) -> float:
        return self._heard + 3 * self._hb

    def _wishes(self) -> Iterable[Wish]:
        yield from self._watches.values()
        yield from self._duties.values()

    # Sending.

    def _check_size(self, verb: str, body: bytes) -> None:
        """Raise `limit` for a message that is too large: navd could not name it in its error."""
        most = self._most_octets - (ROOM if verb == "op" else 0)
        if len(body) > most:
            raise NavigationError(
                "limit", f"the {verb} has {len(body)} octets; the daemon accepts"
                f" {most}: send less in one message", {"reason": "size"})

    def _send(self, verb: str, body: Body) -> None:
        self._actions.append(Send(verb, encode(body)))

    def _send_wish(self, wish: Wish) -> None:
        self._drop_requests(wish.key)
        wish.retry_at, wish.is_due = inf, wish.nav in self._delayed_until
        if wish.is_due:
            return
        id = self._ids.take()
        self._asked[id] = wish.key
        if isinstance(wish, Duty):
            self._send(wish.kind, {"id": id, "nav": wish.nav, **wish.wanted})
        else:
            more = wish.mirror.begin_watch() if wish.mirror else {}
            if wish.waits:
                more = {**more, "wait": True}
            self._send("watch", {"id": id, "nav": wish.nav, "view": wish.view, **more})

    def _send_waiting(self) -> None:
        """Send requests that were not sent yet, oldest first."""
        if self.phase is not Phase.OPEN:
            return
        due = self.flights.due(self._most_flights, self._delayed_until, self.is_divided, self._confirmed)
        for flight in due:
            octets = flight.send(self.principal, self._ids.seen)
            self._actions.append(Send(flight.verb, octets, flight.id))

    def _resign(self, kind: str, nav: str) -> None:
        """End roles or a lease at the daemon."""
        resignation: Body = {"roles": []} if kind == "delegate" else {"take": False}
        self._send(kind, {"id": self._ids.take(), "nav": nav, **resignation})

    def _confirm(self, nav: str | None) -> None:
        """Note that the daemon has a nav, and send the requests that waited for this."""
        if not self.is_divided or nav is None or nav in self._confirmed:
            return
        if len(self._confirmed) >= _MOST_CONFIRMED:
            self._confirmed.clear()
        self._confirmed.add(nav)
        self._send_waiting()

    def _drop_requests(self, key: Key) -> None:
        for id in [id for id, asked in self._asked.items() if asked == key]:
            del self._asked[id]

    # Ends.

    def _fail(self, id: int, err: Body) -> None:
        self.flights.take(id)
        self._actions.append(Answered(id, err={"id": id, **err}))

    def _drop_late(self, now: float) -> None:
        """Fail the requests whose time is up, except those that are under way."""
        for flight in [each for each in self.flights.values() if each.expires_at <= now]:
            self._fail(flight.id, flight.late)

    def _drop_flights(self, flights: Iterable[Flight], now: float) -> None:
        """Fail the requests that must not be sent in this session."""
        for flight in list(flights):
            err = flight.reason_to_drop(self.principal, self._most_octets, now)
            if err:
                self._fail(flight.id, err)

    def _void(self, number: int) -> None:
        ask = self._asks.pop(number, None)
        if ask:
            self._actions.append(Settled(ask.nav, number))

    def _void_all(self, nav: str) -> None:
        for number in [number for number, ask in self._asks.items() if ask.nav == nav]:
            self._void(number)

    def _end_duty(self, duty: Duty, error: NavigationError) -> None:
        self._duties.pop(duty.key, None)
        self._drop_requests(duty.key)
        if duty.kind == "delegate":
            self._void_all(duty.nav)
        self._actions.append(DutyChanged(duty.kind, duty.nav, "over", error))

    def _interrupt(self, duty: Duty) -> None:
        """Note that the daemon has ended roles or a lease, which the session requests again."""
        duty.retry_at = inf
        if not duty.is_held:
            return
        duty.is_held = False
        if duty.is_kept:
            self._actions.append(DutyChanged(duty.kind, duty.nav, "interrupted"))
        else:
            self._end_duty(duty, NavigationError(
                "lease-lost", "the connection was lost, and the lease is not kept; take it again",
                {"nav": duty.nav, "retry": "resync"}))

    def _forget_session(self) -> None:
        if self.phase is not Phase.CLOSED:
            self.phase = Phase.UNCONNECTED
        for key in self._asked.values():
            duty = self._duties.get(key)
            if duty:
                duty.stop_forcing()
        self._asked.clear()
        self._departed.clear()
        self._stray.clear()
        self._confirmed.clear()
        for number in list(self._asks):
            self._void(number)
        for watch in self._watches.values():
            watch.disconnect()
        for duty in list(self._duties.values()):
            self._interrupt(duty)
        for flight in self.flights.values():
            flight.is_sent = False
        self.flights.postponed.clear()

    def _close(self, error: NavigationError) -> None:
        self._forget_session()
        self.phase = Phase.CLOSED
        self._actions.append(Closed(error))
