#!/usr/bin/env python3
"""Show a nav of many devices: fleet_view.py LIST [NAV [TOP]].

Each line of the file LIST has a device, its endpoint and its public key. NAVD_KEY names the file of the
secret key of this program. It prints a line for each change of a top screen, and ends when the screen
TOP has come.
"""
import sys
import threading

import navd


def follow(device: str, endpoint: str, key: str, nav: str, last: str | None, done: threading.Event) -> None:
    """Print the top screen of a device's nav, whenever the device is there and has the nav."""
    with navd.Client(endpoint, name="fleet view", server_key=key) as client:
        for navs in client.watch("$navs"):
            if nav not in {screen.id for screen in navs.screens}:
                continue
            for latest in client.watch(nav, view="top"):
                top = latest.top
                print(f"{device}  rev {latest.rev}  {top.title or top.id if top else 'nothing'}", flush=True)
                if top and top.id == last:
                    done.set()
            if not done.is_set():
                print(f"{device}  closed", flush=True)


def main(path: str, nav: str = "kiosk", last: str | None = None) -> None:
    done = threading.Event()
    with open(path, encoding="utf-8") as file:
        devices = [line.split() for line in file]
    for device, endpoint, key in devices:
        # Such a thread ends with the program.
        threading.Thread(target=follow, args=(device, endpoint, key, nav, last, done), daemon=True).start()
    done.wait()


if __name__ == "__main__":
    main(*sys.argv[1:4])
