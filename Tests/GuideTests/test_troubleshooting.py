"""docs/troubleshooting.md: each symptom is provoked, and prints the message of the page."""
import re
import unittest

from blocks import text_of
from reader import Reader

PAGE = text_of("docs", "troubleshooting.md")


class Troubleshooting(unittest.TestCase):
    def test_each_symptom_is_as_on_the_page(self):
        reader = Reader(PAGE)
        self.addCleanup(reader.close)
        self.assertEqual(reader.follow(), len([block for block in reader.blocks if block.mark not in ("not run", "checked")]))
        self.assertEqual(len(re.findall(r"^\s*```", PAGE, re.M)), 2 * len(reader.blocks))

    def test_the_symptoms_are_numbered(self):
        numbers = [int(number) for number in re.findall(r"^### (\d+)\. ", PAGE, re.M)]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        self.assertGreaterEqual(len(numbers), 20)

    def test_each_code_of_the_page_exists(self):
        table = text_of("docs", "protocol.md").split("## 13. Errors")[1].split("## 14.")[0]
        for code in ("vetoed", "storage", "frozen", "lease-lost", "fenced", "moved", "busy", "forbidden", "readonly"):
            self.assertIn(f"`{code}`", table)
            self.assertIn(f"`{code}`", PAGE)


if __name__ == "__main__":
    unittest.main()
