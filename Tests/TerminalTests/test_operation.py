"""What an administrator does with a running navd: read and reload its configuration."""
import json
import subprocess
import unittest

from scene import NAVCTL, Scene


class Configuration(unittest.TestCase):
    def setUp(self):
        self.scene = Scene("[limits]\ndepth = 7\n")
        self.addCleanup(self.scene.close)
        self.file = str(self.scene.daemon.directory / "navd.conf")

    def write(self, text):
        self.scene.daemon.directory.write("navd.conf", text)

    def depth(self):
        return json.loads(self.scene.must("config", "origin", "limits.depth", "-o", "json"))["values"]

    def test_each_value_has_its_origin(self):
        self.assertEqual(self.depth(), [{"key": "limits.depth", "value": "7", "origin": f"{self.file}:2"}])
        values = json.loads(self.scene.must("config", "-o", "json"))["values"]
        origins = {value["key"]: value["origin"] for value in values}
        self.assertEqual(origins["daemon.durability"], "--durability")
        self.assertEqual(origins["limits.navs"], "default")
        # The same keys as navd itself prints.
        printed = subprocess.run(
            [*self.scene.daemon.arguments, "--print-config"], capture_output=True, text=True, check=True).stdout
        names = {line.split(" = ")[0].split(" =")[0] for line in printed.splitlines() if " =" in line}
        self.assertEqual({key.split(".", 1)[1] for key in origins}, names)
        self.assertIn("limits.depth  7", self.scene.must("config", "origin", "depth"))
        result = self.scene.navctl("config", "origin", "limits.detph")
        self.assertEqual(result.status, 2)
        self.assertIn("navctl config origin limits.depth", result.errors)

    def test_a_reload_uses_all_of_the_file_or_nothing_and_disconnects_nobody(self):
        self.scene.furnish()
        watch = subprocess.Popen(
            [NAVCTL, "-o", "json", "watch", "kiosk", "--count", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=self.scene.environment)
        watch.stdout.readline()
        self.write("[limits]\ndepth = 9\n")
        self.assertEqual(self.depth()[0]["value"], "7", "the value in use")
        self.assertEqual(self.scene.must("reload"), "reloaded: limits.depth 7 to 9\n")
        self.assertEqual(self.depth(), [{"key": "limits.depth", "value": "9", "origin": f"{self.file}:2"}])
        self.assertEqual(self.scene.must("reload"), "reloaded: nothing has changed\n")
        self.write("[limits]\ndepth = 5\nwidth = 3\n")
        result = self.scene.navctl("reload")
        self.assertEqual((result.status, result.output), (2, ""))
        self.assertIn(f"{self.file}:3", result.errors)
        self.assertIn("the former configuration stays", result.errors)
        self.assertEqual(self.depth()[0]["value"], "9")
        self.scene.must("set", "kiosk", "screen", "wifi", "title=Another")
        self.assertEqual(json.loads(watch.communicate(timeout=60)[0])["type"], "diff")
        self.assertEqual(watch.returncode, 0)


if __name__ == "__main__":
    unittest.main()
