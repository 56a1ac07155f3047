"""The values of one loop, between the client that offers and the loop that reads."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar, Union, cast

from ..errors import NavigationError
from ..state import State, View
from .pending import Pending, fail, resolve
from .turns import Turns

__all__ = ["END", "End", "Subscription", "WatchSubscription"]

Value = TypeVar("Value")
#: How many values or events wait for a slow loop.
_MOST = 4096


class End:
    """The end of a loop, as a value."""


END = End()


class Subscription(Generic[Value]):
    """A queue with one reader; the lock of the client guards it."""

    def __init__(self, turns: Turns, keeps_all: bool) -> None:
        self._turns = turns
        self._keeps_all = keeps_all
        self._values: deque[Value] = deque()
        self._reader: Future[Union[Value, End]] | None = None
        #: What the reader got last. Until it asks for more, it may leave without it.
        self._delivered: tuple[Future[Union[Value, End]], Value | NavigationError | End] | None = None
        self._end: NavigationError | End | None = None
        #: Whether nothing was offered yet.
        self.is_fresh = True

    def next(self) -> Pending[Union[Value, End]]:
        """Return the next value, or END."""
        future: Future[Union[Value, End]] = Future()
        with self._turns.turn():
            if self._reader is not None:
                raise RuntimeError("another thread or task reads this watch: make a watch for each")
            self._delivered = None
            if self._values:
                value = self._values.popleft()
                self._delivered = future, value
                future.set_result(value)
            elif isinstance(self._end, NavigationError):
                self._delivered = future, self._end
                future.set_exception(self._end)
                self._end = END
            elif self._end is not None:
                future.set_result(END)
            else:
                self._reader = future
        return Pending(future, partial(self._cancel, future))

    def _cancel(self, future: Future[Union[Value, End]]) -> None:
        with self._turns.turn():
            if self._reader is future:
                self._reader = None
            elif self._delivered and self._delivered[0] is future:
                # It came when the reader had left; the next one gets it.
                value, self._delivered = self._delivered[1], None
                if isinstance(value, (NavigationError, End)):
                    self._end = value
                elif self._values and not self._keeps_all:
                    self._values = deque([_joined(value, self._values[-1])])
                else:
                    self._values.appendleft(value)

    # The client calls these within a turn.

    def offer(self, value: Value) -> None:
        """Keep a value, or give it to the reader."""
        if self._end is not None:
            return
        self.is_fresh = False
        reader, self._reader = self._reader, None
        if reader is not None:
            self._delivered = reader, value
            self._turns.later(partial(resolve, reader, value))
        elif self._keeps_all and len(self._values) < _MOST:
            self._values.append(value)
        elif self._keeps_all:
            self._values = deque([_skipped(value)])
        else:
            self._values = deque([_joined(self._values[-1], value) if self._values else value])

    def finish(self, error: NavigationError | None) -> None:
        """End the loop, after the values that wait."""
        if self._end is not None:
            return
        self._end = error or END
        reader, self._reader = self._reader, None
        if reader is not None:
            self._delivered = reader, self._end
            self._end = END
            self._turns.later(
                partial(fail, reader, error) if error else partial(resolve, reader, END))

    def clear(self) -> None:
        """Drop the values that wait, and end the loop."""
        self._values.clear()
        self.finish(None)
        self._end, self._delivered = END, None


class WatchSubscription(Subscription[Value]):
    """The subscription of a loop over a nav."""

    def __init__(
        self, turns: Turns, nav: str, view: View, every_revision: bool, waits: bool = False
    ) -> None:
        super().__init__(turns, every_revision)
        #: Whether it goes on while the nav does not exist.
        self.waits = waits
        self.nav = nav
        self.view = view


def _joined(last: Value, value: Value) -> Value:
    """Return the newer state with the events of both."""
    if not isinstance(last, State) or not isinstance(value, State):
        return value
    events = last.events + value.events
    is_short = last.is_resynchronised or value.is_resynchronised or len(events) > _MOST
    return cast(Value, replace(value, events=events[-_MOST:], is_resynchronised=is_short))


def _skipped(value: Value) -> Value:
    if isinstance(value, State):
        return cast(Value, replace(value, is_resynchronised=True))
    return value
