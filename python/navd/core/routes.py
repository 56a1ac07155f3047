"""The daemons that a client knows, and the way of each nav between them."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from ..errors import NavigationError
from .actions import (
    Action, Address, Answered, Closed, Drop, DutyChanged, Moved, Open, Reconnect, Send, Shown,
    Status)
from .session import Ids, Options, Session

__all__ = ["Member", "Place", "Routes"]

#: How long a session that no nav needs is kept, in seconds.
_IDLE = 10.0
#: The longest pause before a daemon is asked that another one names, in seconds.
_LONGEST_MOVE = 0.5
#: Of how many navs a client knows the daemons.
_MOST_ROUTES = 4096
#: How often a nav is asked for elsewhere while its daemon does not accept the client.
_MOST_DETOURS = 8


class Place(enum.Enum):
    """The state of the connection to a daemon."""

    IDLE = enum.auto()
    OPENING = enum.auto()
    OPEN = enum.auto()
    LOST = enum.auto()


@dataclass(slots=True, eq=False)
class Member:
    """A daemon, its session and the state of its connection."""

    address: Address
    session: Session
    place: Place = Place.IDLE
    open_at: float = inf
    #: The end of the pause after a loss.
    not_before: float = 0.0
    #: When to end the session, which no nav needs.
    idle_at: float = inf


@dataclass(slots=True)
class Route:
    """The daemon of a nav that the base does not have."""

    address: Address
    #: How often a daemon named another one since the last answer.
    moves: int = 0


class Routes:
    """The daemons, and the moves of navs between them; `Cluster` has the rest."""

    def __init__(self, seeds: Sequence[Address], options: Options, has_key: bool) -> None:
        self._options = options
        self._has_key = has_key
        self._ids = Ids()
        self._actions: list[Action] = []
        #: The addresses of the configuration, which are asked first.
        self._seeds = {address.endpoint: address for address in seeds}
        #: The daemon for the navs that have no route.
        self._base = seeds[0]
        self._members: dict[str, Member] = {}
        #: The endpoints of daemons that do not accept the client, with the errors.
        self._refusals: dict[str, NavigationError] = {}
        self._routes: dict[str | None, Route] = {}
        #: The nav of each request without an answer.
        self._navs: dict[int, str | None] = {}
        self._has_welcomed = False
        self._status: Status = "connecting"
        self._now = 0.0
        self._is_over = False

    # Which session has which nav.

    def _address(self, nav: str | None) -> Address:
        route = self._routes.get(nav)
        return route.address if route else self._base

    def _route(self, nav: str | None) -> Route:
        known = self._routes.get(nav)
        if known:
            return known
        if len(self._routes) >= _MOST_ROUTES:
            used = {nav for member in self._members.values() for nav in member.session.navs}
            self._routes = {nav: route for nav, route in self._routes.items() if nav in used}
        route = self._routes[nav] = Route(self._base)
        return route

    def _move(self, nav: str | None, source: Member, target: Member, start: float) -> None:
        """Move everything about a nav from one session to another."""
        target.session.adopt(nav, source.session.hand_over(nav), self._now, start)
        self._need(target)

    def _follow(self, member: Member, moved: Moved) -> None:
        """Handle `moved`, also as the end of a watch, and that a nav has no owner."""
        nav, address, route = moved.nav, moved.address, self._route(moved.nav)
        if address is None:
            if not member.session.is_delayed(nav):
                route.moves = 0
                # Not longer each time: the daemon says when to ask. A random part spreads clients.
                wait = moved.after + self._options.random.random() * (moved.after / 4 + 0.01)
                member.session.delay(nav, self._now + wait)
            return
        obstacle = self._obstacle(address)
        if obstacle:
            self._detour(member, nav, route, obstacle)
            return
        # At once to the first and the second one. From then on they may send the nav in a circle,
        # or name a daemon that was lost until its lease ends.
        route.moves += 1
        bound = 0.1 * 2 ** min(route.moves - 2, 16) if route.moves > 2 else 0.0
        wait = min(_LONGEST_MOVE, bound) * self._options.random.random()
        route.address = address
        target = self._member(address)
        if target is not member:
            self._move(nav, member, target, self._now + wait)
            return
        # The daemon names itself: the address leads to another one by now.
        member.session.delay(nav, self._now + wait)
        if route.moves > 1:
            member.session.lost(self._now, wait)

    def _detour(
        self, member: Member, nav: str, route: Route, obstacle: NavigationError
    ) -> None:
        """Ask an open daemon about a nav at an address that does not accept the client.

        That daemon may be open at another address.
        """
        others = [each for each in self._members.values()
                  if each is not member and each.place is Place.OPEN]
        route.moves += 1
        if not others or route.moves > _MOST_DETOURS:
            del self._routes[nav]
            member.session.abandon(nav, obstacle)
            return
        other = others[route.moves % len(others)]
        route.address = other.address
        self._move(nav, member, other, self._now + self._options.pause(route.moves))

    def _obstacle(self, address: Address) -> NavigationError | None:
        """Return the reason why the client cannot connect to a daemon."""
        if address.endpoint in self._refusals:
            return self._refusals[address.endpoint]
        if address.endpoint.startswith("tcp:") and not self._has_key:
            return NavigationError(
                "moved", f"the nav is at {address.endpoint}, which needs a key of this client:"
                " pass key_file, or set NAVD_KEY", {"endpoint": address.endpoint, "retry": "same"})
        return None

    # Members.

    def _candidates(self) -> list[Address]:
        """The addresses that can be asked: those of the configuration first."""
        named = {each.address.endpoint: each.address for each in self._members.values()}
        return [address for endpoint, address in {**self._seeds, **named}.items()
                if endpoint not in self._refusals]

    def _member(self, address: Address) -> Member:
        member = self._members.get(address.endpoint)
        if member is None:
            session = Session(self._options, self._ids)
            session.is_divided = bool(self._members)
            member = self._members[address.endpoint] = Member(address, session)
        return member

    def _is_needed(self, member: Member) -> bool:
        return member.address.endpoint == self._base.endpoint or not member.session.is_idle

    def _need(self, member: Member) -> None:
        """Connect to a daemon, or plan to."""
        member.idle_at = inf
        if member.place in (Place.OPENING, Place.OPEN):
            return
        # A daemon that was lost is left to the timer, so that no failure causes the next one.
        if member.place is Place.IDLE:
            self._open(member)
        else:
            member.open_at = member.not_before

    def _open(self, member: Member) -> None:
        if member.place in (Place.OPENING, Place.OPEN):
            return
        member.open_at, member.place = inf, Place.OPENING
        self._actions.append(Open(member.address))

    def _note_idle(self) -> None:
        for member in self._members.values():
            if self._is_needed(member):
                member.idle_at = inf
            elif member.idle_at == inf:
                member.idle_at = self._now + _IDLE

    def _retire(self, member: Member) -> None:
        """End a session that no nav needs."""
        member.session.leave()
        # At once, before another session gives it a nav.
        for action in member.session.take():
            if isinstance(action, Send):
                self._actions.append(replace(action, endpoint=member.address.endpoint))
        self._remove(member)

    def _remove(self, member: Member) -> None:
        if self._members.get(member.address.endpoint) is member:
            del self._members[member.address.endpoint]
            self._actions.append(Drop(member.address.endpoint))

    def _lose(self, member: Member, loss: Reconnect) -> None:
        """Handle the loss of a session, which the client opens again."""
        has_failed, at = member.place is not Place.OPEN, loss.at
        # Until the lease of its daemon ends, the others name it. So while they answer, no pause
        # may delay the answer of the one that takes over.
        others = [each for each in self._members.values() if each is not member]
        if any(each.place is Place.OPEN for each in others):
            at = min(at, self._now + max(loss.least, _LONGEST_MOVE))
        member.place, member.not_before, member.open_at = Place.LOST, at, inf
        self._actions.append(Drop(member.address.endpoint))
        # After a loss, it is asked again itself, unless it wants to be left alone for some time.
        if has_failed or at - self._now > 0.1:
            self._ask_others(member)
        if self._is_needed(member):
            self._need(member)
        self._report()

    def _ask_others(self, member: Member) -> None:
        """Ask another daemon about the navs of one that cannot be reached."""
        candidates = self._candidates()
        endpoints = [each.endpoint for each in candidates]
        own = member.address.endpoint
        index = endpoints.index(own) + 1 if own in endpoints else 0
        others = [each for each in candidates[index:] + candidates[:index] if each.endpoint != own]
        if not others:
            return
        places = {endpoint: each.place for endpoint, each in self._members.items()}
        is_open = [each for each in candidates if each.endpoint != own
                   and places.get(each.endpoint) is Place.OPEN]
        not_lost = [each for each in others if places.get(each.endpoint) is not Place.LOST]
        address = (is_open or not_lost or others)[0]
        if self._base.endpoint == own:
            self._base = address
        self._move_all(member, self._member(address))
        self._need(self._member(self._base))

    def _move_all(self, member: Member, target: Member) -> None:
        for nav in member.session.navs:
            route = self._routes.get(nav)
            if route:
                route.address = target.address
            self._move(nav, member, target, self._now)

    def _join_older(self, member: Member) -> None:
        """Join older sessions with the same run of a daemon, which it has ended, to a new one."""
        for other in list(self._members.values()):
            is_same = other.session.boot is not None and other.session.boot == member.session.boot
            if other is not member and other.place is Place.OPEN and is_same:
                self._join(other, member)

    def _join(self, member: Member, target: Member) -> None:
        """Move everything from a session that a newer one of this client has ended."""
        if self._base.endpoint == member.address.endpoint:
            self._base = target.address
        self._move_all(member, target)
        for action in member.session.take():
            self._pass(action)
        self._remove(member)
        self._report()

    def _exclude(self, member: Member, error: NavigationError) -> None:
        """Give up a daemon that refuses the client; the last one ends the client."""
        endpoint = member.address.endpoint
        self._refusals[endpoint] = error
        if not self._candidates():
            self._is_over = True
            self._actions.append(Closed(error))
            return
        # A daemon that knows the client by another address may send its navs back, in a circle.
        for nav in member.session.navs:
            if nav is not None:
                self._route(nav).moves += 1
        member.place = Place.LOST
        self._ask_others(member)
        for action in member.session.take():
            self._pass(action)
        self._remove(member)
        self._report()

    def _pass(self, action: Action) -> None:
        """Pass an action about a nav on; it shows that the nav has an owner again."""
        if isinstance(action, (Send, Reconnect, Closed, Moved)):
            return
        if isinstance(action, Answered):
            nav = self._navs.pop(action.id, None)
        elif isinstance(action, (Shown, DutyChanged)):
            nav = action.nav
        else:
            nav = None
        route = self._routes.get(nav)
        is_event = isinstance(action, Shown) and action.is_event
        if route and not is_event:
            route.moves = 0
        self._actions.append(action)

    def _report(self) -> None:
        raise NotImplementedError
