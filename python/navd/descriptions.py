"""What the records of screens, items and buttons share (docs/protocol.md, §10.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .wire import JSON, Body

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Description:
    """Members of a record; those that are None are left out."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, object]) -> None:
        self._members: Body = {
            name: _written(value) for name, value in members.items() if value is not None}

    @property
    def members(self) -> Body:
        """The record as the protocol writes it."""
        return dict(self._members)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Description) and self._members == other._members

    __hash__ = None  # type: ignore[assignment]  # it has lists

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._members!r})"


def check_id(id: object, what: str) -> str:
    """Return the id of a screen or of a button."""
    if not isinstance(id, str):
        raise TypeError(f"{what} is a text such as 'wifi', not {type(id).__name__}")
    if not _ID.fullmatch(id):
        raise ValueError(f"{what} is {id!r:.80}: write 1 to 64 letters, digits, . _ -,"
                         " a letter or digit first, such as 'wifi'")
    return id


def written_screen(screen: object, what: str = "a screen") -> JSON:
    """Return a screen as the protocol writes it."""
    if isinstance(screen, str):
        return check_id(screen, f"the id of {what}")
    if isinstance(screen, (Description, Mapping)):
        return _written(screen)
    raise TypeError(f"{what} is a ScreenDescription, a dict such as {{'id': 'wifi'}},"
                    f" or the id of a screen that the nav knows, not {type(screen).__name__}")


def _written(value: object) -> JSON:
    if isinstance(value, Description):
        return value.members
    if isinstance(value, Mapping):
        return {name: _written(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_written(each) for each in value]
    # What JSON does not have is refused when the message is encoded.
    return value  # type: ignore[return-value]
