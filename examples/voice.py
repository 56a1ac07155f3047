#!/usr/bin/env python3
"""Open the route that a sentence means: voice.py NAV SENTENCE. Statuses: 0 opened, 3 too late, 6 not understood."""
import re
import sys

import navd
from navd import Guard, NavigationError
from navd import operations as op

#: Words of a sentence, all of which must occur, and the route that they mean. The first match counts.
INTENTS = [
    ({"wifi"}, "settings/wifi"),
    ({"wireless"}, "settings/wifi"),
    ({"about", "kiosk"}, "settings/about"),
]
BACK = {"back", "return"}


def words(sentence: str) -> set[str]:
    return set(re.findall(r"[a-z]+", sentence.lower().replace("wi-fi", "wifi")))


def route(spoken: set[str]) -> str | None:
    return next((route for needed, route in INTENTS if needed <= spoken), None)


def main(nav: str, sentence: str) -> int:
    with navd.connect(name="voice") as client:
        # A recogniser takes this state when the user begins to speak.
        seen = client.state(nav)
        spoken = words(sentence)
        target = route(spoken)
        if target is not None:
            operation, guard = op.open_route(target), Guard.stack(seen)
        elif spoken & BACK:
            operation, guard = op.back_tap(), Guard.top(seen) & Guard.visible(seen)
        else:
            print("not understood:", sentence)
            return 6
        try:
            reply = client.perform(nav, [operation], guard=guard, within=2.0)
        except NavigationError as error:
            print(f"{error.code}: {error.message}")
            return 3 if error.code == "desync" else 1
        print(f"{target or 'back'}: {reply.top} is on top, depth {reply.depth}")
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], " ".join(sys.argv[2:])))
