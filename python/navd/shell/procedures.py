"""What both interfaces do in several steps."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

from ..arguments import (
    AnyGuard, Time, check_choice, check_nav, check_time, guard_members, is_by_person,
    operation_bodies)
from ..core import Mirror
from ..errors import NavigationError
from ..state import Event, State
from ..wire import JSON, Body
from .desk import Desk
from .pending import Pending, Steps
from .subscription import End, WatchSubscription

__all__ = ["Removal", "first_state", "newest_state", "op", "read"]

#: In how many seconds what a person does begins or never, unless the program chose a limit.
_PERSON = 2.0
_READS = ("state", "bar", "top", "screen", "detached", "restoration", "log", "rows", "verify",
          "cluster", "stats", "backup")


def op(
    desk: Desk, nav: str, operations: object, guard: AnyGuard, animated: bool | None, on_busy: str | None,
    within: Time | None, on_queued: Any,
) -> Pending[Body]:
    """Check the arguments of `perform`, and send the operations."""
    check_nav(nav)
    members: Body = {"do": operation_bodies(operations)}
    guards, is_from_state = guard_members(guard)
    if guards:
        members["if"] = guards
    if animated is not None:
        if not isinstance(animated, bool):
            raise TypeError(f"animated is True, False or None, not {type(animated).__name__}")
        members["animated"] = animated
    if on_busy is not None:
        members["onBusy"] = check_choice(on_busy, "on_busy", ("reject", "queue", "interrupt"))
    if on_queued is not None and not callable(on_queued):
        raise TypeError(f"on_queued is a function of a position, not {type(on_queued).__name__}")
    limit = check_time(within, "within")
    start = _PERSON if limit is None and is_by_person(members["do"]) else limit
    return desk.op(nav, members, is_from_state, limit, on_queued, start)


def read(
    desk: Desk, nav: str | None, what: str, within: Time | None, more: dict[str, JSON]
) -> Pending[Body]:
    """Check the arguments of `get`, and send it."""
    if nav is not None:
        check_nav(nav)
    check_choice(what, "what", _READS)
    members: Body = {
        "what": what, **{name: value for name, value in more.items() if value is not None}}
    return desk.request("get", nav, members, check_time(within, "within"))


def newest_state(desk: Desk, nav: str, limit: Time | None) -> Steps[State]:
    """Get the newest state: of the watch if there is one, else by a read."""
    check_nav(nav)
    within = check_time(limit, "within")
    with desk.turns.turn():
        is_watched = desk.cluster.mirror(nav) is not None
    if is_watched:
        return (yield from first_state(desk, nav, within))
    try:
        body = yield desk.request("get", nav, {"what": "state"}, within)
        return Mirror.read(nav, body.get("value"))
    except NavigationError as error:
        # A state that is larger than one message comes in parts, and only to a watch.
        if error.code != "limit":
            raise
    return (yield from first_state(desk, nav, within))


def first_state(desk: Desk, nav: str, within: float | None) -> Steps[State]:
    """Get the first state of a watch that no answer of the daemon has left behind."""
    watch: WatchSubscription[State] = desk.subscribe(nav, "full", False)
    if within is not None:
        desk.limit(watch, within)
    try:
        while True:
            state = yield watch.next()
            if isinstance(state, End):
                raise NavigationError("no-nav", "the nav was closed", {"nav": nav})
            with desk.turns.turn():
                is_behind = desk.cluster.is_behind(state)
            if not is_behind:
                result: State = state
                return result
    finally:
        desk.unsubscribe(watch)


@dataclass
class Removal:
    """The end of a screen, as far as its watch has shown it."""

    watch: WatchSubscription[State]
    screen: str
    _was_there: bool = False
    #: The result that the removal gave, in a list, or why there is none to know.
    _outcome: list[JSON] | NavigationError | None = None

    def steps(self, desk: Desk) -> Steps[JSON]:
        """Wait until the screen has gone; a wait that was left goes on in the next one."""
        while self._outcome is None:
            try:
                self._note((yield self.watch.next()))
            except NavigationError as error:
                self._outcome = error
        desk.unsubscribe(self.watch)
        if isinstance(self._outcome, NavigationError):
            raise copy(self._outcome)
        return self._outcome[0]

    def _note(self, state: State | End) -> None:
        if isinstance(state, End):
            self._outcome = [None]
            return
        end = _end_of(self.screen, state.events) if self._was_there else None
        if end:
            self._outcome = [end.details.get("result")]
            return
        shown = [*state.screens, *(entry.screen for entry in state.presented)]
        is_there = any(each.id == self.screen for each in shown)
        # The end of an open transition reports how the screen went.
        if self._was_there and not is_there and (state.is_resynchronised or not state.is_moving):
            self._outcome = NavigationError(
                "desync", f"a snapshot hides how {self.screen} went", {"nav": self.watch.nav}
            ) if state.is_resynchronised else [None]
        self._was_there = self._was_there or is_there


def _end_of(screen: str, events: tuple[Event, ...]) -> Event | None:
    ends = [event for event in events
            if event.name in ("didPop", "didDismiss") and event.screen == screen]
    return ends[-1] if ends else None
