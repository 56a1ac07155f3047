"""docs/clients.md: every recipe runs, and every guide names the page and what differs in its language."""
import os
import re
import subprocess
import unittest

from blocks import ROOT, text_of
from reader import BINARIES, DEADLINE, Directory, Reader

PAGE = text_of("docs", "clients.md")
GUIDES = ("python.md", "browser.md", "client.md", "c.md", "qml.md")


class Clients(unittest.TestCase):
    def test_each_recipe_runs_and_prints_what_the_page_shows(self):
        reader = Reader(PAGE)
        self.addCleanup(reader.close)
        self.assertEqual(reader.follow(), len(reader.blocks))

    def test_each_guide_names_the_page(self):
        for guide in GUIDES:
            with self.subTest(guide):
                self.assertIn(f"({guide})", PAGE)
                text = text_of("docs", guide)
                self.assertTrue("](clients.md)" in text, guide)
                for words in ("attach", "right-most first|from left to right", "Times are", "[Ww]ithout a connection",
                              "any order"):
                    self.assertTrue(re.search(words, text), words)

    def test_the_libraries_come_from_a_checkout(self):
        directory = Directory()
        self.addCleanup(directory.remove)
        prefix = directory / "prefix"
        make = subprocess.run(
            ["make", "--no-print-directory", "-C", ROOT, "install-library", "CONFIGURATION=debug", f"PREFIX={prefix}"],
            capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(make.returncode, 0, make.stderr)
        program = directory.write("shell.c", "#include <navd.h>\nint main(void) { navd_string_free(NULL); return 0; }\n")
        flags = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "navd"], capture_output=True, text=True, timeout=DEADLINE, check=True,
            env={"PATH": "/usr/bin:/bin", "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}).stdout.split()
        done = subprocess.run(["cc", "-o", directory / "shell", program, *flags], capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        web, module = re.search(r"`make (\w+)`, then `navd-web --module (\S+)`", PAGE).groups()
        subprocess.run(["make", "--silent", "-C", ROOT, web], timeout=DEADLINE, check=True, stdout=subprocess.DEVNULL)
        self.assertTrue(os.path.exists(os.path.join(ROOT, module)))
        self.assertTrue(os.path.exists(os.path.join(ROOT, re.search(r"pip install \./(\S+?)`", PAGE)[1], "pyproject.toml")))
        self.assertTrue(os.path.exists(os.path.join(BINARIES, "libnavd-c.so")))


if __name__ == "__main__":
    unittest.main()
