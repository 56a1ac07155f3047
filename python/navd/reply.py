"""The answers to requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from .wire import Body, copied

__all__ = ["Pong", "Reply"]


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of performed operations.

    Watches of this client have had the revision already, unless they are behind. So draw from the
    watch, not from the reply.
    """

    nav: str
    epoch: str
    #: The revision in which the operations took effect; the present one if nothing changed.
    rev: int
    #: Whether they changed anything.
    changed: bool
    #: The number of screens, the id of the top and the digest after them.
    depth: int
    top: str | None
    dig: str
    _out: list[Body]

    @property
    def out(self) -> list[Body]:
        """The result of each operation, with members such as `id`, `ids` or `popped`; a copy."""
        return cast("list[Body]", copied(self._out))

    @property
    def popped(self) -> list[str]:
        """The ids of all screens that were removed, in the order of the operations."""
        found: list[str] = []
        for result in self._out:
            popped = result.get("popped")
            found += popped if isinstance(popped, list) else [popped] if popped else []
        return found

    @staticmethod
    def of(ok: Body) -> Reply:
        """Read the `ok` to an `op`."""
        return Reply(
            ok.get("nav", ""), ok.get("epoch", ""), ok.get("rev", 0), ok.get("changed") is True,
            ok.get("depth", 0), ok.get("top"), ok.get("dig", ""), ok.get("out", []))


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to a ping."""

    #: The run of the daemon: it differs after each start.
    boot: str
    #: The time of the daemon in milliseconds since 1970.
    t: int
