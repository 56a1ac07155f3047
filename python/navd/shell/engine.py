"""The thread of a client: it owns the sockets, and performs what the core decides."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import zmq

from ..core import Cluster, Options
from ..core.actions import (
    Action, Address, Answered, Asked, Closed, Drop, DutyChanged, Open, Opened, Queued, Send,
    Settled, Shown, StatusChanged, WatchEnded)
from ..errors import NavigationError
from ..keys import KeyPair
from .desk import Desk
from .link import Connected, Link, LinkEvent, Lost, Message, Refused
from .subscription import Subscription
from .waker import Waker

__all__ = ["Engine", "Settings"]

#: How long a daemon may take to accept a connection; the second if there are others to ask.
_CONNECT = (3.0, 2.0)


@dataclass(frozen=True)
class Settings:
    """The addresses, keys and options of a client."""

    endpoints: Sequence[str]
    server_key: str | None
    keys: KeyPair | None
    options: Options


def now() -> float:
    """Return the time that also goes on while the machine sleeps, in seconds."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Engine(Desk):
    """The thread and the sockets of a client; `Client` of both interfaces has one."""

    def __init__(self, settings: Settings) -> None:
        seeds = [Address(each, settings.server_key) for each in settings.endpoints]
        super().__init__(Cluster(seeds, settings.options, has_key=settings.keys is not None))
        self._settings = settings
        self._waker = Waker()
        self._poller = zmq.Poller()
        self._poller.register(self._waker.fileno(), zmq.POLLIN)
        #: What the garbage collector has found, which may neither wait nor take the lock.
        self._leavers: deque[Subscription[Any]] = deque()
        self._is_released = False
        self._links: dict[str, Link] = {}
        #: When the thread wakes at the latest, without the links.
        self._waits_until = 0.0
        #: When each link that is not connected yet counts as lost.
        self._deadlines: dict[str, float] = {}
        self._commands: list[Send | Open | Drop] = []
        self._thread = threading.Thread(target=self._run, name="navd", daemon=True)
        with self.turns.turn():
            self.cluster.start(now())
        self._thread.start()

    def now(self) -> float:
        """Return the time of the core."""
        return now()

    def close(self) -> None:
        """End the client, and wait for its thread; a forked child leaves all to its parent."""
        if self.turns.is_forked:
            return
        with self.turns.turn():
            self._leave()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _leave(self) -> None:
        if self.end is None:
            self.cluster.leave()
            self.finish(NavigationError("closed", "the client is closed; make another one"))

    def release(self) -> None:
        """End the client without waiting, because nothing refers to it any more."""
        self._is_released = True
        self._wake()

    def drop(self, loop: Subscription[Any]) -> None:
        """End a loop without waiting, because nothing refers to it any more."""
        self._leavers.append(loop)
        self._wake()

    def _wake(self) -> None:
        # A child has the pipe of its parent.
        if not self.turns.is_forked:
            self._waker.wake()

    # The thread.

    def _run(self) -> None:
        try:
            while self._serve():
                pass
        except Exception as error:  # noqa: BLE001 - whatever it is, callers must not wait for ever
            with self.turns.turn():
                self.finish(
                    NavigationError("internal", f"the thread of the client ended: {error!r}"))
            raise
        finally:
            for link in self._links.values():
                link.close()
            self._waker.close()

    def _serve(self) -> bool:
        """Send, wait and receive once; return whether the client goes on."""
        with self.turns.turn():
            self.cluster.tick(now())
            self.cluster.applied()
            self.expire(now())
            while self._leavers:
                self.leave(self._leavers.popleft())
            if self._is_released:
                self._leave()
        # A command that fails causes others, and another deadline.
        while commands := self._take_commands():
            for command in commands:
                self._carry_out(command)
        with self.turns.turn():
            if self._commands or self.end:
                return bool(self._commands)
            at = self._waits_until = self._earliest
        at = min([at, *self._deadlines.values()])
        wait = None if at == inf else max(0, round(1000 * (at - now()) + 0.5))
        self._poller.poll(wait)
        self._waker.drain()
        for endpoint, link in list(self._links.items()):
            self._receive(endpoint, link)
        return True

    def _take_commands(self) -> list[Send | Open | Drop]:
        with self.turns.turn():
            commands, self._commands = self._commands, []
        return commands

    def _receive(self, endpoint: str, link: Link) -> None:
        events = list(link.take_events())
        deadline = self._deadlines.get(endpoint, inf)
        if not events and deadline > now():
            return
        with self.turns.turn():
            for event in events:
                self._hand(endpoint, event)
            if endpoint in self._deadlines and deadline <= now():
                self._hand(endpoint, Lost(f"{endpoint} did not accept the connection in time"))

    def _hand(self, endpoint: str, event: LinkEvent) -> None:
        if isinstance(event, Message):
            self.cluster.receive(endpoint, event.verb, event.body, event.octets, now())
        elif isinstance(event, Connected):
            self._deadlines.pop(endpoint, None)
            self.cluster.connected(endpoint, now())
        else:
            self._deadlines.pop(endpoint, None)
            self.denial = event.denial if isinstance(event, Lost) else None
            if self.denial and self.denial.is_settled and self.status == "connecting":
                event = Refused(NavigationError("forbidden", self.denial.text))
            if isinstance(event, Refused):
                self.obstacle = event.error.message
                self.cluster.refused(endpoint, event.error, now())
            else:
                self.obstacle = event.why
                self.cluster.lost(endpoint, now())

    def _carry_out(self, command: Send | Open | Drop) -> None:
        if isinstance(command, Open):
            self._open(command.address)
        elif isinstance(command, Send):
            link = self._links.get(command.endpoint)
            if link:
                link.send(command.verb, command.body)
        else:
            link = self._links.pop(command.endpoint, None)
            self._deadlines.pop(command.endpoint, None)
            if link:
                link.close()

    def _open(self, address: Address) -> None:
        endpoint = address.endpoint
        try:
            link = Link(address, self._settings.server_key, self._settings.keys, self._poller)
        except zmq.ZMQError as error:
            with self.turns.turn():
                self.obstacle = f"{endpoint}: {error.strerror}"
                self.cluster.lost(endpoint, now())
            return
        self._links[endpoint] = link
        with self.turns.turn():
            self._deadlines[endpoint] = now() + _CONNECT[self.cluster.has_others]

    # Within a turn.

    def perform_actions(self) -> None:
        """Perform the actions of the core."""
        while actions := self.cluster.take():
            for action in actions:
                self._perform(action)
        if threading.current_thread() is self._thread:
            return
        # Other threads wake it only for what it does not know.
        if self._commands or self.end or self._earliest < self._waits_until:
            self._waker.wake()

    @property
    def _earliest(self) -> float:
        return min(self.cluster.wake_at, self.next_expiry)

    def _perform(self, action: Action) -> None:
        if isinstance(action, (Send, Open, Drop)):
            if isinstance(action, Drop):
                # The next session sends again what the lost one had not delivered.
                self._commands = [each for each in self._commands if not (
                    isinstance(each, Send) and each.endpoint == action.endpoint
                    and each.verb != "bye")]
            self._commands.append(action)
        elif isinstance(action, Opened):
            self.note_welcome(action.welcome)
        elif isinstance(action, StatusChanged):
            self.report(action.status)
        elif isinstance(action, Closed):
            self.finish(action.error)
        elif isinstance(action, Answered):
            self.answer_request(action)
        elif isinstance(action, Queued):
            self.note_queued(action)
        elif isinstance(action, Shown):
            self.offer(action)
        elif isinstance(action, WatchEnded):
            self.end_watch(action)
        elif isinstance(action, DutyChanged):
            self.change_duty(action)
        elif isinstance(action, Asked):
            self.ask(action)
        elif isinstance(action, Settled):
            self.settle(action)
