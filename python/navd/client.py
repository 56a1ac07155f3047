"""The blocking interface: each method waits for the daemon, and any thread may call it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Literal, Self, TypeVar, overload

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
from .shell.desk import late
from .shell.duty import DutyState
from .shell.engine import Engine
from .shell.pending import Pending, run, wait
from .shell.subscription import End
from .state import Latest, State, View
from .wire import JSON, Body

__all__ = ["Client", "Duty", "Removal", "Statuses", "Watch", "connect"]

Value = TypeVar("Value")


def connect(
    endpoint: str | None = None, *, name: str = "", server_key: str | None = None,
    key_file: str | None = None, window: int = 65536, heartbeat: float = 5.0, within: Time = 5.0,
) -> Client:
    """Make a client, and wait until its session is open.

    `endpoint` is an address such as `ipc:///run/navd/navd.sock` or `tcp://192.0.2.11:7117`, or
    several of them, separated by commas. The default is NAVD_ENDPOINT, else the first socket of
    navd in the runtime directories of the user and of the system. `name` is shown to users.
    `server_key` is the public key of a daemon over tcp, or a file with it; by default that of
    NAVD_SERVER_KEY. `key_file` is the file of the client's secret key, as `navctl key new` creates
    it; by default that of NAVD_KEY. `heartbeat` and `within` are in seconds. Everywhere in this package,
    a time above 60 seconds is a `datetime.timedelta`.

    Raises NavigationError `unreachable` if no daemon has answered after `within`, or the error with
    which the daemon refuses the client.
    """
    limit = check_time(within, "within")
    if limit is None:
        raise TypeError("within is a number of seconds such as 5.0")
    client = Client(
        endpoint, name=name, server_key=server_key, key_file=key_file, window=window,
        heartbeat=heartbeat)
    try:
        wait(client._engine.ready(), limit)
    except TimeoutError:
        client.close()
        raise client._engine.unreachable(limit) from None
    except BaseException:
        client.close()
        raise
    return client


class Client(CommonClient):
    """A client of navd, which reconnects after each loss. One is enough for a process.

    It is a context manager; `close` ends it, and so does the end of the process.
    """

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the client."""
        self.close()

    def close(self) -> None:
        """End the session with `bye`; all unanswered requests and loops fail with `closed`."""
        self._finalizer.detach()
        self._engine.close()

    def statuses(self) -> Statuses:
        """Iterate over the present status and its changes, until the client is closed."""
        return Statuses(self, self._engine.listen())

    def perform(
        self, nav: str, operations: Iterable[AnyOperation], *, guard: AnyGuard = None,
        animated: bool | None = None, on_busy: Literal["reject", "queue", "interrupt"] | None = None,
        within: Time | None = None, on_queued: Callable[[int], None] | None = None,
    ) -> Reply:
        """Perform 1 to 16 operations in one revision, or none of them.

        Without a connection the operations wait. After a loss the client sends the same octets
        again, and the daemon performs them once. After `within` seconds the call fails with
        `expired`, and a daemon on this machine does not begin them any more. Without `within`, what
        a person does (`ui.*`, `gesture.*`, `button.activate`) begins within 2 s or fails so. With
        `on_busy` `queue` they wait for an open transition, and `on_queued` gets their position, in a thread
        of its own.

        Raises NavigationError; its `may_have_happened` is true if the answer is lost.
        """
        report = _in_own_thread(on_queued) if callable(on_queued) else on_queued
        return Reply.of(wait(procedures.op(
            self._engine, nav, operations, guard, animated, on_busy, within, report)))

    def pop(
        self, state: State, *, result: JSON = None, animated: bool | None = None,
        on_busy: Literal["reject", "queue", "interrupt"] | None = None, within: Time | None = None,
    ) -> Reply:
        """Pop the top screen, if it is still the one of the state; else `desync`."""
        guard = Guard.top(state)
        return self.perform(
            state.nav, [pop(result=result)], guard=guard, animated=animated, on_busy=on_busy,
            within=within)

    def state(self, nav: str, *, within: Time | None = None) -> State:
        """Return the newest state; at once if this client watches the nav."""
        return run(procedures.newest_state(self._engine, nav, within))

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
        """Iterate over the states of a nav, until it is closed.

        The first state is the present one; another follows each change. A slow loop gets the newest
        state, or with `every_revision` all of them. A loss of the connection does not end the loop.
        With `wait`, the loop waits for a nav that does not exist yet, and after its end for the next
        one of that name.
        """
        check_nav(nav)
        check_choice(view, "view", ("full", "bar", "top"))
        return Watch(self, self._engine.subscribe(nav, view, every_revision, wait))

    def get(
        self, nav: str | None = None, what: str = "state", *, screen: str | None = None,
        start: int | None = None, limit: int | None = None, at: int | None = None,
        within: Time | None = None,
    ) -> Body:
        """Read a value (§12), such as the `log`; return the body of the `ok`.

        `start` is `from` of the protocol. Without a nav the value is one of the daemon.
        """
        return wait(procedures.read(
            self._engine, nav, what, within,
            {"screen": screen, "from": start, "limit": limit, "at": at}))

    def result(self, nav: str, screen: str) -> Removal:
        """Begin to wait until a screen has gone, and for the result that its removal gave.

        Call it before the push: the daemon does not keep the results of screens that have gone.
        """
        check_nav(nav)
        check_text(screen, "screen")
        return Removal(self, self._engine.subscribe(nav, "full", True), screen)

    def delegate(
        self, nav: str, *, veto: Veto | None = None, animator: Animator | None = None,
        interaction: Interaction | None = None, orientations: Orientations | None = None,
        within: Time | None = None,
    ) -> Duty:
        """Register delegate roles, in this session and in each later one.

        Each function is a role. It gets a Question, in a thread of its own, and returns the answer.
        That is True or False of `veto`, an Animation of `animator`, and the name of a driver of
        `interaction`. A veto that returns None gives no answer. A second call for the same nav
        replaces the first.
        """
        check_nav(nav)
        roles = Roles(veto, animator, interaction, orientations)
        engine = self._engine

        def begin(question: Question) -> None:
            threading.Thread(
                target=_answer, args=(engine, roles, question), name="navd question", daemon=True
            ).start()

        duty = DutyState(engine.turns, "delegate", nav, begin)
        wait(engine.take_duty(duty, roles.wanted, True, check_time(within, "within")))
        return Duty(self, duty)

    def lease(
        self, nav: str, *, force: bool = False, keeping: bool = True, within: Time | None = None
    ) -> Duty:
        """Take the display of a nav, which one client at a time holds.

        `force` takes it from another client, and needs the right `admin`. With `keeping` the client
        takes it again after a loss of the connection, if it is free; else the loss ends the lease.
        A second call for the same nav replaces the first.
        """
        check_nav(nav)
        duty = DutyState(self._engine.turns, "lease", nav)
        wanted: Body = {"take": True, **({"force": True} if force else {})}
        wait(self._engine.take_duty(duty, wanted, keeping, check_time(within, "within")))
        return Duty(self, duty)

    def ping(self, *, within: Time | None = None) -> Pong:
        """Send a ping, and wait for the answer of the daemon."""
        body = wait(self._engine.request("ping", None, {}, check_time(within, "within")))
        return Pong(body.get("boot", ""), body.get("t", 0))


def _in_own_thread(function: Callable[[int], None]) -> Callable[[int], None]:
    """Return a function that calls another one in a thread of its own, so that it may wait."""
    return lambda position: threading.Thread(
        target=function, args=(position,), name="navd queued", daemon=True).start()


def _answer(engine: Engine, roles: Roles, question: Question) -> None:
    function = roles.function(question)
    if function is None:
        return
    try:
        is_answer, value = answer_of(question, function(question))
        if is_answer:
            engine.answer(question, value)
    except Exception:
        engine.answer(question, None)
        # `threading.excepthook` reports it.
        raise


class _Loop(CommonLoop[Value]):
    """What a Watch and a Statuses have in common."""

    def __iter__(self) -> Iterator[Value]:
        """Return the loop itself."""
        return self

    def __next__(self) -> Value:
        """Wait for the next value."""
        value = wait(self._subscription.next())
        if isinstance(value, End):
            raise StopIteration
        return value

    def take(self, within: Time | None = None) -> Value:
        """Wait for the next value for some seconds; raises TimeoutError, and loses nothing.

        At the end of the loop it raises NavigationError `closed`.
        """
        value = wait(self._subscription.next(), check_time(within, "within"))
        if isinstance(value, End):
            raise NavigationError("closed", "the loop is over: its nav or the client was closed")
        return value

    def __enter__(self) -> Self:
        """Return the loop itself."""
        return self

    def __exit__(
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
    """The end of a screen, and its result."""

    def wait(self, within: Time | None = None) -> JSON:
        """Wait until the screen has gone; return its result, or None without one.

        Raises NavigationError: `expired` after `within` seconds, when another call goes on to wait, or
        the error that ended the watch.
        It is `desync` if the screen went while there was no connection, so that its result is lost.
        """
        limit = check_time(within, "within")
        try:
            return run(self._removal.steps(self._client._engine), limit)
        except TimeoutError:
            raise late(self._removal.watch.nav, limit or 0.0) from None


class Duty(CommonDuty):
    """Delegate roles or a lease; a context manager that ends them."""

    def wait_lost(self, within: Time | None = None) -> NavigationError:
        """Wait until roles or lease have ended for good; raises TimeoutError after `within` seconds."""
        if self.lost:
            return self.lost
        pending = Pending(self._duty.lost, lambda: None)
        return wait(pending, check_time(within, "within"))

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it."""
        self.end()
