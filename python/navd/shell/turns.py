"""The lock of a client, and what waits until it is released."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from .forks import forked_error, this_process

__all__ = ["Turns"]


class Turns:
    """One thread at a time changes the state of a client.

    Callers' functions run after the turn, without the lock, so that they may use the client.
    """

    def __init__(self, after: Callable[[], None]) -> None:
        """Make the lock; `after` is called at the end of each turn, within the lock."""
        self._lock = threading.RLock()
        self._depth = 0
        self._later: list[Callable[[], None]] = []
        self._after = after
        self._process = this_process()

    @property
    def is_forked(self) -> bool:
        """Whether this process is a child of the one that made the client."""
        return self._process != this_process()

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the lock; a turn within a turn is a part of it. Raises `forked` in a child."""
        # Another thread of the parent may have had the lock at the fork: nobody releases it here.
        if self.is_forked:
            raise forked_error()
        later: list[Callable[[], None]] = []
        with self._lock:
            self._depth += 1
            try:
                yield
            finally:
                try:
                    if self._depth == 1:
                        self._after()
                        later, self._later = self._later, later
                finally:
                    self._depth -= 1
        for each in later:
            try:
                each()
            except Exception:  # noqa: BLE001 - a fault of a caller's function is not one of the client
                threading.excepthook(
                    threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))

    def later(self, function: Callable[[], None]) -> None:
        """Call a function after this turn."""
        self._later.append(function)
