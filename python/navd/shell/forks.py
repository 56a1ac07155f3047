"""Which process this is: a child of a fork has none of the threads that serve its parent's clients."""

from __future__ import annotations

import os

from ..errors import NavigationError

__all__ = ["forked_error", "this_process"]

_forks = 0


def _count() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count)


def this_process() -> tuple[int, int]:
    """Return an identity of this process that no ancestor has.

    In a namespace a child may have the number of its parent; a fork in C calls no function here.
    """
    return os.getpid(), _forks


def forked_error() -> NavigationError:
    """Return the error of a client that a parent of this process has made."""
    return NavigationError(
        "forked", "a parent of this process has made the client; make another one after the fork")
