"""Libraries of ZeroMQ besides the one in our clients, by the table of docs/protocol.md (section 2).

A library that Debian does not have is tested where it is installed, and always by the octets that it sends.
"""
import ctypes
import ctypes.util
import importlib.util
import json
import os
import socket
import struct
import unittest

import zmq
from zmq.utils import z85

from setting import DEADLINE, eventually
from curve import CurveTest, navctl


class Curve:
    """CURVE by hand, as RFC 26 describes it, on a connection over tcp."""

    sodium = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")

    def __init__(self, endpoint, server, secret):
        self.server, self.secret = z85.decode(server.encode()), z85.decode(secret.encode())
        self.public = self.public_of(self.secret)
        self.short = os.urandom(32)
        self.nonce = 0
        host, port = endpoint[len("tcp://"):].split(":")
        self.socket = socket.create_connection((host, int(port)), DEADLINE)
        self.socket.settimeout(DEADLINE)
        self.socket.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"CURVE".ljust(20, b"\0") + bytes(32))
        self.read(64)
        self.shake_hands()

    def close(self):
        self.socket.close()

    def public_of(self, secret):
        public = ctypes.create_string_buffer(32)
        self.sodium.crypto_scalarmult_base(public, secret)
        return public.raw

    def seal(self, text, nonce, public, secret):
        box = ctypes.create_string_buffer(len(text) + 16)
        assert self.sodium.crypto_box_easy(box, text, ctypes.c_ulonglong(len(text)), nonce, public, secret) == 0
        return box.raw

    def unseal(self, box, nonce, public, secret):
        text = ctypes.create_string_buffer(len(box) - 16)
        assert self.sodium.crypto_box_open_easy(text, box, ctypes.c_ulonglong(len(box)), nonce, public, secret) == 0
        return text.raw

    def next_nonce(self):
        self.nonce += 1
        return struct.pack(">Q", self.nonce)

    def shake_hands(self):
        nonce = self.next_nonce()
        box = self.seal(bytes(64), b"CurveZMQHELLO---" + nonce, self.server, self.short)
        self.write(4, b"\x05HELLO\x01\x00" + bytes(72) + self.public_of(self.short) + nonce + box)
        welcome = self.read_frame()[1]
        assert welcome.startswith(b"\x07WELCOME"), welcome
        text = self.unseal(welcome[24:], b"WELCOME-" + welcome[8:24], self.server, self.short)
        self.short_server, cookie = text[:32], text[32:]
        vouch_nonce = os.urandom(16)
        vouch = self.seal(self.public_of(self.short) + self.server, b"VOUCH---" + vouch_nonce, self.short_server, self.secret)
        metadata = b"\x0bSocket-Type" + struct.pack(">I", 6) + b"DEALER"
        nonce = self.next_nonce()
        box = self.seal(self.public + vouch_nonce + vouch + metadata, b"CurveZMQINITIATE" + nonce, self.short_server,
                        self.short)
        self.write(4, b"\x08INITIATE" + cookie + nonce + box)
        assert self.read_frame()[1].startswith(b"\x05READY")

    def write(self, flags, body):
        length = bytes([len(body)]) if len(body) < 256 else struct.pack(">Q", len(body))
        self.socket.sendall(bytes([flags | (2 if len(body) > 255 else 0)]) + length + body)

    def read(self, count):
        octets = b""
        while len(octets) < count:
            piece = self.socket.recv(count - len(octets))
            if not piece:
                raise ConnectionError("the daemon has closed the connection")
            octets += piece
        return octets

    def read_frame(self):
        flags = self.read(1)[0]
        length = struct.unpack(">Q", self.read(8))[0] if flags & 2 else self.read(1)[0]
        return flags, self.read(length)

    def send(self, frame_flags, text, payload_flags=0):
        """Sends one sealed frame; as a command with 4 in `frame_flags`."""
        nonce = self.next_nonce()
        box = self.seal(bytes([payload_flags]) + text, b"CurveZMQMESSAGEC" + nonce, self.short_server, self.short)
        self.write(frame_flags, b"\x07MESSAGE" + nonce + box)

    def ask(self, verb, **body):
        self.send(0, b"nsp1." + verb, 1)
        self.send(0, json.dumps(body).encode())
        frames = [self.receive(), self.receive()]
        return frames[0].decode(), json.loads(frames[1])

    def receive(self):
        """The next frame of a message."""
        while True:
            body = self.read_frame()[1]
            text = self.unseal(body[16:], b"CurveZMQMESSAGES" + body[8:16], self.short_server, self.short)
            # A heartbeat of the daemon is a command inside.
            if not text[0] & 2:
                return text[1:]


def hello():
    return {"ver": [1, 1], "client": os.urandom(16).hex(), "name": "library", "nonce": "1"}


class Libraries(CurveTest, unittest.TestCase):
    def secret(self):
        with open(self.directory / "panel.key", encoding="ascii") as file:
            return file.read().strip()

    def by_hand(self):
        connection = Curve(self.endpoint, self.server, self.secret())
        self.addCleanup(connection.close)
        return connection

    def test_a_sealed_pong_in_the_literal_form_of_rfc_26_is_taken(self):
        """What pyomq and its like answer a PING with."""
        connection = self.by_hand()
        self.assertEqual(connection.ask(b"hello", **hello())[0], "nsp1.welcome")
        for context in (b"", b"navd", b"0123456789abcdef"):
            connection.send(4, b"\x04PONG" + context, 2)
        self.assertEqual(connection.ask(b"ping", id=7)[1]["id"], 7)

    def test_a_longer_command_ends_the_connection_and_the_log_names_it_and_the_key(self):
        for says_hello in (True, False):
            connection = self.by_hand()
            if says_hello:
                connection.ask(b"hello", **hello())
            connection.send(4, b"\x04PONG" + bytes(60), 2)
            with self.assertRaises(ConnectionError):
                while True:
                    connection.receive()
        text = ("panel is disconnected: it sent a frame of 98 bytes as the ZMTP command MESSAGE, which carries heartbeats "
                "only, 2 a second")
        eventually("two lines that name command and key", lambda: self.daemon.process.log().count(text) == 2)

    def talk(self, library, endpoint, curve):
        """Says hello and asks once by a library with the interface of pyzmq."""
        context = library.Context()
        client = context.socket(library.DEALER)
        self.addCleanup(context.term)
        self.addCleanup(client.close)
        client.setsockopt(library.LINGER, 0)
        client.setsockopt(library.RCVTIMEO, int(DEADLINE * 1000))
        if curve:
            client.curve_serverkey = self.server.encode()
            client.curve_publickey = navctl("key", "public", self.directory / "panel.key").encode()
            client.curve_secretkey = self.secret().encode()
        client.connect(endpoint)
        client.send_multipart([b"nsp1.hello", json.dumps(hello()).encode()])
        self.assertEqual(client.recv_multipart()[0], b"nsp1.welcome")
        client.send_multipart([b"nsp1.ping", b'{"id":1}'])
        self.assertEqual(json.loads(client.recv_multipart()[1])["id"], 1)

    def test_libzmq_talks_over_both(self):
        self.assertGreaterEqual(zmq.zmq_version_info(), (4, 2))
        self.talk(zmq, self.daemon.endpoint, False)
        self.talk(zmq, self.endpoint, True)

    @unittest.skipUnless(importlib.util.find_spec("pyomq"), "pyomq is not installed: pip install pyomq")
    def test_pyomq_talks_over_both(self):
        pyomq = importlib.import_module("pyomq")
        self.talk(pyomq, self.daemon.endpoint, False)
        self.talk(pyomq, self.endpoint, True)
