"""The example as a screen reader meets it, on an X server of its own; `run` has it with NAVD_TEST_LONG=1."""
import os
import shutil
import subprocess
import sys
import unittest

from test_qml import HERE, MODULES, ROOT, DEADLINE, Daemon, Directory

NEEDS = ("Xvfb", "xvfb-run", "dbus-run-session", "/usr/libexec/at-spi-bus-launcher", "/usr/lib/qt6/bin/qml")


class AccessibilityTests(unittest.TestCase):
    def test_the_tree_has_what_shows_and_follows_a_change_of_page(self):
        missing = [name for name in NEEDS if not shutil.which(name)]
        if missing:
            self.skipTest(f"missing: {', '.join(missing)}")
        daemon, directory = Daemon(), Directory()
        self.addCleanup(directory.remove)
        self.addCleanup(daemon.close)
        example = os.path.join(ROOT, "qml", "example", "shell.qml")
        done = subprocess.run(
            ["xvfb-run", "-a", "dbus-run-session", "--", "/usr/bin/python3", os.path.join(HERE, "reader.py"), "--",
             "/usr/lib/qt6/bin/qml", "-I", MODULES, example],
            capture_output=True, text=True, timeout=DEADLINE * 3,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": directory.path, "XDG_RUNTIME_DIR": directory.path,
                 "NAVD_ENDPOINT": daemon.endpoint, "LANG": "C.UTF-8", "QT_QUICK_BACKEND": "software",
                 "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "PYTHONPATH": os.path.join(ROOT, "python")})
        sys.stdout.write(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
