"""What a person sees in a terminal: 80 × 24, 40 × 12, a dumb one, and one that shows ASCII alone."""
import json
import os
import signal
import subprocess
import unittest

from scene import Scene, eventually

# What is looked at, with a text that each must show; the longest titles are in the nav.
LOOKS = [
    ("show kiosk", "Wi-Fi"), ("list", "kiosk"), ("list --clients", ""), ("history kiosk", "push"), ("log kiosk", "push"),
    ("status", "navd"), ("doctor", "ok"), ("watch kiosk --count 1", "snapshot"), ("wait kiosk --depth 3", "depth 3"),
    ("why kiosk wifi", "put on the stack"), ("diff kiosk 1", "stack"), ("verify", "kiosk"), ("set kiosk display", "no member"),
    ("get kiosk --screen wifi", "Wi-Fi"), ("explain desync", "try"), ("explain", "desync"),
    ("config origin limits.depth", "default"), ("push kiosk dns --new --dry-run", "dry run"), ("key list", "NAME"),
    ("show nowhere", "no-nav"), ("psuh kiosk", "push"), ("set kiosk bar", "no member"), ("--help", "push"),
]


class Terminal:
    """A terminal of tmux, with a shell whose prompt is `$ `."""

    def __init__(self, scene, columns, rows, **environment):
        self.scene = scene
        self.socket = str(scene.daemon.directory / "tmux")
        variables = {"LC_ALL": "C.UTF-8", "TERM": "tmux-256color"} | scene.environment | environment | {"PS1": "$ "}
        given = " ".join(f"'{name}={value}'" for name, value in variables.items())
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  f"cd {scene.daemon.directory.path} && exec env -i {given} sh")
        self.tmux("set-option", "-g", "history-limit", "5000")
        # What is typed before would be shown twice: by the terminal, and by the shell.
        eventually("the prompt", lambda: self.screen().startswith("$"))

    def tmux(self, *words):
        return subprocess.run(
            ["tmux", "-u", "-S", self.socket, *words], capture_output=True, text=True, check=True,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}).stdout

    def close(self):
        command = ["tmux", "-S", self.socket, "kill-server"]
        # Its socket outlives the answer, and another terminal of the scene would find it.
        eventually("the end of tmux", lambda: subprocess.run(command, capture_output=True, check=False).returncode != 0)

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        self.tmux("send-keys", "Enter")

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def process(self):
        """The process that the shell has started."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as file:
            return int(file.read())

    def run(self, line):
        """The lines that a command prints, as they stand on the screen, and with wrapped ones joined."""
        self.scene.daemon.directory.write("r", f"{line}\nprintf 'status %s\\n' $?\n")
        self.tmux("send-keys", "-R")
        self.tmux("clear-history")
        self.type(". ./r")
        eventually(f"the end of {line}", lambda: "\nstatus " in self.screen("-S", "-"))
        return [self.screen("-S", "-", *options).split("\nstatus ")[0].split(". ./r\n", 1)[-1].splitlines()
                for options in ((), ("-J",))]


class Looks(unittest.TestCase):
    def setUp(self):
        self.scene = Scene()
        self.addCleanup(self.scene.close)
        self.scene.furnish()
        self.scene.must("set", "kiosk", "screen", "wifi", "title=Wi-Fi 東京 networks that are near enough")

    def open(self, columns, rows, **environment):
        terminal = Terminal(self.scene, columns, rows, **environment)
        self.addCleanup(terminal.close)
        return terminal

    def look(self, columns, rows, **environment):
        terminal = self.open(columns, rows, **environment)
        for line, text in LOOKS:
            with self.subTest(line=line, columns=columns, **environment):
                self.scene.must("push", "kiosk", "wifi", "--if-absent")
                shown, joined = terminal.run(f"navctl {line}")
                self.assertIn(text, " ".join(joined) if text else "", shown)
                yield line, shown, joined

    def test_nothing_is_wider_than_eighty_columns(self):
        for line, shown, joined in self.look(80, 24):
            self.fits(line, shown, joined)

    def fits(self, line, shown, joined):
        with self.subTest(line=line):
            self.assertEqual(len(shown), len(joined), f"{line} wraps:\n" + "\n".join(shown))

    def test_nothing_is_wider_than_forty_columns(self):
        for line, shown, joined in self.look(40, 12):
            # Examples are to be copied; the help and its errors are argp's, for 80 columns.
            if line not in ("--help", "psuh kiosk"):
                self.fits(line, shown, joined)

    def test_a_dumb_terminal_gets_no_escape_sequences(self):
        for line, _, _ in self.look(80, 24, TERM="dumb"):
            self.assertNotIn("\x1b", self.scene.navctl(*line.split(), TERM="dumb").output)

    def test_a_terminal_without_utf8_gets_ascii(self):
        for line, shown, joined in self.look(80, 24, LC_ALL="C"):
            self.assertTrue("\n".join(shown).isascii(), shown)
            self.fits(line, shown, joined)
        self.assertIn("< Settings", self.scene.must("show", "kiosk", "--ascii"))
        self.assertIn("‹ Settings", self.scene.must("show", "kiosk"))
        # Programs get everything.
        self.assertIn("東京", json.dumps(json.loads(self.scene.must("show", "kiosk", "-o", "json", LC_ALL="C")),
                                         ensure_ascii=False))


class Live(unittest.TestCase):
    def setUp(self):
        self.scene = Scene()
        self.addCleanup(self.scene.close)
        self.scene.furnish()
        self.terminal = Terminal(self.scene, 80, 24)
        self.addCleanup(self.terminal.close)

    def test_two_terminals_mirror_a_stack(self):
        self.terminal.type("navctl watch kiosk")
        eventually("the snapshot", lambda: "snapshot  rev 5" in self.terminal.screen())
        self.scene.must("back", "kiosk", "--top", "wifi")
        self.scene.must("push", "kiosk", "dns", "--title", "DNS")
        eventually("both changes", lambda: "push dns by navctl" in self.terminal.screen())
        self.assertIn("pop wifi → settings by navctl, back button", self.terminal.screen())
        self.terminal.tmux("send-keys", "C-c")
        eventually("the prompt", lambda: self.terminal.screen().rstrip().endswith("$"))

    def test_top_is_right_after_a_resize(self):
        self.terminal.type("navctl top --interval 100ms")
        eventually("a frame", lambda: "OPERATIONS" in self.terminal.screen())
        for columns, rows in ((40, 12), (100, 30), (80, 24)):
            self.terminal.tmux("resize-window", "-x", str(columns), "-y", str(rows))

            def fits():
                lines = self.terminal.screen().splitlines()
                return lines and "navd" in lines[0] and len(lines) <= rows and any("OPERATIONS" in line for line in lines)
            eventually(f"a frame of {columns} × {rows}", fits)
        self.terminal.tmux("send-keys", "q")
        eventually("the prompt", lambda: self.terminal.screen().rstrip().endswith("$"))

    def test_a_signal_that_ends_top_leaves_the_terminal_as_it_was(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number.name):
                self.terminal.type("navctl top")
                eventually("a frame", lambda: "OPERATIONS" in self.terminal.screen())
                os.kill(self.terminal.process(), number)
                eventually("the end of the frame", lambda: "OPERATIONS" not in self.terminal.screen(), 20)
                eventually("the shell", lambda: self.terminal.screen().rstrip().endswith("$"), 20)
                _, joined = self.terminal.run("stty -a | grep -o ' icanon\\| echo '")
                self.assertEqual([line.strip() for line in joined], ["icanon", "echo"])


if __name__ == "__main__":
    unittest.main()
