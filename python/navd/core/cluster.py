"""The sessions of one client, one for each daemon, and which of them has which nav (§17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from ..errors import NavigationError
from ..state import Latest, State, View
from ..wire import JSON, Body
from .actions import (
    Action, Address, Closed, DutyKind, Moved, Opened, Reconnect, Send, Status, StatusChanged)
from .mirror import Mirror
from .routes import Member, Place, Routes
from .session import Options, Phase, Session

__all__ = ["Cluster"]

OWN_FENCE = 30.0
"""How long after a `hello` of this client another session of it may end as `fenced` by that."""


class Cluster(Routes):
    """The state machine of a client.

    The client asks for a nav at the base, the daemon to which it connects first. When that answers
    `moved`, the client moves everything about the nav to another daemon. Callers pass each
    event with the endpoint and the time in seconds, and then perform the actions of `take`.
    """

    def __init__(
        self, seeds: Sequence[Address], options: Options, *, has_key: bool = False
    ) -> None:
        """Make a client of the daemons at `seeds`.

        `has_key` is true if the shell has a key of the client, which daemons over tcp need.
        """
        super().__init__(seeds, options, has_key)
        self._is_over = False
        # When the client said `hello` last, by endpoint.
        self._greetings: dict[str, float] = {}

    def take(self) -> list[Action]:
        """Return the actions since the last call."""
        self._settle()
        actions, self._actions = self._actions, []
        return actions

    @property
    def wake_at(self) -> float:
        """The time of the next `tick`; infinite while nothing has a deadline."""
        if self._is_over:
            return inf
        return min((min(each.session.wake_at, each.open_at, each.idle_at)
                    for each in self._members.values()), default=inf)

    @property
    def has_others(self) -> bool:
        """Whether there are daemons besides the base."""
        return len(self._candidates()) > 1

    # Events.

    def start(self, now: float) -> None:
        """Connect to the base."""
        self._now = now
        self._need(self._member(self._base))

    def connected(self, endpoint: str, now: float) -> None:
        """Handle a new connection."""
        self._now = now
        member = self._members.get(endpoint)
        if member:
            self._greetings[endpoint] = now
            member.session.connected(now)

    def lost(self, endpoint: str, now: float, least: float = 0.0) -> None:
        """Handle the loss of a connection, or a failed attempt to make one."""
        self._now = now
        member = self._members.get(endpoint)
        if member:
            member.session.lost(now, least)

    def refused(self, endpoint: str, error: NavigationError, now: float) -> None:
        """Handle a daemon that refuses the client for good."""
        self._now = now
        member = self._members.get(endpoint)
        if member:
            self._exclude(member, error)

    def receive(self, endpoint: str, verb: str, body: Body, octets: int, now: float) -> None:
        """Handle a message of a daemon; `octets` is the length of its body."""
        self._now = now
        member = self._members.get(endpoint)
        if member:
            if verb == "bye" and body.get("why") == "fenced" and self._is_own_fence(member):
                self._continue_in_newer(member)
            else:
                member.session.receive(verb, body, octets, now)
            self._settle()

    def applied(self) -> None:
        """Send `credit` where half of a window is used; call it after the actions are performed."""
        for member in self._members.values():
            member.session.applied()

    def tick(self, now: float) -> None:
        """Handle deadlines."""
        self._now = now
        if self._is_over:
            return
        for member in list(self._members.values()):
            if member.open_at <= now:
                self._open(member)
            if member.idle_at <= now:
                self._retire(member)
            else:
                member.session.tick(now)

    def leave(self) -> None:
        """End all sessions for good."""
        for member in self._members.values():
            member.session.leave()
        self._settle()
        self._is_over = True

    # What users ask for.

    def place(self, nav: str) -> str:
        """Return the endpoint of the daemon that has a nav, by the answers so far."""
        return self._address(nav).endpoint

    def mirror(self, nav: str) -> Mirror | None:
        """Return the mirror of a full watch, even while it may be wrong."""
        session = self._find(nav)
        return session.mirror(nav) if session else None

    def is_lost(self, nav: str) -> bool:
        """Whether there is no session with the daemon of a nav."""
        session = self._find(nav)
        return session is None or session.phase is not Phase.OPEN

    def is_behind(self, state: State) -> bool:
        """Whether the daemon has reported a later revision than that of the state."""
        session = self._find(state.nav)
        return session.is_behind(state) if session else False

    def current(self, nav: str, view: View) -> State | Latest | None:
        """Return the value of a watch; None unless it is in sync."""
        session = self._find(nav)
        return session.current(nav, view) if session else None

    def watch(self, nav: str, view: View = "full", waits: bool = False) -> None:
        """Watch a nav, wherever it is."""
        self._at(nav).watch(nav, view, waits)

    def unwatch(self, nav: str, view: View = "full") -> None:
        """End a watch."""
        session = self._find(nav)
        if session:
            session.unwatch(nav, view)

    def request(
        self, verb: str, nav: str | None, members: Body, until: float = inf
    ) -> int:
        """Send a request until it is answered; see `Session.request`."""
        id = self._at(nav).request(verb, nav, members, until)
        self._navs[id] = nav
        return id

    def forget(self, id: int) -> bool:
        """Drop a request; return whether it was sent, so that it may have happened."""
        session = self._find(self._navs.pop(id)) if id in self._navs else None
        return session.forget(id) if session else False

    def want(self, kind: DutyKind, nav: str, wanted: Body | None, is_kept: bool = True) -> None:
        """Register roles or take a display wherever the nav is; None ends it."""
        self._at(nav).want(kind, nav, wanted, is_kept)

    def answer(self, nav: str, number: int, value: JSON) -> None:
        """Answer a question, unless it is void."""
        session = self._find(nav)
        if session:
            session.answer(number, value)

    def _find(self, nav: str | None) -> Session | None:
        member = self._members.get(self._address(nav).endpoint)
        return member.session if member else None

    def _at(self, nav: str | None) -> Session:
        """Return the session for a nav, and connect it."""
        member = self._member(self._address(nav))
        self._need(member)
        return member.session

    # Actions.

    def _settle(self) -> None:
        """Handle the actions of all sessions, which may cause others."""
        is_done = False
        while not is_done:
            is_done = True
            for member in list(self._members.values()):
                for action in member.session.take():
                    is_done = False
                    self._handle(member, action)
        self._note_idle()

    def _handle(self, member: Member, action: Action) -> None:
        endpoint = member.address.endpoint
        # The daemon is left out by now, so what its session still sends goes nowhere.
        if self._members.get(endpoint) is not member or self._is_over:
            self._pass(action)
        elif isinstance(action, Send):
            self._actions.append(replace(action, endpoint=endpoint))
        elif isinstance(action, Opened):
            member.place, member.not_before = Place.OPEN, 0.0
            self._has_welcomed = True
            self._actions.append(action)
            self._join_older(member)
            self._report()
        elif isinstance(action, Reconnect):
            self._lose(member, action)
        elif isinstance(action, Closed):
            self._close(member, action.error)
        elif isinstance(action, Moved):
            self._follow(member, action)
        else:
            self._pass(action)

    def _is_own_fence(self, member: Member) -> bool:
        """Whether another session of this client may have ended one.

        Two addresses can lead to one daemon, which keeps the session with the last `hello`.
        """
        return any(self._now < at + OWN_FENCE for endpoint, at in self._greetings.items()
                   if endpoint != member.address.endpoint)

    def _continue_in_newer(self, member: Member) -> None:
        """Move everything to the session that is being opened; without one, connect again."""
        newer = next((each for each in self._members.values()
                      if each is not member and each.place is Place.OPENING), None)
        if newer:
            self._join(member, newer)
        else:
            member.session.lost(self._now)

    def _close(self, member: Member, error: NavigationError) -> None:
        """Handle the end of a session for good; another process with the identity ends them all."""
        if error.reason != "fenced":
            self._exclude(member, error)
            return
        self.leave()
        self._actions.append(Closed(error))

    def _report(self) -> None:
        members = self._members.values()
        is_lost = any(each.place is Place.LOST and self._is_needed(each) for each in members)
        is_open = any(each.place is Place.OPEN for each in members)
        status: Status = "disconnected" if self._has_welcomed else "connecting"
        if is_open and not is_lost:
            status = "connected"
        if status != self._status:
            self._status = status
            self._actions.append(StatusChanged(status))
