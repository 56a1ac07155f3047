"""The checksum of a state, the first 8 digits of its digest (docs/protocol.md, the core)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zlib import crc32

from ..wire import Body

__all__ = ["PARTS", "RunningChecksum", "checksum"]

#: The six parts, in the order of the checksum.
PARTS = ("bar", "toolbar", "presented", "transition", "environment", "settings")


def checksum(screens: Sequence[Body], parts: Mapping[str, Body]) -> str:
    """Compute the checksum of screens and parts; a virtual nav has no parts."""
    return RunningChecksum().update(screens, parts, 0)


class RunningChecksum:
    """The checksums of the lines up to and including each screen.

    With them, a change of the screen at an index computes only the lines from there on.
    """

    def __init__(self) -> None:
        self._sums: list[int] = []

    def update(self, screens: Sequence[Body], parts: Mapping[str, Body], start: int) -> str:
        """Compute the checksum after a change that did not touch the screens below `start`."""
        sums = self._sums
        del sums[min(start, len(sums), len(screens)):]
        total = sums[-1] if sums else 0
        for index in range(len(sums), len(screens)):
            screen = screens[index]
            line = f"{screen['id']}@{screen['ver']}"
            total = crc32((f"\n{line}" if index else line).encode(), total)
            sums.append(total)
        lines = [f":{name}@{parts[name]['ver']}" for name in PARTS if name in parts]
        separator = "\n" if screens and lines else ""
        return f"{crc32((separator + chr(10).join(lines)).encode(), total):08x}"
