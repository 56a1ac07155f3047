"""The screens of `navctl ui`: wide and narrow, after a resize, without UTF-8, and while navd is away."""
import os
import pty
import signal
import subprocess
import unittest

from scene import NAVCTL, Scene, eventually
from test_terminal import Terminal


class Interface(unittest.TestCase):
    """Each test has a daemon with the navs of `furnish`, and one terminal."""

    configuration = ""

    def setUp(self):
        self.scene = Scene(self.configuration)
        self.addCleanup(self.scene.close)
        self.scene.furnish()

    def open(self, columns, rows, words, **environment):
        self.terminal = Terminal(self.scene, columns, rows, **environment)
        self.addCleanup(self.terminal.close)
        self.terminal.type(f"navctl ui {words}")

    def press(self, *keys):
        """Presses keys by their names, and types the other words."""
        names = ("Enter", "Escape", "Tab", "Up", "Down", "Left", "Right", "Home", "C-c", "M-b", "M-P", "M-Enter")
        for key in keys:
            self.terminal.tmux("send-keys", *([key] if key in names else ["-l", key]))

    def sees(self, *texts):
        """Waits until all texts are on the screen; returns its lines."""
        def all_there():
            screen = self.terminal.screen()
            return screen if all(text in screen for text in texts) else None
        try:
            return eventually(f"{texts}", all_there, 20).splitlines()
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.terminal.screen()}") from None

    def clears(self, message):
        """A key without an effect takes a message away."""
        self.press("Home")
        eventually(f"the end of {message}", lambda: message not in self.terminal.screen(), 20)

    def quits(self, key="q"):
        """The key ends the command, and the shell has the terminal as it was."""
        self.press(key)
        self.has_ended()

    def has_ended(self):
        """Waits for the shell, which has the terminal as it was."""
        eventually("the prompt", lambda: self.terminal.screen().rstrip().endswith("$"))
        self.assertNotIn("[kiosk]", self.terminal.screen())
        self.terminal.type("stty -a | grep -o ' icanon\\| echo '; echo $?")
        self.sees(" icanon\n echo\n0")

    def stack(self):
        return [screen["id"] for screen in self.scene.daemon.control.get("kiosk")["screens"]]


class Wide(Interface):
    def test_the_list_the_stack_and_the_changes_are_live(self):
        self.scene.must("create", "car/left", "--root", "home")
        self.open(80, 24, "kiosk")
        lines = self.sees("[kiosk]", "▶ wifi", "snapshot  rev 5")
        self.assertRegex(lines[0], r"navctl ui +ipc:\S+ +connected +read-only$")
        self.assertTrue(any(line.startswith("▶◆ kiosk ") for line in lines), lines)
        self.assertTrue(any(line.startswith("     left") for line in lines), lines)
        self.scene.must("back", "kiosk", "--top", "wifi")
        self.sees("pop wifi → settings by navctl, back\n", "     button  depth 2", "▶ settings")
        # The other navs have their newest revision too.
        self.scene.must("push", "car/left", "map", "--title", "Map")
        self.sees("left          rev 2  map")
        self.scene.must("create", "new", "--root", "home")
        self.sees("   new")
        # Without --write, no key changes anything.
        for key in "pPobr":
            self.clears("read-only: start with --write")
            self.press(key)
            self.sees("read-only: start with --write")
        self.assertEqual(self.stack(), ["home", "settings"])
        self.press("Tab", "Tab", "g", "Enter", "/new", "Enter")
        self.sees("1 of 4 with new", "▶  new")
        self.press("Enter")
        self.sees("─ new ", "▶ home")
        self.quits()
        # What was on the screen counts as seen, for the nav that was open.
        self.terminal.type("navctl pop new; echo status $?")
        self.sees("unchanged", "status 0")

    def test_keys_push_pop_and_go_back_with_write(self):
        self.open(80, 24, "kiosk --write")
        self.sees("[kiosk]", "▶ wifi", "read-write")
        self.press("p", "dns", "Enter")
        self.sees("unknown-screen: there is no screen dns; try: p, then its id and a title")
        self.press("p", "dns 名前 DNS", "Enter")
        self.sees("pushed dns", '▶ dns       "名前 DNS"', "push dns by navctl")
        self.press("b")
        self.sees("popped dns", "▶ wifi")
        self.press("P")
        self.sees("popped wifi", "▶ settings")
        self.press("r")
        self.sees("popped settings", "▶ home")
        self.assertEqual(self.stack(), ["home"])
        self.quits("C-c")

    def test_keys_that_ncurses_does_not_know_change_nothing(self):
        self.open(80, 24, "kiosk --write")
        self.sees("▶ wifi", "read-write")
        # In a line, none of them cancels it, and none has its last character performed as a key.
        unknown = ("M-b", "M-P", "M-Enter", "\x1b[1;7P", "\x1bO1;7P")
        self.press("p", "dns ", *unknown, "DNS", "Enter")
        self.sees("pushed dns", '▶ dns       "DNS"')
        # A pop would have to be answered before the push.
        self.press(*unknown, "p", "next Next", "Enter")
        self.sees("pushed next", "▶ next")
        self.assertEqual(self.stack(), ["home", "settings", "wifi", "dns", "next"])
        # Escape alone cancels a line.
        self.press("p", "never")
        self.sees("never")
        self.press("Escape")
        eventually("the end of the line", lambda: "never" not in self.terminal.screen(), 20)
        self.quits()

    def test_a_signal_that_ends_it_leaves_the_terminal_as_it_was(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number.name):
                self.open(80, 24, "kiosk")
                self.sees("[kiosk]", "▶ wifi")
                os.kill(self.terminal.process(), number)
                self.has_ended()
                self.terminal.close()

    def test_wide_characters_stand_in_their_columns_after_a_resize(self):
        self.scene.must("set", "kiosk", "screen", "wifi", "title=東京 e\u0301 👨‍👩‍👧 の設定画面")
        self.scene.must("set", "kiosk", "screen", "settings", "title=設定設定設定設定設定設定設定設定設定設定設定設定")
        self.open(80, 24, "kiosk")
        lines = self.sees("東京 e\u0301 👨 の設定画面", "設定設定")
        self.assertEqual({line.index("│") for line in lines if "│" in line}, {29})
        for columns, rows in ((40, 12), (101, 30), (80, 24)):
            self.terminal.tmux("resize-window", "-x", str(columns), "-y", str(rows))

            def fits():
                lines = self.terminal.screen().splitlines()
                return (len(lines) <= rows and "connected  read-only" in lines[0] and len(lines[0]) == columns
                        and "? help" in lines[-1] and len(lines) == rows and lines)
            lines = eventually(f"a screen of {columns} × {rows}", fits)
            self.assertEqual(any("─ changes" in line for line in lines), columns > 40)
            self.assertTrue(any("東京" in line for line in lines), lines)
        self.quits()

    def test_it_goes_on_when_navd_is_back(self):
        self.open(80, 24, "kiosk --write")
        self.sees("▶ wifi", "  connected")
        self.scene.daemon.kill()
        self.sees("disconnected, reconnecting", "[kiosk] as last seen", "▶ wifi")
        self.press("P")
        self.sees("disconnected: nothing was sent")
        self.scene.daemon.start()
        self.sees("▶ wifi", "[kiosk] rev 5", "  connected")
        self.press("P")
        self.sees("popped wifi", "▶ settings")
        self.scene.must("close", "kiosk", "--any")
        self.sees("kiosk was closed; it is shown when it is back")
        self.scene.must("create", "kiosk", "--root", "anew")
        self.sees("▶ anew")
        self.quits()


class Narrow(Interface):
    def test_one_pane_is_shown_at_a_time(self):
        self.open(40, 12, "")
        self.sees("[navs] 2", "▶  hud", "   kiosk")
        self.press("Down", "Enter")
        lines = self.sees("[kiosk]", "▶ wifi")
        self.assertEqual(len(lines), 12)
        self.assertFalse(any("[navs]" in line for line in lines), lines)
        self.press("Tab")
        self.sees("[changes] following", "snapshot  rev 5")
        self.press("?")
        self.sees("open the chosen nav", "j/k scroll")
        self.press("?", "Left")
        self.sees("▶◆ kiosk", "rev 5  depth 3  wifi")
        self.quits()

    def test_a_terminal_without_utf8_gets_ascii(self):
        self.scene.must("set", "kiosk", "screen", "wifi", "title=東京 Wi-Fi")
        for words, environment in (("kiosk --color never", {"LC_ALL": "C"}), ("kiosk --ascii", {"NO_COLOR": "1"})):
            self.open(80, 24, words, **environment)
            lines = self.sees("[kiosk]", '> wifi      "???? Wi-Fi"', ">* kiosk")
            self.assertTrue("".join(lines).isascii(), lines)
            # No colours and no other attributes: the signs suffice.
            self.assertNotIn("\x1b[", self.terminal.screen("-e").split("navctl ui", 1)[1])
            self.quits()
            self.terminal.close()

    def test_the_error_without_a_terminal_names_other_commands(self):
        result = self.scene.navctl("ui", "kiosk")
        self.assertEqual((result.status, result.output), (2, ""))
        self.assertIn("ui needs a terminal, and stdin or stdout is none", result.errors)
        self.assertIn("try: navctl watch kiosk, navctl list", result.errors)
        self.assertIn("navctl watch kiosk -o json", self.scene.navctl("ui", "kiosk", "-o", "json").errors)
        for term in ("dumb", "nothing-of-that-name", ""):
            with self.subTest(term=term):
                status, output = self.on_a_terminal("ui", "kiosk", TERM=term)
                self.assertEqual(status, 2, output)
                self.assertIn("ui needs a terminal that can place the cursor", output)
                self.assertIn("navctl watch kiosk", output)
                self.assertNotIn("\x1b", output)

    def on_a_terminal(self, *words, **environment):
        """Runs navctl on a terminal that has no program behind it."""
        ours, its = pty.openpty()
        done = subprocess.Popen([NAVCTL, *words], stdin=its, stdout=its, stderr=its, env=self.scene.environment | environment)
        os.close(its)
        output = b""
        while True:
            try:
                octets = os.read(ours, 4096)
            except OSError:
                break  # all other ends are closed
            if not octets:
                break
            output += octets
        os.close(ours)
        return done.wait(20), output.decode()


@unittest.skipUnless(os.geteuid() == 0, "only root can run navctl as another user")
class Restricted(Interface):
    configuration = "[access]\nrole = read uid:4711\n"

    def test_the_refusal_of_navd_is_shown(self):
        directory = self.scene.daemon.directory
        os.chmod(directory.path, 0o755)
        os.chmod(directory / "op", 0o666)
        self.terminal = Terminal(self.scene, 80, 24)
        self.addCleanup(self.terminal.close)
        self.terminal.type("HOME= setpriv --reuid 4711 --regid 4711 --clear-groups navctl ui kiosk --write")
        self.sees("▶ wifi", "read-write")
        for key in "Pbr":
            self.press(key)
            lines = self.sees("forbidden: ", "; try: add to the configuration:", "kiosk pop in [access]")
            self.assertTrue(any("▶ wifi" in line for line in lines), lines)
            self.clears("forbidden")
        self.press("p", "dns DNS", "Enter")
        self.sees("kiosk push in [access]")
        self.assertEqual(self.stack(), ["home", "settings", "wifi"])
        self.quits()


if __name__ == "__main__":
    unittest.main()
