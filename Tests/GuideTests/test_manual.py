"""man/navd-protocol.7.scd has the words of docs/protocol.md, and man renders it without a warning."""
import glob
import os
import re
import subprocess
import unittest

from blocks import ROOT, text_of

MANUAL = text_of("man", "navd-protocol.7.scd")
REFERENCE = text_of("docs", "protocol.md")


def first_column(heading):
    """The words in the first column of a table, with the second column of their rows."""
    rows = REFERENCE.split(f"\n| {heading} |")[1].split("\n\n")[0].splitlines()[2:]
    for cells in (row.strip("|").split("|") for row in rows):
        for word in re.findall(r"`([^`]+)`", cells[0]):
            yield word, cells[1].strip()


def part(heading):
    return re.search(rf"^# {heading}\n(.*?)^# ", MANUAL, re.S | re.M)[1]


def bold(text):
    return set(re.findall(r"\*([\w.-]+)\*", text))


class Manual(unittest.TestCase):
    def test_the_verbs_are_those_of_the_reference(self):
        for heading, table in (("VERBS TO THE DAEMON", "verb to the daemon"), ("VERBS FROM THE DAEMON", "verb from the daemon")):
            terms = set().union(*map(bold, re.findall(r"^\|\[?  ?(.*)$", part(heading), re.M)))
            self.assertEqual(terms, {word for word, _ in first_column(table)}, heading)

    def test_the_operations_are_those_of_the_reference(self):
        self.assertEqual(bold(part("OPERATIONS")), {word for word, _ in first_column("op | arguments")})

    def test_it_renders_without_a_warning(self):
        page = subprocess.run(["scdoc"], input=MANUAL, capture_output=True, text=True, timeout=60, check=True).stdout
        done = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-z"], input=page, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_package_installs_each_page(self):
        lines = [line.split()[0] for path in glob.glob(os.path.join(ROOT, "debian", "*.install"))
                 for line in text_of(path).splitlines() if line.startswith("usr/share/man/")]
        for path in glob.glob(os.path.join(ROOT, "man", "*.scd")):
            name = os.path.basename(path).removesuffix(".scd")
            folder = f"usr/share/man/man{name[-1]}"
            self.assertTrue({folder, f"{folder}/{name}"} & set(lines), name)


if __name__ == "__main__":
    unittest.main()
