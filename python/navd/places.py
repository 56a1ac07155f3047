"""Where navd is: the rules of docs/protocol.md, §2, for the address of the daemon."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping

from .errors import NavigationError

__all__ = ["endpoints_in", "find_endpoint"]

_SOCKET = "navd.sock"
_LONGEST_PATH = 107


def endpoints_in(text: object) -> list[str]:
    """Return the addresses of an endpoint, which are separated by commas.

    Raises TypeError or ValueError for what is no address.
    """
    if not isinstance(text, str):
        raise TypeError("endpoint is a text such as 'ipc:///run/navd/navd.sock', not"
                        f" {type(text).__name__}")
    endpoints = list(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if not endpoints:
        raise ValueError("endpoint is empty: write an address such as 'ipc:///run/navd/navd.sock'"
                         " or 'tcp://192.0.2.11:7117'")
    for endpoint in endpoints:
        scheme, _, rest = endpoint.partition("://")
        host, _, port = rest.rpartition(":")
        is_network = scheme == "tcp" and host and port.isdecimal() and 1 <= int(port) <= 65535
        if not (is_network or (scheme == "ipc" and rest)):
            raise ValueError(f"{endpoint!r} is no address: write ipc://PATH or tcp://HOST:PORT,"
                             " several separated by commas")
        if scheme == "ipc" and len(rest.encode()) > _LONGEST_PATH:
            raise ValueError(f"{endpoint!r} is too long: the path of a socket has at most"
                             f" {_LONGEST_PATH} octets")
    return endpoints


def find_endpoint(environment: Mapping[str, str], user: int) -> str:
    """Return the address in NAVD_ENDPOINT, or that of the first socket of navd that exists."""
    named = environment.get("NAVD_ENDPOINT")
    if named:
        return named
    tried = []
    for directory, is_shared in _directories(environment, user):
        path = os.path.join(directory, _SOCKET)
        obstacle = _obstacle(path, directory if is_shared else None, user)
        if obstacle is None:
            return f"ipc://{path}"
        tried.append(f"{path} ({obstacle})")
    raise NavigationError(
        "unreachable", f"there is no socket of navd: {', '.join(tried)}. Start navd, or name its"
        " address by endpoint or NAVD_ENDPOINT")


def _directories(environment: Mapping[str, str], user: int) -> Iterator[tuple[str, bool]]:
    """The directories to look into; true for one that any user could have made."""
    seen = set()
    runtime, session = environment.get("RUNTIME_DIRECTORY"), environment.get("XDG_RUNTIME_DIR")
    places = [(runtime, False), (session and os.path.join(session, "navd"), False),
              (None if user == 0 else f"/tmp/navd-{user}", True), ("/run/navd", False)]
    for path, is_shared in places:
        if path and path.startswith("/") and path not in seen:
            seen.add(path)
            yield path, is_shared


def _obstacle(path: str, shared: str | None, user: int) -> str | None:
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            return "not a socket"
        if shared is None:
            return None
        parent = os.lstat(shared)
    except OSError as error:
        return "not there" if isinstance(error, FileNotFoundError) else str(error.strerror)
    is_private = (stat.S_ISDIR(parent.st_mode) and parent.st_uid == user
                  and stat.S_IMODE(parent.st_mode) & 0o077 == 0)
    return None if is_private else "another user owns its directory, or can use it"
