"""Every block of every page is run, or it is data that a tool reads, or the page has the reason why not."""
import collections
import os
import re
import unittest

from blocks import ROOT, blocks_of, text_of
from checks import TOOLS
import pages

FOUND = list(pages.found())


class Pages(unittest.TestCase):
    def test_each_block_has_a_way(self):
        ways = collections.Counter()
        for found in FOUND:
            with self.subTest(str(found)):
                way = found.way
                ways[way] += 1
                self.assertIsNotNone(way, (
                    "no test runs this block: add its page to OWNERS or SECTIONS, or write `<!-- checked: REASON -->` "
                    "or `<!-- not run: REASON -->` into the line before it"))
                if found.block.mark in ("not run", "checked"):
                    self.assertGreater(len(found.block.note.split()), 2, "the reason")
                    print(f"{way}: {found}: {found.block.note}")
        print(f"blocks: {', '.join(f'{count} {way}' for way, count in sorted(ways.items(), key=str))}")

    def test_a_part_of_a_program_needs_an_owner_or_a_reason(self):
        for language in ("sh", "swift", "c", "js", "python", "qml"):
            block = blocks_of(f"```{language}\nx\n```\n")[0]
            self.assertIsNone(pages.Found("docs/new.md", block, "").way, language)
            marked = blocks_of(f"<!-- checked: the reason for it -->\n```{language}\nx\n```\n")[0]
            self.assertEqual(pages.Found("docs/new.md", marked, "").way, "checked", language)
        self.assertEqual(pages.Found("docs/new.md", blocks_of("```json\n{}\n```\n")[0], "").way, "checked")

    def test_what_the_administrator_types_is_run(self):
        for found in FOUND:
            if found.owner == pages.ADMINISTRATOR:
                with self.subTest(str(found)):
                    self.assertEqual(found.way, "run")
                    self.assertNotEqual(found.block.mark, "not run", "the scenario types it")

    def test_no_block_is_overlooked(self):
        for page in pages.pages():
            fences = len(re.findall(r"^ *```", text_of(page), re.M))
            self.assertEqual(fences, 2 * sum(found.page == page for found in FOUND), page)

    def test_no_block_names_a_path_in_tmp_that_others_can_make_first(self):
        self.assertEqual([str(found) for found in FOUND if "/tmp/" in found.block.text], [])

    def test_the_tests_of_other_pages_exist_and_name_them(self):
        for page, text in pages.administrator_types():
            self.assertTrue(any(found.page == page and text in found.block.text for found in FOUND), (page, text))
        for pattern, language, test in pages.OWNERS:
            self.assertTrue(pages.matches(pattern), pattern)
            name = os.path.basename(pattern).removesuffix(".md")
            # A test of many pages names their folder.
            self.assertIn(os.path.basename(os.path.dirname(pattern)) if name == "*" else name, text_of(test))
            if language:
                self.assertRegex(text_of(test), f"```{language}|language == \"{language}\"")
        headings = {(found.page, found.heading) for found in FOUND}
        for (page, heading), test in pages.SECTIONS.items():
            self.assertIn((page, heading), headings)
            self.assertIn(os.path.basename(page).split(".")[0], text_of(test), test)

    def test_the_tool_of_its_language_accepts_each_block(self):
        count = 0
        for found in FOUND:
            if found.way == "checked":
                with self.subTest(str(found)):
                    self.assertIn(found.block.language, TOOLS, "no tool reads this language")
                    self.assertEqual(TOOLS[found.block.language](found.block.text), "")
                    count += 1
        self.assertGreater(count, 20)


class Tools(unittest.TestCase):
    def test_each_fault_is_found(self):
        for language, text in (
                ("sh", "if true"), ("sh", "navd --confg x"), ("sh", "systemctl start navd-tpc"), ("sh", "make dmeo"),
                ("sh", "navd-tcp enabel"), ("ini", "[acces]\nx = 1\n"), ("ini", "[Service]\nExecStart=nothing\n"),
                ("json", "{"), ("yaml", "a: [b"), ("yaml", "expr: navd_nothing == 1"), ("python", "a: int = 'b'"),
                ("swift", "let = 3"), ("c", "int a"), ("js", "let a =;")):
            with self.subTest(f"{language}: {text}"):
                self.assertNotEqual(TOOLS[language](text), "")

    def test_what_is_right_passes(self):
        for language, text in (
                ("sh", "navd --config x # --y\nsystemctl --user start navd.socket\nnavd-tcp enable\nmake demo"),
                ("ini", "[Service]\nExecStart=/bin/true\n"), ("yaml", "expr: navd_serving == 1")):
            with self.subTest(f"{language}: {text}"):
                self.assertEqual(TOOLS[language](text), "")


if __name__ == "__main__":
    unittest.main()
