"""docs/python.md and docs/clients.md: the program runs, the tables name what there is."""
import os
import re
import subprocess
import sys
import typing
import unittest

from setting import DEADLINE, PACKAGE, Daemon, text_of
import guide
import navd


class Guide(unittest.TestCase):
    def test_the_program_runs(self):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", guide.program()], capture_output=True, text=True, timeout=DEADLINE,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": PACKAGE, "NAVD_ENDPOINT": daemon.endpoint,
                 "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        for line in ("player is on top by now, thanks to shell", "connected", "closed", "1 api shell", "2 api shell",
                     "PIN 0000"):
            self.assertEqual(lines.count(line), 1, f"{line}: {lines}")
        self.assertTrue(any(line.endswith("shows home") or "Home" in line for line in lines), lines)
        self.assertEqual(daemon.control.get("$navs")["screens"], [])

    def test_the_tables_name_what_there_is(self):
        source = text_of("python", "navd", "operations.py") + text_of("python", "navd", "generated", "operations.py")
        for cell, _, uses in guide.table("| guard | holds while | for |", guide.CLIENTS):
            if cell != "none":
                self.assertTrue(hasattr(navd.Guard, cell), cell)
            for name in re.findall(r"`([\w.]+)`", uses):
                self.assertIn(f'"{name}"', source)
        retries = [cell for cell, _ in guide.table("| `retry` | reaction |", guide.CLIENTS)]
        self.assertEqual(set(retries), set(typing.get_args(navd.Retry)))
        statuses = [cell for cell, _ in guide.table("| status | |")]
        self.assertEqual(set(statuses), set(typing.get_args(navd.Status)))

    def test_the_codes_of_the_package_are_those_of_the_guide(self):
        sources = "\n".join(
            text_of(folder, name) for folder, _, names in os.walk(PACKAGE) for name in names if name.endswith(".py"))
        used = set(re.findall(r"NavigationError\(\s*\"([a-z-]+)\"", sources))
        used |= set(re.findall(r"\"(aborted|expired|replaced)\"", sources))
        protocol = text_of("docs", "protocol.md").split("## 13. Errors")[1]
        own = {code for code in used if f"`{code}`" not in protocol.split("## 14")[0]} | {"expired", "internal"}
        sentence = re.search(r"Codes that come from\s+the package itself are (.*?)\.", guide.GUIDE, re.S)[1]
        self.assertEqual(own, set(re.findall(r"`([a-z-]+)`", sentence)))


if __name__ == "__main__":
    unittest.main()
