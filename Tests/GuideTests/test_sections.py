"""Sections of README.md, navctl(1) and python/README.md, typed by a reader: the terminal shows what `terminals` has."""
import os
import re
import subprocess
import unittest

from blocks import ROOT, blocks_of, is_shown, text_of
from reader import BINARIES, DEADLINE, Daemon, Reader


def section(page, heading):
    """The text below a heading, to the next heading outside a block."""
    text = text_of(page).split(f"\n{heading}\n")[1]
    ends = [found.start() for found in re.finditer(r"^#+ ", text, re.M)
            if text.count("```", 0, found.start()) % 2 == 0]
    return text[:min(ends, default=len(text))]


class Sections(unittest.TestCase):
    def follow(self, page, heading, name, **options):
        """Types the blocks of shell, and compares the terminal with the parts of a file, one for each block."""
        reader = Reader(section(page, heading), **options)
        self.addCleanup(reader.close)
        # The programs where `make release` puts them, and one that a user of navctl has.
        os.makedirs(reader.directory / ".build")
        os.symlink(BINARIES, reader.directory / ".build/release")
        reader.directory.write("record-screen", "#!/bin/sh\necho recording\n", 0o700)
        reader.type(f'PATH=$PATH:{reader.directory.path}')
        typed = [block for block in reader.blocks if block.mark not in ("not run", "checked")]
        shown = re.split(r"^--\n", text_of("Tests", "GuideTests", "terminals", name), flags=re.M)
        self.assertEqual(len(typed), len(shown))
        for block, lines in zip(typed, shown):
            status = reader.type(block.text)
            self.assertEqual(status, 0, block)
            reader.reads(lines)

    def test_by_hand(self):
        self.follow("README.md", "## By hand", "README-by-hand", has_daemon=False)

    def test_two_commands(self):
        done = subprocess.run(
            [os.path.join(ROOT, "demo", "run")], capture_output=True, text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "NAVD_BIN": BINARIES, "HOME": "/tmp", "LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = next(block.text for block in blocks_of(section("README.md", "## Two commands")) if block.language == "text")
        # Either of the two can win, and the other one is refused.
        swapped = re.sub(
            r"shell   (?=popped)|remote  (?=refused)|of the remote took",
            lambda found: {"s": "remote  ", "r": "shell   ", "o": "of the shell took"}[found[0][0]], shown)
        self.assertNotEqual(swapped, shown)
        lines = done.stdout.splitlines()
        self.assertTrue(any(is_shown(["…", *each.splitlines()], lines, any_order=True) for each in (shown, swapped)), f"{shown}\n{done.stdout}")

    def test_the_examples_of_navctl(self):
        self.follow("man/navctl.1.scd", "# EXAMPLES", "navctl-examples")

    def test_the_program_of_the_python_package(self):
        program = next(block.text for block in blocks_of(text_of("python", "README.md")) if block.language == "python")
        daemon = Daemon()
        self.addCleanup(daemon.close)
        daemon.control.create("kiosk")
        process = subprocess.Popen(
            ["/usr/bin/python3", "-u", "-c", program], stdout=subprocess.PIPE, text=True,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": os.path.join(ROOT, "python"), "NAVD_ENDPOINT": daemon.endpoint,
                 "PYTHONDONTWRITEBYTECODE": "1"})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "2 Wi-Fi\n")
        daemon.control.op("kiosk", {"pop": {}})
        self.assertEqual(process.stdout.readline(), "3 Home\n")


if __name__ == "__main__":
    unittest.main()
