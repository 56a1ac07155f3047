"""Mistakes of beginners and of users of other programs: each message names what was tried, what was found, and what to type next.

Each row has the words, the exit status, what the message must say, and what its remedy must say. They run in a
terminal that has seen nothing, on the navs of `furnish`: kiosk with [home, settings, wifi], and the bar hud.
"""
import json
import os
import re
import select
import shlex
import subprocess
import unittest

from scene import BINARIES, Scene

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
    ("push kiosk dns -x", 2, "no option '-x'", "navctl push NAV [SCREEN] [--if-absent] [--on-duplicate WAY]"),
    ("list --json", 2, "is it '--output json'?", "navctl list --help"),
    ("show kiosk -o yaml", 2, "--output takes text or json, not 'yaml'", "navctl show --help"),
    ("pop kiosk --st", 2, "beginning of several options", "--stack"),
    ("watch kiosk --count many", 2, "--count takes a whole number, not 'many'", "navctl watch --help"),
    ("wait kiosk --timeout soon --depth 3", 2, "a time such as 500ms, 5s or 2m, not 'soon'", "navctl wait --help"),
    ("create other home", 2, "'home' comes after NAV", "navctl create NAV [OPTION...]"),
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
    ("op kiosk [pop", 2, "is not JSON", "navctl op --help"),
    ("op kiosk {\"wave\":{}}", 2, "wave", "navctl op --help"),
    ("set kiosk display foo=1", 2, "foo", "one of idiom, vCompact, scrollEdge"),
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

# As a shell splits them: words of other programs, and what is nearly right.
TYPED = [
    ("push kiosk news", 6, "there is no screen news", "navctl push kiosk news --new, or --title TEXT"),
    ("pop kiosk --force", 2, "no option '--force'", "--any"),
    ("pop kiosk wifi", 2, "'wifi' comes after NAV", "navctl pop kiosk --top wifi"),
    ("pop kiosk wifi", 2, "'wifi' comes after NAV", "navctl pop-to kiosk wifi"),
    ("log kiosk -f", 2, "no option '-f'", "navctl watch NAV"),
    ("log kiosk -n 2", 2, "-n is --nav, and 'kiosk' names the nav already", "navctl log kiosk --limit 2"),
    ("show kiosk -j", 2, "no option '-j'", "-o json"),
    ("log kiosk --tail 5", 2, "no option '--tail'", "--limit N"),
    ("version", 2, "no command 'version'", "navctl --version"),
    ("-v", 2, "no option '-v'", "navctl --version"),
    ("start", 2, "no command 'start'", "systemctl start navd"),
    ("op kiosk pop", 2, "an operation is not JSON", """'{"pop":{}}'"""),
    ("push kiosk x --args '{band:5}'", 2, "--args is not JSON", """--args '{"band":5}'"""),
    ("""push kiosk x --args "{'band':'five'}" """, 2, "--args is not JSON", """--args '{"band":"five"}'"""),
    ("""op kiosk '{"push":{"screen":{"titel":"X"}}}'""", 2, "has no member titel", "is it 'title'?"),
    ("set kiosk settings veto.requird=true", 2, "has no member requird", "is it 'veto.required'?"),
    ("set kiosk settings veto.deadline=2s", 2, "a whole number", "veto.deadline=2000, in milliseconds"),
    ("list --timeout 1000", 2, "--timeout 1000 has no unit", "--timeout 1000ms, or --timeout 1000s"),
    ("push kiosk 'my screen' --new", 2, "a screen id is", "my-screen"),
    ("verify x.navrec", 2, "x.navrec is a recording", "navctl play x.navrec --verify"),
    ("""op kiosk '{"psuh":{}}'""", 2, "psuh", "is it 'push'?"),
    ("why kiosk", 2, "SCREEN is missing", "navctl why kiosk SCREEN"),
    ("record kiosk", 2, "FILE is missing", "navctl record kiosk FILE"),
    ("restore kiosk", 2, "FILE is missing", "navctl restore kiosk FILE"),
    ("list -e ipc:///a/navd.sock,ipc:///b/navd.sock,ipc:///c/navd.sock --timeout 200ms", 7, "/c/navd.sock: ", "--endpoint"),
    # Others of the kind.
    ("set kiosk wifi title=X", 2, "no object 'wifi' to set", "navctl set kiosk screen SCREEN|item SCREEN|button BUTTON|bar"),
    ("set kiosk scren wifi title=X", 2, "is it 'screen'?", "navctl set kiosk screen"),
    ("set kiosk screen title=X", 2, "SCREEN is missing", "navctl set NAV screen SCREEN KEY=VALUE"),
    ("set kiosk screen wifi title X", 2, "'title' is not of the form KEY=VALUE", "KEY=VALUE"),
    ("set kiosk bar hidden=yes", 2, "hidden is true or false", "hidden=true, or hidden=false"),
    ("set kiosk display idiom=tablet", 2, "idiom is phone or pad", "idiom=phone, or idiom=pad"),
    ("set kiosk display orientation=landscape", 2, "one of portrait", "orientation=landscapeLeft"),
    ("set kiosk item wifi largeTitel=Wi-Fi", 2, "no member largeTitel", "is it 'largeTitle'?"),
    ("set kiosk proxy barTintColor=red", 2, "a proxy is of all navs", "navctl set proxy barTintColor=red"),
    ("set kiosk settings questionDeadline=5s", 2, "a whole number", "questionDeadline=5000, in milliseconds"),
    ("set kiosk display statusBar=hidden", 2, "a whole number from 0", "statusBar=1"),
    ("set kiosk display scale=2x", 2, "a number of pixels a point", "scale=2"),
    ("set kiosk settings interactivePop=false", 2, "is {enabled, mode}", "interactivePop.enabled=VALUE"),
    ("set kiosk screen wifi edges=all", 2, "a list of top, left", """edges='["top"]'"""),
    ("set kiosk settings backTitles=short", 2, "by language tag", "backTitles.NAME=VALUE"),
    ("set kiosk appearance standard=opaque", 2, "standard is an appearance object", "standard.NAME=VALUE"),
    ("set kiosk bar titleTextAttributes.size=20", 2, "no key size, but font, color", "navctl set --help"),
    ("set kiosk", 2, "OBJECT is missing", "navctl set kiosk OBJECT"),
    ("button kiosk press scan", 2, "create or release or activate, not 'press'", "navctl button NAV"),
    ("history kiosk --lines 5", 2, "no option '--lines'", "--limit N"),
    ("stop", 2, "no command 'stop'", "systemctl stop navd"),
    ("revert kiosk", 2, "REV is missing", "navctl revert kiosk REV"),
    ("open kiosk", 2, "ROUTE is missing", "navctl open kiosk ROUTE"),
    ("swipe kiosk", 2, "DIRECTION is missing", "navctl swipe kiosk DIRECTION"),
    ("remove kiosk", 2, "ID is missing", "navctl remove kiosk ID..."),
    ("apply kiosk", 2, "FILE is missing", "navctl apply kiosk FILE"),
    ("watch kiosk --timeout 300", 2, "--timeout 300 has no unit", "--timeout 300s"),
    ("present kiosk news", 6, "there is no screen news", "navctl present kiosk news --new"),
    ("""op kiosk '{"pop":{"reslt":1}}' --any""", 2, "reslt", "navctl op --help"),
    # What is not there is not at its default, and what prints takes no condition.
    ("set kiosk screen nosuch", 6, "there is no screen nosuch", "navctl show kiosk"),
    ("set kiosk item nosuch", 6, "there is no screen nosuch", "navctl show kiosk"),
    ("set kiosk appearance nosuch", 6, "there is no screen nosuch", "navctl show kiosk"),
    ("set kiosk button nosuch", 6, "there is no button nosuch", "navctl"),
    ("set hud item nosuch", 6, "nosuch", "navctl"),
    ("set kiosk bar --rev 999", 2, "set without KEY only prints, so it takes no --rev", "navctl set --help"),
    ("set kiosk display --lease", 2, "takes no --lease", "navctl set --help"),
    # An id that is named twice.
    ("set kiosk screen wifi screen=home", 2, "'screen' names it twice", "navctl set --help"),
    ("screen kiosk create x id=y", 2, "'id' names it twice", "navctl screen --help"),
    ("set proxy NavigationBar class=X", 2, "'class' names it twice", "navctl set --help"),
    # A correction is another word than the typed one, and does not lead to the next error.
    ("set kiosk screen wifi prompt=X", 2, "has no member prompt", "it is a member of item: navctl set kiosk item wifi prompt=VALUE"),
    ("push hud q --route x/y", 2, "the record of an item has id, title and item", "navctl push --help"),
    ("push hud q --new --on-duplicate popTo", 2, "onDuplicate of an item is error or ignore", "navctl push --help"),
    ("set kiosk toolbar titel=x", 2, "has no member titel", "one of hidden, barStyle, tintColor"),
    ("set kiosk bar tintColr=red", 2, "has no member tintColr", "is it 'tintColor'?"),
    ("""op kiosk '{"nav.configure":{"veto":{"requird":true}}}'""", 2, "has no member requird", "is it 'veto.required'?"),
    ("set kiosk settings profile.extraSystemItems=si", 2, "is true or false", "profile.extraSystemItems=true, or"),
    ("set kiosk item 'wi fi' 'prompt=Choose a network'", 2, "a screen id is", "an id without spaces: wi-fi"),
    ("set kiosk item wifi 'rightItems=a b=X'", 2, "id is", "navctl set --help"),
    ("present kiosk pin --title PIN --from nosuch", 6, "there is no screen nosuch", "list the screens"),
    ("present kiosk nosuch --from wifi", 6, "there is no screen nosuch", "navctl present kiosk nosuch --new"),
    ("close hud -f", 2, "no option '-f'", "--any"),
    ("op kiosk push", 2, "an operation is not JSON", """'{"push":{...}}', with its arguments"""),
    ("log -n 5", 6, "there is no nav 5", "print 5 revisions: navctl log NAV --limit 5"),
    ("history 5", 6, "there is no nav 5", "print 5 revisions: navctl history NAV --limit 5"),
    # What a first user of set typed.
    ("set bar hidden=true", 2, "NAV is missing", "navctl set NAV bar KEY=VALUE"),
    ("set kiosk title=X", 2, "no object 'title=X' to set", "navctl set kiosk screen SCREEN|"),
    ("set kiosk screen wifi item.prompt=X", 2, "item is an object of its own", "navctl set kiosk item SCREEN KEY=VALUE"),
    ("set kiosk toolbar backgroundColor=red", 2, "no member backgroundColor", "member of bar: navctl set kiosk bar backgroundColor=VALUE"),
    ("set kiosk display animations=false", 2, "one of on", "animations=on|off|reduced"),
    ("set kiosk appearance wifi backgroundColor=red", 2, "no slot backgroundColor, but standard", "appearance wifi standard.backgroundColor=VALUE"),
    ("set kiosk appearance standrd.backgroundColor=red", 2, "no slot standrd", "is it 'standard'?"),
    ("set bar scren wifi title=X", 2, "no object 'scren' to set", "navctl set bar screen SCREEN KEY=VALUE"),
    ("set kiosk settings proxy=1", 2, "proxy is an object of its own", "navctl set proxy KEY=VALUE"),
    ("""op kiosk '{"screen.set":{"screen":"wifi","prompt":"X"}}'""", 2, "has no member prompt", "it is a member of item\n"),
    ("set -n kiosk toolbar backgroundColor=red", 2, "no member", "navctl set kiosk bar backgroundColor=VALUE"),
    ("set kiosk item wifi backBarButtonItem=Back", 6, "no button Back", "make it: backBarButtonItem.title=TITLE"),
    ("set kiosk settings routes=news", 2, "routes is a list", """routes='[{"match":"""),
    ("""set kiosk settings 'routes=["news"]'""", 2, "a route is", """routes='[{"match":"""),
    ("set kiosk item wifi leftItems=cancel", 6, "cancel", "make it: leftItems=cancel=TITLE"),
    ("set kiosk item wifi rightItems=a=A leftItems=no", 6, "no button no", "make it: leftItems=no=TITLE"),
]

# Lines of navd.conf, and what the check says of each.
CONFIGURATIONS = [
    ("[access]\ngrant = ui kiosk read\n", "is it role:ui?"),
    ("[limits]\ndepth = 64 # screens\n", "a comment behind a value begins with ;"),
    ("depth = 64\n", "write [limits] above it"),
]


class Mistakes(unittest.TestCase):
    def setUp(self):
        self.scene = Scene()
        self.addCleanup(self.scene.close)
        self.scene.furnish()

    def test_each_line_of_the_configuration_says_what_to_write(self):
        scene = self.scene
        for number, (text, found) in enumerate(CONFIGURATIONS):
            path = f"{scene.daemon.directory.path}/{number}.conf"
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            check = subprocess.run(
                [f"{BINARIES}/navd", "--check-config", "--config", path], capture_output=True, text=True, check=False)
            print(f"\n{text}{check.stderr}", end="")
            self.assertIn(found, check.stdout + check.stderr)
            self.assertNotEqual(check.returncode, 0)

    def test_a_refusal_for_a_silent_delegate_says_who_was_asked(self):
        scene = self.scene
        scene.must("set", "kiosk", "settings", "veto.deadline=200")
        with subprocess.Popen(
                ["navctl", "delegate", "kiosk", "--roles", "veto", "--exec", "sleep 60", "--name", "till"],
                stdout=subprocess.PIPE, text=True, env=scene.environment) as delegate:
            delegate.stdout.readline()
            result = scene.navctl("pop", "kiosk", "--top", "wifi")
            delegate.terminate()
        print(result.errors)
        self.assertIn("till, the veto delegate, did not answer in time", result.errors)
        self.assertIn("try: see whether it runs", result.errors)

    def test_the_remedy_for_a_silent_delegate_leaves_the_veto_required(self):
        scene = self.scene
        scene.must("set", "kiosk", "settings", "veto.required=true", "veto.deadline=10000")
        result = scene.navctl("push", "kiosk", "news", "--new")
        self.assertIn("delegate-timeout", result.errors)
        scene.must(*result.errors.split("without it: navctl ")[1].split())
        scene.must("push", "kiosk", "news", "--new")
        scene.must("set", "kiosk", "settings", "veto.policy=deny", "profile.os=14")
        printed = json.loads(scene.must("set", "kiosk", "settings", "-o", "json"))
        self.assertEqual(printed["veto"], {"deadline": 10000, "policy": "deny", "required": True})
        self.assertIn("delegate-timeout", scene.navctl("push", "kiosk", "more", "--new").errors)

    def test_a_bar_takes_the_words_of_the_stack_and_records_no_false_refusal(self):
        scene = self.scene
        self.assertIn("pushed now", scene.must("push", "hud", "now", "--title", "Owen", "--prompt", "P"))
        self.assertIn("Owen", scene.must("show", "hud"))
        scene.must("stack", "hud", "now", '{"id":"next","title":"Next"}', "--any")
        self.assertIn("popped next", scene.must("pop", "hud", "--top", "next"))
        self.assertEqual(scene.navctl("push", "kiosk", "wifi").status, 1)
        refusals = json.loads(scene.must("get", "--what", "refusals", "-o", "json"))["value"]
        self.assertEqual([(each["nav"], each["code"]) for each in refusals], [("kiosk", "duplicate-screen")])

    def test_a_line_of_a_plan_is_about_its_nav_and_prints_nothing(self):
        scene = self.scene
        path = f"{scene.daemon.directory.path}/plan"
        for line, found, remedy in (
                ("set proxy barTintColor=red", "this line is about $appearance, and the plan about kiosk", "by itself"),
                ("set bar", "this line changes nothing", "navctl help set"),
                ("transition", "this line changes nothing", "navctl help transition"),
                ("set display idiom=pad --lease", "--lease is about the whole plan", "navctl apply --lease NAV FILE")):
            with self.subTest(line=line):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"# A comment.\n{line}\n")
                result = scene.navctl("apply", "kiosk", path)
                self.assertEqual((result.status, result.output), (2, ""))
                message, _, advice = result.errors.partition("try: ")
                self.assertIn(found, message)
                self.assertIn(f"{path}:2: ", message)
                self.assertIn(remedy, advice)
        with open(path, "w", encoding="utf-8") as file:
            file.write("set display idiom=pad\n")
        scene.must("apply", "--lease", "kiosk", path)

    def test_completion_knows_a_nav_that_a_variable_names(self):
        scene = self.scene
        scene.environment["NAVD_NAV"] = "kiosk"

        def candidates(*words):
            output = scene.must("completion", "fish", "--", *words)
            return [line.split("\t")[0] for line in output.splitlines()]

        self.assertEqual(
            candidates("set", "item", "wifi", "hidesBackButton="), ["hidesBackButton=true", "hidesBackButton=false"])
        self.assertEqual(candidates("set", "item", "w"), ["wifi"])
        self.assertEqual(candidates("remove", "home", "w"), ["wifi"])
        self.assertEqual(candidates("push", "w"), ["wifi"])
        self.assertEqual(candidates("pop", "--top", "w"), ["wifi"])
        self.assertEqual(candidates("set", "proxy", "barT"), ["barTintColor="])
        self.assertEqual(scene.must("get", "--what", "refusals").strip(), "[]")
        del scene.environment["NAVD_NAV"]
        self.assertEqual(candidates("set", "pro"), ["proxy"])
        self.assertEqual(candidates("set", "kiosk", "item", "w"), ["wifi"])
        self.assertEqual(candidates("pop", "kiosk", "--top", "w"), ["wifi"])

    def test_a_watch_goes_on_in_a_pipe_that_is_open_for_reading_too(self):
        scene = self.scene
        path = f"{scene.daemon.directory.path}/fifo"
        os.mkfifo(path)
        with open(path, "r+b", buffering=0) as pipe, subprocess.Popen(
                ["navctl", "watch", "kiosk", "--count", "2"], stdout=pipe, env=scene.environment) as watch:
            self.assertTrue(select.select([pipe], [], [], 60)[0])
            # The first line stays unread.
            scene.must("push", "kiosk", "news", "--new")
            self.assertEqual(watch.wait(60), 0)

    def test_who_has_read_the_help_once_sets_ten_members_of_seven_objects(self):
        scene = self.scene
        text = scene.must("set", "--help")
        for words in ("orientation=portrait|portraitUpsideDown|landscapeLeft", "barStyle=default|black", "guard=none|removal|all",
                      "isEnabled=true|false"):
            self.assertIn(words, text)
        commands = (
            "screen wifi title='Wi-Fi networks'", "item wifi prompt='Choose a network' rightItems=scan=Scan,help=Help",
            "button scan isEnabled=false", "bar tintColor=red", "bar prefersLargeTitles=true --animated", "toolbar barStyle=black",
            "toolbar hidden=false", "appearance standard.backgroundColor=#202020", "display orientation=landscapeLeft locale=de_DE",
            "settings guard=all")
        for command in commands:
            scene.must("set", "kiosk", *shlex.split(command))
        for command in commands:
            words = [word for word in shlex.split(command) if word != "--animated"]
            shown = scene.must("set", "kiosk", *(word for word in words if "=" not in word))
            for key, value in (word.split("=", 1) for word in words if "=" in word):
                self.assertRegex(shown, rf"(?m)^{re.escape(key)}  .*{value.split('=')[0]}", command)

    def test_the_example_of_each_help_is_one_line(self):
        scene = self.scene
        examples = re.findall(r"^ +(navctl ([a-z-]+) .*)$", scene.must("help", "all"), re.M)
        self.assertGreater(len(examples), 50)
        for example, command in examples:
            self.assertIn(f"\nExample: {example}\n", scene.must("help", command))

    def test_a_watch_ends_when_its_reader_has_gone(self):
        scene = self.scene
        done = subprocess.run(
            ["/bin/sh", "-c", "navctl watch kiosk | head -1"], capture_output=True, text=True, timeout=60, check=True,
            env=scene.environment)
        self.assertIn("snapshot", done.stdout)

    def test_each_message_says_what_was_tried_what_was_found_and_what_to_type(self):
        scene = self.scene
        before = scene.must("show", "kiosk", "-o", "json")
        self.assertGreaterEqual(len(MISTAKES), 40)
        typed = [(line, shlex.split(line), *row) for line, *row in TYPED]
        lines = [(line, line.split(" ") if line else [], *row) for line, *row in MISTAKES]
        for line, words, status, found, remedy in lines + typed:
            with self.subTest(line=line):
                result = scene.navctl(*words)
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
