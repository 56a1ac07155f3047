"""navd-doc has the pages, and every file of the repository that they link to, at the place that the links name."""
import glob
import os
import re
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

    def test_every_page_is_in_it(self):
        self.assertEqual({path for path in files("docs") if path.endswith(".md")} - packaged(), set())


if __name__ == "__main__":
    unittest.main()
