"""A pipe by which any thread interrupts the wait of another one."""

from __future__ import annotations

import contextlib
import os
import threading

__all__ = ["Waker"]


class Waker:
    """A pipe: each octet in it wakes its reader.

    Finalizers call `wake`, and the garbage collector runs them anywhere: so the lock may be taken
    again by the thread that has it.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._is_open = True

    def fileno(self) -> int:
        """Return the descriptor that becomes readable."""
        return self._reading

    def wake(self) -> None:
        """Wake the reader; a full pipe wakes it as well."""
        # Nobody may write to a descriptor that was closed: another file may have its number.
        with self._lock, contextlib.suppress(BlockingIOError):
            if self._is_open:
                os.write(self._writing, b"!")

    def drain(self) -> None:
        """Forget the octets."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._reading, 4096)

    def close(self) -> None:
        """Close the pipe; only the reader calls it."""
        with self._lock:
            self._is_open = False
            os.close(self._reading)
            os.close(self._writing)
