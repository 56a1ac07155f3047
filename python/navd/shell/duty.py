"""Delegate roles and leases of a client, and the questions to its delegates."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial

from ..core.actions import DutyKind
from ..errors import NavigationError
from ..questions import Question
from .pending import fail, resolve
from .turns import Turns

__all__ = ["DutyState"]


@dataclass(eq=False)
class DutyState:
    """Roles or a lease; the lock of the client guards it."""

    turns: Turns
    kind: DutyKind
    nav: str
    #: Called without the lock, with each question.
    on_question: Callable[[Question], None] | None = None
    granted: Future[None] = field(default_factory=Future)
    #: Gets the reason when they are over for good.
    lost: Future[NavigationError] = field(default_factory=Future)
    is_held: bool = False
    questions: dict[int, Question] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep both from being cancelled: several may wait for them."""
        self.granted.set_running_or_notify_cancel()
        self.lost.set_running_or_notify_cancel()

    def grant(self) -> None:
        """Note that the daemon has granted them in this session."""
        self.is_held = True
        self.turns.later(partial(resolve, self.granted, None))

    def end(self, error: NavigationError) -> None:
        """Note that the roles or the lease have ended for good."""
        self.is_held = False
        for number in list(self.questions):
            self.settle(number)
        self.turns.later(partial(fail, self.granted, error))
        self.turns.later(partial(resolve, self.lost, error))

    def ask(self, question: Question) -> None:
        """Pass a question to the delegate."""
        self.questions[question.number] = question
        if self.on_question:
            self.turns.later(partial(self.on_question, question))

    def settle(self, number: int) -> None:
        """Note the end of a question."""
        question = self.questions.pop(number, None)
        if question:
            self.turns.later(question.settle)
