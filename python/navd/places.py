"""Where navd is: the rules of docs/protocol.md, §2, for the address of the daemon."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import NavigationError

__all__ = ["Denial", "endpoints_in", "find_denial", "find_endpoint"]

_SOCKET = "navd.sock"
_LONGEST_PATH = 107
_SYSTEM = "/run/navd"
_HIDDEN = "hidden from this user"


@dataclass(frozen=True, slots=True)
class Denial:
    """The reason why the permissions of files keep this user from connecting."""

    #: The reason, and the next command.
    text: str
    #: Whether waiting cannot help: until a daemon serves, its socket is open to its own user alone.
    is_settled: bool


def find_denial(endpoint: str) -> Denial | None:
    """Return why the permissions of files keep this user from a local socket; None if they do not."""
    socket = endpoint.removeprefix("ipc://")
    if socket == endpoint or not _is_denied(socket, os.W_OK):
        return None
    directories = [socket[:at + 1] for at, letter in enumerate(socket) if letter == "/"]
    closed = next((each for each in directories if _is_denied(each, os.X_OK)), None)
    try:
        status = os.stat(closed or socket)
    except OSError:
        return None
    user = _name(pwd.getpwuid, os.geteuid())
    if status.st_mode & (stat.S_IXGRP if closed else stat.S_IWGRP):
        group = _name(grp.getgrgid, status.st_gid)
        whose, remedy = f"group {group}", f"As root: usermod -aG {group} {user}; then log in again"
    else:
        owner = _name(pwd.getpwuid, status.st_uid)
        whose, remedy = (f"user {owner} only", "Set socket-group in navd.conf(5), or run this program"
                         f" as user {owner}")
    text = f"user {user} has no permission to connect: {closed or socket} is open to {whose}. {remedy}"
    return Denial(text, closed is not None or whose.startswith("group "))


def _is_denied(path: str, mode: int) -> bool:
    # access(2) knows no other errors for a path that exists; EACCES of one that is hidden comes first.
    try:
        os.stat(path)
    except PermissionError:
        return True
    except OSError:
        return False
    return not os.access(path, mode, effective_ids=True)


def _name(find: Callable[[int], tuple[Any, ...]], number: int) -> str:
    try:
        return str(find(number)[0])
    except KeyError:
        return str(number)


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
        # The connection reports that this user may not search the directory of the system.
        if obstacle is None or (obstacle == _HIDDEN and directory == _SYSTEM):
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
              (None if user == 0 else f"/tmp/navd-{user}", True), (_SYSTEM, False)]
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
        return {FileNotFoundError: "not there", PermissionError: _HIDDEN}.get(
            type(error), str(error.strerror))
    is_private = (stat.S_ISDIR(parent.st_mode) and parent.st_uid == user
                  and stat.S_IMODE(parent.st_mode) & 0o077 == 0)
    return None if is_private else "another user owns its directory, or can use it"
