#!/usr/bin/env python3
"""Draw the header bar of a nav, a line for each state. Type `<` to go back, `q` to leave."""
import sys
import threading

import navd
from navd import Guard, operations


def text(slot: navd.Slot) -> str:
    if isinstance(slot, navd.BackButton):
        return f"< {slot.text or ''}".rstrip()
    return f"[{slot.title or slot.id}]"


def draw(bar: navd.Bar) -> str:
    # The right side comes right-most first.
    return "  ".join([*map(text, bar.left), bar.title or "", *map(text, reversed(bar.right))])


def obey(client: navd.Client, watch: navd.Watch[navd.State], nav: str) -> None:
    for line in sys.stdin:
        if line.strip() == "<":
            try:
                # If another screen is on top by now, navd refuses the tap.
                client.perform(nav, [operations.back_tap()], guard=Guard.top(client.state(nav)))
            except navd.NavigationError as error:
                print(error, flush=True)
        elif line.strip() == "q":
            break
    watch.close()


def main(nav: str) -> None:
    with navd.connect(name="header bar") as client, client.watch(nav, wait=True) as watch:
        threading.Thread(target=obey, args=(client, watch, nav), daemon=True).start()
        for state in watch:
            if state.bar:
                print(draw(state.bar), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2] or ["kiosk"])
