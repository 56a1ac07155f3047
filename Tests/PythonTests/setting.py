"""What the tests of the Python client share: the package from its sources, daemons, conditions."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGE = os.path.join(ROOT, "python")
sys.dont_write_bytecode = True
sys.path.insert(0, PACKAGE)
# At the end: some of its modules have the names of modules here.
sys.path.append(os.path.join(ROOT, "Tests", "BrowserTests"))

from harness import BINARIES, DEADLINE, Concurrently, Daemon, Directory, Process, eventually  # noqa: E402

__all__ = ["BINARIES", "DEADLINE", "HERE", "PACKAGE", "ROOT", "Concurrently", "Daemon", "Directory", "Process",
           "eventually", "text_of"]


def text_of(*path):
    """The text of a file of the repository."""
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()
