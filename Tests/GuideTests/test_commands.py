"""Every command line of navctl in the documents has a command and options that navctl has."""
import os
import re
import subprocess
import unittest

from blocks import ROOT, text_of
from reader import BINARIES, DEADLINE
import pages

DOCUMENTS = sorted({*pages.pages(), *pages.matches("docs/*.md"), *pages.matches("docs/kiosk/*.md")})
#: Commands with verbs of their own; other words behind a command are names that the user chooses.
VERBS = {"key": "new public authorize list revoke", "screen": "create release", "button": "create release activate",
         "set": "screen item button bar toolbar appearance proxy display settings",
         "lease": "take release", "transition": "complete",
         "cluster": "status move drain", "config": "origin"}
NAV_FIRST = {"set", "screen", "button", "lease", "transition"}


def lines_of(document):
    """The command lines of a document: in blocks of shell, and in spans of code."""
    text = text_of(document)
    # Blocks in lists are indented.
    shell = [line for block in re.findall(r"^ *```(?:sh)?\n(.*?)^ *```$", text, re.S | re.M) for line in block.splitlines()]
    spans = re.findall(r"`(navctl [^`\n]+)`", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.S | re.M))
    for line in [*shell, *spans]:
        for found in re.finditer(r"(?:^|[\s(|;])navctl ([^|;&)#>]+)", line):
            yield found[1].split(" -- ")[0].split()


def navctl(*words):
    return subprocess.run(
        [os.path.join(BINARIES, "navctl"), *words], capture_output=True, text=True, timeout=DEADLINE, check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": "/tmp"}).stdout


class Commands(unittest.TestCase):
    def test_each_command_line_of_the_documents_exists(self):
        commands = set(re.findall(r"^  ([a-z-]+) ", navctl("help", "all"), re.M)) | {"help"}
        helps, count = {}, 0
        for document in DOCUMENTS:
            for words in lines_of(document):
                where = f"{document}: navctl {' '.join(words)}"
                # Options with a value can stand before the command.
                while words and words[0] in ("-e", "-o", "--endpoint", "--timeout", "--nav", "-n"):
                    words = words[2:]
                if not words or words[0].startswith("--") or not re.fullmatch(r"[a-z-]+", words[0]):
                    continue
                command, count = words[0], count + 1
                self.assertIn(command, commands, where)
                if command not in helps:
                    helps[command] = navctl(command, "--help")
                for option in re.findall(r"(?<![\w'\"])--[a-z][a-z-]+", " ".join(words)):
                    self.assertIn(option, helps[command], where)
                verbs = VERBS.get(command, "").split()
                rest = words[2 if command in NAV_FIRST else 1:]
                if verbs and rest and re.fullmatch(r"[a-z]+", rest[0]):
                    self.assertIn(rest[0], verbs, where)
        self.assertGreater(count, 100)


if __name__ == "__main__":
    unittest.main()
