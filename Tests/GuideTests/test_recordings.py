"""docs/recordings.md and navd-recording(7), typed by a reader."""
import unittest

from blocks import text_of
from reader import Reader


class Recordings(unittest.TestCase):
    def reader(self, page):
        reader = Reader(page)
        self.addCleanup(reader.close)
        reader.daemon.control.create("kiosk")
        reader.type("mkdir -m 700 ~/.ssh; ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519")
        for name in ("wifi", "dns"):
            reader.daemon.control.op("kiosk", {"push": {"screen": {"id": name}}})
        return reader

    def test_the_page(self):
        self.assertEqual(self.reader(text_of("docs", "recordings.md")).follow(), 7)

    def test_the_examples_of_the_manual(self):
        reader = self.reader(text_of("man", "navd-recording.7.scd"))
        shown = (
            "ticket.navrec  kiosk from revision 1 to 3  digest …  … bytes  redacted\n"
            "ticket.navrec  ok  kiosk  3 revisions from 1 to 3  digest …  … revisions/s  redacted",
            '{"rev":1,"do":["nav.create","attach"]}\n{"rev":2,"do":["push"]}\n{"rev":3,"do":["push"]}')
        for block, lines in zip(reader.blocks, shown, strict=True):
            self.assertEqual(reader.type(block.text), 0, block)
            reader.reads(lines)


if __name__ == "__main__":
    unittest.main()
