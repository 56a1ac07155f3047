"""The members of the daemon's messages that this client relies on.

A message without them cannot be read, and costs its session. Everything else that a message has is
left alone: later versions of the protocol only add names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..wire import Body
from .digest import PARTS

__all__ = ["Unreadable", "check"]


class Unreadable(ValueError):
    """A message of the daemon lacks a member, or has one of another type."""


def check(verb: str, body: Body) -> None:
    """Raise Unreadable unless the body has the members of its verb, with their types."""
    reader = _READERS.get(verb)
    if reader:
        reader(body)


def _member(body: Body, name: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
    value = body.get(name)
    if value is None and default is not ...:
        return default
    # To Python, true is an integer.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Unreadable(f"{name} is {value!r:.60}")
    return value


def _objects(body: Body, name: str) -> list[Body]:
    values: list[Body] = _member(body, name, list)
    if not all(isinstance(each, dict) for each in values):
        raise Unreadable(f"{name} is no list of objects")
    return values


def _record(record: Any, *, has_id: bool = True) -> None:
    if not isinstance(record, dict):
        raise Unreadable("a record is no object")
    _member(record, "ver", int)
    if has_id:
        _member(record, "id", str)


def _answer(body: Body) -> None:
    _member(body, "id", int, None)
    _member(body, "nav", str, None)
    _member(body, "after", (int, float), None)
    _member(body, "epoch", str, None)
    _member(body, "rev", int, None)


def _err(body: Body) -> None:
    _answer(body)
    for name in ("code", "msg", "reason", "retry", "endpoint", "key"):
        _member(body, name, str, None)
    since = _member(body, "since", dict, None)
    if since is not None:
        _member(since, "by", dict, None)


def _queued(body: Body) -> None:
    _member(body, "id", int)
    _member(body, "pos", int, 0)


def _welcome(body: Body) -> None:
    limits = _member(body, "limits", dict, {})
    for name in ("message", "inflight", "window"):
        _member(limits, name, int, 1)
    ops = _member(body, "ops", dict, {})
    _member(ops, "last", int, 0)
    _rows(ops)
    _member(body, "hb", (int, float), 0)
    _member(_member(body, "you", dict, {}), "principal", str, None)
    _member(body, "features", list, [])


def _snap(body: Body) -> None:
    for name in ("nav", "epoch", "kind"):
        _member(body, name, str)
    for name in ("rev", "i"):
        _member(body, name, int)
    for screen in _objects(body, "screens"):
        _record(screen)
    if _member(body, "last", bool):
        _member(body, "dig", str)
        _member(body, "resolved", dict, None)
    for name in PARTS:
        if name in body:
            _record(body[name], has_id=False)
    _chain(body.get("presented"))


def _diff(body: Body) -> None:
    for name in ("nav", "epoch", "dig"):
        _member(body, name, str)
    for name in ("base", "rev"):
        _member(body, name, int)
    _member(body, "resolved", dict, None)
    _objects({"ev": body.get("ev", [])}, "ev")
    for change in _objects(body, "ch"):
        kind = change.get("set")
        if kind is None:
            if _member(change, "at", int) < 0:
                raise Unreadable("at is negative")
            _member(change, "del", list)
            for screen in _objects(change, "ins"):
                _record(screen)
        else:
            _record(change.get("to"), has_id=kind == "screen")
            if kind == "presented":
                _chain(change["to"])


def _chain(part: Any) -> None:
    if isinstance(part, dict) and "chain" in part:
        for entry in _objects(part, "chain"):
            _record(entry.get("screen"))


def _diffs(body: Body) -> None:
    nav = _member(body, "nav", str)
    for diff in _objects(body, "list"):
        diff.setdefault("nav", nav)
        _diff(diff)


def _rows(body: Body) -> None:
    for entry in _member(body, "seq", list, []):
        if not (isinstance(entry, list) and [type(each) for each in entry] == [int, int]):
            raise Unreadable("an entry of seq is no pair of numbers")


def _mark(body: Body) -> None:
    _rows(body)
    for entry in _member(body, "at", list):
        is_entry = isinstance(entry, list) and [type(each) for each in entry[:3]] == [str, int, str]
        if not is_entry:
            raise Unreadable("an entry of at is no position")


def _event(body: Body) -> None:
    _member(body, "nav", str)
    _objects(body, "ev")


def _latest(body: Body) -> None:
    for name in ("nav", "view", "epoch"):
        _member(body, name, str)
    _member(body, "rev", int)


def _ask(body: Body) -> None:
    _member(body, "ask", int)
    _member(body, "nav", str)
    _member(body, "within", (int, float))
    question = _member(body, "q", dict)
    if len(question) != 1 or not all(isinstance(each, dict) for each in question.values()):
        raise Unreadable("q is no question")


def _end(body: Body) -> None:
    _member(body, "nav", str)
    for name in ("view", "why", "endpoint", "key"):
        _member(body, name, str, None)


def _lost(body: Body) -> None:
    for name in ("nav", "of", "code"):
        _member(body, name, str)


def _settled(body: Body) -> None:
    _member(body, "ask", int)


def _bye(body: Body) -> None:
    _member(body, "why", str, None)
    _member(body, "after", (int, float), None)


_READERS: dict[str, Callable[[Body], None]] = {
    "welcome": _welcome, "ok": _answer, "err": _err, "queued": _queued, "pong": _answer,
    "snap": _snap, "diff": _diff, "diffs": _diffs, "mark": _mark, "event": _event,
    "latest": _latest, "ask": _ask, "end": _end, "lost": _lost,
    "settled": _settled, "bye": _bye,
}
