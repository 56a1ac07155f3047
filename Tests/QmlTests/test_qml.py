"""The QML module beside the built daemon, without a display: its tests, its example and its guide."""
import os
import re
import subprocess
import sys
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "Tests", "BrowserTests"))

from harness import DEADLINE, Daemon, Directory  # noqa: E402

MODULES = os.environ.get("NAVD_QML", os.path.join(ROOT, ".build", "qml", "debug", "build"))
RUNNER = os.environ.get("QMLTESTRUNNER", "/usr/lib/qt6/bin/qmltestrunner")


class QmlTests(unittest.TestCase):
    def setUp(self):
        self.daemon, self.directory = Daemon(), Directory()
        self.addCleanup(self.directory.remove)
        self.addCleanup(self.daemon.close)

    def run_tests(self, path):
        done = subprocess.run(
            [RUNNER, "-import", MODULES, "-input", path], capture_output=True, text=True, timeout=DEADLINE * 2,
            env={"PATH": "/usr/bin:/bin", "HOME": self.directory.path, "XDG_RUNTIME_DIR": self.directory.path,
                 "QT_QPA_PLATFORM": "offscreen", "NAVD_ENDPOINT": self.daemon.endpoint, "LANG": "C.UTF-8"})
        output = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, output)
        passed = int(re.search(r"Totals: (\d+) passed, 0 failed, 0 skipped", output)[1])
        # The framework counts its own two functions.
        self.assertNotIn("WARN", output)
        return passed - 2

    def test_the_module(self):
        def kill():
            state = self.daemon.control.get
            names = lambda: [each["id"] for each in state("$navs")["screens"]]  # noqa: E731
            while not done.wait(0.05):
                for nav in names():
                    if any(screen["id"] == "kill" for screen in state(nav)["screens"]):
                        self.daemon.kill()
                        self.daemon.start()
                        return
        done = threading.Event()
        killer = threading.Thread(target=kill)
        killer.start()
        try:
            count = self.run_tests(os.path.join(HERE, "tst_navigation.qml"))
        finally:
            done.set()
            killer.join()
        print(f"qml: {count} tests passed", flush=True)
        with open(os.path.join(HERE, "tst_navigation.qml"), encoding="utf-8") as file:
            self.assertEqual(count, len(re.findall(r"function test_", file.read())))

    def test_the_program_of_the_guide(self):
        with open(os.path.join(ROOT, "docs", "qml.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```qml\n(.*?)^```$", file.read(), re.S | re.M)
        self.directory.write("guide.qml", "\n".join(blocks))
        with open(os.path.join(HERE, "tst_guide.qml"), encoding="utf-8") as file:
            test = self.directory.write("tst_guide.qml", file.read())
        self.assertEqual(self.run_tests(test), 1)

    def test_the_guide_has_the_members_of_the_types(self):
        with open(os.path.join(ROOT, "docs", "qml.md"), encoding="utf-8") as file:
            guide = set(re.findall(r"\b\w+\b", " ".join(re.findall(r"`([^`\n]+)`", file.read()))))
        for name in ("navdclient", "navigationmodel", "navigationbar"):
            with open(os.path.join(ROOT, "qml", f"{name}.h"), encoding="utf-8") as file:
                text = file.read()
            members = set(re.findall(r"Q_PROPERTY\([\w *]*?(\w+) (?:READ|MEMBER)", text))
            members |= set(re.findall(r"Q_INVOKABLE \w+ (\w+)\(", text))
            self.assertGreater(len(members), 3)
            self.assertEqual(members - guide, set(), name)

    def test_programs_around_the_model(self):
        program = self.directory / "models"
        prefix = os.path.join(os.path.dirname(MODULES), "prefix", "lib")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "Qt6Qml", "Qt6Core", "Qt6Test", "navd"], check=True,
                               capture_output=True, text=True,
                               env={**os.environ, "PKG_CONFIG_PATH": os.path.join(prefix, "pkgconfig")}).stdout.split()
        source = os.path.join(HERE, "models.cpp")
        subprocess.run(["c++", "-std=c++17", "-fPIC", "-Wall", "-Wextra", "-Werror", source, "-o", program, *flags,
                        f"-Wl,-rpath,{prefix}"], check=True, timeout=DEADLINE * 2)
        done = subprocess.run([program, MODULES], capture_output=True, text=True, timeout=DEADLINE * 3, env={
            "HOME": self.directory.path, "NAVD_ENDPOINT": self.daemon.endpoint, "LANG": "C.UTF-8"})
        print(done.stdout, flush=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(source, encoding="utf-8") as file:
            cases = re.findall(r'^static void (\w+)\(\) \{', file.read(), re.M)
        self.assertEqual(re.findall(r"^(\w+): \d+ ms$", done.stdout, re.M), cases)

    def test_the_example(self):
        self.assertEqual(self.run_tests(os.path.join(HERE, "tst_example.qml")), 1)


if __name__ == "__main__":
    unittest.main()
