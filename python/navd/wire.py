"""JSON as NSP/1 wants it (docs/protocol.md, §2)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Union

__all__ = ["JSON", "Body", "copied", "decode", "encode"]

#: A value of JSON, as callers pass it; a tuple counts as a list.
JSON: TypeAlias = Union[
    None, bool, int, float, str, Sequence["JSON"], Mapping[str, "JSON"]
]
#: An object of JSON, as it arrives.
Body: TypeAlias = dict[str, Any]

#: The most arrays and objects inside each other.
DEPTH = 32


def encode(value: Mapping[str, JSON]) -> bytes:
    """Write a body.

    Raises TypeError or ValueError for a value that navd cannot read: navd could not name the
    request in its error.
    """
    text = json.dumps(
        _plain(value, "the message", 0), ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def decode(octets: bytes) -> Body:
    """Read a body; raises ValueError for anything but one object."""
    value = json.loads(octets.decode(), parse_constant=_refuse_constant)
    if not isinstance(value, dict):
        raise ValueError("the body is not an object")
    return value


def copied(value: Any) -> Any:
    """Return a value of JSON that shares nothing with this one."""
    if isinstance(value, dict):
        return {name: copied(member) for name, member in value.items()}
    if isinstance(value, list):
        return [copied(member) for member in value]
    return value


def _plain(value: object, where: str, depth: int) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _whole(value, where)
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where}: JSON has no {value}; give a finite number or None")
        return value
    if depth >= DEPTH:
        raise ValueError(f"{where}: objects and lists are nested more than {DEPTH} deep")
    if isinstance(value, Mapping):
        return {_key(key, where): _plain(member, f"{where}.{key}", depth + 1)
                for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(member, f"{where}[{index}]", depth + 1)
                for index, member in enumerate(value)]
    raise TypeError(f"{where}: JSON has no {type(value).__name__}; "
                    "give None, a bool, a number, a str, a list or a dict")


def _whole(value: int, where: str) -> int:
    try:
        float(value)
    except OverflowError:
        raise ValueError(
            f"{where}: navd has no number of 2^1024 or more; give a text") from None
    return value


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{where}: the keys of an object are texts, not {type(key).__name__}")
    return _text(key, where)


def _text(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{where}: the text has a lone surrogate, which UTF-8 cannot have") from None
    return text


def _refuse_constant(name: str) -> None:
    raise ValueError(f"JSON has no {name}")
