"""Sections of README.md, navctl(1) and python/README.md, typed by a reader: the terminal shows what `terminals` has."""
import glob
import os
import re
import subprocess
import unittest

from blocks import ROOT, blocks_of, is_shown, text_of
from reader import BINARIES, DEADLINE, Daemon, Directory, Reader


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

    def test_try_it(self):
        place = Directory()
        self.addCleanup(place.remove)
        self.follow("README.md", "## Try it", "README-try-it", has_daemon=False, environment={"TMPDIR": place.path})
        self.assertEqual(os.listdir(place.path), [], "the page removes what it made")

    def test_the_figure_of_the_size_on_disk(self):
        def size():
            # An orderly stop puts the write-ahead log into the file.
            daemon.process.stop()
            return sum(os.path.getsize(path) for path in glob.glob(f"{daemon.directory.path}/state/**", recursive=True) if os.path.isfile(path))

        daemon, count = Daemon(options=("--durability", "relaxed")), 600
        self.addCleanup(daemon.close)
        daemon.control.create("kiosk")
        before = size()
        daemon.start()
        for number in range(count):
            daemon.control.op("kiosk", {"pop": {}} if number % 2 else {"push": {"screen": {"id": "wifi", "title": "Wi-Fi"}}})
        figure = float(re.search(r"a change sent alone takes ([\d.]+) KB", text_of("README.md"))[1])
        self.assertAlmostEqual((size() - before) / count / 1000, figure, delta=0.15)

    def test_figures_and_their_ranges_are_of_one_run(self):
        table, count = text_of("Benchmarks", "README.md"), 0
        for page in ("README.md", "docs/why.md"):
            for least, most in re.findall(r"\(([\d.,]+) to ([\d.,]+)\)", text_of(page)):
                value = re.search(rf"\| ([\d.,]+)[^|]* \| {least} … {most} \|", table)[1]
                self.assertIn(value, text_of(page))
                number, low, high = (float(each.replace(",", "")) for each in (value, least, most))
                self.assertTrue(low <= number <= high, (page, value, least, most))
                count += 1
            for value in re.findall(r"(?<![(\d,.])\d{2,3}(?:[,.]\d+)?(?= µs| changes a second)", text_of(page)):
                self.assertTrue(f" {value} " in table, (page, value))
        self.assertGreater(count, 8)

    def test_the_first_screen_answers_what_a_stranger_asks(self):
        lines = text_of("README.md").splitlines()
        self.assertLess(len(lines), 110)
        first = "\n".join(lines[:36])
        for answer in ("is a Linux daemon that", "**For you if**", "**You type**", "**You need**", "**It costs**", "## Not for you if"):
            self.assertIn(answer, first)
        self.assertLessEqual(text_of("README.md").split("## Read on")[1].count("]("), 10)

    def test_make_demo(self):
        done = subprocess.run(
            [os.path.join(ROOT, "demo", "run")], capture_output=True, text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "NAVD_BIN": BINARIES, "HOME": "/tmp", "LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        shown = text_of("Tests", "GuideTests", "terminals", "demo")
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
