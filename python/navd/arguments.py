"""Checks of arguments: a wrong one is found where it is written, with what to write instead."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TypeAlias, Union

from .guards import Guard
from .operations import Operation
from .wire import JSON, Body

__all__ = ["AnyGuard", "AnyOperation", "Time", "check_choice", "check_count", "check_nav",
           "check_text", "check_time", "guard_members", "is_by_person", "operation_bodies"]

#: What `perform` takes as an operation: one of `navd.operations`, or a dict such as `{"pop": {}}`.
AnyOperation: TypeAlias = Union[Operation, Mapping[str, JSON]]
#: What `perform` takes as a guard: a `Guard`, or the members of docs/protocol.md, §9.2.
AnyGuard: TypeAlias = Union[Guard, Mapping[str, JSON], None]
#: A time in seconds, at most 60; a longer one is a `timedelta`, so that nobody passes milliseconds.
Time: TypeAlias = Union[float, timedelta]

_NAV = re.compile(r"\$?[a-z0-9][a-z0-9._/-]{0,127}")
_MOST_OPERATIONS = 16
_MOST_SECONDS = 60


def check_nav(nav: object) -> str:
    """Return the name of a nav."""
    if not isinstance(nav, str):
        raise TypeError(f"nav is a text such as 'kiosk', not {type(nav).__name__}")
    if not _NAV.fullmatch(nav):
        raise ValueError(f"{nav!r:.140} is not the name of a nav: write 1 to 128 of"
                         " a-z, 0-9, . _ / -, a letter or digit first, such as 'kiosk'")
    return nav


def check_text(value: object, what: str, *, most: int | None = None) -> str:
    """Return a text that is not empty, of at most `most` octets in UTF-8."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a text, not {type(value).__name__}")
    if not value:
        raise ValueError(f"{what} is empty: write a text")
    if most is not None and len(value.encode(errors="replace")) > most:
        raise ValueError(f"{what} has more than {most} octets: shorten it")
    return value


def check_time(value: object, what: str) -> float | None:
    """Return a time in seconds; None means no limit."""
    if value is None:
        return None
    if isinstance(value, timedelta) and value >= timedelta():
        return value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float, timedelta)):
        raise TypeError(f"{what} is a number of seconds such as 2.0, a timedelta, or None,"
                        f" not {type(value).__name__}")
    if isinstance(value, timedelta) or not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{what} is {value}: write a number of seconds, 0 or greater, or None")
    if value > _MOST_SECONDS:
        raise ValueError(f"{what} is in seconds, and {value} are more than {_MOST_SECONDS}: write"
                         f" {value / 1000:g} for milliseconds, or timedelta(seconds={value})")
    return float(value)


def check_count(value: object, what: str, least: int = 0, most: int = 2**53 - 1) -> int:
    """Return a whole number between two bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} is a whole number, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{what} is {value}: write a number from {least} to {most}")
    return value


def check_choice(value: object, what: str, choices: tuple[str, ...]) -> str:
    """Return one of the words."""
    if value not in choices or not isinstance(value, str):
        raise ValueError(f"{what} is {value!r}: write one of {', '.join(map(repr, choices))}")
    return value


def guard_members(guard: AnyGuard) -> tuple[Body, bool]:
    """Return the members of a guard, and whether it was made from a state."""
    if guard is None:
        return {}, False
    if isinstance(guard, Guard):
        return guard.members, guard.is_from_state
    if not isinstance(guard, Mapping):
        raise TypeError(
            f"guard is a navd.Guard such as Guard.top(state), not {type(guard).__name__}")
    return Guard.of(guard).members, False


def operation_bodies(operations: object) -> list[Body]:
    """Return the objects of a list of operations."""
    if isinstance(operations, (str, bytes, Mapping, Operation)) or not hasattr(
            operations, "__iter__"):
        raise TypeError("operations is a list: write [navd.operations.push(screen)],"
                        f" not {type(operations).__name__}")
    bodies = [_body(each) for each in operations]
    if not 1 <= len(bodies) <= _MOST_OPERATIONS:
        raise ValueError(f"there are {len(bodies)} operations: write 1 to {_MOST_OPERATIONS};"
                         " longer changes take several calls")
    return bodies


def is_by_person(operations: list[Body]) -> bool:
    """Whether a person does one of these, so that it must not happen late."""
    return any(name == "button.activate" or name.startswith(("ui.", "gesture."))
               for operation in operations for name in operation)


def _body(operation: object) -> Body:
    if isinstance(operation, Operation):
        return {operation.name: operation.arguments}
    if not isinstance(operation, Mapping):
        raise TypeError("an operation is one of navd.operations, or a dict such as"
                        f" {{'pop': {{}}}}, not {type(operation).__name__}")
    if len(operation) != 1:
        raise ValueError(f"an operation has one member, such as {{'pop': {{}}}}; this one has"
                         f" {len(operation)}: {', '.join(map(repr, operation))}")
    name, arguments = next(iter(operation.items()))
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        raise TypeError(f"the arguments of {name!r} are a dict: write {{{name!r}: {{}}}} for none")
    return {name: arguments}
