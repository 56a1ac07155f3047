"""A proxy in front of navd that counts the verbs on the wire. It copies octets, so connections end as without it."""
import collections
import contextlib
import os
import socket
import threading

GREETING = 64


class Wire:
    """Listens at a socket of its own, and passes each connection on to the socket of a daemon."""

    def __init__(self, daemon):
        self.target = daemon.endpoint.removeprefix("ipc://")
        self.path = daemon.directory / "wire"
        self.endpoint = f"ipc://{self.path}"
        self.verbs, self.lock, self.sockets = collections.Counter(), threading.Lock(), []
        self.bodies = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.socket(socket.AF_UNIX)
                try:
                    far.connect(self.target)
                except OSError:
                    near.close()
                    continue
                self.sockets += [near, far]
                for source, target, note in ((near, far, self._frame), (far, near, None)):
                    threading.Thread(target=self._copy, args=(source, target, note), daemon=True).start()

    def _copy(self, source, target, note):
        data, skip, verb = b"", GREETING, None
        with contextlib.suppress(OSError):
            while chunk := source.recv(65536):
                if note:
                    data += chunk
                    if skip:
                        cut = min(skip, len(data))
                        data, skip = data[cut:], skip - cut
                    data, verb = self._frames(data, verb, note)
                target.sendall(chunk)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _frames(data, verb, note):
        """Notes the frames of ZMTP that are complete; returns what is left of the octets."""
        while len(data) >= 2:
            flags, size, begin = data[0], data[1], 2
            if flags & 2:
                if len(data) < 9:
                    break
                size, begin = int.from_bytes(data[1:9], "big"), 9
            if len(data) < begin + size:
                break
            frame, data = data[begin:begin + size], data[begin + size:]
            if not flags & 4:
                verb = note(frame, verb)
        return data, verb

    def _frame(self, frame, verb):
        if verb is None and frame.startswith(b"nsp1."):
            return frame[5:].decode()
        if verb is not None:
            with self.lock:
                self.verbs[verb] += 1
                if verb == "get":
                    self.bodies.append(frame)
        return None

    def seen(self):
        with self.lock:
            return dict(self.verbs), list(self.bodies)

    def close(self):
        self.listener.close()
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
