#!/usr/bin/env python3
"""List the published navs of a central navd: fleet_view.py [NAV [TOP]].

A device DEVICE publishes its nav NAV as DEVICE/NAV. The program prints a line for each change of a top
screen, and ends when the screen TOP has come.
"""
import sys
import threading

import navd


def follow(client: navd.Client, nav: str, last: str | None, done: threading.Event) -> None:
    """Print the top screen of one nav, until the device closes the nav."""
    device = nav.rpartition("/")[0]
    try:
        for latest in client.watch(nav, view="top"):
            top = latest.top
            print(f"{device}  rev {latest.rev}  {top.title or top.id if top else 'nothing'}", flush=True)
            if top and top.id == last:
                done.set()
        print(f"{device}  closed", flush=True)
    except navd.NavigationError as error:
        if error.code not in ("no-nav", "closed"):
            print(f"{device}  {error.code}: {error.message}", flush=True)


def directory(client: navd.Client, name: str, last: str | None, done: threading.Event) -> None:
    """Follow each nav with this name as soon as the directory of navs has it."""
    followed: set[str] = set()
    try:
        for state in client.watch("$navs"):
            present = {screen.id for screen in state.screens if screen.id.endswith(f"/{name}")}
            for nav in sorted(present - followed):
                threading.Thread(target=follow, args=(client, nav, last, done)).start()
            followed = present
    except navd.NavigationError as error:
        if error.code != "closed":
            raise


def main(name: str = "kiosk", last: str | None = None) -> None:
    done = threading.Event()
    with navd.connect(name="fleet view") as client:
        threading.Thread(target=directory, args=(client, name, last, done)).start()
        done.wait()


if __name__ == "__main__":
    main(*sys.argv[1:3])
