"""The keys of a client over tcp (docs/security.md): files as `navctl key` writes them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import zmq

from .errors import NavigationError

__all__ = ["KeyPair", "read_keys", "read_public_key", "read_secret_key"]

_KEY = re.compile(r"[0-9A-Za-z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")
_MOST_OCTETS = 4096


@dataclass(frozen=True)
class KeyPair:
    """The key of a client; its secret is not shown."""

    public: bytes
    secret: bytes = field(repr=False)


def read_keys(
    endpoints: Sequence[str], server_key: str | None, key_file: str | None,
    environment: Mapping[str, str],
) -> tuple[str | None, KeyPair | None]:
    """Return the public key of the daemon, and the key of this client.

    Over ipc the kernel identifies the client, so that both may be missing. A key in NAVD_KEY is
    read then too, if it can be: a nav may move to a daemon over tcp.
    """
    server, own = server_key or environment.get("NAVD_SERVER_KEY"), key_file or environment.get(
        "NAVD_KEY")
    remote = [endpoint for endpoint in endpoints if endpoint.startswith("tcp:")]
    if not remote:
        try:
            return (server and read_public_key(server)), (read_secret_key(own) if own else None)
        except NavigationError:
            if server_key or key_file:
                raise
            return None, None
    if not server:
        raise NavigationError(
            "unreachable", f"{remote[0]} needs the public key of the daemon: pass server_key, or"
            " set NAVD_SERVER_KEY; navctl key public FILE prints it on the daemon's machine")
    if not own:
        raise NavigationError(
            "unreachable", f"{remote[0]} needs a secret key of this client: pass key_file, or set"
            " NAVD_KEY; navctl key new FILE creates one")
    return read_public_key(server), read_secret_key(own)


def read_public_key(text: str) -> str:
    """Read a public key: its 40 characters, or the path of a file that has it.

    Of a text with the form of both, only a path that begins with / or ./ is read, if the file is
    there: a file in the working directory must not replace the key that somebody typed.
    """
    is_path = text.startswith(("/", "./")) and os.path.exists(text)
    if _KEY.fullmatch(text) and not is_path:
        return text
    try:
        lines = _read(text).splitlines()
    except OSError as error:
        raise NavigationError(
            "unreachable", f"{text!r} is neither 40 characters of a public key nor a file:"
            f" {error.strerror}") from None
    words = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    if len(words) != 1 or not _KEY.fullmatch(words[0][0]):
        raise NavigationError(
            "unreachable", f"{text} has no public key: expected one line that begins with 40"
            " characters, as navctl key public prints")
    return words[0][0]


def read_secret_key(path: str) -> KeyPair:
    """Read the file of a secret key, which only its owner may read."""
    try:
        status = os.stat(path)
        text = "".join(_read(path).split())
    except OSError as error:
        raise NavigationError(
            "unreachable", f"the key file {path} cannot be read: {error.strerror}") from None
    # The service manager gives credentials to the group of root.
    if stat.S_IMODE(status.st_mode) & (0o037 if status.st_gid == 0 else 0o077):
        raise NavigationError(
            "unreachable", f"other users can read this secret key: chmod 0600 {path}, or create"
            " another")
    if not _KEY.fullmatch(text):
        raise NavigationError(
            "unreachable", f"{path} is not a secret key: expected 40 characters, as navctl key new"
            " writes")
    secret = text.encode()
    return KeyPair(zmq.curve_public(secret), secret)


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(_MOST_OCTETS).decode(errors="replace")
