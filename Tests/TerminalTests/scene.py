"""A daemon with navs, and navctl as a person or a program runs it."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "BrowserTests"))

from harness import BINARIES, DEADLINE, ROOT, Daemon, Refused, eventually  # noqa: E402, F401

NAVCTL = os.path.join(BINARIES, "navctl")


class Result:
    """How a run of navctl ended."""

    def __init__(self, done):
        self.status, self.output, self.errors = done.returncode, done.stdout, done.stderr


class Scene:
    """A daemon, and the environment of a terminal whose navctl talks to it."""

    def __init__(self, configuration=""):
        self.daemon = Daemon(configuration, options=("--durability", "relaxed"))
        self.environment = {
            "PATH": f"{BINARIES}:/usr/bin:/bin", "HOME": self.daemon.directory.path,
            "NAVD_ENDPOINT": self.daemon.endpoint,
        }

    def close(self):
        self.daemon.close()

    def navctl(self, *words, stdin="", timeout=DEADLINE, **environment):
        """Runs navctl in a session of its own, which has seen nothing."""
        return Result(subprocess.run(
            [NAVCTL, *words], input=stdin, capture_output=True, text=True, timeout=timeout,
            env=self.environment | environment, cwd=self.daemon.directory.path, start_new_session=True))

    def must(self, *words, **more):
        result = self.navctl(*words, **more)
        assert result.status == 0, f"{words}: {result.status} {result.errors}"
        return result.output

    def furnish(self):
        """The nav kiosk, [home, settings, wifi], with routes and restoration ids; and the bar hud."""
        control = self.daemon.control
        control.op("kiosk", {"nav.create": {"root": {"id": "home"}}}, {"attach": {}})
        control.op("kiosk", {"nav.configure": {"restorationID": "kiosk", "routes": [
            {"match": "settings/:page", "screens": ["home", {"route": "settings/{page}"}]}]}})
        control.op("kiosk", {"screen.set": {"screen": "home", "title": "Home", "restorationID": "home"}})
        for name, title, route in (("settings", "Settings", "settings"), ("wifi", "Wi-Fi", "settings/wifi")):
            control.op("kiosk", {"push": {"screen": {
                "id": name, "title": title, "route": route, "restorationID": name}}})
        control.op("hud", {"nav.create": {"kind": "bar"}})

    def furnish_anew(self):
        """The navs of `furnish`, whatever became of them."""
        for nav in ("kiosk", "hud"):
            try:
                self.daemon.control.op(nav, {"nav.close": {}})
            except Refused as refused:
                assert refused.args[0]["code"] == "no-nav", refused
        self.furnish()
