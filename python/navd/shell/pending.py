"""Results that come later, and the two ways to wait for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, InvalidStateError
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from ..errors import NavigationError

__all__ = ["Pending", "Steps", "fail", "perform", "resolve", "run", "wait",
           "wait_in_loop"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Pending(Generic[Value]):
    """A result that comes later; `cancel` reports that its caller does not wait any more."""

    future: Future[Value]
    cancel: Callable[[], None]


#: A procedure that waits in the same way in both interfaces: it yields what to wait for.
Steps: TypeAlias = Generator[Pending[Any], Any, Value]


def resolve(future: Future[Any], value: object) -> None:
    """Give a future its value, unless its reader has cancelled it."""
    try:
        future.set_result(value)
    except InvalidStateError:
        pass


def fail(future: Future[Any], error: NavigationError) -> None:
    """Give a future its error, unless its reader has cancelled it."""
    try:
        future.set_exception(error)
    except InvalidStateError:
        pass


def wait(pending: Pending[Value], timeout: float | None = None) -> Value:
    """Block until there is a result; raises TimeoutError after the timeout in seconds."""
    try:
        return pending.future.result(timeout)
    except NavigationError as error:
        # One error may be for several callers; each gets an error of its own.
        raise copy(error) from None
    except BaseException:
        pending.cancel()
        raise


def run(steps: Steps[Value], within: float | None = None) -> Value:
    """Go through a procedure, and block where it waits; raises TimeoutError after `within`."""
    end = None if within is None else time.monotonic() + within
    try:
        pending = next(steps)
        while True:
            try:
                left = None if end is None else max(0.0, end - time.monotonic())
                value = wait(pending, left)
            except NavigationError as error:
                pending = steps.throw(error)
            else:
                pending = steps.send(value)
    except StopIteration as stop:
        result: Value = stop.value
        return result
    finally:
        steps.close()


async def wait_in_loop(pending: Pending[Value]) -> Value:
    """Wait for a result in the running event loop."""
    try:
        return await asyncio.wrap_future(pending.future)
    except NavigationError as error:
        raise copy(error) from None
    except BaseException:
        pending.cancel()
        raise


async def perform(steps: Steps[Value]) -> Value:
    """Go through a procedure in the running event loop."""
    try:
        pending = next(steps)
        while True:
            try:
                value = await wait_in_loop(pending)
            except NavigationError as error:
                pending = steps.throw(error)
            else:
                pending = steps.send(value)
    except StopIteration as stop:
        result: Value = stop.value
        return result
    finally:
        steps.close()
