"""The thread of a client: it owns the sockets, and performs what the core decides."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import zmq

from ..core import Cluster, Options
from ..core.actions import (
    Action, Address, Answered, Asked, Closed, Drop, DutyChanged, Open, Opened, Queued, Send,
    Settled, Shown, StatusChanged, WatchEnded)
from ..errors import NavigationError
from ..keys import KeyPair
from .desk import Desk
from .link import Connected, Link, LinkEvent, Lost, Message, Refused

__all__ = ["Engine", "Settings"]

#: How long a daemon may take to accept a connection; the second if there are others to ask.
_CONNECT = (3.0, 2.0)


@dataclass(frozen=True)
class Settings:
    """What an engine needs to know."""

    endpoints: Sequence[str]
    server_key: str | None
    keys: KeyPair | None
    options: Options


def now() -> float:
    """Return the time that also goes on while the machine sleeps, in seconds."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Engine(Desk):
    """A client without an interface; `Client` of both modules is one."""

    def __init__(self, settings: Settings) -> None:
        seeds = [Address(each, settings.server_key) for each in settings.endpoints]
        super().__init__(Cluster(seeds, settings.options, has_key=settings.keys is not None))
        self._settings = settings
        #: A pipe whose octets interrupt the wait of the thread; None after its end.
        self._wakes: tuple[int, int] | None = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._woken = self._wakes[0]
        self._poller = zmq.Poller()
        self._poller.register(self._woken, zmq.POLLIN)
        self._links: dict[str, Link] = {}
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
        """End everything, and wait until the thread has ended."""
        with self.turns.turn():
            if self.end is None:
                self.cluster.leave()
                self.finish(NavigationError("closed", "the client is closed; make another one"))
        if threading.current_thread() is not self._thread:
            self._thread.join()

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
            with self.turns.turn():
                wakes, self._wakes = self._wakes, None
            for descriptor in wakes or ():
                os.close(descriptor)

    def _serve(self) -> bool:
        """Send, wait and receive once; return whether the client goes on."""
        with self.turns.turn():
            self.cluster.tick(now())
            self.cluster.applied()
            self.expire(now())
        with self.turns.turn():
            commands, self._commands = self._commands, []
            is_over = self.end is not None
            at = min(self.cluster.wake_at, self.next_expiry)
        for command in commands:
            self._carry_out(command)
        if is_over:
            return False
        at = min([at, *self._deadlines.values()])
        wait = None if at == inf else max(0, round(1000 * (at - now()) + 0.5))
        self._poller.poll(wait)
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)
        for endpoint, link in list(self._links.items()):
            self._receive(endpoint, link)
        return True

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
        self._deadlines[endpoint] = now() + _CONNECT[self.cluster.has_others]

    # Within a turn.

    def wake(self) -> None:
        """Interrupt the wait of the thread, which then does what is due."""
        if self._wakes and threading.current_thread() is not self._thread:
            # A full pipe wakes the thread as well.
            with contextlib.suppress(BlockingIOError):
                os.write(self._wakes[1], b"!")

    def absorb(self) -> None:
        """Perform the actions of the core."""
        while actions := self.cluster.take():
            for action in actions:
                self._perform(action)
        self.wake()

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
