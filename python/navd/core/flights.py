"""The requests without an answer, which a session repeats after each reconnect."""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from math import inf

from ..wire import Body

__all__ = ["ROOM", "Flight", "Flights", "Seen"]

#: How many octets shorter than other messages an op must be, for `again`.
ROOM = 32
#: The number of shards of a cluster.
_SHARDS = 1024


@dataclass(slots=True)
class Seen:
    """The newest row of each shard that a daemon has reported (docs/protocol.md, the core)."""

    rows: dict[int, int] = field(default_factory=dict)
    shards: int = 1

    def row(self, nav: str) -> int:
        """Return the newest row of a nav's shard, 0 for none."""
        return self.rows.get(self._shard(nav), 0)

    def note(self, body: Body) -> None:
        """Note the row of an answer or of a diff."""
        nav, row = body.get("nav"), body.get("seq")
        # A virtual nav has rows of all shards.
        if isinstance(row, int) and nav is not None and not nav.startswith("$"):
            self.note_all([[self._shard(nav), row]])

    def note_all(self, rows: list[list[int]]) -> None:
        """Note the rows of a mark."""
        for shard, row in rows:
            self.rows[shard] = max(row, self.rows.get(shard, 0))

    def begin(self, rows: list[list[int]], is_divided: bool) -> None:
        """Note the rows of a welcome."""
        self.shards = _SHARDS if is_divided else 1
        self.note_all(rows)

    def _shard(self, nav: str) -> int:
        return zlib.crc32(nav.encode()) % self.shards


@dataclass(slots=True, eq=False)
class Flight:
    """A request without an answer yet."""

    id: int
    verb: str
    #: The nav that it is about; None for the daemon itself.
    nav: str | None
    body: bytes
    #: Whether it was sent in this session.
    is_sent: bool = False
    #: In how many sessions it was sent, except where a daemon answered that it has not done it.
    send_count: int = 0
    #: The client's name in the rules of the cluster when it was sent first.
    sent_as: str | None = None
    #: The newest row of the nav's shard that the client had seen when it was sent first.
    seen: int = 0
    #: From then on it is not sent any more, nor sent again.
    until: float = inf

    @property
    def expires_at(self) -> float:
        """When the request fails as `expired`; infinite while it is under way."""
        return inf if self.is_sent else self.until

    @property
    def late(self) -> Body:
        """The `err` for a request that could not be sent in time."""
        return {"code": "expired", "effect": "unknown" if self.send_count else "none", "retry": "no",
                "msg": "there was no connection in time, and the request is not sent any more"}

    def mark_unsent(self) -> None:
        """Note that a daemon has not performed the request."""
        self.is_sent = False
        self.send_count -= 1

    def send(self, principal: str | None, seen: Seen) -> bytes:
        """Return the octets to send: an op that is sent again says what the client had seen."""
        if self.send_count == 0:
            self.sent_as, self.seen = principal, seen.row(self.nav or "")
        self.is_sent = True
        self.send_count += 1
        is_again = self.verb == "op" and self.send_count > 1
        return self.body[:-1] + b',"again":%d}' % self.seen if is_again else self.body

    def reason_to_drop(self, principal: str | None, most_octets: int, now: float) -> Body | None:
        """Return the `err` for a request that must not be sent in this session."""
        if self.expires_at <= now:
            return self.late
        is_op = self.verb == "op"
        # Daemons remember ops by principal, so this one may perform it again.
        if is_op and self.send_count and principal and self.sent_as and self.sent_as != principal:
            return {"code": "op-too-old", "effect": "unknown", "retry": "resync",
                    "msg": f"the operation was sent as {self.sent_as}, and may have been"
                           f" performed; this daemon knows the client as {principal};"
                           " look at the newest state, then decide anew"}
        if len(self.body) > most_octets - (ROOM if is_op else 0):
            return {"code": "limit", "reason": "size", "retry": "no",
                    "effect": "unknown" if self.send_count else "none",
                    "msg": f"the {self.verb} has {len(self.body)} octets;"
                           f" the daemon accepts {most_octets}"}
        return None


class Flights(dict[int, Flight]):
    """The requests of a session without an answer, by their ids, oldest first."""

    def __init__(self) -> None:
        super().__init__()
        #: When to send a flight again that the daemon has put off, by its id.
        self.postponed: dict[int, float] = {}

    def take(self, id: int) -> Flight | None:
        """Remove a request, and return it; None if there is none with this id."""
        self.postponed.pop(id, None)
        return self.pop(id, None)

    def due(self, most: int, held: Container[str | None], unsure: bool,
            confirmed: Container[str | None]) -> Iterator[Flight]:
        """Yield what to send: the oldest ones, at most `most` without an answer.

        Nothing is sent about a nav in `held`. While the daemon is `unsure` to have a nav, only one
        request about it is under way. Otherwise a daemon that takes the nav over at this moment
        could refuse one and perform the next.
        """
        count, probed = 0, set[str]()
        for flight in self.values():
            if flight.nav in held and not flight.is_sent:
                continue
            if unsure and flight.nav is not None and flight.nav not in confirmed:
                if flight.nav in probed:
                    continue
                probed.add(flight.nav)
            count += 1
            if count > most:
                return
            if not flight.is_sent and flight.id not in self.postponed:
                yield flight
