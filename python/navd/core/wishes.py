"""The watches, roles and leases, which each new session requests again."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TypeAlias, Union

from ..state import Latest, View
from ..wire import Body
from .actions import DutyKind
from .mirror import Mirror

__all__ = ["Duty", "OpenAsk", "Watch", "Wish", "duty_key", "watch_key"]

#: The key of a wish: its kind, and the nav.
Key: TypeAlias = tuple[str, str]


def watch_key(nav: str, view: str) -> Key:
    """Return the key of a watch."""
    return view, nav


def duty_key(kind: str, nav: str) -> Key:
    """Return the key of roles or of a lease."""
    return kind, nav


@dataclass(slots=True, eq=False)
class Watch:
    """One view of one nav."""

    nav: str
    view: View
    #: None for a view that may skip values.
    mirror: Mirror | None = None
    latest: Latest | None = None
    #: The position that the newest answer of the daemon reported.
    answered: tuple[str, int] | None = None
    #: Whether it has shown a state, so that the nav was there.
    has_shown: bool = False
    #: The number of faults since the mirror was last known to be right.
    faults: int = 0
    retry_at: float = inf
    #: Whether it is to be sent when the nav is not held any more.
    is_due: bool = False
    #: Whether it waits for a nav that does not exist, also when the nav was closed.
    waits: bool = False

    @property
    def key(self) -> Key:
        """The key, unique in a session."""
        return watch_key(self.nav, self.view)

    def note(self, body: Body) -> None:
        """Note the position that an answer reports, unless a later one is known."""
        epoch, rev = body.get("epoch"), body.get("rev")
        if epoch is None or rev is None:
            return
        known = self.answered
        if known is None or known[0] != epoch or known[1] < rev:
            self.answered = epoch, rev

    def disconnect(self) -> None:
        """Note the end of the session, or that the nav moves."""
        if self.mirror:
            self.mirror.disconnect()
        self.latest, self.retry_at = None, inf


@dataclass(slots=True, eq=False)
class Duty:
    """Delegate roles or a lease."""

    nav: str
    kind: DutyKind
    #: The members of the request.
    wanted: Body
    #: Whether it is asked for again after a loss.
    is_kept: bool = True
    is_held: bool = False
    faults: int = 0
    retry_at: float = inf
    is_due: bool = False
    #: Whether the daemon has ever granted it.
    was_held: bool = False

    @property
    def key(self) -> Key:
        """The key, unique in a session."""
        return duty_key(self.kind, self.nav)

    def stop_forcing(self) -> None:
        """Request the display without force from now on.

        Force counts once, also if its answer was lost: another client may have the display since.
        """
        if self.kind == "lease":
            self.wanted = {"take": True}


Wish: TypeAlias = Union[Watch, Duty]


@dataclass(slots=True)
class OpenAsk:
    """A question without a `settled`."""

    nav: str
    #: When it is void without a `settled`.
    until: float
    is_answered: bool = field(default=False)
