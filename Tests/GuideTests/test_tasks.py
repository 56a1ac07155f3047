"""docs/tasks: every block of every page runs, and prints what the page shows."""
import glob
import os
import re
import subprocess
import unittest

from blocks import ROOT, blocks_of, text_of
from reader import Directory, Reader

FOLDER = os.path.join(ROOT, "docs", "tasks")
PROGRAMS = sorted(glob.glob(os.path.join(ROOT, "examples", "*.*")))
TASKS = ["fleet", "header-bar", "idle-home", "kiosk-shell", "remote-control", "support-mirror", "test-rig", "till-veto", "voice"]


def page(name):
    return text_of("docs", "tasks", f"{name}.md")


def programs(text):
    """The programs that a page links to."""
    return [text_of(path) for path in re.findall(r"\]\(\.\./\.\./((?:python/)?examples/\w+\.\w+)\)", text)]


class Tasks(unittest.TestCase):
    def follow(self, name):
        text = page(name)
        place = Directory()
        self.addCleanup(place.remove)
        # The first page starts a daemon of its own. It is built already.
        reader = Reader(text, has_daemon=name != "README", environment={"TMPDIR": place.path})
        self.addCleanup(reader.close)
        reader.type("make() { test \"$*\" = build; }")
        linked = programs(text)
        self.assertEqual(reader.follow(linked), len([block for block in reader.blocks if block.mark not in ("not run", "checked")]))
        if name == "README":
            self.assertEqual(len(os.listdir(place.path)), 1)
            self.assertEqual(reader.type(re.search("`(kill %1; .*?)`", reader.page)[1]), 0)
            self.assertEqual(os.listdir(place.path), [])
            return
        typed = "\n".join(reader.ran)
        for path in re.findall(r"\(\.\./\.\./((?:python/)?examples/\w+\.\w+)\)", text):
            self.assertIn(path, typed, "a program that the page links to did not run")

    def test_there_is_a_page_for_each_task(self):
        names = {name.removesuffix(".md") for name in os.listdir(FOLDER)} - {"README"}
        self.assertEqual(names, set(TASKS))
        index = page("README")
        for name in TASKS:
            self.assertIn(f"({name}.md)", index)
            self.assertLessEqual(len(page(name).splitlines()), 90, name)

    def test_every_program_is_on_a_page_and_short(self):
        linked = "\n".join(page(name) for name in TASKS)
        for path in PROGRAMS:
            name = os.path.relpath(path, ROOT)
            self.assertIn(name, linked)
            self.assertLessEqual(len(text_of(name).splitlines()), 80, name)
            self.assertTrue(os.access(path, os.X_OK), name)

    def test_the_types_are_right(self):
        done = subprocess.run(
            ["mypy", "--strict", "--cache-dir", os.path.join(ROOT, ".build", "mypy"),
             *(path for path in PROGRAMS if path.endswith(".py"))],
            capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin", "MYPYPATH": os.path.join(ROOT, "python")})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_block_that_is_not_run_has_a_reason(self):
        for name in [*TASKS, "README"]:
            for block in blocks_of(page(name)):
                self.assertIn(block.mark, ("", "not run", "configuration"), f"{name}, line {block.line}")
                if block.mark == "not run":
                    self.assertGreater(len(block.note.split()), 2, f"{name}, line {block.line}")
            self.assertEqual(len(re.findall(r"^\s*```", page(name), re.M)), 2 * len(blocks_of(page(name))), name)


def _add(name):
    def test(self):
        self.follow(name)
    setattr(Tasks, f"test_{name.replace('-', '_')}", test)


for _name in [*TASKS, "README"]:
    _add(_name)

if __name__ == "__main__":
    unittest.main()
