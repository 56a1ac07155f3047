#!/usr/bin/env python3
"""Show the screens of a nav, a line for each revision, and run the actions of its buttons."""
import subprocess
import sys

import navd
from navd import ButtonDescription, ItemDescription, NavigationError, ScreenDescription
from navd import operations as op

#: The stack of each route.
ROUTES: list[navd.JSON] = [
    {"match": "settings/wifi", "screens": ["home", {"id": "wifi", "title": "Wi-Fi", "route": "settings/wifi"}]},
    {"match": "settings/about", "screens": ["home", {"id": "about", "title": "About", "route": "settings/about"}]},
]
#: The content of each route; a real shell draws it.
CONTENT = {"home": "Welcome", "settings/wifi": "Networks: attic, cellar", "settings/about": "Kiosk 7"}
#: The command of each action.
ACTIONS = {"clock.print": ["echo", "it is noon"]}


def make(client: navd.Client, nav: str) -> None:
    """Make the nav, unless it has outlived the last run of this program."""
    clock = ButtonDescription(id="clock", title="Clock", action="clock.print")
    home = ScreenDescription(id="home", title="Home", route="home", item=ItemDescription(right_items=[clock]))
    try:
        client.perform(nav, [op.create(home, settings={"routes": ROUTES}), op.attach()])
    except NavigationError as error:
        if error.code != "nav-exists":
            raise


def content(screen: navd.Screen | None) -> str:
    if screen is None or screen.route is None:
        return "nothing"
    return CONTENT.get(screen.route, f"no content for {screen.route}")


def run(action: str) -> None:
    command = ACTIONS.get(action)
    if command is None:
        print("unknown action", action, flush=True)
    else:
        subprocess.run(command, check=False)


def main(nav: str) -> None:
    with navd.connect(name="kiosk shell") as client:
        make(client, nav)
        rev = 0
        with client.watch(nav, every_revision=True) as states:
            for state in states:
                for event in state.events:
                    if event.name == "buttonActivated" and "action" in event.details:
                        run(event.details["action"])
                # An event without a revision changes nothing that is drawn.
                if state.rev != rev:
                    print(f"rev {state.rev}  [{state.bar.title if state.bar else ''}]  {content(state.visible)}", flush=True)
                rev = state.rev


if __name__ == "__main__":
    main(*sys.argv[1:2] or ["kiosk"])
