#!/usr/bin/env python3
"""Mirror a nav read-only, and prove each revision by its digest: support_mirror.py NAV [COUNT]."""
import sys
import zlib

import navd

PARTS = ("bar", "toolbar", "presented", "transition", "environment", "settings")


def checksum(state: navd.State) -> str:
    """The first 8 digits of the digest, computed here from the mirror alone: docs/protocol.md, the core."""
    lines = [f"{screen.id}@{screen.ver}" for screen in state.screens]
    lines += [f":{name}@{state.part(name)['ver']}" for name in PARTS]
    text = "\n".join(lines)
    return f"{zlib.crc32(text.encode()):08x}"


def main(nav: str, count: int | None = None) -> int:
    shown = 0
    with navd.connect(name="support mirror") as client, client.watch(nav, every_revision=True) as states:
        rev = 0
        for state in states:
            # An event without a revision leaves the mirror as it is.
            if state.rev == rev:
                continue
            rev = state.rev
            own = checksum(state)
            verdict = "equal" if state.dig.startswith(own) else f"DIFFERS from {own}"
            author = state.by.name if state.by else "-"
            stack = " > ".join(screen.id for screen in state.screens)
            print(f"rev {state.rev}  digest {state.dig} {verdict}  {stack}  by {author}", flush=True)
            if not state.dig.startswith(own):
                return 1
            shown += 1
            if shown == count:
                return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:3])))
