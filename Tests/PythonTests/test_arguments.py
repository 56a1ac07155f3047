"""Wrong arguments: an error at once, before anything is sent, that says what to write."""
import pickle
import unittest
from datetime import timedelta

import setting
import navd
from navd import Guard, NavigationError, ScreenDescription, operations as op
from navd.arguments import check_time
from navd.places import endpoints_in, find_endpoint
from navd.shell.procedures import op as perform
from navd.state import Screen, State
from navd.wire import encode

STATE = State("kiosk", "controller", "e" * 16, 3, "d", (Screen({"id": "home", "ver": 1}),), (), {}, None)


class Silent:
    """A client that must not be asked."""

    def op(self, *arguments):
        raise AssertionError("it was sent")


class Arguments(unittest.TestCase):
    def refused(self, kind, words, function, *arguments, **options):
        with self.assertRaises(kind) as caught:
            function(*arguments, **options)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_perform(self):
        def attempt(nav="kiosk", operations=({"pop": {}},), guard=None, animated=None, on_busy="reject", within=None,
                    on_queued=None):
            perform(Silent(), nav, operations, guard, animated, on_busy, within, on_queued)
        for kind, words, options in (
                (ValueError, ["'Kiosk'", "such as 'kiosk'"], {"nav": "Kiosk"}),
                (TypeError, ["nav", "NoneType"], {"nav": None}),
                (TypeError, ["list", "navd.operations"], {"operations": op.push("a")}),
                (TypeError, ["list"], {"operations": {"pop": {}}}),
                (TypeError, ["list"], {"operations": "pop"}),
                (ValueError, ["0 operations", "1 to 16"], {"operations": []}),
                (ValueError, ["17 operations"], {"operations": [op.attach()] * 17}),
                (ValueError, ["one member", "'pop'", "'push'"], {"operations": [{"pop": {}, "push": {}}]}),
                (TypeError, ["{'pop': {}}"], {"operations": [{"pop": None}]}),
                (TypeError, ["an operation"], {"operations": ["pop"]}),
                (ValueError, ["no guard 'tpo'", "top"], {"guard": {"tpo": "home"}}),
                (TypeError, ["rev", "None"], {"guard": {"rev": None}}),
                (TypeError, ["rev"], {"guard": {"rev": True}}),
                (TypeError, ["Guard.top(state)"], {"guard": "top"}),
                (TypeError, ["animated"], {"animated": 1}),
                (ValueError, ["'reject'", "'queue'"], {"on_busy": "wait"}),
                (ValueError, ["within", "-1"], {"within": -1}),
                (TypeError, ["seconds"], {"within": "2 s"}),
                (ValueError, ["in seconds", "2000", "write 2 for milliseconds", "timedelta"], {"within": 2000}),
                (ValueError, ["within"], {"within": timedelta(seconds=-1)}),
                (TypeError, ["on_queued"], {"on_queued": 3})):
            with self.subTest(options):
                self.refused(kind, words, attempt, **options)

    def test_times(self):
        for within, wanted in ((None, None), (0, 0.0), (2, 2.0), (60.0, 60.0), (timedelta(minutes=10), 600.0)):
            self.assertEqual(check_time(within, "within"), wanted)
        with self.assertRaises(ValueError):
            navd.Animation("slide", 300)

    def test_guards(self):
        for function in (Guard.top, Guard.stack, Guard.revision, Guard.life, Guard.visible):
            self.refused(TypeError, ["state"], function, "kiosk")
        self.assertEqual(Guard.top(STATE).members, {"epoch": "e" * 16, "top": "home"})
        self.assertEqual(Guard(top=None).members, {"top": None})
        self.assertEqual(Guard().members, {})
        self.assertEqual(Guard.override.members, {"any": True})
        both = Guard.stack(STATE) & Guard(depth=1)
        self.assertEqual((both.members["stack"], both.members["depth"], both.is_from_state), (["home"], 1, True))
        self.refused(ValueError, ["top"], lambda: Guard.top(STATE) & Guard(top="other"))
        self.refused(TypeError, ["unexpected"], Guard, tpo="home")

    def test_a_pop_cannot_be_written_without_a_state(self):
        self.refused(TypeError, ["state"], navd.Client.pop, object.__new__(navd.Client))
        self.refused(TypeError, ["state"], navd.Client.pop, object.__new__(navd.Client), "kiosk")

    def test_operations(self):
        self.refused(ValueError, ["'no space'"], op.push, "no space")
        self.refused(TypeError, ["ScreenDescription"], op.push, 3)
        self.refused(TypeError, ["list"], op.set_stack, "home")
        self.refused(TypeError, ["list"], op.remove, "home")
        self.refused(ValueError, ["one place"], op.insert, "a")
        self.refused(ValueError, ["one place"], op.insert, "a", at=1, below="b")
        self.refused(TypeError, ["unexpected"], ScreenDescription, titel="Wi-Fi")
        self.refused(TypeError, ["describes nothing"], op.create_screen, "home")
        self.assertEqual(op.pop(result=None).arguments, {})
        self.assertEqual(op.insert("a", at=0).arguments, {"screen": "a", "at": 0})
        self.assertEqual(op.set_screen("a", {"title": None}).arguments, {"screen": "a", "title": None})
        self.assertEqual(op.set_title("a", None).arguments, {"screen": "a", "title": None})
        self.assertEqual(op.present("a", presenter="b").arguments, {"screen": "a", "from": "b"})

    def test_every_operation_of_the_protocol_has_a_function(self):
        section = setting.text_of("docs", "protocol.md").split("### 9.6 All operations")[1]
        table = section.split("\n\n**`onDuplicate`**")[0]
        names = set()
        for row in table.splitlines():
            if row.startswith("| `"):
                cell = row.split("|")[1].replace("†", "").replace("(", "").replace(")", "")
                names |= {name.strip().strip("`") for name in cell.split(",")}
        arguments = {
            "create": ("a",), "configure": ({},), "push": ("a",), "show": ("a",), "segue": ("a",), "pop_to": ("a",),
            "pop_to_route": ("r",), "set_stack": ([],), "replace": ("a",), "remove": (["a"],), "open_route": ("r",),
            "restore": ({},), "revert": (1,), "present": ("a",), "create_screen": ({},), "set_screen": ("a", {}),
            "release_screen": ("a",), "set_item": ("a", {}), "set_title": ("a", "b"), "create_button": ({},),
            "set_button": ("a", {}), "release_button": ("a",), "activate_button": ("a",), "set_bar": ({},),
            "set_toolbar": ({},), "set_bar_hidden": (True,), "set_toolbar_hidden": (True,),
            "set_appearance": ("standard", None), "set_proxy": ({},), "push_item": ("a",), "set_items": ([],),
            "back_menu": ("a",), "swipe": ("up",), "update_gesture": (0.5,), "complete_transition": (3,),
            "set_environment": ({},)}
        functions = [name for name in op.__all__ if name not in ("OnDuplicate", "Operation")]
        made = {op.insert("a", at=1).name}
        made |= {getattr(op, name)(*arguments.get(name, ())).name for name in functions if name != "insert"}
        self.assertEqual(made, names)
        self.assertGreater(len(names), 45)

    def test_values_that_json_does_not_have(self):
        nested = []
        for _ in range(40):
            nested = [nested]
        for kind, word, value in ((ValueError, "nan", float("nan")), (ValueError, "surrogate", "\ud800"),
                                  (TypeError, "bytes", b"x"), (TypeError, "set", {1}), (TypeError, "texts", {1: 2}),
                                  (ValueError, "32", nested), (ValueError, "2^1024", 2**1024),
                                  (ValueError, "2^1024", -10**400)):
            with self.subTest(word):
                self.refused(kind, [word], encode, {"x": value})
        self.refused(TypeError, ["the message.a.b[1]"], encode, {"a": {"b": [1, object()]}})
        # The greatest that navd reads, and one that Python prints as it is.
        self.assertTrue(encode({"x": int(1.7976931348623157e308)}).endswith(b"68}"))
        self.assertEqual(encode({"x": True, "y": 2**63}), b'{"x":true,"y":9223372036854775808}')

    def test_addresses(self):
        self.assertEqual(endpoints_in("ipc:///a, tcp://b:1,"), ["ipc:///a", "tcp://b:1"])
        for text in ("", "  ", "http://a", "tcp://a", "/run/navd.sock", "tcp://:1", "tcp://a:99999"):
            with self.subTest(text):
                self.refused(ValueError, ["write"], endpoints_in, text)
        self.refused(ValueError, ["107"], endpoints_in, "ipc:///" + "x" * 107)
        self.assertEqual(find_endpoint({"NAVD_ENDPOINT": "ipc:///x"}, 0), "ipc:///x")
        with self.assertRaises(NavigationError) as caught:
            find_endpoint({"XDG_RUNTIME_DIR": "/nowhere"}, 54321)
        for word in ("/nowhere/navd/navd.sock (not there)", "/tmp/navd-54321", "NAVD_ENDPOINT"):
            self.assertIn(word, caught.exception.message)
        for options in ({"name": 3}, {"window": 1.5}, {"heartbeat": "5"}, {"within": None}, {"server_key": 3}):
            with self.subTest(options):
                self.assertRaises(TypeError, navd.connect, "ipc:///nowhere", **options)
        for options in ({"name": "x" * 129}, {"window": 1}, {"heartbeat": 0.5}, {"key_file": ""}):
            with self.subTest(options):
                self.assertRaises(ValueError, navd.connect, "ipc:///nowhere", **options)

    def test_delegates(self):
        client = navd.Client("ipc:///nowhere-at-all")
        self.addCleanup(client.close)
        self.refused(ValueError, ["veto"], client.delegate, "kiosk")
        self.refused(TypeError, ["function"], client.delegate, "kiosk", veto=True)
        self.refused(TypeError, ["Orientations"], client.delegate, "kiosk", orientations=["portrait"])
        self.refused(ValueError, ["'portrait'"], navd.Orientations, ["upright"])
        self.refused(ValueError, ["'full'"], client.watch, "kiosk", view="half")
        self.refused(ValueError, ["'log'"], client.get, "kiosk", "logs")
        self.refused(ValueError, ["empty"], client.result, "kiosk", "")


class Errors(unittest.TestCase):
    def test_an_error_has_the_members_of_the_message(self):
        err = {"code": "desync", "msg": "top is a", "reason": "top", "retry": "resync", "effect": "none", "after": 250,
               "rev": 3, "since": {"rev": 2, "t": 5, "cause": "api", "by": {"name": "x", "principal": "uid:0"}}}
        error = NavigationError.of(err)
        self.assertEqual((str(error), error.after, error.rev), ("desync (top): top is a", 0.25, 3))
        self.assertEqual((error.since.name, error.since.pid), ("x", None))
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((copy.members, str(copy)), (err, str(error)))
        self.assertEqual(NavigationError.of({"code": "new", "retry": "odd"}).retry, "no")

    def test_records_are_copies(self):
        STATE.screens[0].record["title"] = "spoilt"
        self.assertIsNone(STATE.screens[0].title)
        self.assertRaises(AttributeError, setattr, STATE, "rev", 4)


if __name__ == "__main__":
    unittest.main()
