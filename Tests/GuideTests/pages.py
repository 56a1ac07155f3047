"""The pages of the project, and the way in which each of their blocks is tested."""
import dataclasses
import functools
import glob
import os
import re

from blocks import ROOT, blocks_of, text_of

#: Tests that run blocks of a page: the page, a language or none for all, and the file of the test.
OWNERS = (
    ("docs/tasks/*.md", None, "Tests/GuideTests/test_tasks.py"),
    ("docs/troubleshooting.md", None, "Tests/GuideTests/test_troubleshooting.py"),
    ("docs/clients.md", None, "Tests/GuideTests/test_clients.py"),
    ("docs/protocol.md", "json", "Tests/GuideTests/test_messages.py"),
    ("man/navd-protocol.7.scd", "json", "Tests/GuideTests/test_messages.py"),
    ("docs/client.md", "swift", "Tests/ClientTests/GuideTests.swift"),
    ("docs/python.md", "python", "Tests/PythonTests/guide.py"),
    ("docs/c.md", "c", "Tests/CTests/test_guide.py"),
    ("docs/qml.md", "qml", "Tests/QmlTests/test_qml.py"),
    ("docs/browser.md", "js", "Tests/BrowserTests/guide.py"),
    ("docs/recordings.md", None, "Tests/GuideTests/test_recordings.py"),
    ("man/navd-recording.7.scd", None, "Tests/GuideTests/test_recordings.py"),
)
#: Tests that run the blocks below one heading of a page.
SECTIONS = {
    ("docs/protocol.md", "A session in ten messages"): "Tests/GuideTests/test_protocol.py",
    ("docs/protocol.md", "CURVE, over tcp"): "Tests/GuideTests/test_protocol.py",
    ("docs/protocol.md", "The digest"): "Tests/GuideTests/test_messages.py",
    ("README.md", "With packages alone"): "Tests/BootedTests/Scenarios/newuser.sh",
    ("README.md", "Try it"): "Tests/GuideTests/test_sections.py",
    ("man/navctl.1.scd", "EXAMPLES"): "Tests/GuideTests/test_sections.py",
    ("man/navd-exporter.8.scd", "EXAMPLES"): "Tests/GuideTests/test_servers.py",
    ("man/navd-web.8.scd", "EXAMPLES"): "Tests/GuideTests/test_servers.py",
    ("man/navd-web.8.scd", "PROXY"): "Tests/BrowserTests/test_proxies.py",
    ("docs/inspector.md", "The inspector"): "Tests/ProcessTests/InspectorTests.swift",
    ("python/README.md", "The Python client of navd"): "Tests/GuideTests/test_sections.py",
}
#: Types blocks of the pages below on a machine with systemd: its lines `types PAGE TEXT` name a text of each.
ADMINISTRATOR = "Tests/BootedTests/Scenarios/pages.sh"
#: What is data: a tool reads it, and there is nothing to run.
DATA = {"ini", "yaml", "json"}


@dataclasses.dataclass(frozen=True)
class Found:
    page: str
    block: object
    #: The heading above the block.
    heading: str

    def __str__(self):
        return f"{self.page}:{self.block.line}"

    @property
    def owner(self):
        if (self.page, self.block.line) in administered():
            return ADMINISTRATOR
        return SECTIONS.get((self.page, self.heading)) or next(
            (test for pattern, language, test in OWNERS
             if self.page in matches(pattern) and language in (None, self.block.language)), None)

    @property
    def way(self):
        """The way in which the block is tested, or nothing if nobody has thought of it."""
        # The mark of such a block is about the test of its page, which has no service manager.
        if self.owner == ADMINISTRATOR:
            return "run"
        if self.block.mark == "not run":
            return "not run"
        if self.block.mark == "checked":
            return "checked"
        if self.owner:
            return "run"
        return "checked" if self.block.language in DATA else None


def administrator_types():
    """The pages, each with a text of a block, that the scenario names."""
    return [(page, bare or quoted) for page, quoted, bare in re.findall(
        r"^[^#\n]*(?:types|writes \S+) ((?:docs|man)/\S+) (?:'([^']+)'|(\S+))", text_of(ADMINISTRATOR), re.M)]


@functools.cache
def administered():
    """The pages and lines of the blocks that the scenario types: the first block that has the text."""
    return {(page, next((block.line for block in blocks_of(text_of(page)) if text in block.text), None))
            for page, text in administrator_types()}


@functools.cache
def matches(pattern):
    return {os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, pattern), recursive=True)}


def pages():
    """Each page with blocks: Markdown outside the build, and the manual."""
    found = set().union(*map(matches, (
        "*.md", "docs/**/*.md", "*/README.md", "Tests/**/README.md", "demo/**/README.md", "man/*.scd")))
    return sorted(page for page in found if "```" in text_of(page))


def found():
    """Every block of every page."""
    for page in pages():
        text = text_of(page)
        lines = text.splitlines()
        for block in blocks_of(text):
            # A comment of a shell looks like a heading.
            above = re.sub(r"^ *```.*?^ *```$", "", "\n".join(lines[:block.line - 1]), flags=re.S | re.M)
            headings = re.findall(r"^#+ (.*)$", above, re.M)
            if page.endswith(".scd"):
                block = dataclasses.replace(block, language=language_of(block.text))
            yield Found(page, block, headings[-1] if headings else "")


def language_of(text):
    """The manual has no names of languages behind its fences."""
    return "ini" if text.startswith("[") else "json" if text.startswith("→") else "sh"
