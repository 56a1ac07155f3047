"""Compilers for the tests: what is built lies in a directory of its own, with the names of an installed library."""
import os
import shutil
import subprocess
import tempfile

from navdlib import DEADLINE, HEADERS, LIBRARY, ROOT

FLAGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
C11, CXX17 = ["cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L"], ["c++", "-std=c++17"]


def run(*arguments, **options):
    """Runs a program; returns what it printed, and fails with it if the status is not 0."""
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=DEADLINE, **options)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Workshop:
    """A directory with libnavd.so and libnavd.so.0, for programs that link with it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="nc-", dir="/tmp")
        for name in ("libnavd.so", "libnavd.so.0"):
            os.symlink(LIBRARY, os.path.join(self.path, name))

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name, text=None):
        path = os.path.join(self.path, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def program(self, source, compiler=None, *options):
        """Compiles and links a source file with all warnings as errors; returns the program."""
        program = self.file(os.path.basename(source) + ".program")
        run(*(compiler or C11), *FLAGS, *options, "-I", HEADERS, source, "-o", program,
            "-L", self.path, "-lnavd", f"-Wl,-rpath,{self.path}", "-pthread")
        return program


def repository(*names):
    return os.path.join(ROOT, *names)
