"""docs/c.md as a program and as tables, and the remote control of the demo."""
import os
import re
import subprocess
import unittest

from building import Workshop, repository
from harness import Daemon, eventually
from navdlib import DEADLINE, HEADERS

GUIDE = repository("docs", "c.md")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def table(head):
    """The code spans in the first column of a table of the guide."""
    rows = text_of(GUIDE).split(f"\n{head}\n")[1].split("\n\n")[0].splitlines()[1:]
    return {word for row in rows for word in re.findall(r"`(\w+)`", row.split("|")[1])}


class GuideTests(unittest.TestCase):
    def setUp(self):
        self.workshop = Workshop()
        self.addCleanup(self.workshop.close)
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)

    def start(self, program, *arguments):
        process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={"NAVD_ENDPOINT": self.daemon.endpoint})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def test_the_blocks_are_a_program_that_runs(self):
        blocks = re.findall(r"^```c\n(.*?)^```$", text_of(GUIDE), re.S | re.M)
        source = self.workshop.file("guide.c", "\n".join(blocks))
        process = self.start(self.workshop.program(source))
        printed, _ = process.communicate(timeout=DEADLINE)
        self.assertEqual(printed.splitlines(), ["home: [Home]", "editor: < Home [Editor]", "refused: vetoed"])
        self.assertEqual(process.returncode, 0)
        names = [name for entry in self.daemon.control.log("kiosk") for name in entry.get("do", [])]
        self.assertEqual(names, ["nav.create", "attach", "push", "pop"])
        eventually("the session ends", lambda: self.daemon.control.get(what="stats")["sessions"] == 0)

    def test_the_program_of_the_guide_uses_memory_rightly(self):
        blocks = re.findall(r"^```c\n(.*?)^```$", text_of(GUIDE), re.S | re.M)
        program = self.workshop.program(self.workshop.file("guide.c", "\n".join(blocks)))
        # What libzmq and the dynamic linker keep until the end is no error, and only lost memory is a leak.
        done = subprocess.run(
            ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=definite",
             "--errors-for-leak-kinds=definite", f"--suppressions={repository('Tests', 'CTests', 'libnavd.supp')}",
             program], capture_output=True, text=True, timeout=DEADLINE,
            env={"PATH": "/usr/bin:/bin", "NAVD_ENDPOINT": self.daemon.endpoint})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("refused: vetoed", done.stdout)

    def test_the_tables_have_the_words_of_the_header(self):
        header = text_of(os.path.join(HEADERS, "navd.h"))
        events = set(re.findall(r"\b(NAVD_EVENT_\w+) =", header)) - {"NAVD_EVENT_NONE"}
        self.assertEqual(table("| event | meaning |"), events)
        status = re.search(r"typedef enum navd_status \{(.*?)\}", header, re.S)[1]
        self.assertEqual(table("| status | meaning |"), set(re.findall(r"(NAVD_\w+) =", status)) - {"NAVD_OK"})

    def test_every_function_of_the_guide_exists(self):
        words = set(re.findall(r"\b(navd_\w+)\b", text_of(GUIDE)))
        header = text_of(os.path.join(HEADERS, "navd.h"))
        self.assertEqual([word for word in words if word not in header], [])

    def test_the_remote_control_obeys_and_never_pops_what_it_did_not_show(self):
        self.daemon.control.create("kiosk")
        source = repository("demo", "c", "remote.c")
        self.assertLessEqual(len(text_of(source).splitlines()), 80, "the guide promises 80 lines")
        process = self.start(self.workshop.program(source), "kiosk")
        self.assertEqual(process.stdout.readline(), "home\n")
        # The program's own thread, and two of libzmq.
        self.assertEqual(len(os.listdir(f"/proc/{process.pid}/task")), 3)

        def command(line):
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
        command("push wifi Wi-Fi \"attic\"")
        self.assertEqual(process.stdout.readline(), "home > wifi\n")
        self.assertEqual(self.daemon.control.get("kiosk")["screens"][1]["title"], "Wi-Fi \"attic\"")
        self.daemon.control.op("kiosk", {"transition.complete": {"tid": 2}})
        self.assertEqual(process.stdout.readline(), "home > wifi\n")
        command("push wifi Again")
        self.assertRegex(process.stdout.readline(), "duplicate-screen: .*; name each screen")
        command("back")
        self.assertEqual(process.stdout.readline(), "home\n")
        command("quit")
        self.assertEqual(process.wait(DEADLINE), 0)
        process.stdin.close()


if __name__ == "__main__":
    unittest.main()
