"""Guards: the conditions that the daemon checks when it performs operations."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, TypeAlias, Union

from .state import State
from .wire import JSON, Body

__all__ = ["Guard"]


class _Unset(enum.Enum):
    """The default of guards, because None is a value of some."""

    UNSET = enum.auto()


_UNSET = _Unset.UNSET
_Text: TypeAlias = Union[str, None, Literal[_Unset.UNSET]]

_TYPES: dict[str, tuple[type, ...]] = {
    "epoch": (str,), "rev": (int,), "dig": (str,), "top": (str, type(None)), "depth": (int,),
    "stack": (list, tuple), "has": (list, tuple), "visible": (str, type(None)), "any": (bool,),
}


class Guard:
    """A condition on the state of a nav (docs/protocol.md, §9.2).

    A guard from a state means: perform this only if the state that I saw still holds. Otherwise the
    operations fail with `desync` and change nothing. Join two guards with `&`.
    """

    __slots__ = ("_is_from_state", "_members")

    #: No condition, also for operations that require one; the daemon logs that.
    override: ClassVar[Guard]

    def __init__(
        self, *, epoch: str | None = None, rev: int | None = None, dig: str | None = None,
        top: _Text = _UNSET, depth: int | None = None, stack: Sequence[str] | None = None,
        has: Sequence[str] | None = None, visible: _Text = _UNSET, any: bool = False,
    ) -> None:
        """Write the members of a guard; `top` and `visible` None mean that there is no screen."""
        given = {"epoch": epoch, "rev": rev, "dig": dig, "depth": depth, "stack": stack, "has": has,
                 "any": any or None}
        members: Body = {name: value for name, value in given.items() if value is not None}
        if top is not _UNSET:
            members["top"] = top
        if visible is not _UNSET:
            members["visible"] = visible
        self._set(members, False)

    @staticmethod
    def of(members: Mapping[str, JSON]) -> Guard:
        """Read the members of `if`, as the protocol writes them."""
        guard = Guard.__new__(Guard)
        guard._set(dict(members), False)
        return guard

    @staticmethod
    def _from(state: State, **members: JSON) -> Guard:
        if not isinstance(state, State):
            raise TypeError("a guard is made from a state of watch() or state(),"
                            f" not from {type(state).__name__}")
        guard = Guard.__new__(Guard)
        guard._set({"epoch": state.epoch, **members}, True)
        return guard

    @staticmethod
    def top(state: State) -> Guard:
        """Require that the same screen is on top."""
        return Guard._from(state, top=_id(state, "top"))

    @staticmethod
    def stack(state: State) -> Guard:
        """Require the same screens on the stack, in the same order; titles may differ."""
        ids = [screen.id for screen in state.screens] if isinstance(state, State) else []
        return Guard._from(state, stack=ids)

    @staticmethod
    def revision(state: State) -> Guard:
        """Require that nothing at all has changed."""
        return Guard._from(state, rev=getattr(state, "rev", 0))

    @staticmethod
    def life(state: State) -> Guard:
        """Require that the nav was not made anew."""
        return Guard._from(state)

    @staticmethod
    def visible(state: State) -> Guard:
        """Require that the same screen is visible, presented ones included."""
        return Guard._from(state, visible=_id(state, "visible"))

    @property
    def members(self) -> Body:
        """The members of `if`."""
        return dict(self._members)

    @property
    def is_from_state(self) -> bool:
        """Whether the operations fail without being sent while the mirror may be wrong."""
        return self._is_from_state

    def __and__(self, other: Guard) -> Guard:
        """Require both."""
        if not isinstance(other, Guard):
            return NotImplemented
        for name in self._members.keys() & other._members.keys():
            if self._members[name] != other._members[name]:
                raise ValueError(f"two guards require another {name}: {self._members[name]!r} and"
                                 f" {other._members[name]!r}; make both from one state")
        guard = Guard.__new__(Guard)
        guard._set({**self._members, **other._members}, self._is_from_state or other._is_from_state)
        return guard

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Guard) and self._members == other._members
                and self._is_from_state == other._is_from_state)

    __hash__ = None  # type: ignore[assignment]  # it has lists

    def __repr__(self) -> str:
        return f"Guard.of({self._members!r})"

    def _set(self, members: Body, is_from_state: bool) -> None:
        for name, value in members.items():
            types = _TYPES.get(name)
            if types is None:
                raise ValueError(f"there is no guard {name!r}: write one of {', '.join(_TYPES)}")
            # A guard that is None would be none at all, and to Python true is a number.
            if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
                names = ["None" if each is type(None) else each.__name__ for each in types]
                raise TypeError(f"the guard {name} is {value!r}: write {' or '.join(names)}")
        self._members = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in members.items()}
        self._is_from_state = is_from_state


Guard.override = Guard(any=True)


def _id(state: object, name: str) -> str | None:
    screen = getattr(state, name, None)
    return None if screen is None else str(screen.id)
