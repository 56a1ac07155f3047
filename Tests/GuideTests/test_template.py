"""examples/template: its programs start with one command, and its own test passes."""
import os
import subprocess
import unittest

from blocks import ROOT, text_of
from checks import TOOLS
from reader import BINARIES, DEADLINE, Directory

FOLDER = os.path.join(ROOT, "examples", "template")


def files():
    return [os.path.join(folder, name) for folder, _, names in os.walk(FOLDER) for name in names if not folder.endswith("__pycache__")]


def is_running(pid):
    """An ended process that its parent has not read yet has no command line."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read() != b""
    except FileNotFoundError:
        return False


class Template(unittest.TestCase):
    def test_run_and_test_and_stop(self):
        directory = Directory()
        self.addCleanup(directory.remove)
        environment = {"PATH": "/usr/bin:/bin", "BIN": BINARIES, "DIR": directory / "run", "TMPDIR": directory.path,
                       "HOME": "/tmp", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        make = ["make", "--no-print-directory", "-C", FOLDER]
        self.addCleanup(subprocess.run, [*make, "-s", "stop"], env=environment, timeout=DEADLINE)
        done = subprocess.run([*make, "run", "test"], env=environment, stdout=subprocess.PIPE, text=True, timeout=2 * DEADLINE)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("The remote, within a minute: http://127.0.0.1:"), 2, done.stdout)
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines() if line.startswith("ok")],
                         ["ok  header", "ok  header", "ok  shell", "ok  shell"], done.stdout)
        with open(directory / "run/pids") as pids:
            running = [int(each) for each in pids]
        self.assertEqual(list(map(is_running, running)), [True] * 4)
        subprocess.run([*make, "stop"], env=environment, timeout=DEADLINE, check=True)
        # `make test` and `make stop` have ended what they started, and removed what it stored.
        self.assertEqual(os.listdir(directory.path), [])
        self.assertEqual(list(map(is_running, running)), [False] * 4)

    def test_it_is_short_enough_to_be_copied(self):
        self.assertLessEqual(sum(len(text_of(path).splitlines()) for path in files()), 150)

    def test_the_types_and_the_unit_are_right(self):
        done = subprocess.run(
            ["mypy", "--strict", "--cache-dir", os.path.join(ROOT, ".build", "mypy"), *(path for path in files() if path.endswith(".py"))],
            capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin", "MYPYPATH": os.path.join(ROOT, "python")})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(TOOLS["ini"](text_of(FOLDER, "kiosk@.service").replace("%i", "shell")), "")


if __name__ == "__main__":
    unittest.main()
