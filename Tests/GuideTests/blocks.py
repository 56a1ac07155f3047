"""A page as the blocks that a reader types and reads.

Each block between fences has a language. A comment in the line before a block changes its meaning:

    <!-- not run: REASON -->     a test cannot run it, for this reason
    <!-- checked: REASON -->     a test checks its form and does not run it, for this reason
    <!-- configuration: NAME -->  a file NAME, beside the other files of the reader

The comment of a man page is a line `; not run: REASON`.
"""
import dataclasses
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FENCE = re.compile(
    r"^(?: *(?:<!-- |; )(?P<mark>[a-z ]+): (?P<note>[^\n]+?)(?: -->)?\n)?"
    # Blocks in lists are indented.
    r"(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.S | re.M)


@dataclasses.dataclass(frozen=True)
class Block:
    language: str
    text: str
    #: The line of the page at which it begins.
    line: int
    #: The comment before it: its word, and a reason or a name.
    mark: str
    note: str


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def blocks_of(page):
    return [
        Block(found["language"], re.sub(f"^{found['indent']}", "", found["text"], flags=re.M), page.count("\n", 0, found.start("language")) + 1,
              found["mark"] or "", found["note"] or "")
        for found in FENCE.finditer(page)]


def pattern(line):
    """A line that a page shows, as an expression: `…` stands for any text."""
    return re.compile(".*".join(map(re.escape, line.split("…"))))


def is_shown(expected, lines, any_order=False):
    """Whether lines are as a page shows them. A line `…` stands for any lines."""
    if not any_order:
        if not expected:
            return not lines
        if expected[0] == "…":
            return any(is_shown(expected[1:], lines[start:]) for start in range(len(lines) + 1))
        return bool(lines) and bool(pattern(expected[0]).fullmatch(lines[0])) and is_shown(expected[1:], lines[1:])
    left = list(lines)
    for line in expected:
        if line != "…":
            found = next((each for each in left if pattern(line).fullmatch(each)), None)
            if found is None:
                return False
            left.remove(found)
    return not left or "…" in expected
