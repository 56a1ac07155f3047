"""The header bar: prints a line for each state. The line `<` on standard input is a tap on the back button."""
import sys
import threading

import navd
from navd import Guard, operations as op

shown: navd.State | None = None


def text(slot: navd.Slot) -> str:
    return f"< {slot.text or ''}" if isinstance(slot, navd.BackButton) else f"[{slot.title or slot.id}]"


def taps() -> None:
    for _ in sys.stdin:
        try:  # Without a connection, a tap fails after 2 s. navd never performs it later.
            if shown:
                client.perform("kiosk", [op.back_tap()], guard=Guard.top(shown))
        except navd.NavigationError as error:
            print("not done:", error)


with navd.Client(name="header") as client:
    threading.Thread(target=taps, daemon=True).start()
    for shown in client.watch("kiosk", wait=True):
        if bar := shown.bar:
            # The buttons of the right side come right-most first.
            print("  ".join([*map(text, bar.left), bar.title or "", *map(text, reversed(bar.right))]))
