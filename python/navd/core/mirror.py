"""The mirror of one nav: a copy whose checksum is compared at each revision (docs/protocol.md, the core)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ..errors import NavigationError
from ..state import Author, Event, Presentation, Screen, State
from ..wire import Body
from .digest import PARTS, RunningChecksum
from .messages import Unreadable, check

__all__ = ["Kind", "Mirror", "Outcome", "events_of"]


class Phase(enum.Enum):
    """The message that a mirror expects next."""

    #: No watch was sent.
    IDLE = enum.auto()
    #: A watch was sent and not answered; everything else belongs to the watch before.
    AWAITING = enum.auto()
    #: A snapshot must come next.
    SNAPSHOT = enum.auto()
    #: Each diff continues the mirror.
    FOLLOWING = enum.auto()


#: What a message was for the mirror. After `diverged` the caller sends a watch.
Kind: TypeAlias = Literal["replaced", "applied", "resumed", "wait", "diverged", "ignored", "ended"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The consequence of a message; `state` comes with replaced, applied and resumed."""

    kind: Kind
    state: State | None = None


@dataclass(frozen=True, slots=True)
class _Copy:
    """The records of one revision; nothing changes them."""

    kind: str
    epoch: str
    rev: int
    dig: str
    screens: tuple[Body, ...]
    parts: dict[str, Body]
    resolved: Body | None


@dataclass(slots=True)
class _Parts:
    """The parts of an incomplete snapshot."""

    epoch: str
    rev: int
    screens: list[Body] = field(default_factory=list)


_IGNORED, _WAIT = Outcome("ignored"), Outcome("wait")
_DIVERGED, _ENDED = Outcome("diverged"), Outcome("ended")


class Mirror:
    """The state machine of one full watch.

    Law: while `is_synced` is true, the copy is a state that the nav had, and the client knows of no
    later one. A copy is replaced as a whole, by a snapshot or by a complete diff.
    """

    def __init__(self, nav: str) -> None:
        self.nav = nav
        self._copy: _Copy | None = None
        self._phase = Phase.IDLE
        self._is_suspect = False
        self._bad: tuple[int, str] | None = None
        self._partial: _Parts | None = None
        self._digest = RunningChecksum()

    @staticmethod
    def read(nav: str, value: object) -> State:
        """Read the state of a `get`; raises NavigationError if its digest is wrong."""
        mirror = Mirror(nav)
        mirror._phase = Phase.SNAPSHOT
        body: Body = {**value, "i": 0, "last": True} if isinstance(value, dict) else {}
        try:
            check("snap", body)
            outcome = mirror.apply("snap", body)
        except Unreadable as error:
            raise NavigationError("internal", f"the state cannot be read: {error}") from error
        if outcome.state is None:
            raise NavigationError(
                "internal", "the digest of the state is wrong; read it again",
                {"nav": nav, "retry": "resync"})
        return outcome.state

    @property
    def is_synced(self) -> bool:
        """Whether the copy is the newest state that the client knows; guards are made only then."""
        return (self._phase is Phase.FOLLOWING and not self._is_suspect
                and self._partial is None and self._copy is not None)

    @property
    def state(self) -> State | None:
        """The newest complete state; None before the first snapshot."""
        if self._copy is None:
            return None
        return _published(self.nav, self._copy, is_resynchronised=True)

    def begin_watch(self) -> Body:
        """Begin a watch; return the members `from` or `bad` to send in it."""
        self._phase, self._partial = Phase.AWAITING, None
        if self._is_suspect:
            return {} if self._bad is None else {"bad": {"rev": self._bad[0], "dig": self._bad[1]}}
        if self._copy is None:
            return {}
        return {"from": {
            "epoch": self._copy.epoch, "rev": self._copy.rev, "dig": self._copy.dig}}

    def disconnect(self) -> None:
        """Note the end of the session or of the watch; the next one resumes from here."""
        self._phase, self._partial = Phase.IDLE, None

    def apply(self, verb: str, body: Body) -> Outcome:
        """Handle `ok`, `snap`, `diff` or `end`; a wrong one never changes the copy."""
        if verb == "ok":
            return self._receive_ok(body)
        if verb == "snap":
            return self._receive_snap(body)
        if verb == "diff":
            return self._receive_diff(body)
        return self._receive_end() if verb == "end" else _IGNORED

    def mark(self, rev: int, dig: str) -> Outcome:
        """Handle the position that a `mark` names."""
        if self._phase in (Phase.IDLE, Phase.AWAITING):
            return _IGNORED
        copy = self._copy
        # A mark names only watches to which the daemon has sent everything.
        if self._phase is Phase.SNAPSHOT or self._partial or copy is None:
            return self._suspect()
        is_right = rev < copy.rev or (rev == copy.rev and dig == copy.dig)
        return _IGNORED if is_right else self._suspect()

    def with_events(self, body: Body) -> State | None:
        """Return the state with the events of an `event`; None unless the copy is right."""
        if not self.is_synced or self._copy is None:
            return None
        return replace(_published(self.nav, self._copy), events=events_of(body["ev"]))

    def _receive_ok(self, body: Body) -> Outcome:
        if self._phase is not Phase.AWAITING:
            return _IGNORED
        if body.get("mode") != "resume":
            self._phase = Phase.SNAPSHOT
            return _WAIT
        # Not asked for, or of another epoch.
        if self._is_suspect or self._copy is None or body.get("epoch") != self._copy.epoch:
            return self._suspect()
        self._phase = Phase.FOLLOWING
        return Outcome("resumed", self.state)

    def _receive_snap(self, part: Body) -> Outcome:
        if self._phase in (Phase.IDLE, Phase.AWAITING):
            return _IGNORED
        partial, position = self._partial, (part["epoch"], part["rev"])
        if part["i"] == 0:
            partial = self._partial = _Parts(*position)
        elif (partial is None or len(partial.screens) != part["i"]
              or (partial.epoch, partial.rev) != position):
            return self._suspect()
        partial.screens += part["screens"]
        if not part["last"]:
            return _WAIT
        self._partial = None
        parts = {name: part[name] for name in PARTS if name in part}
        running = RunningChecksum()
        computed = running.update(partial.screens, parts, 0)
        if computed != part["dig"][:8]:
            return self._suspect((part["rev"], computed + part["dig"][8:]))
        self._copy = _Copy(
            part["kind"], *position, part["dig"], tuple(partial.screens), parts, part.get("resolved"))
        self._digest, self._phase = running, Phase.FOLLOWING
        self._is_suspect, self._bad = False, None
        return Outcome("replaced", self.state)

    def _receive_diff(self, diff: Body) -> Outcome:
        if self._phase in (Phase.IDLE, Phase.AWAITING):
            return _IGNORED
        copy = self._copy
        # A snapshot comes whole and before every diff, so a message is missing.
        if self._phase is Phase.SNAPSHOT or self._partial or copy is None:
            return self._suspect()
        if diff["epoch"] == copy.epoch and diff["rev"] <= copy.rev:
            is_other = diff["rev"] == copy.rev and diff["dig"] != copy.dig
            return self._suspect() if is_other else _IGNORED
        if diff["epoch"] != copy.epoch or diff["base"] != copy.rev:
            # Revisions are missing: the copy is right, and the next watch resumes from it.
            self._phase = Phase.AWAITING
            return _DIVERGED
        return self._change(copy, diff)

    def _change(self, copy: _Copy, diff: Body) -> Outcome:
        screens, parts = list(copy.screens), dict(copy.parts)
        lowest = len(screens)
        for change in diff["ch"]:
            index = _apply(change, screens, parts)
            if index is None:
                return self._suspect()
            lowest = min(lowest, index)
        computed = self._digest.update(screens, parts, lowest)
        if computed != diff["dig"][:8]:
            return self._suspect((diff["rev"], computed + diff["dig"][8:]))
        resolved = diff.get("resolved")
        self._copy = replace(
            copy, rev=diff["rev"], dig=diff["dig"], screens=tuple(screens), parts=parts,
            resolved=copy.resolved if resolved is None else resolved)
        by = diff.get("by")
        state = replace(
            _published(self.nav, self._copy), cause=diff.get("cause"),
            by=Author(by.get("name", ""), by.get("op")) if isinstance(by, dict) else None,
            events=events_of(diff.get("ev", [])), animated=diff.get("animated") is True)
        return Outcome("applied", state)

    def _receive_end(self) -> Outcome:
        self._copy = self._bad = self._partial = None
        self._is_suspect = False
        self._digest = RunningChecksum()
        # It ends the watch before; the answer to the present one is still to come.
        if self._phase is Phase.AWAITING:
            return _IGNORED
        self._phase = Phase.IDLE
        return _ENDED

    def _suspect(self, computed: tuple[int, str] | None = None) -> Outcome:
        """The copy differs from the nav; only a snapshot repairs it."""
        self._is_suspect = True
        if computed is None and self._copy is not None:
            computed = self._copy.rev, self._copy.dig
        self._bad = computed
        self._phase, self._partial = Phase.AWAITING, None
        return _DIVERGED


def events_of(ev: Iterable[Body]) -> tuple[Event, ...]:
    """Read a list of events."""
    return tuple(
        Event(name, details) for event in ev for name, details in event.items()
        if isinstance(details, dict))


def _apply(change: Body, screens: list[Body], parts: dict[str, Body]) -> int | None:
    """Apply a change; return the lowest index that it touched, None if it does not fit."""
    kind = change.get("set")
    if kind is None:
        at, gone = change["at"], change["del"]
        ids = [screen["id"] for screen in screens[at:at + len(gone)]]
        if at > len(screens) or ids != gone:
            return None
        screens[at:at + len(gone)] = change["ins"]
        return int(at)
    if kind == "screen":
        for index in reversed(range(len(screens))):
            if screens[index]["id"] == change["to"]["id"]:
                screens[index] = change["to"]
                return index
        return None
    if kind not in parts:
        return None
    parts[kind] = change["to"]
    return len(screens)


def _published(nav: str, copy: _Copy, *, is_resynchronised: bool = False) -> State:
    chain = copy.parts.get("presented", {}).get("chain", [])
    presented = tuple(
        Presentation(Screen(entry["screen"]), entry.get("from"), entry.get("style"), entry)
        for entry in chain)
    return State(
        nav, copy.kind, copy.epoch, copy.rev, copy.dig, tuple(map(Screen, copy.screens)),
        presented, copy.parts, copy.resolved, is_resynchronised=is_resynchronised)
