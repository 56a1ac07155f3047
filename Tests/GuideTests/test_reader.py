"""The reader of pages finds what is planted for it."""
import unittest

from blocks import is_shown
from reader import Mismatch, Reader

FENCE = "```"


def page(*pieces):
    """A page of blocks: pairs of a language, after a mark if there is one, and a text."""
    return "\n".join(f"{language}\n{text}\n{FENCE}\n" for language, text in pieces)


SH, TEXT = f"{FENCE}sh", f"{FENCE}text"


class Readers(unittest.TestCase):
    def follow(self, *pieces, programs=()):
        reader = Reader(page(*pieces), has_daemon=False)
        try:
            return reader.follow(programs)
        finally:
            reader.close()

    def test_a_page_that_is_right_passes(self):
        self.assertEqual(self.follow((SH, "echo a; echo b 7"), (TEXT, "a\nb …"), (SH, "true")), 3)
        self.assertEqual(self.follow((SH, "echo a &\nwait"), (TEXT, "a"), (SH, "echo b\necho c"), (TEXT, "…\nc")), 4)
        self.assertEqual(self.follow((f"<!-- configuration: a.conf -->\n{FENCE}ini", "x"), (SH, "cat a.conf"), (TEXT, "x")), 3)
        self.assertEqual(self.follow((f"<!-- not run: it needs a printer -->\n{SH}", "false")), 0)
        self.assertEqual(self.follow((f"<!-- checked: it needs the service manager -->\n{SH}", "false")), 0)
        self.assertEqual(self.follow((f"{FENCE}python", "print(3)"), (TEXT, "3")), 2)
        self.assertEqual(self.follow((f"{FENCE}python", "    part = 1"), programs=["if x:\n    part = 1\n"]), 1)

    def test_each_fault_of_a_page_is_found(self):
        for pieces in ([(SH, "echo a"), (TEXT, "b")], [(SH, "echo a; echo b"), (TEXT, "b\na")], [(SH, "false")],
                       [(SH, "echo a")], [(SH, "echo a; echo b"), (TEXT, "a")], [(f"{FENCE}json", "{}")],
                       [(f"{FENCE}python", "raise SystemExit(1)")]):
            with self.assertRaises(Mismatch, msg=pieces):
                self.follow(*pieces)

    def test_lines_in_any_order_are_still_all_of_them(self):
        self.assertTrue(is_shown(["a", "b…"], ["b1", "a"], any_order=True))
        for lines in (["a"], ["a", "b", "c"], ["a", "a"]):
            self.assertFalse(is_shown(["a", "b"], lines, any_order=True))
        self.assertTrue(is_shown(["a", "…"], ["c", "a"], any_order=True))


if __name__ == "__main__":
    unittest.main()
