"""One operation of `perform`, as the functions of `navd.operations` make it."""

from __future__ import annotations

from dataclasses import dataclass

from .wire import JSON, Body


@dataclass(frozen=True)
class Operation:
    """An operation: its name, and its arguments as the protocol writes them."""

    name: str
    arguments: Body


def operation(name: str, **arguments: JSON) -> Operation:
    """Leave out the arguments that are None."""
    return Operation(name, {key: value for key, value in arguments.items() if value is not None})
