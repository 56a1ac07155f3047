"""What navctl prints for programs: one object in a line, of the type that the schema describes."""
import contextlib
import json
import os
import re
import subprocess
import unittest

import jsonschema

from scene import NAVCTL, Scene

# What each command is run with, beside -o json, and the types of the objects that it prints. Those that change a
# nav all print `changed`; each command of the table runs on a nav as `furnish` makes it.
COMMANDS = {
    "show": (["kiosk"], ["state"]),
    "history": (["kiosk"], ["history"]),
    "log": (["kiosk"], ["log"]),
    "why": (["kiosk", "wifi"], ["why"]),
    "diff": (["kiosk", "1"], ["comparison"]),
    "dump": (["kiosk"], ["dump"]),
    "watch": (["kiosk", "--count", "1"], ["snapshot"]),
    "wait": (["kiosk", "--depth", "3"], ["position"]),
    "get": (["kiosk"], ["state"]),
    "list": ([], ["navs"]),
    "verify": (["kiosk"], ["verify"]),
    "explain": (["no-nav"], ["code"]),
    "status": ([], ["status"]),
    "top": (["--count", "2", "--interval", "100ms"], ["status", "status"]),
    "doctor": ([], ["doctor"]),
    "config": ([], ["config"]),
    "reload": ([], ["reload"]),
    "create": (["new"], ["changed"]),
    "close": (["kiosk", "--any"], ["changed"]),
    "push": (["kiosk", "dns", "--new"], ["changed"]),
    "pop": (["kiosk", "--top", "wifi"], ["changed"]),
    "pop-to": (["kiosk", "home"], ["changed"]),
    "pop-to-root": (["kiosk"], ["changed"]),
    "replace": (["kiosk", "done", "--new", "--screen", "wifi"], ["changed"]),
    "insert": (["kiosk", "between", "--new", "--below", "wifi"], ["changed"]),
    "remove": (["kiosk", "settings"], ["changed"]),
    "stack": (["kiosk", "home", "--any"], ["changed"]),
    "segue": (["kiosk", "dns", "--new"], ["changed"]),
    "open": (["kiosk", "settings/wifi", "--any"], ["changed"]),
    "routes": (["kiosk", "check"], ["routes"]),
    "revert": (["kiosk", "2", "--any"], ["changed"]),
    "save": (["kiosk", "kiosk.json"], ["saved"]),
    "present": (["kiosk", "pin", "--new"], ["changed"]),
    "set": (["kiosk", "screen", "wifi", "title=X"], ["changed"]),
    "screen": (["kiosk", "create", "later", "title=X"], ["changed"]),
    "button": (["kiosk", "create", "scan", "title=Scan"], ["changed"]),
    "back": (["kiosk", "--menu"], ["backMenu"]),
    "tap": (["kiosk"], ["changed"]),
    "swipe": (["kiosk", "up"], ["changed"]),
    "transition": (["kiosk"], ["transition"]),
    "attach": (["kiosk"], ["changed"]),
    "detach": (["kiosk"], ["changed"]),
    "lease": (["kiosk", "release", "--force"], ["lease"]),
    "key": (["list"], ["keys"]),
    "backup": ([], ["backup"]),
    "record": (["kiosk", "kiosk.navrec", "--force"], ["recording"]),
    "play": (["kiosk.navrec", "--verify"], ["proof"]),
    "op": (["kiosk", '{"popToRoot":{}}'], ["changed"]),
    "apply": (["kiosk", "plan"], ["changed"]),
}

# More runs of commands that print several types.
MORE = [
    (["set", "proxy", "barTintColor=red"], ["changed"]),
    (["list", "--clients"], ["clients"]), (["explain"], ["codes"]), (["verify"], ["verify"] * 5), (["dump", "--redact"], ["dump"]),
    (["history", "kiosk", "--at", "2"], ["state"]), (["watch", "kiosk", "--view", "top", "--count", "1"], ["latest"]),
    (["get", "kiosk", "--what", "bar"], ["bar"]), (["get", "kiosk", "--what", "top"], ["top"]),
    (["get", "kiosk", "--screen", "wifi"], ["screen"]), (["get", "kiosk", "--what", "detached"], ["detached"]),
    (["get", "kiosk", "--what", "restoration"], ["restoration"]), (["get", "kiosk", "--what", "log"], ["log"]),
    (["get", "--what", "stats"], ["stats"]), (["get", "kiosk", "--what", "verify"], ["verify"]),
    (["pop", "kiosk", "--top", "wifi", "--dry-run"], ["planned"]), (["create", "fresh", "--dry-run"], ["planned"]),
    (["close", "kiosk", "--any", "--dry-run"], ["planned"]),
    (["push", "hud", "now", "--title", "Now"], ["changed"]), (["stack", "hud", "now", "--any"], ["changed"]),
    (["set", "kiosk", "item", "wifi", "rightItems=scan=Scan"], ["changed"]),
    *((["set", "kiosk", *words.split()], ["part"]) for words in
      ("bar", "toolbar", "appearance", "display", "settings", "screen wifi", "item wifi", "button scan")),
    (["get", "kiosk", "--what", "diffs"], ["diffs"]), (["get", "--what", "refusals"], ["refusals"]),
    (["get", "--what", "backup"], ["backup"]), (["key", "new", "panel"], ["key"]),
]

# Commands without a line of JSON in this table, and why.
OTHERS = {
    "completion": "its output is for the shell",
    "schema": "its output is a schema",
    "ui": "it draws a screen for people, and refuses -o json: test_ui",
    "inspect": "it becomes navd-web --inspector, which prints an address: InspectorTests",
    "cluster": "it needs a cluster: ClusterClientTests",
    "engine-test": "its output is that of navd-cluster",
    "dismiss": "prints changed, as the others",
    "restore": "prints changed, as the others",
    "gesture": "prints changed for each step: test_streams",
    "delegate": "a stream: test_streams",
    "trace": "a stream: test_a_trace_has_the_messages_of_others, and test_trace.py",
}


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(subprocess.run([NAVCTL, "schema"], capture_output=True, check=True).stdout)
        jsonschema.Draft202012Validator.check_schema(cls.schema)
        cls.types = [entry["$ref"].rsplit("/", 1)[1] for entry in cls.schema["oneOf"]]
        cls.seen = set()

    def setUp(self):
        self.scene = Scene()
        self.addCleanup(self.scene.close)
        self.scene.furnish()
        self.scene.daemon.directory.write("plan", "if --top wifi\npop\npush dns --title 'The DNS'\n")

    def check(self, output, types):
        """Each line is an object of its type in the schema; `t` comes with what happens."""
        lines = output.splitlines()
        found = []
        for line in lines:
            value = json.loads(line)
            self.assertEqual(next(iter(value)), "type", line)
            found.append(value["type"])
            part = {"$ref": f"#/$defs/{value['type']}", "$defs": self.schema["$defs"]}
            jsonschema.validate(value, part, jsonschema.Draft202012Validator)
        self.assertEqual(found, types, output)
        self.seen.update(found)

    def test_every_command_prints_objects_of_the_schema(self):
        names = re.findall(r"^  ([a-z-]+) ", self.scene.must("help", "all"), re.M)
        self.assertEqual(set(names), set(COMMANDS) | set(OTHERS))
        for name, (words, types) in COMMANDS.items():
            with self.subTest(command=name):
                if name not in ("create",):
                    self.scene.furnish_anew()
                result = self.scene.navctl("-o", "json", name, *words)
                self.assertEqual((result.status, result.errors), (0, ""), name)
                self.check(result.output, types)
        self.scene.furnish_anew()
        for words, types in MORE:
            with self.subTest(words=words):
                result = self.scene.navctl("-o", "json", *words)
                self.assertEqual((result.status, result.errors), (0, ""), words)
                self.check(result.output, types)

    @staticmethod
    def rest(screen):
        """All that a terminal got before its last writer ended, which may come in pieces."""
        octets = b""
        with contextlib.suppress(OSError):
            while piece := screen.read(65536):
                octets += piece
        return octets

    def test_on_a_terminal_no_json_steers_it_and_all_of_it_is_the_same(self):
        title = "A\u009b31mB\u202eC\x7f"
        self.scene.must("set", "kiosk", "screen", "wifi", f"title={title}")
        for words in (["-o", "json", "get", "kiosk"], ["get", "kiosk"], ["save", "kiosk"]):
            with self.subTest(words=words):
                screen, terminal = os.openpty()
                with open(screen, "rb", buffering=0) as screen:
                    run = subprocess.run([NAVCTL, *words], stdout=terminal, env=self.scene.environment | {"COLUMNS": "400"})
                    os.close(terminal)
                    text = self.rest(screen).decode()
                self.assertEqual(run.returncode, 0)
                self.assertNotRegex(text, "[\u007f-\u009f\u202e]")
                self.assertIn(title, json.dumps(json.loads(text), ensure_ascii=False))

    def test_streams(self):
        environment = self.scene.environment
        watch = subprocess.Popen(
            [NAVCTL, "-o", "json", "watch", "kiosk", "--events", "--count", "5"], stdout=subprocess.PIPE, text=True,
            env=environment)
        first = watch.stdout.readline()
        delegate = subprocess.Popen(
            [NAVCTL, "-o", "json", "delegate", "kiosk", "--roles", "veto", "--exec", "true", "--count", "1"],
            stdout=subprocess.PIPE, text=True, env=environment)
        registered = delegate.stdout.readline()
        self.scene.must("pop", "kiosk", "--top", "wifi")
        self.scene.must("button", "kiosk", "create", "scan", "title=Scan", "action=scan")
        self.scene.must("set", "kiosk", "item", "settings", "rightItems=scan")
        self.scene.must("button", "kiosk", "activate", "scan")
        self.check(first + watch.communicate(timeout=60)[0], ["snapshot"] + ["diff"] * 3 + ["event"])
        self.check(registered + delegate.communicate(timeout=60)[0], ["delegate", "ask", "settled"])

    def test_a_trace_has_the_messages_of_others(self):
        trace = subprocess.Popen(
            [NAVCTL, "-o", "json", "trace", "--all", "--count", "2"], stdout=subprocess.PIPE, text=True,
            env=self.scene.environment)
        # Until the trace has begun and seen enough.
        while trace.poll() is None:
            self.scene.must("set", "kiosk", "screen", "wifi", "title=X")
        self.check(trace.communicate(timeout=60)[0], ["traced", "traced"])

    def test_a_recording_is_played_line_by_line(self):
        self.scene.must("record", "kiosk", "kiosk.navrec", "--redact")
        play = subprocess.Popen(
            [NAVCTL, "-o", "json", "play", "--step", os.path.join(self.scene.daemon.directory.path, "kiosk.navrec")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.scene.environment)
        output = play.communicate("n\ng 5\n", timeout=60)[0]
        self.check(output, ["playback"] * 4)
        last = json.loads(output.splitlines()[-1])
        self.assertEqual((last["rev"], last["state"], last["by"]["name"]), (5, "ended", "redacted"))

    def test_a_command_of_watch_gets_each_line(self):
        given = self.scene.must(
            "watch", "kiosk", "--count", "1", "--exec", 'echo "$NAVD_NAV $NAVD_TYPE $NAVD_REV"; cat; exit 3')
        self.assertTrue(given.startswith("kiosk snapshot 5\n"), given)
        self.check(given.split("\n", 1)[1], ["snapshot"])
        errors = self.scene.navctl("watch", "kiosk", "--count", "1", "--exec", "exit 3").errors
        self.assertIn("the command ended with status 3", errors)

    def test_a_command_of_watch_need_not_read_a_large_state(self):
        for name in range(3):
            self.scene.must("push", "kiosk", f"large{name}", "--args", json.dumps({"text": "x" * 30000}))
        self.scene.must("watch", "kiosk", "--count", "1", "--exec", "true")

    def test_a_plan_whose_lines_would_be_ignored_is_refused(self):
        for lines, found in (("push a --new --help", "'--help' cannot stand here"),
                             ("push a --new --timeout 1s", "--timeout is about the whole plan"),
                             ("open settings/wifi --expect wifi", "--expect has no effect in a plan"),
                             ("push a\x1b[2J --nothing", "no option")):
            self.scene.daemon.directory.write("bad", lines + "\n")
            result = self.scene.navctl("apply", "kiosk", "bad")
            self.assertEqual((result.status, result.output), (2, ""), lines)
            self.assertIn(found, result.errors)
            self.assertIn("bad:1", result.errors)
            self.assertNotIn("\x1b", result.errors)
        self.scene.daemon.directory.write("bad", "if --rev 7\npop\n")
        self.assertIn("so has the command line", self.scene.navctl("apply", "kiosk", "bad", "--rev", "5").errors)

    def test_progress_is_printed_when_a_mark_has_proven_it(self):
        output = self.scene.must("watch", "kiosk", "--count", "2", "--progress", "-o", "json")
        self.check(output, ["snapshot", "progress"])

    def test_progress_of_long_work_goes_to_stderr_when_asked_for(self):
        self.scene.must("record", "kiosk", "kiosk.navrec")
        for command in (["play", "kiosk.navrec", "--verify"], ["record", "kiosk", "kiosk.navrec", "--force"], ["verify"], ["backup"]):
            result = self.scene.navctl(*command, "--progress=json", "-o", "json")
            self.assertEqual(result.status, 0, result.errors)
            self.assertNotIn('"work"', result.output)
            self.check(result.errors, ["work"] * len(result.errors.splitlines()))
            last = json.loads(result.errors.splitlines()[-1])
            self.assertEqual(last["work"], "proof" if command[0] == "play" else command[0])
            self.assertEqual(self.scene.navctl(*command, "-o", "json").errors, "")
        self.assertEqual(last["unit"], "pages")

    def test_the_schema_of_a_type_stands_alone(self):
        for kind in self.types:
            schema = json.loads(self.scene.must("schema", kind))
            jsonschema.Draft202012Validator.check_schema(schema)
            self.assertEqual(schema["$ref"], f"#/$defs/{kind}")
        result = self.scene.navctl("schema", "nothing")
        self.assertEqual(result.status, 2)
        self.assertIn("try: one of changed planned state", result.errors)


if __name__ == "__main__":
    unittest.main()
