"""What a program can do wrong without the library doing worse: NULL, freed handles, wrong types, wrong texts."""
import ctypes
import json
import unittest

import navdlib as navd
from harness import Daemon
from navdlib import MISUSE, P, S, SIGNATURES, U64, lib

# What a function without a status returns for a handle that is none.
NEUTRAL = {"navd_fd": -1, "navd_is_synced": -1, "navd_json_count": -1}


class MisuseTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()
        cls.daemon.control.create("kiosk")
        cls.client = navd.Client(cls.daemon.endpoint)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.daemon.close()

    def misused(self, word, name, *arguments):
        with self.assertRaises(navd.Failure) as caught:
            navd.call(name, *arguments)
        failure = caught.exception
        self.assertEqual((failure.status, failure.code), (MISUSE, "misuse"), failure)
        self.assertIn(word, failure.message)
        self.assertEqual((failure.may_have_happened, failure.retry, failure.body), (0, 0, {}))

    def neutral(self, name, arguments):
        """Calls a function with nonsense; it fails in the way that navd.h promises."""
        result, _ = SIGNATURES[name]
        value = getattr(lib, name)(*arguments)
        if result is None:
            return
        if name in NEUTRAL:
            self.assertEqual(value, NEUTRAL[name], name)
        elif SIGNATURES[name][1][-1:] == [navd.OUT]:
            self.assertEqual(value, MISUSE, name)
        elif name == "navd_version":
            self.assertTrue(value)
        else:
            self.assertFalse(value, name)

    def test_null_for_everything(self):
        for name, (_, arguments) in SIGNATURES.items():
            # navd_connect(NULL, …) would look for a daemon; it lacks its output first.
            self.neutral(name, [None if each in (P, S) or hasattr(each, "contents") else 0 for each in arguments])

    def test_each_required_argument_is_checked(self):
        handle, text, out = self.client.handle, b"kiosk", ctypes.byref(P())
        operations, number = b'[{"pop":{}}]', ctypes.byref(U64())
        state = json.dumps(self.client.get("kiosk")).encode()
        for name, good in {
                "navd_watch": [handle, text, 0], "navd_unwatch": [handle, text], "navd_state": [handle, text, out],
                "navd_guard": [handle, state, b"top", out], "navd_await_result": [handle, text, b"home"],
                "navd_delegate": [handle, text, b'{"roles":[]}'], "navd_lease": [handle, text, 2, 0],
                "navd_submit": [handle, text, operations, None, 0, -1, number],
                "navd_get": [handle, text, b"state", -1, out]}.items():
            optional = {("navd_get", 1), ("navd_submit", 3)}
            for place, value in enumerate(good):
                if isinstance(value, int) or (name, place) in optional:
                    continue
                self.misused("NULL", name, *good[:place], None, *good[place + 1:])
                if isinstance(value, bytes):
                    self.misused("UTF-8", name, *good[:place], b"\xff" + value, *good[place + 1:])
        self.misused("NULL", "navd_perform", handle, text, None, None, 0, -1, None)
        self.misused("NULL", "navd_answer", handle, 1, None)
        self.misused("NULL", "navd_connect", None, 0, None)

    def test_freed_handles_and_those_of_another_type(self):
        client = navd.Client(self.daemon.endpoint)
        client.watch("kiosk")
        while not (event := lib.navd_next(client.handle)) or lib.navd_event_kind(event) != navd.STATE:
            lib.navd_event_free(event)
            client.wait(1000)
        error = P()
        self.assertEqual(lib.navd_watch(client.handle, None, 0, ctypes.byref(error)), MISUSE)
        handles = {"client": client.handle.value, "event": event, "error": error.value}
        # Handles of another type, while all three are alive.
        kinds = {"navd_event_": "event", "navd_error_": "error"}
        for name, (_, arguments) in SIGNATURES.items():
            if not arguments or arguments[0] != P or name == "navd_string_free":
                continue
            own = next((kind for prefix, kind in kinds.items() if name.startswith(prefix)), "client")
            rest = [b"kiosk" if each == S else None if each == P or hasattr(each, "contents") else 0
                    for each in arguments[1:]]
            for kind, handle in handles.items():
                if kind != own:
                    self.neutral(name, [handle, *rest])
            self.neutral(name, [0x1234, *rest])
            # One that never was, but looks like ours.
            self.neutral(name, [handles[own] + 16 * 1000000, *rest])
        self.assertEqual(lib.navd_event_kind(event), navd.STATE)
        # Freed: the event and its texts stay until then, the client's end does not matter.
        client.close()
        self.assertEqual(json.loads(lib.navd_event_json(event))["nav"], "kiosk")
        for free, kind in (("navd_event_free", "event"), ("navd_error_free", "error"), ("navd_client_free", "client")):
            for _ in range(3):
                getattr(lib, free)(handles[kind])
        for name, (_, arguments) in SIGNATURES.items():
            if arguments and arguments[0] == P and name != "navd_string_free":
                rest = [b"kiosk" if each == S else None if each == P or hasattr(each, "contents") else 0
                        for each in arguments[1:]]
                for handle in handles.values():
                    self.neutral(name, [handle, *rest])

    def test_the_error_of_an_event_goes_with_it(self):
        self.client.watch("another")
        while not (event := lib.navd_next(self.client.handle)) or lib.navd_event_kind(event) != navd.ENDED:
            lib.navd_event_free(event)
            self.client.wait(1000)
        error = lib.navd_event_error(event)
        lib.navd_error_free(error)
        self.assertEqual(lib.navd_error_code(error), b"no-nav")
        lib.navd_event_free(event)
        self.assertIsNone(lib.navd_error_code(error))

    def test_wrong_texts_and_numbers(self):
        handle, out, number = self.client.handle, ctypes.byref(P()), ctypes.byref(U64())

        def submit(operations, guard=None, flags=0, within=-1):
            return "navd_submit", handle, b"kiosk", operations, guard, flags, within, number
        for operations in (b"", b"{}", b"[]", b"[1]", b"[{}]", b'[{"pop":{},"push":{}}]', b'[{"pop":{}}'):
            self.misused("operation", *submit(operations))
        deep = b'[{"push":{"screen":{"args":' + b"[" * 40 + b"]" * 40 + b"}}}]"
        self.misused("not JSON", *submit(deep))
        good = b'[{"pop":{}}]'
        for guard in (b"[]", b'{"to":"wifi"}', b'{"top":1}', b'{"rev":-1}', b'{"epoch":"x"}', b'{"stack":[1]}', b"x"):
            self.misused("guard", *submit(good, guard))
        self.misused("unknown bits", *submit(good, None, 8))
        self.misused("exclude", *submit(good, None, navd.ANIMATED | navd.STILL))
        # Less than 100 ms is a time in seconds.
        for limit in (0, 2, 99, -2, -1000):
            self.misused("time limit", *submit(good, None, 0, limit))
            self.misused("time limit", "navd_get", handle, b"kiosk", b"state", limit, out)
        self.misused("no value", "navd_get", handle, b"kiosk", b"everything", -1, out)
        self.misused("no role", "navd_delegate", handle, b"kiosk", b'{"roles":["king"]}')
        self.misused("roles", "navd_delegate", handle, b"kiosk", b"[]")
        self.misused("no navd_lease_wish", "navd_lease", handle, b"kiosk", 3, 0)
        self.misused("not JSON", "navd_answer", handle, 1, b"yes")
        self.misused("not watched", "navd_await_result", handle, b"never", b"home")
        self.misused("state", "navd_guard", handle, b"{}", b"top", out)
        state = json.dumps(self.client.get("kiosk")).encode()
        self.misused("none of", "navd_guard", handle, state, b"title", out)
        # An answer to no question does nothing.
        navd.call("navd_answer", handle, 77, b"true")
        # What only the daemon can judge comes from it.
        for nav in ("", "NAV", "x" * 200, "\n"):
            with self.assertRaises(navd.Failure) as caught:
                self.client.perform(nav, {"pop": {}})
            self.assertEqual((caught.exception.status, caught.exception.code), (navd.REFUSED, "invalid-argument"))
        with self.assertRaises(navd.Failure) as caught:
            self.client.perform("kiosk", {"push": {"screen": {"title": "x" * 70000}}})
        self.assertEqual((caught.exception.code, caught.exception.body["reason"]), ("limit", "size"))

    def test_wrong_options(self):
        out = ctypes.byref(P())
        size = ctypes.sizeof(navd.Options)
        for word, options in (("size", navd.Options(0)), ("size", navd.Options(size + 8)),
                              ("heartbeat", navd.Options(size, heartbeat_ms=5)),
                              ("name", navd.Options(size, b"ipc:///x", b"n" * 129)),
                              ("UTF-8", navd.Options(size, b"\xff"))):
            self.misused(word, "navd_connect", ctypes.byref(options), 0, out)
        self.misused("time limit", "navd_connect", ctypes.byref(navd.Options(size)), -5, out)

    def test_json_pointers(self):
        text = json.dumps({"a": [1, {"b/c": "d~", "": "é"}, None], "t": "x\ny"})

        def get(pointer, text=text):
            return navd.owned(lib.navd_json_get(navd.encoded(text), navd.encoded(pointer)))
        self.assertEqual([get(p) for p in ("/a/0", "/a/1/b~1c", "/a/-2/", "/a/-1", "/t", "/a/1/b~1c/x")],
                         ["1", "d~", "é", "null", "x\ny", None])
        self.assertEqual(json.loads(get("")), json.loads(text))
        self.assertEqual([get(p) for p in ("a", "/b", "/a/3", "/a/-4", "/a/x", "/a/99999999999999999999")], [None] * 6)
        # Names are octets: a mark hides no slash, and two forms of a letter are two names.
        texts = json.dumps({"\u0301": {"\u00e9": 1, "e\u0301": 2, "\u212a": 3, "K": 4}})
        self.assertEqual([get(p, texts) for p in ("/\u0301/\u00e9", "/\u0301/e\u0301", "/\u0301/\u212a", "/\u0301/K")],
                         ["1", "2", "3", "4"])
        self.assertEqual([get("", bad) for bad in ("", "{", "nope", '{"a":1,"a":2}', b"\xff")], [None] * 5)
        count = [lib.navd_json_count(text.encode(), p) for p in (b"", b"/a", b"/t", b"/x")]
        self.assertEqual(count, [2, 3, -1, -1])
        for plain in ('a"b\\c\n', "", "é", "</script>"):
            self.assertEqual(json.loads(navd.owned(lib.navd_json_string(plain.encode()))), plain)
        self.assertIsNone(navd.owned(lib.navd_json_string(b"\xff")))


if __name__ == "__main__":
    unittest.main()
