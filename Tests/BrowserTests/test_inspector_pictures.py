"""The pictures of docs/inspector.md: one of each view.

NAVD_PICTURES names the directory that gets them, such as docs/inspector; without it the test only looks whether
each picture can be taken and has contents.
"""
import itertools
import os
import re
import unittest

from harness import ROOT, Directory
from inspectors import Client, InspectorTest, page_directory, start

PLACE = os.environ.get("NAVD_PICTURES")
PAGE = os.path.join(ROOT, "docs", "inspector.md")


def setUpModule():
    start(arguments=("--hide-scrollbars",))


class Pictures(InspectorTest):
    def setUp(self):
        super().setUp()
        self.directory = Directory()
        self.addCleanup(self.directory.remove)
        self.taken = set()

    def take(self, name):
        """Takes a picture once the fonts and the frame are there."""
        self.driver.execute_async_script(
            "const done = arguments[0]; document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
        path = os.path.join(PLACE, name + ".png") if PLACE else self.directory / (name + ".png")
        self.assertTrue(self.driver.save_screenshot(path))
        # An empty page of this size has about 6 kB.
        self.assertGreater(os.path.getsize(path), 12_000, name)
        self.taken.add(name)

    def size(self, width, height, scale):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})

    def prefer(self, scheme):
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def make(self):
        """Navs of a house, and one with a history of three clients."""
        control = self.daemon.control
        for nav in ("car/cluster", "car/ivi", "lobby/left", "lobby/right", "till/1", "till/2", "till/3"):
            control.create(nav)
        shell, remote = Client(self.daemon.endpoint, "shell"), Client(self.daemon.endpoint, "remote")
        self.addCleanup(shell.close)
        self.addCleanup(remote.close)
        button = {"id": "add", "systemItem": "add", "action": "wifi.add"}
        shell.op("kiosk", {"nav.create": {"root": {
            "id": "home", "title": "Home", "route": "home", "item": {"largeTitleDisplayMode": "always"}}}}, {"attach": {}})
        seen = {"guard": {"has": ["home"]}}
        shell.op("kiosk", {"bar.set": {"prefersLargeTitles": True}}, **seen)
        for turn in range(6):
            shell.op("kiosk", {"push": {"screen": {"id": "settings", "title": "Settings", "route": "settings"}}}, **seen)
            shell.op("kiosk", {"push": {"screen": {
                "id": "wifi", "title": "Wi-Fi", "route": "settings/wifi", "args": {"band": 5, "ssid": "attic"},
                "item": {"rightItems": [button], "prompt": "Choose a network"}}}}, **seen)
            shell.op("kiosk", {"screen.set": {"screen": "wifi", "title": f"Wi-Fi ({turn + 2})"}}, **seen)
            if turn < 5:
                remote.op("kiosk", {"popToRoot": {}}, guard={"top": "wifi"})
        remote.op("kiosk", {"present": {"screen": {"id": "pin", "title": "Enter PIN"}, "style": "formSheet"}}, **seen)
        shell.op("kiosk", {"dismiss": {}}, guard={"visible": "pin"})
        for _ in range(3):
            with self.assertRaises(Exception):
                remote.op("kiosk", {"pop": {}}, guard={"top": "home"})

    def test_each_view(self):
        self.make()
        self.size(1280, 800, 1)
        self.open("kiosk", pin="till/1")
        self.live("kiosk")
        self.until("the history", "return document.querySelectorAll('[data-row]').length > 3")
        self.until("its own session", lambda: any(each.get("name") == "inspector" for each in self.daemon.control.clients()))
        rev = self.daemon.control.op("kiosk", {"screen.set": {"screen": "wifi", "title": "Wi-Fi"}})["rev"]
        self.live("kiosk")
        remote = Client(self.daemon.endpoint, "dashboard")
        self.addCleanup(remote.close)
        remote.request("watch", nav="kiosk", bad={"rev": rev, "dig": "00000bad" + "0" * 16})
        for what in ("session-event", "report"):
            self.until(what, f"return document.querySelector('[data-view=stream] [data-{what}]')")
        self.until("the newest row", f"return document.querySelector('[data-row][data-rev=\"{rev}\"]')")
        self.take("live")
        newest = self.daemon.control.get("kiosk")["rev"]
        self.link("kiosk", rev=4)
        self.past("kiosk", 4)
        self.click("[data-part=bookmark]")
        self.until("its sign", "return document.querySelector('[data-row][data-bookmark]')")
        self.take("past")
        self.link("kiosk", rev=newest, with_=newest - 3)
        self.tab("compare")
        self.until("a change", "return document.querySelector('[data-view=compare] [data-change]')")
        self.take("compare")
        self.link("kiosk")
        for name, row in (("why", "[data-view=why] [data-author]"), ("sessions", "[data-session]"),
                          ("refusals", "[data-refusal]"), ("plots", "[data-plot] canvas")):
            self.tab(name)
            self.until(name, f"return document.querySelector({row!r})")
            if name == "plots":
                titles = itertools.count()
                self.until("two samples of changes", lambda: (
                    self.daemon.control.op("till/2", {"screen.set": {"screen": "home", "title": f"Sale {next(titles)}"}}),
                    self.run_("return document.querySelectorAll('[data-plot=operations] tbody tr').length > 2"))[1])
            self.take(name)
        self.prefer("dark")
        self.tab("stream")
        self.take("dark")
        self.prefer("light")
        self.size(390, 844, 2)
        self.take("narrow")
        self.size(1280, 800, 1)
        self.driver.get("about:blank")
        ticket = self.directory / "ticket.html"
        status, _, errors = self.daemon.navctl("record", "kiosk", ticket, "--html", "--page", page_directory())
        self.assertEqual(status, 0, errors)
        self.driver.get("file://" + ticket)
        self.until("the recording", "return document.documentElement.dataset.state === 'recording'")
        self.until("its stage", "return document.querySelector('[data-part=position]').dataset.proven === 'true'")
        self.take("recording")
        with open(PAGE, encoding="utf-8") as file:
            named = set(re.findall(r"\]\(inspector/([\w-]+)\.png\)", file.read()))
        self.assertEqual(self.taken, named)
        kept = {name[:-4] for name in os.listdir(os.path.join(ROOT, "docs", "inspector")) if name.endswith(".png")}
        self.assertEqual(kept, named)


if __name__ == "__main__":
    unittest.main()
