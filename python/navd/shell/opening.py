"""How a client is made: the arguments of both interfaces."""

from __future__ import annotations

import os

from ..arguments import check_count, check_text, check_time
from ..core import Options
from ..keys import read_keys
from ..places import endpoints_in, find_endpoint
from .engine import Engine, Settings

__all__ = ["open_engine"]

_WINDOWS = 16384, 1048576
_HEARTBEATS = 1.0, 60.0


def open_engine(
    endpoint: str | None, name: str, server_key: str | None, key_file: str | None, window: int,
    heartbeat: float,
) -> Engine:
    """Make a client that connects in the background; raises an error for a wrong argument."""
    if not isinstance(name, str):
        raise TypeError(f"name is a text, not {type(name).__name__}")
    if name:
        check_text(name, "name", most=128)
    check_count(window, "window", *_WINDOWS)
    seconds = check_time(heartbeat, "heartbeat")
    if seconds is None or not _HEARTBEATS[0] <= seconds <= _HEARTBEATS[1]:
        raise ValueError(f"heartbeat is {heartbeat}: write 1 to 60 seconds")
    for value, what in ((server_key, "server_key"), (key_file, "key_file")):
        if value is not None:
            check_text(value, what)
    place = find_endpoint(os.environ, os.geteuid()) if endpoint is None else endpoint
    endpoints = endpoints_in(place)
    server, keys = read_keys(endpoints, server_key, key_file, os.environ)
    options = Options(os.urandom(16).hex(), name, window, seconds)
    return Engine(Settings(endpoints, server, keys, options))
