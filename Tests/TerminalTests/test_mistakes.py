"""Forty mistakes of a beginner: each message names what was tried, what was found, and what to type next.

Each row has the words, the exit status, what the message must say, and what its remedy must say. They run in a
terminal that has seen nothing, on the navs of `furnish`: kiosk with [home, settings, wifi], and the bar hud.
"""
import unittest

from scene import Scene

MISTAKES = [
    # Words that are no command, or another program's.
    ("psuh kiosk dns", 2, "no command 'psuh'; is it 'push'?", "navctl --help"),
    ("ls", 2, "no command 'ls'; is it 'list'?", "navctl --help"),
    ("rm kiosk wifi", 2, "no command 'rm'; is it 'remove'?", "navctl --help"),
    ("popto kiosk home", 2, "is it 'pop-to'?", "navctl --help"),
    ("pushViewController kiosk", 2, "is it 'push'?", "navctl --help"),
    ("kiosk push wifi", 2, "no command 'kiosk'", "navctl push kiosk, with the command first"),
    ("", 2, "a command is missing", "navctl --help"),
    ("help psuh", 2, "no command 'psuh'; is it 'push'?", "navctl --help"),
    # Options.
    ("push kiosk dns --tittle DNS", 2, "no option '--tittle'; is it '--title'?", "navctl push --help"),
    ("push kiosk dns --title", 2, "--title needs a value", "--title TEXT"),
    ("push kiosk dns -x", 2, "no option '-x'", "navctl push --help"),
    ("list --json", 2, "is it '--output json'?", "navctl list --help"),
    ("show kiosk -o yaml", 2, "--output takes text or json, not 'yaml'", "navctl show --help"),
    ("pop kiosk --st", 2, "beginning of several options", "--stack"),
    ("watch kiosk --count many", 2, "--count takes a whole number, not 'many'", "navctl watch --help"),
    ("wait kiosk --timeout soon --depth 3", 2, "a time such as 500ms, 5s or 2m, not 'soon'", "navctl wait --help"),
    ("create other home", 2, "'home' comes after NAV", "navctl create [OPTION...] NAV"),
    ("push", 2, "needs a nav", "NAVD_NAV"),
    ("show", 2, "needs a nav", "NAVD_NAV"),
    # Navs and screens that are not there, or are there already.
    ("show kisok", 6, "there is no nav kisok", "navctl list"),
    ("create kiosk", 1, "kiosk exists already", "navctl create --if-absent kiosk"),
    ("push kiosk wifi", 1, "screen wifi is on the stack already", "--if-absent"),
    ("push kiosk unknown", 6, "unknown", "--new"),
    ("pop-to kiosk dns", 6, "dns", "navctl show kiosk"),
    ("set kiosk screen dns title=X", 6, "dns", "navctl show kiosk"),
    ("get kiosk --screen dns", 6, "dns", "navctl show kiosk"),
    ("button kiosk activate scan", 6, "scan", "navctl"),
    # What a terminal has not seen.
    ("pop kiosk", 2, "pop would remove screens that this terminal has not shown", "navctl show kiosk"),
    ("pop kiosk --top home", 3, "top is wifi, not home", "navctl show kiosk"),
    ("pop kiosk --rev 1", 3, "rev", "navctl show kiosk"),
    ("stack kiosk home --top wifi", 2, "--top alone is not sufficient", "--rev"),
    # Arguments of the wrong form.
    ("op kiosk pop", 2, "is not JSON", "navctl op --help"),
    ("op kiosk {\"fly\":{}}", 2, "fly", "navctl op --help"),
    ("set kiosk display foo=1", 2, "foo", "navctl set --help"),
    ("set kiosk display foo", 2, "foo", "KEY=VALUE"),
    ("set kiosk settings colour=red", 2, "colour", "navctl set --help"),
    ("replace hud wifi --new --any", 2, "replace is not for a nav of kind bar", "navctl replace --help"),
    ("push $navs dns --new", 1, "$navs is virtual", "change that instead"),
    ("gesture kiosk wave", 2, "wave", "begin"),
    ("open kiosk nowhere/at/all --any", 6, "nowhere/at/all", "navctl set kiosk settings"),
    # The daemon, and the way to it.
    ("list -e ipc:///nowhere/navd.sock", 7, "/nowhere/navd.sock", "systemctl"),
    ("list -e tcp://127.0.0.1:9", 2, "public key: give it by --server-key", "navctl list --help"),
    ("list -e http://localhost", 2, "http://localhost", "ipc://"),
    ("key authorize panel abc", 2, "'abc' is neither 40 characters", "navctl key --help"),
    ("explain nonsense", 2, "nonsense", "navctl explain"),
    ("schema nonsense", 2, "no type 'nonsense'", "one of"),
    ("apply kiosk nofile", 2, "nofile", "navctl apply NAV FILE"),
    ("restore kiosk nofile", 2, "nofile", "navctl restore NAV FILE"),
]


class Mistakes(unittest.TestCase):
    def test_each_message_says_what_was_tried_what_was_found_and_what_to_type(self):
        scene = Scene()
        self.addCleanup(scene.close)
        scene.furnish()
        before = scene.must("show", "kiosk", "-o", "json")
        self.assertGreaterEqual(len(MISTAKES), 40)
        for line, status, found, remedy in MISTAKES:
            with self.subTest(line=line):
                result = scene.navctl(*line.split(" ") if line else [])
                print(f"\n$ navctl {line}\n{result.errors}", end="")
                self.assertEqual(result.output, "", "an error prints nothing to stdout")
                message, _, advice = result.errors.partition("try: ")
                self.assertIn(found, message)
                self.assertIn(remedy, advice, result.errors)
                self.assertEqual(result.status, status, result.errors)
                for word in ("errno", "Fatal error", "Swift", "0x"):
                    self.assertNotIn(word, result.errors)
        self.assertEqual(scene.must("show", "kiosk", "-o", "json"), before, "a mistake changes nothing")


if __name__ == "__main__":
    unittest.main()
