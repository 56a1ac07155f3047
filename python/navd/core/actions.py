"""The actions that the core returns, and a shell performs in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, Union

from ..errors import NavigationError
from ..state import Latest, State, View
from ..wire import Body

__all__ = [
    "Action", "Address", "Answered", "Asked", "Closed", "Drop", "DutyChanged", "DutyKind", "Moved",
    "Open", "Opened", "Queued", "Reconnect", "Send", "Settled", "Shown", "Status", "StatusChanged",
    "WatchEnded",
]

#: The kinds of what a session has of a nav besides watches.
DutyKind: TypeAlias = Literal["delegate", "lease"]
#: The status of a client; `closed` is final.
Status: TypeAlias = Literal["connecting", "connected", "disconnected", "closed"]


@dataclass(frozen=True, slots=True)
class Address:
    """The endpoint of a daemon, and its public key (Z85) over tcp."""

    endpoint: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """Send a message; drop it if the connection is lost first."""

    verb: str
    body: bytes
    #: The id of the request that it carries; None for other messages.
    id: int | None = None
    #: Where to; a session leaves that to the cluster.
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class Open:
    """Connect to a daemon."""

    address: Address


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection, after the messages sent so far have left."""

    endpoint: str


@dataclass(frozen=True, slots=True)
class Reconnect:
    """Open a lost session again at this time; `Cluster` handles it."""

    at: float
    #: The pause that the daemon wants, in seconds.
    least: float


@dataclass(frozen=True, slots=True)
class Moved:
    """The daemon of a session does not have the nav; `Cluster` handles it."""

    nav: str
    #: None if no daemon has the nav, or if it is not known which one has.
    address: Address | None
    #: The pause that the daemon wants, in seconds.
    after: float


@dataclass(frozen=True, slots=True)
class Opened:
    """A session is open."""

    welcome: Body


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The status of the client has changed."""

    status: Status


@dataclass(frozen=True, slots=True)
class Closed:
    """All sessions have ended for good."""

    error: NavigationError


@dataclass(frozen=True, slots=True)
class Answered:
    """The daemon has answered a request with `ok` or `err`."""

    id: int
    ok: Body | None = None
    err: Body | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """An op waits behind a transition or a question, at `position` from 1; or a watch for its nav, at 0."""

    id: int
    position: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A watch has got a state or a value."""

    nav: str
    view: View
    value: State | Latest
    #: The watch was resumed, so the state is not new.
    is_resumed: bool = False
    #: The state is not new, but has events that make no revision.
    is_event: bool = False


@dataclass(frozen=True, slots=True)
class WatchEnded:
    """A watch has ended."""

    nav: str
    view: View
    #: None if the daemon ended the watch because the nav was closed.
    error: NavigationError | None
    #: Whether the nav was closed after the watch had shown it.
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """The daemon asks a delegate a question."""

    nav: str
    body: Body


@dataclass(frozen=True, slots=True)
class Settled:
    """A question has ended."""

    nav: str
    ask: int


@dataclass(frozen=True, slots=True)
class DutyChanged:
    """Roles or a lease were granted, interrupted by a loss, or have ended with an error."""

    kind: DutyKind
    nav: str
    what: Literal["granted", "interrupted", "over"]
    error: NavigationError | None = None


Action: TypeAlias = Union[
    Send, Open, Drop, Reconnect, Moved, Opened, StatusChanged, Closed, Answered, Queued, Shown,
    WatchEnded, Asked, Settled, DutyChanged]
