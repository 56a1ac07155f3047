"""Routes: what can never match, where they lead without going there, and what `open --expect` waits for."""
import json
import subprocess
import unittest
import xml.etree.ElementTree

from scene import NAVCTL, Scene


class Routes(unittest.TestCase):
    def setUp(self):
        self.scene = Scene()
        self.addCleanup(self.scene.close)
        self.scene.furnish()

    def cases(self, *lines):
        return self.scene.daemon.directory.write("cases", "# cases\n" + "\n".join(lines) + "\n")

    def test_a_route_is_tested_without_going_there(self):
        before = self.scene.must("show", "kiosk", "-o", "json")
        self.cases('{"open":"settings/wifi","stack":["home","settings/wifi"]}', '{"open":"nowhere/at/all","stack":null}')
        self.assertEqual(self.scene.must("routes", "kiosk", "test", "cases"), "ok    settings/wifi\nok    nowhere/at/all\n")
        self.assertEqual(self.scene.must("show", "kiosk", "-o", "json"), before)

    def test_a_case_that_fails_says_where_the_route_leads(self):
        self.cases('{"open":"settings/dns","stack":["home","dns"]}', '{"open":"settings/wifi","stack":null}',
                   '{"open":"a/b/c","stack":["home"]}')
        result = self.scene.navctl("routes", "kiosk", "test", "cases", "--junit", "report.xml")
        self.assertEqual(result.status, 1)
        self.assertEqual(result.output.splitlines(), [
            "fail  settings/dns  it leads to [home, settings/dns], not [home, dns]",
            "fail  settings/wifi  it leads to [home, settings/wifi]",
            "fail  a/b/c  no route matches it, or its conditions do not hold"])
        suite = xml.etree.ElementTree.parse(self.scene.daemon.directory / "report.xml").getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "3"))
        self.assertEqual(suite[0][0].get("message"), "it leads to [home, settings/dns], not [home, dns]")

    def test_a_line_that_is_no_case_is_named(self):
        self.cases('{"open":7}')
        result = self.scene.navctl("routes", "kiosk", "test", "cases")
        self.assertEqual(result.status, 2)
        self.assertIn("cases:2: a case has open", result.errors)

    def test_a_template_that_can_never_match_is_named(self):
        self.scene.must("set", "kiosk", "settings", "routes=" + json.dumps([
            {"match": "a/:x", "screens": ["home"]}, {"match": "a/b", "screens": ["home"]},
            {"match": ":y/c", "screens": ["home"]}]))
        result = self.scene.navctl("routes", "kiosk", "check")
        self.assertEqual(result.status, 1)
        self.assertEqual(result.output.splitlines(), [
            "ok    a/:x", "fail  a/b  a/b never matches: a/:x comes first and matches all of it",
            "fail  :y/c  :y/c is ambiguous: a/:x comes first and matches some of it"])

    def test_a_stack_has_the_route_that_leads_to_it(self):
        self.scene.must("open", "kiosk", "settings/dns", "--any")
        self.assertEqual(self.scene.must("routes", "kiosk", "reverse"), "settings/dns\n")
        self.assertEqual(json.loads(self.scene.must("routes", "kiosk", "reverse", "-o", "json"))["routes"],
                         [{"route": "settings/dns", "ok": True}])
        self.scene.must("push", "kiosk", "pin", "--new")
        result = self.scene.navctl("routes", "kiosk", "reverse")
        self.assertEqual(result.status, 1)
        self.assertIn("no route leads to the stack [home", result.errors)

    def test_open_waits_for_what_it_expects(self):
        self.scene.must("open", "kiosk", "settings/dns", "--any", "--expect", "settings/dns")
        result = self.scene.navctl("open", "kiosk", "settings/wifi", "--any", "--expect", "pin", "--within", "1s")
        self.assertEqual(result.status, 4)
        self.assertIn("kiosk did not reach a top with the id or route pin; its top is", result.errors)
        # Another client brings the screen within the time.
        waiting = subprocess.Popen(
            [NAVCTL, "open", "kiosk", "settings/dns", "--any", "--expect", "pin", "--within", "60s"],
            stdout=subprocess.PIPE, text=True, env=self.scene.environment)
        waiting.stdout.readline()
        self.scene.must("push", "kiosk", "pin", "--new")
        self.assertEqual(waiting.wait(60), 0)
        waiting.stdout.close()


if __name__ == "__main__":
    unittest.main()
