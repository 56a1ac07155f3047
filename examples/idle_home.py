#!/usr/bin/env python3
"""Bring a nav home when nothing has changed for a while: idle_home.py NAV SECONDS [TIMES]. It ends after TIMES returns."""
import queue
import sys
import threading

import navd
from navd import Guard, NavigationError
from navd import operations as op


def is_home(state: navd.State) -> bool:
    return state.depth == 1 and state.visible == state.top


def go_home(client: navd.Client, nav: str, state: navd.State) -> bool:
    try:
        # Whatever somebody did meanwhile makes this a desync, and the time begins anew.
        client.perform(nav, [op.dismiss(), op.pop_to_root()], guard=Guard.revision(state), on_busy="interrupt")
    except NavigationError as error:
        print(error.code, flush=True)
        return False
    print("home", flush=True)
    return True


def follow(watch: navd.Watch[navd.State], newest: queue.SimpleQueue[navd.State]) -> None:
    for state in watch:
        newest.put(state)


def main(nav: str, seconds: float, times: int | None = None) -> None:
    newest: queue.SimpleQueue[navd.State] = queue.SimpleQueue()
    with navd.connect(name="idle home") as client, client.watch(nav, wait=True) as watch:
        threading.Thread(target=follow, args=(watch, newest), daemon=True).start()
        state = newest.get()
        while times != 0:
            try:
                state = newest.get(timeout=seconds)
            except queue.Empty:
                if not is_home(state) and go_home(client, nav, state) and times:
                    times -= 1


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), *map(int, sys.argv[3:4]))
