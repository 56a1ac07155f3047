"""navd-doc has the pages, and every file of the repository that they link to, at the place that the links name."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

from blocks import ROOT, text_of


def files(pattern):
    """Paths from the root; those of a directory are all files in it."""
    for path in glob.glob(os.path.join(ROOT, pattern)):
        if os.path.isdir(path):
            yield from (os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(path) for name in names)
        else:
            yield os.path.relpath(path, ROOT)


def packaged():
    """The files of the package, by their paths below its directory of documents."""
    found = set()
    for pattern in text_of("debian", "navd-doc.docs").split():
        found |= set(files(pattern))
    for line in text_of("debian", "navd-doc.install").splitlines():
        pattern, place = line.split()
        parent = os.path.dirname(pattern)
        folder = place.removeprefix("usr/share/doc/navd-doc").strip("/")
        found |= {os.path.normpath(os.path.join(folder, os.path.relpath(path, parent or "."))) for path in files(pattern)}
    return found


class Package(unittest.TestCase):
    def test_each_link_of_its_pages_leads_to_a_file(self):
        have, count = packaged(), 0
        folders = {os.path.dirname(path) for path in have}
        for page in (path for path in have if path.endswith(".md")):
            for link in re.findall(r"\]\(([^)#\s]+)", text_of(page)):
                if not re.match(r"[a-z]+:", link):
                    target = os.path.normpath(os.path.join(os.path.dirname(page), link))
                    self.assertTrue(target in have or target in folders, f"{page} links to {link}")
                    count += 1
        self.assertGreater(count, 200)

    def test_what_was_built_of_other_sources_stays_out(self):
        with tempfile.TemporaryDirectory() as root:
            def write(path, text):
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w") as file:
                    file.write(text)

            def rules():
                # The order of the steps, without doing them.
                return subprocess.run(["make", "-n", "-C", root, "-f", os.path.join(ROOT, "debian", "rules"), "override_dh_installdocs"],
                                      stdout=subprocess.PIPE, text=True, check=True, env={"PATH": "/usr/bin:/bin"}).stdout

            built = (".build/docc/NavigationClient.doccarchive", ".build/site")
            for path in ("docs/a.md", "docs/b.md", "top.md", *(f"{each}/index.html" for each in built)):
                write(path, "first\n")
            for name in ("docc", "site"):
                write(f".build/{name}.sums", subprocess.run(
                    [os.path.join(ROOT, ".ci/sums"), "top.md", "docs"], cwd=root, stdout=subprocess.PIPE, text=True, check=True).stdout)
            installed = f"dh_installdocs -p navd-doc --doc-main-package=navd-doc {' '.join(built)}\n"
            self.assertIn(installed, rules())
            for what, change, undo in (
                    ("changed", lambda: write("docs/a.md", "second\n"), lambda: write("docs/a.md", "first\n")),
                    ("removed", lambda: os.remove(f"{root}/docs/b.md"), lambda: write("docs/b.md", "first\n")),
                    ("added", lambda: write("docs/c.md", "first\n"), lambda: os.remove(f"{root}/docs/c.md")),
                    ("added below", lambda: write("docs/new/c.md", ""), lambda: os.remove(f"{root}/docs/new/c.md")),
                    ("renamed", lambda: os.rename(f"{root}/docs/b.md", f"{root}/docs/d.md"),
                     lambda: os.rename(f"{root}/docs/d.md", f"{root}/docs/b.md")),
                    ("the only one of its path", lambda: os.remove(f"{root}/top.md"), lambda: write("top.md", "first\n"))):
                with self.subTest(what):
                    change()
                    steps = rules()
                    undo()
                    self.assertNotIn(installed, steps)
                    for each in built:
                        self.assertIn(f"{each} is of other sources", steps)
                    self.assertIn(installed, rules())
            # Python writes such files by itself.
            write("docs/__pycache__/a.pyc", "")
            self.assertIn(installed, rules())

    def test_every_page_is_in_it(self):
        self.assertEqual({path for path in files("docs") if path.endswith(".md")} - packaged(), set())


if __name__ == "__main__":
    unittest.main()
