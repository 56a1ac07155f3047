"""The package over tcp with CURVE, and with daemons of a cluster by a script (Fixtures/shards.py)."""
import json
import os
import unittest
import uuid
from unittest import mock

from setting import DEADLINE, Concurrently, Directory, eventually
from curve import CurveTest, navctl
import navd
from navd import NavigationError, operations as op
from navd.keys import read_public_key, read_secret_key
from shards import Shards


class Curve(CurveTest, unittest.TestCase):
    def connect(self, key="panel.key", server=None, **options):
        return navd.connect(self.endpoint, name="panel", server_key=server or self.server,
                            key_file=self.directory / key, **options)

    def test_a_key_connects_over_losses(self):
        with self.connect(within=DEADLINE) as client, client.watch("panel", every_revision=True) as watch:
            with self.assertRaises(NavigationError):
                watch.take(DEADLINE)
            client.perform("panel", [op.create({"id": "home"}), op.attach()])
            client.perform("panel", [op.push({"id": "a"})])
            author = self.daemon.control.log("panel")[-1]["by"]
            self.assertEqual((author["name"], author["principal"]), ("panel", "panel"))
            self.daemon.kill()
            self.daemon.start()
            self.assertEqual(client.perform("panel", [op.push({"id": "b"})]).depth, 3)

    def test_the_environment_names_the_keys(self):
        names = {"NAVD_ENDPOINT": self.endpoint, "NAVD_SERVER_KEY": self.directory / "server",
                 "NAVD_KEY": self.directory / "panel.key"}
        self.directory.write("server", f"# the daemon\n{self.server}\n")
        with mock.patch.dict(os.environ, names), navd.connect(within=DEADLINE) as client:
            self.assertEqual(client.status, "connected")

    def test_a_key_that_is_not_authorised_is_refused_for_good(self):
        with self.assertRaises(NavigationError) as caught:
            self.connect("other.key", within=DEADLINE)
        self.assertEqual(caught.exception.code, "forbidden")
        self.assertIn("navctl key authorize", caught.exception.message)

    def test_another_server_key_is_named_as_the_likely_cause(self):
        wrong = navctl("key", "public", self.directory / "other.key")
        for within in (0.5, 5, 20):
            with self.assertRaises(NavigationError) as caught:
                self.connect(server=wrong, within=within)
            if "server_key" in caught.exception.message:
                break
        self.assertEqual(caught.exception.code, "unreachable")
        self.assertIn("server_key", caught.exception.message)

    def test_a_path_that_could_be_a_key_is_a_path_if_the_file_exists(self):
        path = f"/tmp/{uuid.uuid4().hex}abc"
        self.assertEqual(read_public_key(path), path)
        with open(path, "w", encoding="ascii") as file:
            self.addCleanup(os.remove, path)
            file.write(self.server)
        self.assertEqual(read_public_key(path), self.server)

    def test_a_text_that_has_the_form_of_a_key_is_no_path_whatever_files_there_are(self):
        here = self.directory / "here"
        os.mkdir(here)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(here)
        for beginning in ("", ".", "a/", "../", "b./", "*", "./"):
            text = beginning.ljust(40, "a")
            with self.subTest(text):
                os.makedirs(os.path.dirname(text) or ".", exist_ok=True)
                with open(text, "w", encoding="ascii") as file:
                    file.write(self.server)
                self.assertEqual(read_public_key(text), self.server if beginning == "./" else text)
                os.remove(text)
                self.assertEqual(read_public_key(text), text)

    def test_keys_that_are_missing_or_not_secret_are_found_at_once(self):
        path = self.directory / "panel.key"
        with mock.patch.dict(os.environ, clear=True):
            for options, word in (({}, "NAVD_SERVER_KEY"), ({"server_key": self.server}, "navctl key new"),
                                  ({"server_key": "short", "key_file": path}, "40 characters"),
                                  ({"server_key": self.server, "key_file": path + "x"}, "cannot be read")):
                with self.subTest(word), self.assertRaises(NavigationError) as caught:
                    navd.connect(self.endpoint, **options)
                self.assertIn(word, caught.exception.message)
        self.assertEqual(len(read_secret_key(path).public), 40)
        os.chmod(path, 0o644)
        with self.assertRaises(NavigationError) as caught:
            read_secret_key(path)
        self.assertIn("chmod 0600", caught.exception.message)
        self.directory.write("empty", "# nothing\n")
        self.assertRaises(NavigationError, read_public_key, self.directory / "empty")


class Moves(unittest.TestCase):
    """Navs that move between daemons, over libzmq."""

    def setUp(self):
        directory = Directory()
        self.addCleanup(directory.remove)
        self.shards = Shards(directory.path, "ab")
        self.addCleanup(self.shards.close)
        self.shards.create("kiosk", "a")
        self.client = navd.connect(",".join(map(self.shards.endpoint, "ab")), within=DEADLINE)
        self.addCleanup(self.client.close)

    def push(self, id):
        return self.client.perform("kiosk", [op.push({"id": id})])

    def test_everything_follows_a_nav(self):
        watch = self.client.watch("kiosk", every_revision=True)
        revs = [watch.take(DEADLINE).rev]
        self.client.delegate("kiosk", veto=lambda question: True)
        lease = self.client.lease("kiosk")
        for turn, owner in enumerate("baba"):
            self.shards.move("kiosk", owner, is_named=turn % 2 == 0)
            self.push(f"x{turn}")
            revs.append(watch.take(DEADLINE).rev)
            eventually("the lease", lambda: lease.is_held)
        self.assertEqual(revs, [1, 2, 3, 4, 5])
        held = {verb for _, nav, verb in self.shards.members["a"].duties if nav == "kiosk"}
        self.assertEqual(held, {"delegate", "lease"})

    def test_an_op_whose_answer_is_lost_with_its_daemon_happens_once(self):
        self.shards.members["a"].loses = lambda verb, body: verb == "op"
        other = Concurrently(push=lambda: self.push("x"))
        eventually("it is performed", lambda: self.shards.navs["kiosk"].rev == 2)
        self.shards.stop("a")
        self.shards.move("kiosk", "b")
        self.assertEqual(other.result("push").rev, 2)
        bodies = [body for _, _, body in self.shards.received("op", "kiosk")]
        self.assertEqual({body.replace(b',"again":0}', b"}") for body in bodies}, {bodies[0]})
        self.assertEqual([screen.id for screen in self.client.watch("kiosk").take(DEADLINE).screens], ["home", "x"])

    def test_a_nav_that_nobody_has_is_waited_for(self):
        self.shards.move("kiosk", None)
        other = Concurrently(push=lambda: self.push("x"))
        eventually("it asks again", lambda: len(self.shards.received("op", "kiosk")) >= 3)
        self.shards.move("kiosk", "b")
        self.assertEqual(other.result("push").depth, 2)
        ids = {json.loads(body)["id"] for _, _, body in self.shards.received("op", "kiosk")}
        self.assertEqual(len(ids), 1)


if __name__ == "__main__":
    unittest.main()
