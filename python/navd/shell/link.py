"""One connection to one daemon: a DEALER socket and its monitor."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import zmq
from zmq.utils.monitor import recv_monitor_message

from ..core.actions import Address
from ..errors import NavigationError
from ..keys import KeyPair
from ..places import Denial, find_denial
from ..wire import Body, decode
from .forks import this_process

__all__ = ["Connected", "Link", "LinkEvent", "Lost", "Message", "Refused"]

_MOST_MESSAGES = 256
#: How long libzmq keeps a message such as `bye` for a connection that is closed, in milliseconds.
_LINGER = 500
_PREFIX = b"nsp1."
#: The status of a daemon that has reached a limit of connections.
_FULL = 500
_WANTED = (
    zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED
    | zmq.EVENT_CONNECT_RETRIED | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL)
_BROKEN = (zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL, zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL)


@dataclass(frozen=True, slots=True)
class Connected:
    """The handshake is over."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the daemon; `octets` is the length of its body."""

    verb: str
    body: Body
    octets: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The connection is lost, or the attempt to make one failed."""

    why: str
    #: Why the permissions of files keep this user from the socket.
    denial: Denial | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The daemon refuses the client; another attempt would not help."""

    error: NavigationError


LinkEvent: TypeAlias = Union[Connected, Message, Lost, Refused]

#: The one context of this library in each process. None ends: libzmq's CURVE code has one random
#: source, which the end of any context closes for all, and that of a parent has no threads here.
_contexts: dict[tuple[int, int], zmq.Context[zmq.Socket[bytes]]] = {}


def _shared_context() -> zmq.Context[zmq.Socket[bytes]]:
    process = this_process()
    if process not in _contexts:
        _contexts[process] = zmq.Context()
    return _contexts[process]


class Link:
    """A connection, until it is lost. Only the thread of the client uses it.

    libzmq does not reconnect: after a loss it would send what waits on a connection without a
    session.
    """

    def __init__(
        self, address: Address, server_key: str | None, keys: KeyPair | None, poller: zmq.Poller,
    ) -> None:
        """Begin to connect; raises zmq.ZMQError, such as EMFILE."""
        self.address = address
        self._poller = poller
        self._outbox: deque[tuple[bytes, bytes]] = deque()
        self._is_connected = False
        self._awaits_room = False
        self._socket: zmq.Socket[bytes] = _shared_context().socket(zmq.DEALER)
        try:
            self._configure(address.key or server_key, keys)
            self._monitor: zmq.Socket[bytes] = self._socket.get_monitor_socket(_WANTED)
            self._socket.connect(address.endpoint)
        except BaseException:
            self._socket.close(0)
            raise
        for each in (self._socket, self._monitor):
            poller.register(each, zmq.POLLIN)

    def _configure(self, server_key: str | None, keys: KeyPair | None) -> None:
        options: dict[int, Any] = {
            # Messages of one session must not reach the next one. With −1, as with ZMQ_IMMEDIATE, libzmq
            # (4.3.2 to 4.3.5) aborts a process that has read half of a message when a connection ends.
            zmq.RECONNECT_IVL: 86_400_000, zmq.LINGER: _LINGER, zmq.CONNECT_TIMEOUT: 3000}
        if self.address.endpoint.startswith("tcp:"):
            options |= {
                zmq.HEARTBEAT_IVL: 5000, zmq.HEARTBEAT_TIMEOUT: 15000, zmq.IPV6: 1,
            }
            if keys and server_key:
                options |= {
                    zmq.CURVE_SERVERKEY: server_key.encode(), zmq.CURVE_PUBLICKEY: keys.public,
                    zmq.CURVE_SECRETKEY: keys.secret}
        for option, value in options.items():
            self._socket.setsockopt(option, value)

    def send(self, verb: str, body: bytes) -> None:
        """Send a message, or keep it until libzmq takes it."""
        self._outbox.append((_PREFIX + verb.encode(), body))
        # It may be the loss of the connection, after which nothing is sent.
        if not self._monitor.poll(0):
            self._flush()

    def _flush(self) -> None:
        try:
            while self._outbox:
                self._socket.send_multipart(self._outbox[0], zmq.NOBLOCK)
                self._outbox.popleft()
        except zmq.Again:
            pass
        if self._awaits_room == bool(self._outbox):
            return
        self._awaits_room = bool(self._outbox)
        self._poller.register(
            self._socket, zmq.POLLIN | (zmq.POLLOUT if self._awaits_room else 0))

    def take_events(self) -> Iterator[LinkEvent]:
        """Yield what has happened; messages come before the loss of their connection."""
        for _ in range(_MOST_MESSAGES):
            try:
                frames = self._socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            yield _read(frames)
        else:
            return
        while self._monitor.poll(0):
            event = self._event(recv_monitor_message(self._monitor))
            if event:
                yield event
            if isinstance(event, Lost):
                return
        self._flush()

    def _event(self, event: Any) -> LinkEvent | None:
        kind, value, endpoint = event["event"], event["value"], self.address.endpoint
        if kind == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            self._is_connected = True
            return Connected()
        if kind == zmq.EVENT_HANDSHAKE_FAILED_AUTH and value != _FULL:
            return Refused(NavigationError(
                "forbidden", f"the daemon at {endpoint} does not accept this client: its key is not"
                " authorised, or nothing is granted to it; see navctl key authorize"))
        if kind == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            return Lost(f"the daemon at {endpoint} has too many connections")
        if kind in _BROKEN or (kind == zmq.EVENT_DISCONNECTED and not self._is_connected):
            hint = ("; check that server_key is the key of this daemon"
                    if endpoint.startswith("tcp:") else "")
            return Lost(f"the handshake with {endpoint} failed{hint}")
        if kind == zmq.EVENT_DISCONNECTED:
            return Lost(f"the connection to {endpoint} was lost")
        denial = find_denial(endpoint)
        return Lost(denial.text if denial else f"nothing listens at {endpoint}", denial)

    def close(self) -> None:
        """Close the connection, after the messages sent so far have left."""
        for each in (self._socket, self._monitor):
            self._poller.unregister(each)
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._socket.close()


def _read(frames: list[bytes]) -> LinkEvent:
    if len(frames) != 2 or not frames[0].startswith(_PREFIX):
        return Lost(f"the daemon sent a message of {len(frames)} frames that is none of NSP/1")
    try:
        verb, body = frames[0][len(_PREFIX):].decode(), decode(frames[1])
    except (ValueError, RecursionError) as error:
        return Lost(f"the daemon sent a message that cannot be read: {error}")
    return Message(verb, body, len(frames[1]))
