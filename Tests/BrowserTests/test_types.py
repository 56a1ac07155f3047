"""navigation-client.d.ts: the compiler accepts it and right uses, refuses wrong ones, and it is the module's.

types/check.js compiles; the browser names what the module really has.
"""
import json
import os
import re
import subprocess
import unittest

from harness import HERE, MODULE, ROOT, Daemon, Directory, Gateway
from pages import PageTest, browser
from guide import PAGE, TYPES, program

# Debian puts the compiler there; a Node.js of another source does not look into it.
COMPILER = "/usr/share/nodejs"

# What the module has: of each class and function the arguments that a call needs, null for a value.
SHAPE = """
const module = await import("/navigation-client.js");
const size = (owner, name) => {
  const { value } = Object.getOwnPropertyDescriptor(owner, name);
  return typeof value === "function" ? value.length : null;
};
const members = (owner, left) => Object.fromEntries(Object.getOwnPropertyNames(owner)
  .filter((name) => !left.includes(name)).map((name) => [name, size(owner, name)]));
const isClass = (value) => /^class\\b/.test(Function.prototype.toString.call(value));
return Object.fromEntries(Object.entries(module).map(([name, value]) => [name, isClass(value) ? {
  constructor: value.length, statics: members(value, ["length", "name", "prototype"]),
  members: members(value.prototype, ["constructor"]),
} : value.length]));
"""

# Which options each function of the module takes. A name is one if the module complains of `?`, which comes after
# it, and not of the name. It refuses every call before it does anything.
OPTIONS = """
const module = await import("/navigation-client.js");
const names = new Set((await (await fetch("/navigation-client.js")).text()).match(/\\b[a-z]\\w*/gi));
const client = new module.NavigationClient({ token: "none", signal: AbortSignal.abort() });
const state = { nav: "a", epoch: "", screens: [] }, operations = [{ pop: {} }];
const calls = {
  launchToken: module.launchToken, constructor: (options) => new module.NavigationClient(options),
  connect: module.NavigationClient.connect, watch: (options) => client.watch("a", options),
  state: (options) => client.state("a", options), perform: (options) => client.perform("a", operations, options),
  pop: (options) => client.pop(state, options), get: (options) => client.get("a", options),
  result: (options) => client.result("a", "b", options), lease: (options) => client.lease("a", options),
  delegate: (options) => client.delegate("a", options, () => true),
};
const found = {};
for (const [name, call] of Object.entries(calls)) {
  found[name] = [];
  for (const each of names) {
    const { message } = await (async () => call({ [each]: undefined, "?": 1 }))().catch((error) => error) ?? {};
    if (!message?.includes("there is no option")) { found[name] = "takes any"; break; }
    if (message.endsWith("?")) found[name].push(each);
  }
}
return found;
"""


def setUpModule():
    global folder, driver, daemon, compiled
    folder = Directory()
    compiled = compile_types()
    driver = browser()
    daemon = Daemon()
    PageTest.driver = driver
    PageTest.gateway = Gateway(daemon, page=PAGE, module=MODULE)


def tearDownModule():
    PageTest.gateway.close()
    daemon.close()
    driver.quit()
    folder.remove()


def compile_types():
    done = subprocess.run(
        ["node", os.path.join(HERE, "types", "check.js"), TYPES, folder.write("guide.js", program())],
        env={**os.environ, "NODE_PATH": COMPILER}, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Compiler(unittest.TestCase):
    def test_it_accepts_the_types_the_uses_and_the_guide_and_refuses_each_misuse(self):
        self.assertEqual(compiled["faults"], {})

    def test_each_misuse_is_marked(self):
        with open(os.path.join(HERE, "types", "misuse.ts"), encoding="utf-8") as file:
            text = file.read()
        self.assertGreater(len(re.findall(r"^ *// @ts-expect-error - \w", text, re.M)), 35)
        with open(os.path.join(HERE, "types", "uses.ts"), encoding="utf-8") as file:
            self.assertNotIn("@ts-", file.read())


class Inspector(unittest.TestCase):
    def test_the_compiler_finds_no_fault_in_the_page(self):
        folder = os.path.join(ROOT, "web", "inspector")
        files = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".js")]
        self.assertGreater(len(files), 40)
        # An import leads to the rest: the client, and the drawing of the kiosk.
        options = "--checkJs --allowJs --noEmit --skipDefaultLibCheck --target es2022 --module es2022 --moduleResolution node --strict false"
        done = subprocess.run(["tsc", *options.split(), *files], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Module(PageTest):
    def test_the_types_are_those_of_the_module(self):
        found, types = self.run_script(SHAPE), compiled["exports"]
        # What an error has is no part of its prototype.
        error = types["NavigationError"]["members"]
        fields = [name for name, size in error.items() if size is None]
        for name in fields:
            del error[name]
        self.assertEqual(types, found)
        own = self.run_script(
            "const { NavigationError } = await import('/navigation-client.js');"
            "return Object.keys(NavigationError.from(new Proxy({}, { get: () => 'some' })))")
        self.assertEqual(sorted(fields), sorted(set(own) - {"name"}))

    def test_the_options_are_those_of_the_module(self):
        self.assertEqual(compiled["options"], {
            name: sorted(options) for name, options in self.run_script(OPTIONS).items()})


if __name__ == "__main__":
    unittest.main()
