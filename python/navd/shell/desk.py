"""What waits in a client: requests, loops, roles and leases."""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from ..core import Cluster
from ..core.actions import (
    Answered, Asked, DutyChanged, Queued, Settled, Shown, Status, WatchEnded)
from ..errors import NavigationError
from ..places import Denial
from ..questions import Question
from ..state import View
from ..wire import JSON, Body
from .duty import DutyState
from .pending import Pending, fail, resolve
from .subscription import Subscription, WatchSubscription
from .turns import Turns

__all__ = ["Desk", "late"]

_BOOT_ID = "/proc/sys/kernel/random/boot_id"


@dataclass(slots=True)
class _Request:
    future: Future[Body]
    on_queued: Callable[[int], None] | None


class Desk:
    """The requests, loops and duties that callers wait for; `Engine` adds the sockets.

    Methods without a note that they are called within a turn can be called by any thread.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.turns = Turns(self.perform_actions)
        #: The error with which the client ended; None while it works.
        self.end: NavigationError | None = None
        self.status: Status = "connecting"
        #: Why the last attempt to connect failed, and whether the permissions of files are the reason.
        self.obstacle = ""
        self.denial: Denial | None = None
        self.features: frozenset[str] = frozenset()
        self._requests: dict[int, _Request] = {}
        #: What fails at which time: `(time, number, function)`.
        self._expiries: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._watches: list[WatchSubscription[Any]] = []
        self._listeners: list[Subscription[Status]] = []
        self._duties: dict[tuple[str, str], DutyState] = {}
        self._ready: list[Future[None]] = []

    def now(self) -> float:
        """Return the time of the core."""
        raise NotImplementedError

    def perform_actions(self) -> None:
        """Perform the actions of the core; called within a turn."""
        raise NotImplementedError

    # Connection.

    def ready(self) -> Pending[None]:
        """Wait until a session is open."""
        future: Future[None] = Future()
        with self.turns.turn():
            if self.end:
                future.set_exception(self.end)
            elif self.status == "connected":
                future.set_result(None)
            else:
                self._ready.append(future)
        return Pending(future, lambda: None)

    def unreachable(self, within: float) -> NavigationError:
        """Return the error of a client that was not connected in time."""
        if self.denial:
            return NavigationError("forbidden", self.denial.text)
        why = f": {self.obstacle}" if self.obstacle else ""
        return NavigationError(
            "unreachable", f"no welcome within {within:g} s{why}. Check that navd runs, and its"
            " address", {"retry": "later"})

    def listen(self) -> Subscription[Status]:
        """Add a loop over the status and its changes; a slow one gets only the newest."""
        listener: Subscription[Status] = Subscription(self.turns, keeps_all=False)
        with self.turns.turn():
            listener.offer(self.status)
            if self.end:
                listener.finish(None)
            else:
                self._listeners.append(listener)
        return listener

    def remove_status_loop(self, listener: Subscription[Status]) -> None:
        """End a loop over the status."""
        if self.turns.is_forked:
            return
        with self.turns.turn():
            listener.clear()
            self._listeners = [each for each in self._listeners if each is not listener]

    # Requests.

    def request(
        self, verb: str, nav: str | None, members: Body, within: float | None = None,
        on_queued: Callable[[int], None] | None = None, start: float | None = None,
    ) -> Pending[Body]:
        """Send a request; raises NavigationError if it cannot be sent.

        The client sends it for `start` seconds at most; `within` bounds the wait for the answer.
        """
        future: Future[Body] = Future()
        with self.turns.turn():
            if self.end:
                raise self.end
            until = inf if start is None else self.now() + start
            id = self.cluster.request(verb, nav, members, until)
            self._requests[id] = _Request(future, on_queued)
            if within is not None:
                self._expire_at(self.now() + within, partial(
                    self._abandon, id, "expired", f"no answer within {within:g} s", nav))
        return Pending(
            future, partial(self._abandon, id, "aborted", "the caller does not wait any more", nav))

    def op(
        self, nav: str, members: Body, is_from_state: bool, within: float | None,
        on_queued: Callable[[int], None] | None, start: float | None,
    ) -> Pending[Body]:
        """Send operations; see `request`."""
        with self.turns.turn():
            if self.end:
                raise self.end
            mirror = self.cluster.mirror(nav)
            if is_from_state and mirror and mirror.state and not mirror.is_synced:
                if self.cluster.is_lost(nav):
                    raise NavigationError(
                        "unreachable", "the connection is lost, and the client connects again; decide"
                        f" again on the next state of {nav}", {"nav": nav, "retry": "resync"})
                raise NavigationError(
                    "desync", f"its watch is not in sync; decide again on the next state of {nav}",
                    {"nav": nav, "reason": "mirror", "retry": "resync"})
            # `due` is a time of this machine's clock, which a daemon elsewhere does not have.
            if start is not None and self.cluster.place(nav).startswith("ipc:"):
                members = {**members, **_due(start)}
            return self.request("op", nav, members, within, on_queued, start)

    def _abandon(self, id: int, code: str, message: str, nav: str | None) -> None:
        with self.turns.turn():
            request = self._requests.pop(id, None)
            if request is None:
                return
            was_sent = self.cluster.forget(id)
            more = {"nav": nav, "effect": "unknown" if was_sent else "none"}
            self.turns.later(partial(fail, request.future, NavigationError(code, message, more)))

    # Watches.

    def subscribe(
        self, nav: str, view: View, every_revision: bool, waits: bool = False
    ) -> WatchSubscription[Any]:
        """Add a loop over the states or values of a nav."""
        watch: WatchSubscription[Any] = WatchSubscription(
            self.turns, nav, view, every_revision, waits)
        with self.turns.turn():
            if self.end:
                watch.finish(self.end)
                return watch
            value = self.cluster.current(nav, view)
            self._watches.append(watch)
            if value is not None:
                watch.offer(value)
            else:
                self.cluster.watch(nav, view, waits)
        return watch

    def unsubscribe(self, watch: WatchSubscription[Any]) -> None:
        """End a loop over a nav; the last one of a nav ends its watch."""
        if self.turns.is_forked:
            return
        with self.turns.turn():
            watch.clear()
            if not any(each is watch for each in self._watches):
                return
            self._watches = [each for each in self._watches if each is not watch]
            if not self._watching(watch.nav, watch.view):
                self.cluster.unwatch(watch.nav, watch.view)

    def leave(self, loop: Subscription[Any]) -> None:
        """End a loop of either kind."""
        if isinstance(loop, WatchSubscription):
            self.unsubscribe(loop)
        else:
            self.remove_status_loop(loop)

    def limit(self, watch: WatchSubscription[Any], within: float) -> None:
        """Fail a loop over a nav after a time in seconds."""
        with self.turns.turn():
            self._expire_at(
                self.now() + within, partial(watch.finish, late(watch.nav, within)))

    def _watching(self, nav: str, view: str) -> list[WatchSubscription[Any]]:
        return [each for each in self._watches if each.nav == nav and each.view == view]

    # Duties.

    def take_duty(
        self, duty: DutyState, wanted: Body, is_kept: bool, within: float | None
    ) -> Pending[None]:
        """Take roles or a display; a second call for the same nav replaces the first."""
        with self.turns.turn():
            if self.end:
                raise self.end
            self.cluster.want(duty.kind, duty.nav, wanted, is_kept)
            self._drop_duty(duty.kind, duty.nav, "replaced", "another call for the nav replaced it")
            self._duties[duty.kind, duty.nav] = duty
            if within is not None:
                self._expire_at(self.now() + within, partial(self._expire_duty, duty, within))
        return Pending(duty.granted, partial(self.end_duty, duty))

    def end_duty(self, duty: DutyState, code: str = "closed", message: str = "released") -> None:
        """End roles, or give a display back."""
        if self.turns.is_forked:
            return
        with self.turns.turn():
            if self._duties.get((duty.kind, duty.nav)) is duty:
                self._drop_duty(duty.kind, duty.nav, code, message)
                self.cluster.want(duty.kind, duty.nav, None)

    def _expire_duty(self, duty: DutyState, within: float) -> None:
        with self.turns.turn():
            if not duty.granted.done():
                self.end_duty(duty, "expired", f"no answer within {within:g} s")

    def _drop_duty(self, kind: str, nav: str, code: str, message: str) -> None:
        duty = self._duties.pop((kind, nav), None)
        if duty:
            duty.end(NavigationError(code, message, {"nav": nav}))

    def answer(self, question: Question, value: JSON) -> None:
        """Answer a question, unless it is void."""
        with self.turns.turn():
            if self.end is None and not question.is_over:
                self.cluster.answer(question.nav, question.number, value)

    # Deadlines.

    @property
    def next_expiry(self) -> float:
        """When the first wait times out."""
        return self._expiries[0][0] if self._expiries else inf

    def _expire_at(self, at: float, function: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._expiries, (at, self._count, function))

    def expire(self, now: float) -> None:
        """Fail the waits whose time is up; called within a turn."""
        while self._expiries and self._expiries[0][0] <= now:
            heapq.heappop(self._expiries)[2]()

    # What the core reports, within a turn.

    def note_welcome(self, welcome: Body) -> None:
        """Note what the daemon has."""
        self.features = frozenset(filter(str.__instancecheck__, welcome.get("features", [])))

    def report(self, status: Status) -> None:
        """Note a new status."""
        if self.end or status == self.status:
            return
        self.status = status
        for listener in self._listeners:
            listener.offer(status)
        if status == "connected":
            ready, self._ready = self._ready, []
            for future in ready:
                self.turns.later(partial(resolve, future, None))

    def finish(self, error: NavigationError) -> None:
        """Fail all requests, loops and duties; later calls fail too."""
        if self.end:
            return
        self.report("closed")
        self.end = error
        requests, self._requests = self._requests, {}
        for id, request in requests.items():
            more = {**error.members, "effect": "unknown" if self.cluster.forget(id) else "none"}
            failure = NavigationError(error.code, error.message, more)
            self.turns.later(partial(fail, request.future, failure))
        for duty in self._duties.values():
            duty.end(error)
        for watch in self._watches:
            watch.finish(error)
        for listener in self._listeners:
            listener.finish(None)
        for future in self._ready:
            self.turns.later(partial(fail, future, error))
        self._duties, self._watches, self._listeners, self._ready = {}, [], [], []

    def answer_request(self, answered: Answered) -> None:
        """Give a request its answer."""
        request = self._requests.pop(answered.id, None)
        if request is None:
            return
        if answered.ok is not None:
            self.turns.later(partial(resolve, request.future, answered.ok))
        else:
            error = NavigationError.of(answered.err or {})
            self.turns.later(partial(fail, request.future, error))

    def note_queued(self, queued: Queued) -> None:
        """Report that a request waits for a transition."""
        request = self._requests.get(queued.id)
        if request and request.on_queued:
            self.turns.later(partial(request.on_queued, queued.position))

    def offer(self, shown: Shown) -> None:
        """Give a state to the loops."""
        for watch in self._watching(shown.nav, shown.view):
            # A resumed watch shows nothing new; an event says nothing without the state before it.
            if (shown.is_resumed and not watch.is_fresh) or (shown.is_event and watch.is_fresh):
                continue
            watch.offer(shown.value)

    def end_watch(self, ended: WatchEnded) -> None:
        """End the loops of a watch, except those that wait for the next nav of that name."""
        is_gone = ended.is_closed or (ended.error and ended.error.code == "no-nav")
        loops = self._watching(ended.nav, ended.view)
        over = [each for each in loops if not (is_gone and each.waits)]
        self._watches = [each for each in self._watches if each not in over]
        for watch in over:
            watch.finish(None if ended.is_closed else ended.error)
        if len(over) < len(loops):
            self.cluster.watch(ended.nav, loops[0].view, True)

    def change_duty(self, change: DutyChanged) -> None:
        """Handle a change of roles or of a lease."""
        duty = self._duties.get((change.kind, change.nav))
        if duty is None:
            return
        if change.what == "granted":
            duty.grant()
        elif change.what == "interrupted":
            duty.is_held = False
        else:
            del self._duties[change.kind, change.nav]
            duty.end(change.error or NavigationError("closed", "it is over"))

    def ask(self, asked: Asked) -> None:
        """Pass a question to the delegate."""
        duty = self._duties.get(("delegate", asked.nav))
        if duty:
            duty.ask(Question.of(asked.body))

    def settle(self, settled: Settled) -> None:
        """Note that a question is over."""
        duty = self._duties.get(("delegate", settled.nav))
        if duty:
            duty.settle(settled.ask)


def late(nav: str, within: float) -> NavigationError:
    """Return the error of a wait that took too long."""
    return NavigationError(
        "expired", f"no answer within {within:g} s", {"nav": nav, "retry": "later"})


def _due(within: float) -> Body:
    """The time by which the daemon must begin, and the machine of that time."""
    due = round(1000 * (time.clock_gettime(time.CLOCK_BOOTTIME) - _boot_offset() + within))
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return {"due": due, "clock": file.read().strip()}
    except OSError:
        return {"due": due}


def _boot_offset() -> float:
    """What the time namespace of this process adds to CLOCK_BOOTTIME; 0 if it is unknown."""
    try:
        # The kernel shows the offsets of the namespace that children get.
        if os.readlink("/proc/self/ns/time") != os.readlink("/proc/self/ns/time_for_children"):
            return 0.0
        with open("/proc/self/timens_offsets", encoding="ascii") as file:
            offsets = {name: int(seconds) + int(nano) / 1e9 for name, seconds, nano in map(str.split, file)}
        return offsets["boottime"]
    except (OSError, ValueError, KeyError):
        return 0.0
