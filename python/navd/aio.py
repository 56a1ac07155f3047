"""The interface for asyncio, with the methods of the blocking interface as coroutines."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, overload

from .arguments import (
    AnyGuard, AnyOperation, Time, check_choice, check_nav, check_text, check_time)
from .common import CommonClient, CommonDuty, CommonLoop, CommonRemoval
from .core.actions import Status
from .errors import NavigationError
from .guards import Guard
from .operations import pop
from .questions import Animator, Interaction, Orientations, Question, Roles, Veto, answer_of
from .reply import Pong, Reply
from .shell import procedures
from .shell.duty import DutyState
from .shell.engine import Engine
from .shell.pending import Pending, perform, wait_in_loop
from .shell.subscription import End
from .state import Latest, State, View
from .wire import JSON, Body

__all__ = ["Client", "Connecting", "Duty", "Removal", "Statuses", "Watch", "connect"]

Value = TypeVar("Value")


def connect(
    endpoint: str | None = None, *, name: str = "", server_key: str | None = None,
    key_file: str | None = None, window: int = 65536, heartbeat: float = 5.0, within: Time = 5.0,
) -> Connecting:
    """Make a client, and wait until its session is open; `navd.connect` has the arguments.

    Write `async with navd.aio.connect() as client:` or `client = await navd.aio.connect()`.
    """
    limit = check_time(within, "within")
    if limit is None:
        raise TypeError("within is a number of seconds such as 5.0")
    return Connecting(
        lambda: Client(endpoint, name=name, server_key=server_key, key_file=key_file,
                       window=window, heartbeat=heartbeat), limit)


class Connecting:
    """A client that connects; await it, or use it in `async with`."""

    def __init__(self, make: Callable[[], Client], within: float) -> None:
        self._make = make
        self._within = within
        self._client: Client | None = None

    def __await__(self) -> Generator[Any, None, Client]:
        """Wait until the session is open."""
        return self._connect().__await__()

    async def __aenter__(self) -> Client:
        """Wait until the session is open."""
        self._client = await self._connect()
        return self._client

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the client."""
        if self._client:
            await self._client.close()

    async def _connect(self) -> Client:
        client = self._make()
        try:
            await asyncio.wait_for(wait_in_loop(client._engine.ready()), self._within)
        except TimeoutError:
            await client.close()
            raise client._engine.unreachable(self._within) from None
        except BaseException:
            await client.close()
            raise
        return client


class Client(CommonClient):
    """A client of navd, which reconnects after each loss. One is enough for a process.

    A call that is cancelled may have happened. The client may be used from one event loop.
    """

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the client."""
        await self.close()

    async def close(self) -> None:
        """End the session with `bye`; all unanswered requests and loops fail with `closed`."""
        self._finalizer.detach()
        await asyncio.to_thread(self._engine.close)

    def statuses(self) -> Statuses:
        """Iterate over the present status and its changes, until the client is closed."""
        return Statuses(self, self._engine.listen())

    async def perform(
        self, nav: str, operations: Iterable[AnyOperation], *, guard: AnyGuard = None,
        animated: bool | None = None, on_busy: Literal["reject", "queue", "interrupt"] | None = None,
        within: Time | None = None, on_queued: Callable[[int], None] | None = None,
    ) -> Reply:
        """Perform 1 to 16 operations in one revision, or none; see `navd.Client.perform`.

        `on_queued` is called in the event loop.
        """
        report = _in_loop(on_queued) if callable(on_queued) else on_queued
        return Reply.of(await wait_in_loop(procedures.op(
            self._engine, nav, operations, guard, animated, on_busy, within, report)))

    async def pop(
        self, state: State, *, result: JSON = None, animated: bool | None = None,
        on_busy: Literal["reject", "queue", "interrupt"] | None = None, within: Time | None = None,
    ) -> Reply:
        """Pop the top screen, if it is still the one of the state; else `desync`."""
        guard = Guard.top(state)
        return await self.perform(
            state.nav, [pop(result=result)], guard=guard, animated=animated, on_busy=on_busy,
            within=within)

    async def state(self, nav: str, *, within: Time | None = None) -> State:
        """Return the newest state; at once if this client watches the nav."""
        return await perform(procedures.newest_state(self._engine, nav, within))

    @overload
    def watch(
        self, nav: str, *, view: Literal["full"] = "full", every_revision: bool = False,
        wait: bool = False
    ) -> Watch[State]: ...

    @overload
    def watch(
        self, nav: str, *, view: Literal["bar", "top"], wait: bool = False
    ) -> Watch[Latest]: ...

    def watch(
        self, nav: str, *, view: View = "full", every_revision: bool = False, wait: bool = False
    ) -> Watch[State] | Watch[Latest]:
        """Iterate over the states of a nav, until it is closed; see `navd.Client.watch`."""
        check_nav(nav)
        check_choice(view, "view", ("full", "bar", "top"))
        return Watch(self, self._engine.subscribe(nav, view, every_revision, wait))

    async def get(
        self, nav: str | None = None, what: str = "state", *, screen: str | None = None,
        start: int | None = None, limit: int | None = None, at: int | None = None,
        within: Time | None = None,
    ) -> Body:
        """Read a value (§12), such as the `log`; see `navd.Client.get`."""
        return await wait_in_loop(procedures.read(
            self._engine, nav, what, within,
            {"screen": screen, "from": start, "limit": limit, "at": at}))

    def result(self, nav: str, screen: str) -> Removal:
        """Begin to wait until a screen has gone; await what this returns for its result.

        Call it before the push: the daemon does not keep the results of screens that have gone.
        """
        check_nav(nav)
        check_text(screen, "screen")
        return Removal(self, self._engine.subscribe(nav, "full", True), screen)

    async def delegate(
        self, nav: str, *, veto: Veto | None = None, animator: Animator | None = None,
        interaction: Interaction | None = None, orientations: Orientations | None = None,
        within: Time | None = None,
    ) -> Duty:
        """Register delegate roles, in this session and in each later one.

        Each function is a role, and runs in the event loop. It may be a coroutine function, which
        is cancelled when the question is over. See `navd.Client.delegate` for the answers.
        """
        check_nav(nav)
        roles, engine = Roles(veto, animator, interaction, orientations), self._engine
        loop, tasks = asyncio.get_running_loop(), set[asyncio.Task[None]]()

        def start(question: Question) -> None:
            task = loop.create_task(_answer(engine, roles, question))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            question.when_over(_in_loop_of(loop, task.cancel))

        duty = DutyState(self._engine.turns, "delegate", nav,
                         lambda question: _in_loop_of(loop, start, question)())
        await wait_in_loop(self._engine.take_duty(
            duty, roles.wanted, True, check_time(within, "within")))
        return Duty(self, duty)

    async def lease(
        self, nav: str, *, force: bool = False, keeping: bool = True, within: Time | None = None
    ) -> Duty:
        """Take the display of a nav; see `navd.Client.lease`."""
        check_nav(nav)
        duty = DutyState(self._engine.turns, "lease", nav)
        wanted: Body = {"take": True, **({"force": True} if force else {})}
        await wait_in_loop(self._engine.take_duty(
            duty, wanted, keeping, check_time(within, "within")))
        return Duty(self, duty)

    async def ping(self, *, within: Time | None = None) -> Pong:
        """Send a ping, and wait for the answer of the daemon."""
        body = await wait_in_loop(
            self._engine.request("ping", None, {}, check_time(within, "within")))
        return Pong(body.get("boot", ""), body.get("t", 0))


async def _answer(engine: Engine, roles: Roles, question: Question) -> None:
    function = roles.function(question)
    if function is None or question.is_over:
        return
    try:
        answer = function(question)
        if inspect.isawaitable(answer):
            answer = await answer
        is_answer, value = answer_of(question, answer)
        if is_answer:
            engine.answer(question, value)
    except Exception as error:  # noqa: BLE001 - a fault of a caller's function is not one of the client
        engine.answer(question, None)
        asyncio.get_running_loop().call_exception_handler(
            {"message": f"the delegate of {question.nav} has failed", "exception": error})


def _in_loop(function: Callable[[int], None]) -> Callable[[int], None]:
    loop = asyncio.get_running_loop()
    return lambda position: _in_loop_of(loop, function, position)()


def _in_loop_of(
    loop: asyncio.AbstractEventLoop, function: Callable[..., object], *arguments: object
) -> Callable[[], None]:
    """Return a function for the thread of the client that calls another one in the loop."""
    def call() -> None:
        # A loop that was closed asks for nothing any more.
        if not loop.is_closed():
            loop.call_soon_threadsafe(function, *arguments)
    return call


class _Loop(CommonLoop[Value]):
    """What a Watch and a Statuses have in common."""

    def __aiter__(self) -> AsyncIterator[Value]:
        """Return the loop itself."""
        return self

    async def __anext__(self) -> Value:
        """Wait for the next value; a cancellation loses nothing."""
        value = await wait_in_loop(self._subscription.next())
        if isinstance(value, End):
            raise StopAsyncIteration
        return value

    async def __aenter__(self) -> Self:
        """Return the loop itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the loop."""
        self.close()


class Watch(_Loop[Value]):
    """The states of a nav, or the values of one of its views."""


class Statuses(_Loop[Status]):
    """The status of a client, and its changes."""


class Removal(CommonRemoval):
    """The end of a screen; await it for the result that the removal gave, or None."""

    def __await__(self) -> Generator[Any, None, JSON]:
        """Wait until the screen has gone; a cancellation loses nothing.

        Raises NavigationError `desync` if it went while there was no connection, so that its
        result is lost; else the error that ended the watch.
        """
        return perform(self._removal.steps(self._client._engine)).__await__()


class Duty(CommonDuty):
    """Delegate roles or a lease; an async context manager that ends them."""

    async def wait_lost(self) -> NavigationError:
        """Wait until the roles or the lease have ended for good."""
        if self.lost:
            return self.lost
        return await wait_in_loop(Pending(self._duty.lost, lambda: None))

    async def __aenter__(self) -> Self:
        """Return it."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it."""
        self.end()
