#!/usr/bin/env python3
"""Control a nav by keys from standard input: `back`, `home`, `ok` (the first button), `look`, `off`."""
import sys

import navd
from navd import Guard, NavigationError
from navd import operations as op


def draw(state: navd.State) -> None:
    print(f"rev {state.rev}  " + " > ".join(screen.id for screen in state.screens), flush=True)


def press(client: navd.Client, seen: navd.State, key: str) -> None:
    """Perform a key on the state that the remote has drawn, and on no other."""
    if key == "back":
        client.perform(seen.nav, [op.back_tap()], guard=Guard.top(seen) & Guard.visible(seen))
    elif key == "home":
        client.perform(seen.nav, [op.pop_to_root()], guard=Guard.stack(seen), within=2.0)
    elif key == "ok":
        buttons = [slot for slot in seen.bar.right if isinstance(slot, navd.BarButton)] if seen.bar else []
        if buttons:
            client.perform(seen.nav, [op.activate_button(buttons[0].id)], guard=Guard.top(seen))
    elif key != "look":
        print("no such key:", key, flush=True)


def explain(error: NavigationError) -> None:
    if error.code == "desync":
        author = error.since.name if error.since else None
        print(f"{error.top} is on top now, by {author or 'navd'}: look, then press again", flush=True)
    elif error.may_have_happened:
        print(f"{error.code}: the key may have had an effect", flush=True)
    else:
        print(f"{error.code}: {error.message}", flush=True)


def main(nav: str) -> None:
    with navd.connect(name="remote control") as client:
        seen = client.state(nav)
        draw(seen)
        for line in sys.stdin:
            key = line.strip()
            if key == "off":
                break
            try:
                press(client, seen, key)
            except NavigationError as error:
                explain(error)
            # The next key acts on what the user sees from here on.
            seen = client.state(nav)
            draw(seen)


if __name__ == "__main__":
    main(*sys.argv[1:2] or ["kiosk"])
