"""docs/python.md as a program and as tables."""
import re

from setting import text_of

GUIDE = text_of("docs", "python.md")
#: What all clients share.
CLIENTS = text_of("docs", "clients.md")


def program():
    """The blocks of Python of the guide, in order."""
    return "\n\n".join(re.findall(r"^```python\n(.*?)^```$", GUIDE, re.S | re.M))


def table(head, page=GUIDE):
    """The rows of the table with this first line, without its head."""
    rows = page.split(f"\n{head}\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows]
