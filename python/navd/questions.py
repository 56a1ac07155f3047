"""Delegates: the questions of the daemon, and the answers (docs/protocol.md, §11)."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, Union, cast

from .wire import JSON, Body, copied

__all__ = ["Animation", "Orientations", "Question", "Roles"]

_ORIENTATIONS = ("portrait", "portraitUpsideDown", "landscapeLeft", "landscapeRight")


@dataclass(frozen=True)
class Animation:
    """The animation of a transition: the name under which displays know it."""

    name: str
    #: How long it takes, in seconds; None leaves that to the display.
    duration: float | None = None

    def __post_init__(self) -> None:
        """Check the unit."""
        if self.duration is not None and not 0 <= self.duration <= 60:
            raise ValueError(f"duration is {self.duration}: write 0 to 60 seconds, such as 0.3")

    @property
    def answer(self) -> Body:
        """The answer as the protocol writes it."""
        if self.duration is None:
            return {"animator": self.name}
        return {"animator": self.name, "duration": round(1000 * self.duration)}


@dataclass(frozen=True)
class Orientations:
    """The orientations of a nav while the roles last."""

    supported: Sequence[str]
    preferred: str | None = None

    def __post_init__(self) -> None:
        """Refuse words that are no orientation."""
        for word in [*self.supported, *([self.preferred] if self.preferred else [])]:
            if word not in _ORIENTATIONS:
                raise ValueError(f"{word!r} is no orientation: write one of"
                                 f" {', '.join(map(repr, _ORIENTATIONS))}")


@dataclass(frozen=True, eq=False)
class Question:
    """A question of the daemon, which locks the stack until the answer."""

    #: Its number within the session.
    number: int
    nav: str
    epoch: str
    rev: int
    #: `shouldPush`, `shouldPop`, `shouldDismiss`, `animatorFor` or `interactionFor`.
    kind: str
    #: When the daemon stops to wait, by `time.monotonic()`.
    deadline: float
    _details: Body
    _over: threading.Event = field(default_factory=threading.Event)
    _listeners: list[Callable[[], None]] = field(default_factory=list)

    @staticmethod
    def of(ask: Body) -> Question:
        """Read an `ask`."""
        kind, details = next(iter(ask["q"].items()))
        deadline = time.monotonic() + ask["within"] / 1000
        return Question(ask["ask"], ask["nav"], ask.get("epoch", ""), ask.get("rev", 0), kind,
                        deadline, details)

    @property
    def details(self) -> Body:
        """The members of the question, as a copy."""
        return cast(Body, copied(self._details))

    @property
    def screen(self) -> str | None:
        """The id of the screen to push, pop or dismiss."""
        screen: str | None = self._details.get("screen")
        return screen

    @property
    def cause(self) -> str | None:
        """The cause of a pop or a dismissal, such as `backButton`."""
        cause: str | None = self._details.get("cause")
        return cause

    @property
    def is_over(self) -> bool:
        """Whether the daemon does not wait for an answer any more."""
        return self._over.is_set()

    def settle(self) -> None:
        """Note that the daemon does not wait any more; the client calls it."""
        self._over.set()
        for listener in list(self._listeners):
            listener()

    def when_over(self, listener: Callable[[], None]) -> None:
        """Call a function when the question is over; at once if it is.

        It runs in the thread of the client, so it must not wait for the daemon.
        """
        self._listeners.append(listener)
        if self.is_over:
            listener()


#: The answers of the roles: a function may be a coroutine function with `navd.aio`.
Veto: TypeAlias = Callable[[Question], Union[bool, None, Awaitable[Union[bool, None]]]]
Animator: TypeAlias = Callable[
    [Question], Union[Animation, None, Awaitable[Union[Animation, None]]]]
Interaction: TypeAlias = Callable[[Question], Union[str, None, Awaitable[Union[str, None]]]]


@dataclass(frozen=True)
class Roles:
    """What a delegate does: each function that is given is one role."""

    veto: Veto | None = None
    animator: Animator | None = None
    interaction: Interaction | None = None
    orientations: Orientations | None = None

    def __post_init__(self) -> None:
        """Refuse what is no function, and a delegate without a role."""
        for name in ("veto", "animator", "interaction"):
            function = getattr(self, name)
            if function is not None and not callable(function):
                raise TypeError(f"{name} is a function of a navd.Question, not"
                                f" {type(function).__name__}")
        if self.orientations is not None and not isinstance(self.orientations, Orientations):
            raise TypeError("orientations is navd.Orientations(['portrait'])")
        if not self.wanted["roles"]:
            raise ValueError("a delegate has a role: pass veto, animator, interaction or"
                             " orientations")

    @property
    def wanted(self) -> Body:
        """The members of `delegate`."""
        names = ["veto", "animator", "interaction"]
        wanted: Body = {"roles": [name for name in names if getattr(self, name)]}
        if self.orientations:
            wanted["roles"].append("orientation")
            wanted["orientations"] = {"supported": list(self.orientations.supported)}
            if self.orientations.preferred:
                wanted["orientations"]["preferred"] = self.orientations.preferred
        return wanted

    def function(self, question: Question) -> Callable[[Question], Any] | None:
        """Return the function that answers a question; None for an unknown one."""
        if question.kind in ("shouldPush", "shouldPop", "shouldDismiss"):
            return self.veto
        return {"animatorFor": self.animator, "interactionFor": self.interaction}.get(question.kind)


def answer_of(question: Question, value: Any) -> tuple[bool, JSON]:
    """Return whether there is an answer, and its value as the protocol writes it.

    Raises TypeError for a value that is none.
    """
    if question.kind == "animatorFor":
        if value is not None and not isinstance(value, Animation):
            raise TypeError("animator returns a navd.Animation or None, not"
                            f" {type(value).__name__}")
        return True, value.answer if value else None
    if question.kind == "interactionFor":
        if value is not None and not isinstance(value, str):
            raise TypeError("interaction returns the name of a driver or None, not"
                            f" {type(value).__name__}")
        return True, None if value is None else {"driver": value}
    if value is not None and not isinstance(value, bool):
        raise TypeError(f"veto returns True, False or None, not {type(value).__name__}")
    return value is not None, value
