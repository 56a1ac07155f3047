"""The error of requests, watches, roles and leases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from .wire import Body, copied

__all__ = ["NavigationError", "Retry", "TopChange"]

#: What may be sent again, and when (docs/protocol.md, §13).
Retry: TypeAlias = Literal["no", "same", "resync", "later"]
_RETRIES = ("no", "same", "resync", "later")


@dataclass(frozen=True, slots=True)
class TopChange:
    """The last change of the top screen, which a `desync` names."""

    #: The revision of the change, and its time in milliseconds since 1970.
    rev: int
    t: int
    #: The cause, such as `api` or `backButton`.
    cause: str
    #: The client that made it, with its principal and process; None for the daemon itself.
    name: str | None = None
    principal: str | None = None
    pid: int | None = None
    #: The id of the former top, if it left the stack.
    popped: str | None = None
    #: The id of the former top, if it is below others now.
    covered: str | None = None


class NavigationError(Exception):
    """The daemon refused a request, or this library could not complete it.

    `code` is a code of docs/protocol.md, §13. Codes of this library are `aborted`, `closed`,
    `expired`, `forked`, `internal`, `replaced` and `unreachable`.
    """

    def __init__(
        self, code: str, message: str, members: Mapping[str, Any] | None = None, *,
        may_have_happened: bool | None = None,
    ) -> None:
        super().__init__(code, message)
        err = members or {}
        #: For programs.
        self.code = code
        #: For people.
        self.message = message
        #: A more precise word, such as the name of the failed guard.
        self.reason: str | None = err.get("reason")
        retry = err.get("retry", "no")
        #: The reaction that makes sense: `no`, `same`, `resync` or `later`.
        self.retry: Retry = cast(Retry, retry) if retry in _RETRIES else "no"
        #: `none`, or `unknown` if the operations may have been performed.
        self.effect: str = err.get("effect", "none")
        #: Whether the daemon may have performed the operations.
        self.may_have_happened = (
            self.effect != "none" if may_have_happened is None else may_have_happened)
        after = err.get("after")
        #: The least pause before a repetition, in seconds; None if the daemon named none.
        self.after: float | None = None if after is None else after / 1000
        #: The index of the operation that caused the error.
        self.index: int | None = err.get("index")
        #: The value that the failed guard expected.
        self.expected: Any = err.get("expected")
        #: The position of the nav at the refusal; None if this client may not read the nav.
        self.nav: str | None = err.get("nav")
        self.epoch: str | None = err.get("epoch")
        self.rev: int | None = err.get("rev")
        self.dig: str | None = err.get("dig")
        #: The id of the top screen at the refusal; None also for an empty stack.
        self.top: str | None = err.get("top")
        self.depth: int | None = err.get("depth")
        #: The last change of the top screen, for `desync`; None if the daemon does not know it.
        self.since: TopChange | None = _top_change(err.get("since"))
        #: The client that holds the display, for `lease-lost`.
        self.owner: str | None = err.get("owner")
        #: The address of the daemon that has the nav, for `moved`.
        self.endpoint: str | None = err.get("endpoint")
        self._members = dict(err)

    @property
    def members(self) -> Body:
        """All members of the `err` message; empty for an error of this library."""
        return cast(Body, copied(self._members))

    def __str__(self) -> str:
        closer = f" ({self.reason})" if self.reason else ""
        return f"{self.code}{closer}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.code, self.message, self._members, self.may_have_happened)

    @staticmethod
    def of(err: Mapping[str, Any]) -> NavigationError:
        """Make the error of an `err` message."""
        return NavigationError(str(err.get("code")), str(err.get("msg", "refused")), err)


def _restored(
    code: str, message: str, members: Body, may_have_happened: bool
) -> NavigationError:
    return NavigationError(code, message, members, may_have_happened=may_have_happened)


def _top_change(since: Any) -> TopChange | None:
    if not isinstance(since, dict):
        return None
    by = since.get("by") or {}
    return TopChange(
        since.get("rev", 0), since.get("t", 0), since.get("cause", ""), by.get("name"),
        by.get("principal"), by.get("pid"), since.get("popped"), since.get("covered"))
