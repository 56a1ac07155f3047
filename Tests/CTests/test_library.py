"""The library as a file: its header, its symbols, what it needs, and what packages say of it."""
import os
import re
import unittest

from building import C11, CXX17, FLAGS, Workshop, repository, run
from navdlib import BINARIES, HEADERS, LIBRARY, SIGNATURES, lib

HEADER = os.path.join(HEADERS, "navd.h")


def declared():
    """The functions of the header."""
    with open(HEADER, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    return set(re.findall(r"\b(navd_\w+)\(", text))


class LibraryTests(unittest.TestCase):
    def test_the_header_compiles_alone_as_c11_and_as_cpp17(self):
        for compiler, language in ((C11, "c"), (CXX17, "c++")):
            run(*compiler, *FLAGS, "-Wconversion", "-fsyntax-only", "-x", language, HEADER)

    def test_the_library_exports_the_functions_of_the_header_and_nothing_else(self):
        lines = run("nm", "-D", "--defined-only", LIBRARY).splitlines()
        functions = {line.split()[-1].split("@")[0] for line in lines if line.split()[1] == "T"}
        others = [line for line in lines if line.split()[1] != "T" and not line.endswith(" A LIBNAVD_0")]
        self.assertEqual((functions, others), (declared(), []))
        self.assertEqual(functions, set(SIGNATURES))
        with open(repository("debian", "libnavd0.symbols"), encoding="utf-8") as file:
            packaged = re.findall(r"(?m)^ (navd_\w+)@LIBNAVD_0 ", file.read())
        self.assertEqual(packaged, sorted(functions))

    def test_the_library_has_its_soname_and_needs_no_swift(self):
        dynamic = run("readelf", "-d", LIBRARY)
        self.assertRegex(dynamic, r"SONAME.*\[libnavd\.so\.0\]")
        self.assertRegex(dynamic, r"FLAGS_1.*NODELETE")
        self.assertRegex(dynamic, r"BIND_NOW")
        needed = set(re.findall(r"NEEDED.*\[(lib\w+)", dynamic))
        self.assertLessEqual({"libzmq", "libc"}, needed)
        self.assertEqual([name for name in needed if "swift" in name.lower() or "Foundation" in name], [])

    def test_the_version_is_that_of_the_daemon(self):
        with open(repository("Sources", "NavigationDaemon", "Daemon.swift"), encoding="utf-8") as file:
            version = re.search(r'version = "([^"]+)"', file.read())[1]
        self.assertEqual(lib.navd_version().decode(), version)

    def test_an_installed_library_is_found_by_pkg_config(self):
        workshop = Workshop()
        self.addCleanup(workshop.close)
        root, libraries = workshop.file("root"), "/usr/lib/any"
        run("make", "--no-print-directory", "install-library", f"DESTDIR={root}", "PREFIX=/usr",
            f"clibdir={libraries}", "CONFIGURATION=" + os.path.basename(BINARIES), cwd=repository())
        environment = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": root,
                       "PKG_CONFIG_PATH": f"{root}{libraries}/pkgconfig"}
        options = run("pkg-config", "--cflags", "--libs", "navd", env=environment).split()
        version = run("pkg-config", "--modversion", "navd", env=environment).strip()
        self.assertEqual(version, lib.navd_version().decode())
        program = workshop.file("program")
        run(*C11, *FLAGS, repository("demo", "c", "remote.c"), "-o", program, *options)
        self.assertIn("libnavd.so.0", run("readelf", "-d", program))
        names = {name: os.path.realpath(f"{root}{libraries}/{name}") for name in ("libnavd.so", "libnavd.so.0")}
        self.assertEqual({os.path.basename(path) for path in names.values()}, {f"libnavd.so.{version}"})

    def test_a_program_in_cpp_links_with_it(self):
        workshop = Workshop()
        self.addCleanup(workshop.close)
        source = workshop.file("version.cpp", '#include <navd.h>\n#include <cstdio>\n'
                               "int main() { std::puts(navd_version()); }\n")
        self.assertEqual(run(workshop.program(source, CXX17)).strip(), lib.navd_version().decode())


if __name__ == "__main__":
    unittest.main()
