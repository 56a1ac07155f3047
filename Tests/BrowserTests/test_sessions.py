"""The scripts of Tests/Conformance/sessions in node, which the clients in Swift and Python run too."""
import pathlib
import re
import subprocess
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
MODULE = TESTS.parent / ".build" / "web" / "navigation-client.js"
FILES = sorted((TESTS / "Conformance" / "sessions").glob("*.txt"))


def setUpModule():
    subprocess.run([TESTS.parent / "web" / "client" / "build"], check=True)


def run(module=MODULE):
    """The last line that the runner prints, and what it printed before."""
    command = ["node", TESTS / "BrowserTests" / "sessions.mjs", module, *FILES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    *failures, last = (done.stdout.strip() or done.stderr).split("\n")
    return done.returncode, last, "\n".join(failures)


class Scripts(unittest.TestCase):
    def test_every_script_passes(self):
        status, last, failures = run()
        print(last)
        self.assertEqual(status, 0, failures)
        self.assertGreaterEqual(int(re.match(r"\d+", last)[0]), 150)

    def test_a_spoilt_module_fails(self):
        source = MODULE.read_text(encoding="utf-8")
        for former, latter in [("3 * this.#heartbeatMilliseconds", "2 * this.#heartbeatMilliseconds"),
                               ("request.sends++ > 0", "request.sends++ > 1"),
                               ("this.#grantedCredit = this.#usedCredit + this.#creditWindow;", "this.#grantedCredit += this.#creditWindow;"),
                               ("if (watch.faults++ === 0)", "if (watch.faults === 0)")]:
            with self.subTest(former), tempfile.NamedTemporaryFile("w", suffix=".js") as module:
                self.assertEqual(source.count(former), 1)
                module.write(source.replace(former, latter))
                module.flush()
                self.assertEqual(run(module.name)[0], 1)


if __name__ == "__main__":
    unittest.main()
