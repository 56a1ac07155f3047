"""The shell: makes the nav, draws the content of the visible screen, and runs the actions of buttons."""
import navd
from navd import operations as op

HOME: dict[str, navd.JSON] = {
    "id": "home", "title": "Home", "route": "home",
    "item": {"rightItems": [{"id": "help", "title": "Help", "action": "help.call"}]}}
ROUTES: list[navd.JSON] = [{"match": "news", "screens": ["home", {"id": "news", "title": "News", "route": "news"}]}]
CONTENT = {"home": "Welcome", "news": "Rain until noon"}
ACTIONS = {"help.call": "An attendant comes"}

with navd.Client(name="shell") as client:
    try:
        client.perform("kiosk", [op.create(HOME, settings={"routes": ROUTES}), op.attach()])
    except navd.NavigationError as error:
        if error.code != "nav-exists":  # The nav has outlived an earlier run: go on with it.
            raise
    for state in client.watch("kiosk", wait=True, every_revision=True):
        for event in state.events:
            if event.name == "buttonActivated":
                print(ACTIONS.get(str(event.details.get("action")), "unknown action"))
        print(CONTENT.get(state.visible.route or "", "no content") if state.visible else "nothing")
