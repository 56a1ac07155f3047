"""The scripts of Tests/Conformance/sessions, which the clients in Swift and JavaScript run too."""
import pathlib
import unittest
from unittest.mock import patch

import session_runner as runner
from setting import ROOT
from navd.core.flights import Seen
from navd.core.mirror import Mirror, Outcome
from navd.core.session import Session

SCRIPTS = [
    (f"{file.name}:", title, lines)
    for file in sorted(pathlib.Path(ROOT, "Tests", "Conformance", "sessions").glob("*.txt"))
    for title, lines in runner.scripts(file.read_text(encoding="utf-8"))]


def failures():
    """What the scripts find."""
    for name, title, lines in SCRIPTS:
        try:
            runner.run(lines)
        except runner.Failed as failure:
            yield f"{name}{failure} ({title})"


class Scripts(unittest.TestCase):
    def test_every_script_passes(self):
        failed = list(failures())
        print(f"{len(SCRIPTS) - len(failed)} of {len(SCRIPTS)} scripts pass")
        self.assertEqual(failed, [], "\n".join(failed))
        self.assertGreaterEqual(len(SCRIPTS), 150)

    def test_a_spoilt_client_fails(self):
        for owner, name, fault in [
                (Session, "_silent_at", property(lambda session: session._heard + 2 * session._hb)),
                (Seen, "row", lambda seen, nav: 0), (Session, "applied", lambda session: None),
                (Mirror, "mark", lambda mirror, rev, dig: Outcome("ignored"))]:
            with self.subTest(name), patch.object(owner, name, fault):
                self.assertTrue(any(failures()))


if __name__ == "__main__":
    unittest.main()
