"""A reader of a page: a daemon of its own, and one shell that runs the blocks in their order."""
import os
import re
import subprocess
import sys

from blocks import ROOT, blocks_of, is_shown

sys.dont_write_bytecode = True
sys.path.append(os.path.join(ROOT, "Tests", "BrowserTests"))
from harness import BINARIES, DEADLINE, Daemon, Directory, eventually  # noqa: E402


class Mismatch(AssertionError):
    """A page shows something else than its block prints."""


class Reader:
    """Types the blocks of a page into a shell.

    The shell is one terminal session, as navctl sees it, and programs in the background print into
    it. Output counts from the last block of output on; a block that a page shows no output of may
    print nothing. Without a daemon of the test, a page starts its own.
    """

    def __init__(self, page, configuration="", has_daemon=True, environment=None):
        self.page, self.blocks, self.read, self.has_background, self.ran = page, blocks_of(page), 0, False, []
        self.directory = Directory()
        for name in ("docs", "examples", "python", "Tests", "man"):
            os.symlink(os.path.join(ROOT, name), self.directory / name)
        for name in ("home", "run"):
            os.mkdir(self.directory / name, 0o700)
        self.daemon = Daemon(configuration, options=("--durability", "relaxed")) if has_daemon else None
        base = {
            "PATH": f"{BINARIES}:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": self.directory / "home", "XDG_RUNTIME_DIR": self.directory / "run",
            "XDG_STATE_HOME": self.directory / "home", "LC_ALL": "C.UTF-8",
            "PYTHONPATH": os.path.join(ROOT, "python"), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80"}
        if self.daemon:
            base["NAVD_ENDPOINT"] = self.daemon.endpoint
        self.log = self.directory / "terminal"
        # Programs write at once, so each appends.
        with open(self.log, "ab") as file:
            self.shell = subprocess.Popen(
                ["/bin/bash", "-O", "expand_aliases"], stdin=subprocess.PIPE, stdout=file, stderr=file, env=base | (environment or {}),
                cwd=self.directory.path, start_new_session=True)

    def close(self):
        # Programs in the background are in the group of the shell.
        try:
            os.killpg(self.shell.pid, 9)
        except ProcessLookupError:
            pass
        self.shell.stdin.close()
        self.shell.wait(DEADLINE)
        if self.daemon:
            self.daemon.close()
        self.directory.remove()

    def output(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            file.seek(self.read)
            return file.read()

    def type(self, text):
        """Runs commands, and returns their status. They read nothing."""
        number = len(self.ran)
        path = self.directory.write(f"block-{number}", text)
        status = self.directory / f"status-{number}"
        self.shell.stdin.write(f". {path} </dev/null; echo $? >{status}.new; mv {status}.new {status}\n".encode())
        self.shell.stdin.flush()
        try:
            eventually(f"the end of: {text}", lambda: os.path.exists(status) or self.shell.poll() is not None)
        except AssertionError as error:
            raise Mismatch(f"{error}\nprinted:\n{self.output()}") from None
        if self.ran and self.ran[-1].rstrip().endswith("wait"):
            self.has_background = False
        self.ran.append(text)
        self.has_background = self.has_background or any(
            re.search(r"&( \w+=\$!)?$", line.rstrip()) for line in text.splitlines())
        with open(status) as file:
            return int(file.read())

    def reads(self, text):
        """Waits until the terminal shows these lines, and no others."""
        expected = text.splitlines()
        matches = (lambda: is_shown(expected, self.output().splitlines(), self.has_background))
        try:
            # What stands in the terminal when a foreground block has ended does not change any more.
            eventually("the output", matches, DEADLINE if self.has_background else 0)
        except AssertionError:
            raise Mismatch(f"the page shows\n{text}\nbut the terminal\n{self.output()}") from None
        self.read = os.path.getsize(self.log)

    def follow(self, programs=()):
        """Goes through the page, and returns the number of blocks that ran."""
        count = 0
        for index, block in enumerate(self.blocks):
            where = f"line {block.line}"
            following = self.blocks[index + 1] if index + 1 < len(self.blocks) else None
            if block.mark in ("not run", "checked"):
                continue
            if block.mark == "configuration":
                self.directory.write(block.note, block.text)
            elif block.language in ("sh", "python") and any(block.text in program for program in programs):
                # The page shows a part of a program, which runs as a whole.
                pass
            elif block.language == "sh":
                status = self.type(block.text)
                if status != 0:
                    raise Mismatch(f"{where}: status {status}\n{self.output()}")
                if following is None or following.language != "text":
                    self.reads("")
            elif block.language == "python":
                self.directory.write("block.py", block.text)
                if self.type("python3 block.py"):
                    raise Mismatch(f"{where}:\n{self.output()}")
            elif block.language == "text":
                try:
                    self.reads(block.text)
                except Mismatch as error:
                    raise Mismatch(f"{where}: {error}") from None
            else:
                raise Mismatch(f"{where}: the test cannot run `{block.language}`: mark the block `not run: REASON`")
            count += 1
        return count
