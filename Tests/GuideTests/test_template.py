"""examples/template: its programs start with one command, and its own test passes."""
import os
import re
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
    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.environment = {"PATH": "/usr/bin:/bin", "BIN": BINARIES, "DIR": self.directory / "run", "TMPDIR": self.directory.path,
                            "HOME": "/tmp", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}

    def make(self, *arguments, deadline=DEADLINE):
        return subprocess.run(["make", "--no-print-directory", "-C", FOLDER, *arguments], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=deadline)

    def test_run_and_test_and_stop(self):
        directory = self.directory
        self.addCleanup(self.make, "-s", "stop")
        done = self.make("run", "test", deadline=2 * DEADLINE)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("The remote, within a minute: http://127.0.0.1:"), 1, done.stdout)
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines() if line.startswith("ok")],
                         ["ok  header", "ok  header", "ok  shell", "ok  shell"], done.stdout)
        with open(directory / "run/pids") as pids:
            running = [int(each) for each in pids]
        self.assertEqual(list(map(is_running, running)), [True] * 4)
        # From whichever folder, the last line of `make run` ends it.
        stop = re.search(r"^Also: .*; (make -C /.* stop)$", done.stdout, re.M)[1]
        subprocess.run(["/bin/sh", "-c", stop], env=self.environment, cwd="/", timeout=DEADLINE, check=True, stdout=subprocess.DEVNULL)
        # `make test` and `make stop` have ended what they started, and removed what it stored.
        self.assertEqual(os.listdir(directory.path), [])
        self.assertEqual(list(map(is_running, running)), [False] * 4)

    def test_run_ends_with_the_logs_if_the_gateway_does_not_start(self):
        self.addCleanup(self.make, "-s", "stop")
        self.environment["BIN"] = self.directory.path
        for program in ("navd", "navctl"):
            os.symlink(os.path.join(BINARIES, program), self.directory / program)
        self.directory.write("navd-web", "#!/bin/sh\necho no port is free\nexit 1\n", 0o700)
        done = self.make("run", deadline=20)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no port is free", done.stdout)

    def test_stop_ends_nothing_that_run_has_not_started(self):
        os.mkdir(self.directory / "run")
        with subprocess.Popen(["sleep", "60"], env={"NAVD_ENDPOINT": "ipc:///tmp/another"}) as other:
            self.addCleanup(other.kill)
            self.directory.write("run/pids", f"{other.pid}\n")
            self.assertEqual(self.make("stop").returncode, 0)
            self.assertIsNone(other.poll())
            other.kill()
        self.assertEqual(os.listdir(self.directory.path), [])

    def test_without_a_runtime_directory_it_uses_none_that_others_can_make(self):
        del self.environment["DIR"]
        self.environment["HOME"] = self.directory.path
        done = self.make("-s", "--eval", "place: ; @dirname $(DIR)", "place")
        self.assertEqual(done.stdout.strip(), self.directory.path)

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
