"""The states of a nav, as a watch shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from .bar import Bar
from .wire import Body, copied

__all__ = ["Author", "Event", "Latest", "Presentation", "Screen", "State", "View"]

#: What a watch shows of a nav.
View: TypeAlias = Literal["full", "bar", "top"]


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen; its record as on the wire is in `record`."""

    _record: Body

    @property
    def id(self) -> str:
        """The id, unique within the nav."""
        return cast(str, self._record["id"])

    @property
    def ver(self) -> int:
        """The revision at which its content last changed."""
        return cast(int, self._record.get("ver", 0))

    @property
    def title(self) -> str | None:
        """The title."""
        title: str | None = self._record.get("title")
        return title

    @property
    def route(self) -> str | None:
        """What the program needs to find the content; the daemon does not look into it."""
        route: str | None = self._record.get("route")
        return route

    @property
    def args(self) -> Any:
        """The arguments of the route as a copy, any JSON."""
        return copied(self._record.get("args"))

    @property
    def item(self) -> Body:
        """The contents that the screen gives to the bar, as a copy."""
        return cast(Body, copied(self._record.get("item", {})))

    @property
    def record(self) -> Body:
        """The whole record (docs/protocol.md, §10.1), as a copy."""
        return cast(Body, copied(self._record))


@dataclass(frozen=True, slots=True)
class Presentation:
    """A screen that is presented over the stack."""

    screen: Screen
    #: The id of the screen that presents it; None if the daemon left it out.
    presenter: str | None
    #: The style, such as `formSheet`; None for the default.
    style: str | None
    _record: Body

    @property
    def record(self) -> Body:
        """The whole entry of `chain`, as a copy."""
        return cast(Body, copied(self._record))


@dataclass(frozen=True, slots=True)
class Event:
    """An event (docs/protocol.md, §8), such as `didPush`."""

    name: str
    _details: Body

    @property
    def screen(self) -> str | None:
        """The id of the screen that it is about; None for other events."""
        screen: str | None = self._details.get("screen")
        return screen

    @property
    def details(self) -> Body:
        """Its members, as a copy."""
        return cast(Body, copied(self._details))


@dataclass(frozen=True, slots=True)
class Author:
    """The client that made a revision."""

    name: str
    #: The id of its message; None for the end of its session.
    op: int | None


@dataclass(frozen=True, slots=True)
class Latest:
    """A value of the views `bar` and `top`."""

    nav: str
    view: View
    epoch: str
    rev: int
    _value: Body | None

    @property
    def bar(self) -> Bar | None:
        """The resolved bar; None in the view `top`."""
        return Bar(self._value) if self.view == "bar" and self._value is not None else None

    @property
    def top(self) -> Screen | None:
        """The top screen; None for an empty stack, and in the view `bar`."""
        return Screen(self._value) if self.view == "top" and self._value is not None else None

    @property
    def value(self) -> Body | None:
        """The value, as a copy."""
        return cast("Body | None", copied(self._value))


@dataclass(frozen=True, slots=True)
class State:
    """The state of a nav at one revision, with the ids, versions and order that its digest names.

    Within one epoch, the states of a nav are ordered by `rev`. A state does not change.
    """

    nav: str
    #: `controller`, `bar`, or `directory` for `$navs` and `$clients`.
    kind: str
    #: The life of the nav: revisions of two epochs cannot be compared.
    epoch: str
    rev: int
    dig: str
    #: The stack, bottom first; for a directory, its records.
    screens: tuple[Screen, ...]
    #: The presented screens, outermost last.
    presented: tuple[Presentation, ...]
    _parts: Mapping[str, Body] = field(repr=False)
    _resolved: Body | None = field(repr=False)
    #: What led to the revision; None for a first state, and after a snapshot.
    cause: str | None = None
    #: The client that made the revision; None if the daemon did, or if it is not known.
    by: Author | None = None
    #: The events since the last state of the loop, in order.
    events: tuple[Event, ...] = ()
    #: Whether the change asks displays to animate it.
    animated: bool = False
    #: Whether revisions may be missing before this state; true for the first one.
    is_resynchronised: bool = False

    @property
    def top(self) -> Screen | None:
        """The top screen; None for an empty stack and for a directory."""
        return self.screens[-1] if self.screens and self.kind != "directory" else None

    @property
    def visible(self) -> Screen | None:
        """The outermost presented screen, or else the top."""
        return self.presented[-1].screen if self.presented else self.top

    @property
    def depth(self) -> int:
        """The number of screens on the stack."""
        return len(self.screens)

    @property
    def bar(self) -> Bar | None:
        """What the bar shows; None for a directory."""
        return None if self._resolved is None else Bar(self._resolved)

    def part(self, name: str) -> Body:
        """Return a part of the state (docs/protocol.md, §10.2), as a copy; {} without it."""
        return cast(Body, copied(self._parts.get(name, {})))

    @property
    def parts(self) -> dict[str, Body]:
        """The parts by name, as a copy; a directory has none."""
        return {name: copied(part) for name, part in self._parts.items()}

    @property
    def is_moving(self) -> bool:
        """Whether a transition is open."""
        return "tid" in self._parts.get("transition", {})
