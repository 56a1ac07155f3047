"""The requests without an answer: the octets to send again, unchanged, until there is one."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from math import inf

from ..wire import Body

__all__ = ["Flight", "Flights"]

#: The daemon forgets the ops of a client after ten minutes; one of them is for the way.
REMEMBERED = 540.0


@dataclass(slots=True, eq=False)
class Flight:
    """A request on its way."""

    id: int
    verb: str
    #: The nav that it is about; None for the daemon itself.
    nav: str | None
    body: bytes
    #: Whether it was sent in this session.
    is_sent: bool = False
    #: In how many sessions it was sent, except where a daemon answered that it has not done it.
    sends: int = 0
    #: The client's name in the rules of the cluster when it was sent first.
    sent_as: str | None = None
    #: The last time at which the daemon was heard before the first loss of its session.
    since: float | None = None
    #: From then on it is not sent any more, nor sent again.
    until: float = inf

    @property
    def ends_at(self) -> float:
        """When it fails without an answer; infinite while it is under way."""
        return inf if self.is_sent else self.until

    @property
    def late(self) -> Body:
        """The `err` for a request that could not be sent in time."""
        return {"code": "expired", "effect": "unknown" if self.sends else "none", "retry": "no",
                "msg": "there was no connection in time, and the request is not sent any more"}

    def withdraw(self) -> None:
        """Note that a daemon has not done it."""
        self.is_sent = False
        self.sends -= 1
        if self.sends == 0:
            self.since = None

    def lose(self, heard: float) -> None:
        """Note the loss of the session; `heard` is when its last message arrived."""
        self.is_sent = False
        # Answers come in order. So the daemon decided the op after the last message that came
        # before the first loss.
        if self.sends and self.since is None:
            self.since = heard

    def reason_to_drop(
        self, principal: str | None, last_decided: int, most_octets: int, now: float
    ) -> Body | None:
        """Return the `err` for a request that must not be sent in this session."""
        if self.ends_at <= now:
            return self.late
        is_op = self.verb == "op"
        # Daemons remember ops by principal, so this one may perform it again.
        if is_op and self.sends and principal and self.sent_as and self.sent_as != principal:
            return _too_old(f"the operation was sent as {self.sent_as}, and may have been"
                            f" performed; this daemon knows the client as {principal}")
        is_forgotten = is_op and self.since is not None and now - self.since > REMEMBERED
        if is_forgotten and self.id > last_decided:
            return _too_old("the daemon may have forgotten the operation, so it is not sent again")
        if len(self.body) > most_octets:
            return {"code": "limit", "reason": "size", "retry": "no",
                    "effect": "unknown" if self.sends else "none",
                    "msg": f"the {self.verb} has {len(self.body)} octets;"
                           f" the daemon accepts {most_octets}"}
        return None


def _too_old(msg: str) -> Body:
    return {"code": "op-too-old", "effect": "unknown", "retry": "resync",
            "msg": f"{msg}; look at the newest state, then decide anew"}


class Flights(dict[int, Flight]):
    """The flights of a session by their ids, oldest first."""

    def __init__(self) -> None:
        super().__init__()
        #: When to send a flight again that the daemon has put off, by its id.
        self.postponed: dict[int, float] = {}

    def take(self, id: int) -> Flight | None:
        """Take out a flight; None if there is none with this id."""
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
