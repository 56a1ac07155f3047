"""The package as others get it: types, a wheel in a fresh environment, the example."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest
import zipfile

from setting import DEADLINE, PACKAGE, Daemon, Directory, Process, text_of
import guide
import navd

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}


def run(*words, **options):
    """What a program printed; fails with all of it unless the program succeeds."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DEADLINE,
                          env={**ENVIRONMENT, **options.pop("environment", {})}, **options)
    if done.returncode:
        raise AssertionError(f"{words}: {done.returncode}: {done.stdout}")
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cache = Directory()
        cls.addClassCleanup(cache.remove)
        cls.mypy = ["mypy", "--strict", "--cache-dir", cache.path]

    def setUp(self):
        self.directory = Directory()
        self.addCleanup(self.directory.remove)

    def test_the_types_are_right(self):
        files = [os.path.join(PACKAGE, "examples", "header_bar.py"), self.directory.write("guide.py", guide.program())]
        said = run(*self.mypy, "-p", "navd", cwd=PACKAGE)
        said += run(*self.mypy, *files, environment={"MYPYPATH": PACKAGE})
        self.assertEqual(len(re.findall("Success: no issues found", said)), 2, said)

    def test_wrong_uses_are_found_by_their_types(self):
        wrong = {
            'client.pop("kiosk")': "arg-type", 'client.perform("kiosk", [3])': "list-item",
            'client.watch("kiosk", view="half")': "call-overload", 'navd.operations.pop_to()': "call-arg",
            'navd.Guard(tpo="home")': "call-arg", 'client.state("kiosk").revision': "attr-defined",
            'client.watch("kiosk", view="top").take().screens': "attr-defined",
            'navd.ScreenDescription(titel="x")': "call-arg", 'client.state("kiosk").rev = 3': "misc"}
        path = self.directory.write("wrong.py", "import navd\nclient = navd.connect()\n" + "\n".join(wrong))
        done = subprocess.run([*self.mypy, path], capture_output=True, text=True, timeout=DEADLINE,
                              env={**ENVIRONMENT, "MYPYPATH": PACKAGE})
        found = {int(line): code for line, code in re.findall(r":(\d+): error: .*\[([a-z-]+)\]", done.stdout)}
        self.assertEqual(found, {number + 3: code for number, code in enumerate(wrong.values())}, done.stdout)

    def test_the_core_imports_neither_the_shell_nor_io(self):
        code = ("import sys, types; sys.modules['zmq'] = None; sys.path.insert(0, sys.argv[1]);"
                "package = types.ModuleType('navd'); package.__path__ = [sys.argv[1] + '/navd'];"
                "sys.modules['navd'] = package; import navd.core;"
                "print(*sorted(set(sys.modules) & {'socket', 'threading', 'time', 'os', 'navd.shell', 'asyncio'}))")
        loaded = run(sys.executable, "-S", "-c", code, PACKAGE).split()
        self.assertNotIn("navd.shell", loaded)
        for name in os.listdir(os.path.join(PACKAGE, "navd", "core")):
            if name.endswith(".py"):
                text = text_of("python", "navd", "core", name)
                self.assertNotRegex(text, r"(?m)^(import|from) (os|time|socket|threading|zmq|asyncio)\b", name)

    def test_everything_public_is_documented(self):
        missing = []
        for folder, _, names in os.walk(os.path.join(PACKAGE, "navd")):
            for name in sorted(names):
                if name.endswith(".py"):
                    text = text_of(folder, name)
                    for found in re.finditer(
                            r'^( *)(?:async )?(?:def|class) ((?!_)\w+)[^"]*?:\n\s*(?!\s*""")\S', text, re.M):
                        if "@overload" not in text[max(0, found.start() - 40):found.start()]:
                            missing.append(f"{name}: {found[2]}")
        self.assertEqual([each for each in missing if not each.endswith((": start", ": begin", ": call"))], [])

    def test_the_version_is_that_of_the_daemon(self):
        source = text_of("Sources", "NavigationDaemon", "Daemon.swift")
        version = re.search(r'static let version = "([^"]*)"', source)[1]
        self.assertIn(f'version = "{version}"', text_of("python", "pyproject.toml"))

    def test_a_wheel_works_in_a_fresh_environment(self):
        source, place = self.directory / "source", self.directory / "environment"
        shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__", "build", "dist", "*.egg-info"))
        built = run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir",
                    self.directory / "dist", cwd=source)
        self.assertNotIn("SetuptoolsDeprecationWarning", built)
        archive, wheel = sorted(os.listdir(self.directory / "dist"), key=lambda name: name.endswith(".whl"))
        self.check_licence(self.directory / f"dist/{archive}", self.directory / f"dist/{wheel}")
        # Without a pip of its own, which takes seconds to install: Debian has the wheel of that pip.
        run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", place)
        python, (pip,) = os.path.join(place, "bin", "python"), glob.glob("/usr/share/python-wheels/pip-*.whl")
        run(python, f"{pip}/pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check",
            self.directory / f"dist/{wheel}")
        found = run(python, "-c", "import navd, os; print(navd.__file__, os.path.exists("
                    "os.path.join(os.path.dirname(navd.__file__), 'py.typed')))", cwd="/")
        self.assertTrue(found.startswith(place) and found.endswith(" True\n"), found)
        self.show_the_example(python)

    def test_the_package_of_debian_has_metadata(self):
        run(os.path.join(os.path.dirname(PACKAGE), "debian", "dist-info"), os.path.join(PACKAGE, "pyproject.toml"),
            self.directory / "site")
        found = run(sys.executable, "-c", "from importlib.metadata import *; print(version('navd'), requires('navd'))",
                    environment={"PYTHONPATH": self.directory / "site"})
        self.assertRegex(found, r"^\d+\.\d+\.\d+ \['pyzmq>=24'\]$")

    def check_licence(self, archive, wheel):
        """Both have the licence, and the wheel names it."""
        text = text_of("LICENSE").encode()
        with tarfile.open(archive) as file:
            names = [name for name in file.getnames() if name.endswith("/LICENSE")]
            self.assertEqual([file.extractfile(name).read() for name in names], [text])
        with zipfile.ZipFile(wheel) as file:
            names = [name for name in file.namelist() if name.endswith("/LICENSE")]
            self.assertEqual([file.read(name) for name in names], [text])
            metadata, = (name for name in file.namelist() if name.endswith("/METADATA"))
            self.assertRegex(file.read(metadata).decode(), r"(?m)^License(-Expression)?: Apache-2\.0$")
        # Forms that setuptools takes no more after February 2027.
        form = text_of("python", "pyproject.toml")
        self.assertNotRegex(form, r"license = \{|License :: OSI")

    def show_the_example(self, python):
        daemon = Daemon()
        self.addCleanup(daemon.close)
        daemon.control.create("kiosk")
        daemon.control.op("kiosk", {"push": {"screen": {
            "id": "wifi", "title": "Wi-Fi", "item": {"rightItems": [{"id": "scan", "title": "Scan"}]}}}})
        reading, writing = os.pipe()
        try:
            example = Process(
                [python, os.path.join(PACKAGE, "examples", "header_bar.py")], self.directory / "example.log",
                stdin=reading, environment={"NAVD_ENDPOINT": daemon.endpoint})
            self.addCleanup(lambda: example.is_running and example.kill())
            example.says(r"< Home  Wi-Fi  \[Scan\]\n")
            os.write(writing, b"<\n")
            example.says(r"Home\n$")
            os.write(writing, b"q\n")
            self.assertEqual(example.ended(), 0)
        finally:
            os.close(reading)
            os.close(writing)

    def test_the_package_has_all_of_its_modules(self):
        folders = [os.path.relpath(folder, PACKAGE).replace(os.sep, ".")
                   for folder, _, names in os.walk(os.path.join(PACKAGE, "navd")) if "__init__.py" in names]
        listed = re.search(r"packages = \[(.*)\]", text_of("python", "pyproject.toml"))[1]
        self.assertEqual(set(re.findall(r'"([\w.]+)"', listed)), set(folders))
        for name in navd.__all__:
            self.assertTrue(hasattr(navd, name), name)


if __name__ == "__main__":
    unittest.main()
