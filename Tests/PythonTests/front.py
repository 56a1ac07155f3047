"""A socket in front of a daemon, which loses what passes it."""
import os
import socket
import threading

from setting import Directory


class Front:
    """Passes octets on. From the first op on, it loses those of one direction: `up` to the daemon, or `down` from it."""

    def __init__(self, daemon):
        self.directory = Directory()
        self.endpoint = f"ipc://{self.directory / 'op'}"
        self.target = daemon.endpoint.removeprefix("ipc://")
        #: The direction that it will lose, and whether it does.
        self.loses, self.is_losing = None, False
        self.pairs, self.listener = [], None
        self.open()

    def open(self):
        """Takes connections, from now on."""
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.directory / "op")
        self.listener.listen(8)
        threading.Thread(target=self.serve, args=[self.listener], daemon=True).start()

    def cut(self):
        """Ends all connections, and takes no others."""
        self.listener.shutdown(socket.SHUT_RDWR)
        os.unlink(self.directory / "op")
        for pair in self.pairs:
            end(pair)
        self.pairs, self.loses, self.is_losing = [], None, False

    def close(self):
        self.cut()
        self.directory.remove()

    def serve(self, listener):
        with listener:
            while True:
                try:
                    near = listener.accept()[0]
                except OSError:
                    return
                threading.Thread(target=self.pass_on, args=[near], daemon=True).start()

    def pass_on(self, near):
        with near, socket.socket(socket.AF_UNIX) as far:
            far.connect(self.target)
            self.pairs.append((near, far))
            down = threading.Thread(target=self.copy, args=["down", far, near], daemon=True)
            down.start()
            self.copy("up", near, far)
            down.join()

    def copy(self, way, source, drain):
        try:
            while octets := source.recv(65536):
                if way == "up" and self.loses and b"nsp1.op" in octets:
                    self.is_losing = True
                if not (self.is_losing and way == self.loses):
                    drain.sendall(octets)
        except OSError:
            pass
        end((source, drain))


def end(pair):
    for each in pair:
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
