"""Everything about one nav, on its way from one session to another (docs/protocol.md, §17)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from ..errors import NavigationError
from .actions import WatchEnded
from .flights import Flight
from .session_state import Phase, SessionState
from .wishes import Duty, Watch

__all__ = ["Handoff", "SessionMoves"]


@dataclass(slots=True)
class Handoff:
    """Everything that a session has for one nav."""

    watches: list[Watch] = field(default_factory=list)
    duties: list[Duty] = field(default_factory=list)
    flights: list[Flight] = field(default_factory=list)


class SessionMoves(SessionState):
    """Moves everything of a nav out of a session, and into it."""

    @property
    def navs(self) -> list[str | None]:
        """The navs that watches, duties and requests are about; None for the daemon itself."""
        # In an order that does not depend on the hashes of a process.
        return list(dict.fromkeys(
            each.nav for each in [*self._wishes(), *self.flights.values()]))

    @property
    def is_idle(self) -> bool:
        """Whether the session has no watch, no duty and no unanswered request."""
        return not (self._watches or self._duties or self.flights)

    def is_delayed(self, nav: str | None) -> bool:
        """Whether the session sends nothing about the nav for now."""
        return nav in self._delayed_until

    def delay(self, nav: str | None, until: float) -> None:
        """Send nothing about a nav until a time; then everything, oldest first."""
        self._delayed_until[nav] = until
        self._suspend(nav)

    def _suspend(self, nav: str | None) -> None:
        """End what the daemon had of a nav: roles, displays and questions."""
        for wish in [wish for wish in self._wishes() if wish.nav == nav]:
            if isinstance(wish, Duty):
                self._interrupt(wish)
            wish.is_due, wish.retry_at = True, inf
        if nav is not None:
            self._void_all(nav)

    def _send_delayed(self, nav: str | None) -> None:
        self._delayed_until.pop(nav, None)
        for wish in [wish for wish in self._wishes() if wish.nav == nav and wish.is_due]:
            self._send_wish(wish)

    def hand_over(self, nav: str | None) -> Handoff:
        """Take everything about a nav out of the session, for `adopt` of another one."""
        self._suspend(nav)
        self._delayed_until.pop(nav, None)
        handoff = Handoff(
            [each for each in self._watches.values() if each.nav == nav],
            [each for each in self._duties.values() if each.nav == nav],
            [each for each in self.flights.values() if each.nav == nav])
        for watch in handoff.watches:
            self._drop_requests(watch.key)
            watch.disconnect()
            watch.is_due = True
            del self._watches[watch.key]
        for duty in handoff.duties:
            self._stray |= {id: key for id, key in self._asked.items() if key == duty.key}
            self._drop_requests(duty.key)
            del self._duties[duty.key]
        for flight in handoff.flights:
            if flight.is_sent:
                self._departed[flight.id] = self._departed.get(flight.id, 0) + 1
                flight.is_sent = False
            self.flights.take(flight.id)
        self._send_waiting()
        return handoff

    def adopt(self, nav: str | None, handoff: Handoff, now: float, start: float) -> None:
        """Add what another session has handed over, and send it at once or from a time on."""
        for watch in handoff.watches:
            self._watches[watch.key] = watch
        for duty in handoff.duties:
            self._duties[duty.key] = duty
        for flight in handoff.flights:
            self.flights[flight.id] = flight
        if start > now:
            self.delay(nav, start)
        elif self.phase is Phase.OPEN:
            self._drop_flights(handoff.flights, now)
            self._send_delayed(nav)
            self._send_waiting()

    def abandon(self, nav: str | None, error: NavigationError) -> None:
        """Fail everything about a nav."""
        handoff = self.hand_over(nav)
        err = {"msg": error.message, **error.members, "code": error.code}
        for watch in handoff.watches:
            self._actions.append(WatchEnded(watch.nav, watch.view, error))
        for duty in handoff.duties:
            self._end_duty(duty, error)
        for flight in handoff.flights:
            self._fail(flight.id, {**err, "effect": "unknown" if flight.send_count else "none"})
