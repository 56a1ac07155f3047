"""What the blocking interface and that for asyncio share: all but the waiting."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

from .core.actions import Status
from .errors import NavigationError
from .shell import procedures
from .shell.duty import DutyState
from .shell.engine import Engine
from .shell.forks import forked_error
from .shell.opening import open_engine
from .shell.subscription import Subscription, WatchSubscription
from .state import State

__all__ = ["CommonClient", "CommonDuty", "CommonLoop", "CommonRemoval"]

Value = TypeVar("Value")


class CommonClient:
    """The part of a client that never waits."""

    def __init__(
        self, endpoint: str | None = None, *, name: str = "", server_key: str | None = None,
        key_file: str | None = None, window: int = 65536, heartbeat: float = 5.0,
    ) -> None:
        """Make a client that connects in the background; `navd.connect` has the arguments."""
        self._engine: Engine = open_engine(endpoint, name, server_key, key_file, window, heartbeat)
        self._finalizer = weakref.finalize(self, self._engine.release)

    @property
    def status(self) -> Status:
        """`connecting`, `connected`, `disconnected`, or `closed` for good."""
        return "closed" if self._engine.turns.is_forked else self._engine.status

    @property
    def features(self) -> frozenset[str]:
        """The abilities that only some daemons have (§4); empty before the first session."""
        return self._engine.features


class CommonLoop(Generic[Value]):
    """A loop over the values of a subscription."""

    def __init__(self, client: CommonClient, subscription: Subscription[Value]) -> None:
        # The client lives at least as long as the loop.
        self._client = client
        self._subscription = subscription
        self._finalizer = weakref.finalize(self, client._engine.drop, subscription)

    def close(self) -> None:
        """End the loop; a thread or a task that waits in it ends too."""
        self._finalizer.detach()
        self._client._engine.leave(self._subscription)


class CommonRemoval(CommonLoop[State]):
    """The end of a screen, and its result."""

    def __init__(
        self, client: CommonClient, watch: WatchSubscription[State], screen: str
    ) -> None:
        super().__init__(client, watch)
        self._removal = procedures.Removal(watch, screen)


class CommonDuty:
    """Delegate roles or a lease."""

    def __init__(self, client: CommonClient, duty: DutyState) -> None:
        self._client = client
        self._duty = duty

    @property
    def nav(self) -> str:
        """The name of the nav."""
        return self._duty.nav

    @property
    def is_held(self) -> bool:
        """Whether the daemon has granted the roles or the lease in the present session."""
        return self._duty.is_held and not self._duty.turns.is_forked

    @property
    def lost(self) -> NavigationError | None:
        """Why the roles or the lease have ended for good; None before."""
        if self._duty.turns.is_forked:
            return forked_error()
        return self._duty.lost.result() if self._duty.lost.done() else None

    def end(self) -> None:
        """End the roles, or give the display back."""
        self._client._engine.end_duty(self._duty)
