"""What a session does with each message of the daemon."""

from __future__ import annotations

from typing import cast

from ..errors import NavigationError
from ..state import Latest, View
from ..wire import Body
from .actions import (
    Address, Answered, Asked, DutyChanged, Moved, Opened, Reconnect, Shown, WatchEnded)
from .session_state import Phase, SessionState
from .wishes import Duty, OpenAsk, Watch, Wish, duty_key, watch_key

__all__ = ["SessionAnswers", "address_of", "is_elsewhere"]

_USUAL_OCTETS = 65536
#: The feature of a daemon that has only some of the navs.
_DIVISION = "shards"


class SessionAnswers(SessionState):
    """Handles answers, and the messages that answer no request."""

    def lost(self, now: float, least: float = 0.0) -> None:
        """Handle the loss of the connection, or a failed attempt to make one."""
        if self.phase is Phase.CLOSED:
            return
        self._forget_session()
        at = now + max(least, self._options.pause(self._attempts))
        self._attempts += 1
        self._actions.append(Reconnect(at, least))

    def _receive_greeting(self, verb: str, body: Body, now: float) -> None:
        if verb == "welcome" and body.get("nonce") == self._nonce:
            self._open(body, now)
        # The error to a `hello` that the daemon cannot read has no nonce.
        elif verb == "err" and (body.get("nonce") or self._nonce) == self._nonce:
            if _is_postponed(body):
                self.lost(now, _after(body))
            else:
                self._close(NavigationError.of(body))

    def _open(self, welcome: Body, now: float) -> None:
        limits, ops = welcome.get("limits") or {}, welcome.get("ops") or {}
        self.phase, self._attempts = Phase.OPEN, 0
        self._hb = max(welcome.get("hb") or 0, 1) / 1000
        # Never more than it asked for; the daemon may grant less.
        self._window = min(self._options.window, limits.get("window", self._options.window))
        self._used, self._upto = 0, self._window
        self._most_octets = limits.get("message", _USUAL_OCTETS)
        self._most_flights = limits.get("inflight", 64)
        self._ids.next = max(self._ids.next, ops.get("last", 0) + 1)
        self.principal = (welcome.get("you") or {}).get("principal")
        self.boot = welcome.get("boot")
        self.is_divided = self.is_divided or _DIVISION in welcome.get("features", [])
        self._actions.append(Opened(welcome))
        self._ids.seen.begin(ops.get("seq", []), _DIVISION in welcome.get("features", []))
        self._drop_flights(self.flights.values(), now)
        # Watches first, so that the diff of an op comes before its answer. Then roles and leases,
        # without which an op may not be permitted.
        for wish in list(self._wishes()):
            self._send_wish(wish)
        self._send_waiting()

    # Answers.

    def _receive_ok(self, body: Body, now: float) -> None:
        id = body.get("id")
        if id is None:
            return
        self._is_from_before(id)
        self._ids.seen.note(body)
        stray = self._stray.pop(id, None)
        if stray and stray not in self._duties:
            # The nav was here again for a moment, and what it was for has ended or is elsewhere.
            self._resign(*stray)
        key = self._asked.pop(id, None)
        watch, duty = self._watches.get(key or ("", "")), self._duties.get(key or ("", ""))
        if watch:
            watch.note(body)
            if watch.mirror:
                self._replicate(watch.nav, "ok", body, now)
            self._confirm(watch.nav)
        elif duty:
            duty.is_held, duty.faults = True, 0
            duty.stop_forcing()
            self._actions.append(DutyChanged(duty.kind, duty.nav, "granted"))
            self._confirm(duty.nav)
        elif flight := self.flights.take(id):
            nav = flight.nav
            follower = self._watches.get(watch_key(nav or "", "full"))
            if follower:
                follower.note(body)
            self._actions.append(Answered(id, ok=body))
            self._confirm(nav)
            self._send_waiting()

    def _receive_err(self, body: Body, now: float) -> None:
        # The daemon does not know the session. A new connection asks for everything again.
        if body.get("code") == "no-session":
            self.lost(now)
            return
        id = body.get("id")
        if id is None:
            # It answers an `answer` or a `credit`, which have no id.
            if "verb" in body:
                return
            # It answers one of these, and the daemon could not read which.
            sent = [each.id for each in self.flights.values() if each.is_sent]
            for each in sorted([*self._asked, *sent]):
                self._receive_err({**body, "id": each, "effect": "unknown"}, now)
            return
        self._stray.pop(id, None)
        key = self._asked.pop(id, None)
        wish: Wish | None = self._watches.get(key or ("", ""))
        wish = wish or self._duties.get(key or ("", ""))
        is_late = self._is_from_before(id)
        if is_elsewhere(body):
            if not is_late:
                self._displace(wish, id, body)
        elif wish and _is_postponed(body):
            self._postpone(wish, now, _after(body))
        elif wish:
            self._refuse(wish, NavigationError.of(body))
        elif id in self.flights:
            self._fail_flight(id, body, now)

    def _fail_flight(self, id: int, body: Body, now: float) -> None:
        flight = self.flights[id]
        # The daemon looks at the load before it looks at what it remembers: it may have performed
        # the op in an earlier session.
        if body.get("code") == "busy" and flight.send_count > 1:
            flight.is_sent = False
            self.flights.postponed[id] = now + (_after(body) if "after" in body else 0.2)
            self._send_waiting()
            return
        self._fail(id, body)
        if body.get("retry") in ("no", "resync"):
            self._confirm(flight.nav)
        self._send_waiting()

    def _postpone(self, wish: Wish, now: float, least: float) -> None:
        if isinstance(wish, Watch) and wish.mirror:
            wish.mirror.disconnect()
        wish.retry_at = now + max(least, self._options.pause(wish.faults))
        wish.faults += 1

    def _refuse(self, wish: Wish, error: NavigationError) -> None:
        if isinstance(wish, Duty):
            self._end_duty(wish, error)
            return
        del self._watches[wish.key]
        # A nav that the watch has shown was closed meanwhile.
        is_closed = wish.has_shown and error.code == "no-nav"
        self._actions.append(WatchEnded(wish.nav, wish.view, error, is_closed))

    # Watches.

    def _replicate(self, nav: str, verb: str, body: Body, now: float) -> None:
        """Pass a message to the mirror of a full watch, and act as the mirror decides."""
        watch = self._watches.get(watch_key(nav, "full"))
        if watch is None or watch.mirror is None:
            return
        mirror = watch.mirror
        outcome = (
            mirror.mark(body["rev"], body["dig"]) if verb == "mark" else mirror.apply(verb, body))
        if outcome.state:
            # A snapshot is right by itself. Only a change shows that the mirror follows again.
            if outcome.kind == "applied":
                watch.faults = 0
            watch.has_shown = True
            self._actions.append(
                Shown(nav, "full", outcome.state, is_resumed=outcome.kind == "resumed"))
        elif outcome.kind == "diverged":
            watch.faults += 1
            # At once for the first fault. After repeated faults, the pauses grow.
            if watch.faults == 1:
                self._send_wish(watch)
            else:
                watch.retry_at = now + self._options.pause(watch.faults - 1)
        elif verb == "mark" and mirror.is_synced:
            watch.faults = 0

    def _receive_event(self, body: Body) -> None:
        watch = self._watches.get(watch_key(body["nav"], "full"))
        state = watch.mirror.with_events(body) if watch and watch.mirror else None
        if state:
            self._actions.append(Shown(state.nav, "full", state, is_event=True))

    def _receive_latest(self, body: Body) -> None:
        nav, view, value = body["nav"], body["view"], body.get("value")
        watch = self._watches.get(watch_key(nav, view))
        if watch is None or view not in ("bar", "top"):
            return
        watch.has_shown, watch.faults = True, 0
        record = value if isinstance(value, dict) else None
        watch.latest = Latest(nav, cast(View, view), body["epoch"], body["rev"], record)
        self._actions.append(Shown(nav, watch.view, watch.latest))

    def _receive_end(self, body: Body) -> None:
        nav, view, why = body["nav"], body.get("view", "full"), body.get("why", "closed")
        watch = self._watches.get(watch_key(nav, view))
        if why == "moved":
            self._receive_move(nav, watch, body)
            return
        if watch is None:
            return
        # It may end an earlier watch; then the answer to the present one is still to come.
        is_asked = watch.key in self._asked.values()
        if watch.mirror:
            watch.mirror.apply("end", body)
        if is_asked:
            return
        del self._watches[watch.key]
        error = None if why == "closed" else NavigationError(
            why, "the daemon ended the watch; watch again when the cause is removed", {"nav": nav})
        self._actions.append(WatchEnded(nav, watch.view, error, is_closed=why == "closed"))
        if watch.waits and why == "closed":
            watch.latest = watch.answered = None
            self._watches[watch.key] = watch
            self._send_wish(watch)

    # Duties and questions.

    def _receive_ask(self, body: Body, now: float) -> None:
        number, nav = body["ask"], body["nav"]
        if duty_key("delegate", nav) not in self._duties or number in self._asks:
            return
        # The `settled` may come a little after the deadline.
        self._asks[number] = OpenAsk(nav, now + body["within"] / 1000 + self._hb)
        self._actions.append(Asked(nav, body))

    def _receive_lost(self, body: Body) -> None:
        """End roles or a lease that the daemon has ended, within the session.

        If a request about them is under way, its answer decides.
        """
        duty = self._duties.get(duty_key(body.get("of", ""), body["nav"]))
        if duty is None or not duty.is_held:
            return
        duty.is_held = False
        if duty.key in self._asked.values():
            return
        self._end_duty(duty, NavigationError.of({"retry": "resync", **body}))

    def _receive_bye(self, body: Body, now: float) -> None:
        why = body.get("why", "")
        if why in ("fenced", "revoked"):
            self._close(NavigationError(
                "closed", f"navd ended the session: {_CAUSES[why]}", {"reason": why}))
        else:
            self.lost(now, _after(body))

    # Navs that another daemon has.

    def _displace(self, wish: Wish | None, id: int, body: Body) -> None:
        """Handle an error by which this daemon, or every daemon, does not have the nav."""
        flight = self.flights.get(id)
        nav = wish.nav if wish else flight.nav if flight else None
        if nav is None:
            return
        if isinstance(wish, Watch):
            wish.disconnect()
        if wish:
            wish.is_due = True
        if flight:
            flight.mark_unsent()
        self._move_away(nav, body)

    def _receive_move(self, nav: str, watch: Watch | None, body: Body) -> None:
        """Handle the end of a watch, of roles or of a lease when the nav moves away."""
        duties = [self._duties.get(duty_key(kind, nav)) for kind in ("delegate", "lease")]
        wishes = [watch, *(duty for duty in duties if duty and duty.is_held)]
        # It may end an earlier watch; then the answer to the present one says where the nav is.
        if not any(wish and wish.key not in self._asked.values() for wish in wishes):
            return
        if watch:
            watch.disconnect()
            watch.is_due = True
        self._move_away(nav, body)

    def _move_away(self, nav: str, body: Body) -> None:
        self.is_divided = True
        self._confirmed.discard(nav)
        for kind in ("delegate", "lease"):
            duty = self._duties.get(duty_key(kind, nav))
            if duty:
                self._interrupt(duty)
                duty.is_due = True
        self._actions.append(Moved(nav, address_of(body), _after(body)))

    def _is_from_before(self, id: int) -> bool:
        """Whether an answer is about what was sent before another session took the nav over."""
        count = self._departed.pop(id, 0)
        if count > 1:
            self._departed[id] = count - 1
        return count > 0


_CAUSES = {
    "fenced": "another connection uses its identity",
    "revoked": "its key or its rights were revoked",
}


def is_elsewhere(err: Body) -> bool:
    """Whether the daemon does not have the nav; with `no-owner` it knows of no owner."""
    code = err.get("code")
    return code == "moved" or (code == "busy" and err.get("reason") == "no-owner")


def address_of(body: Body) -> Address | None:
    """Return the address that the daemon names; None if it names none."""
    endpoint, key = body.get("endpoint"), body.get("key")
    if not isinstance(endpoint, str):
        return None
    return Address(endpoint, key if isinstance(key, str) else None)


def _is_postponed(err: Body) -> bool:
    return err.get("retry") in ("later", "same")


def _after(body: Body) -> float:
    after: float = body.get("after") or 0
    return after / 1000
