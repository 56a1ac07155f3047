"""The inspector as a process, and its page as a person sees it in Chromium.

The tests know the page by the attributes that its contract names: parts, slots, rows and positions.
What a state should look like is computed here, in Python, from what the daemon answers.
"""
import atexit
import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from urllib.parse import quote

from selenium.webdriver.common.keys import Keys

from harness import BINARIES, DEADLINE, HERE, ROOT, TOKENS, Control, Daemon, Gateway, eventually
from pages import browser, console, witness

# The faults' runner shortens it, since each fault makes a test wait in vain.
PATIENCE = float(os.environ.get("NAVD_TEST_PATIENCE", DEADLINE))
READING = {"hello", "watch", "unwatch", "get", "ping", "credit", "bye"}
MOST_NODES = 1500

# All that a test compares, read within one task, so that it belongs to one frame.
LOOK = """
const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const texts = (element) => {
  const own = [...element.querySelectorAll("bdi")].filter((each) => !each.closest("[hidden]"));
  return (own.length ? own : [element]).map((each) => (each.dataset.raw ?? element.dataset.raw ?? each.textContent).trim());
};
const position = one("[data-part=position]");
const facts = {};
for (const element of all("[data-part=facts] [data-slot-name]")) {
  if (element.closest("[hidden]")) continue;
  (facts[element.dataset.slotName] ??= []).push(...texts(element).filter((each) => each !== ""));
}
return {
  state: document.documentElement.dataset.state, position: position && { ...position.dataset, text: position.textContent.trim() },
  facts, nodes: document.getElementsByTagName("*").length,
};
"""

ROWS = """
return [...document.querySelectorAll(arguments[0])].filter((each) => !each.closest("[hidden]")).map((each) => (
  { ...each.dataset, text: each.textContent.trim(), border: each.hasAttribute("data-epoch-border") }));
"""

GONE = """
const { violations, dialogs, errors } = window.witness ?? { violations: [], dialogs: [], errors: [] };
return { violations, dialogs, errors, isUnchanged: window.witness?.isUnchanged() ?? true };
"""

_built = None


def page_directory():
    """The built page: of NAVD_INSPECTOR_PAGE, or built once for this process."""
    global _built
    if _built is None:
        _built = os.environ.get("NAVD_INSPECTOR_PAGE")
    if _built is None:
        _built = tempfile.mkdtemp(prefix="nw-page-", dir="/tmp")
        atexit.register(shutil.rmtree, _built, True)
        subprocess.run([os.path.join(ROOT, "web", "inspector", "build"), _built], check=True, capture_output=True)
    return _built


class Inspector(Gateway):
    """A navd-web --inspector beside a daemon; with tokens, so that a test can open many pages."""

    def __init__(self, daemon, *, page=None, options=(), **how):
        super().__init__(daemon, page=page or page_directory(), options=("--inspector", *options), **how)

    def url(self, who="boss", **fragment):
        """An address that opens the page once with the rights of a token."""
        answer = self.request("POST", "/nsp1/code", token=TOKENS[who])
        if answer.status != 200:
            raise AssertionError(f"{answer.status} {answer.body}")
        return f"http://{self.host}/{self.fragment(c=answer.json()['code'], **fragment)}"

    @staticmethod
    def fragment(**members):
        members = {name.rstrip("_"): value for name, value in members.items() if value is not None}
        return "#" + "&".join(f"{name}={quote(str(value), safe='')}" for name, value in members.items())


class Client(Control):
    """A client of navd with a session, for what needs one, such as gestures."""

    def __init__(self, endpoint, name):
        super().__init__(endpoint)
        self.name = name
        nonce = os.urandom(4).hex()
        self.socket.send_multipart([b"nsp1.hello", (
            '{"ver":[1,1],"client":"%s","nonce":"%s","name":"%s"}' % (self.own, nonce, name)).encode()])
        if self.socket.recv_multipart()[0] != b"nsp1.welcome":
            raise AssertionError("no welcome")

    def op(self, nav, *operations, guard=None, **members):
        return self.request("op", nav=nav, do=list(operations), **{"if": guard or {"any": True}}, **members)


def start(configuration="", *, rules="", arguments=(), options=(), inspector=True, endpoint=None, tokens=None,
          is_whole=False):
    """Starts a daemon, an inspector and a browser for the tests of a module."""
    daemon = Daemon(configuration)
    unittest.addModuleCleanup(daemon.close)
    InspectorTest.daemon = daemon
    if inspector:
        beside = daemon if endpoint is None else endpoint(daemon)
        InspectorTest.inspector = Inspector(beside, options=options, **({"tokens": tokens} if tokens else {}))
        unittest.addModuleCleanup(InspectorTest.inspector.close)
    InspectorTest.driver = driver = browser(rules=rules, arguments=("--disable-gpu", *arguments), is_whole=is_whole)
    unittest.addModuleCleanup(driver.quit)
    witness(driver)


class InspectorTest(unittest.TestCase):
    """A test in the inspector's page. After it the console is empty, and nothing was violated or refused.

    `noise` are words of lines that the console may have, such as those of a server that a test ends.
    """

    daemon, inspector, driver, noise = None, None, None, ()
    numbers, openings, is_opened = itertools.count(1), itertools.count(1), True
    maxDiff = 3000

    def setUp(self):
        self.is_opened = False
        # A page that may miss its server must not go on until the next one opens.
        if self.noise or self.inspector is None or self.inspector.host not in self.driver.current_url:
            self.driver.get("about:blank")
        console(self.driver)

    def tearDown(self):
        found = self.run_(GONE)
        left = [line for line in console(self.driver) if not any(word in line for word in self.noise)]
        self.assertEqual(left, [])
        self.assertEqual(found, {"violations": [], "dialogs": [], "errors": [], "isUnchanged": True})

    # --- Opening ----------------------------------------------------------------------------------

    def nav(self, prefix="test"):
        """The name of a nav that no other test uses."""
        return f"{prefix}/{next(self.numbers)}"

    def open(self, nav=None, *, who="boss", **fragment):
        """Opens the page in the tab; `rev` and `with_` go into the fragment."""
        url = self.inspector.url(who, nav=nav, **fragment)
        if not self.is_opened:
            console(self.driver)
            self.is_opened = True
        # By its query it is another document. A blank page in between would take a process of its own.
        self.driver.get(url.replace("/#", f"/?{next(self.openings)}#", 1))

    def link(self, nav, **fragment):
        """Goes to another place of the page that is open, as a link would."""
        self.run_("location.hash = arguments[0]", Inspector.fragment(nav=nav, **fragment))

    # --- Looking ----------------------------------------------------------------------------------

    def run_(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, what, condition):
        """Waits for a condition: a function, or a script that returns something true."""
        if isinstance(condition, str):
            return eventually(what, lambda: self.run_(condition), PATIENCE)
        return eventually(what, condition, PATIENCE)

    def look(self):
        return self.run_(LOOK)

    def place(self):
        """What the stage shows: nav, epoch, rev, dig, and whether it is proven."""
        found = self.look()["position"] or {}
        return tuple(found.get(name) for name in ("nav", "epoch", "rev", "dig", "proven"))

    def becomes(self, what, wanted, read):
        """Waits until `read` returns what is wanted; else the failure shows the difference."""
        found = None

        def is_so():
            nonlocal found
            found = read()
            return found == wanted
        with contextlib.suppress(AssertionError):
            eventually(what, is_so, PATIENCE)
        self.assertEqual(found, wanted, what)

    def live(self, nav):
        """Waits until the page shows the newest state, proven."""
        def newest():
            state = self.daemon.control.get(nav)
            return (nav, state["epoch"], str(state["rev"]), state["dig"], "true")
        place = None

        def is_newest():
            nonlocal place
            place = self.place()
            return place == newest()
        try:
            eventually("the newest state", is_newest, PATIENCE)
        except AssertionError:
            self.assertEqual(place, newest(), f"the newest state of {nav}")
        self.becomes("the state of the document", "live", lambda: self.look()["state"])

    def past(self, nav, rev):
        """Waits until the page shows a revision of the past, as `navctl history --at` prints it; returns the state."""
        state = self.history(nav, rev)
        self.becomes("the revision", (nav, state["epoch"], str(rev), state["dig"], "true"), self.place)
        self.shows(state)
        return state

    def history(self, nav, rev):
        return self.printed("history", nav, "--at", str(rev))

    def printed(self, *arguments):
        """The state that navctl prints."""
        # In a debug build, an early revision of a very long history takes seconds.
        status, text, errors = self.daemon.navctl(*arguments, "-o", "json", "--timeout", "60s")
        if status:
            raise AssertionError(errors)
        return json.loads(text)["value"]

    def shows(self, state):
        """Waits until the facts are those of a state."""
        wanted = facts(state)
        self.becomes(f"the facts of revision {state['rev']}", wanted, lambda: comparable(self.look()["facts"], wanted))

    def rows(self, selector):
        """The data of the rows, in the order of the document."""
        return self.run_(ROWS, selector)

    def tab(self, name):
        self.click(f"[role=tab][data-tab={name}]")
        self.until(f"the tab {name}", f"return document.querySelector('[role=tab][data-tab={name}]')"
                                      ".getAttribute('aria-selected') === 'true'")

    def enabled(self, selector):
        """Waits until a person could press it: the history comes a little after the state."""
        self.until(selector, f"const one = document.querySelector({selector!r}); return one !== null && one.disabled !== true")

    def click(self, selector):
        self.enabled(selector)
        self.run_("document.querySelector(arguments[0]).click()", selector)

    def key(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def slide(self, rev):
        """Moves the slider to a revision, as a pointer does, as soon as it leads there."""
        self.until(f"the slider up to {rev}", f"""
          const {{ disabled = true, min, max }} = document.querySelector("[data-part=slider]") ?? {{}};
          return !disabled && Number(min) <= {rev} && {rev} <= Number(max);""")
        self.run_("""
          const slider = document.querySelector("[data-part=slider]");
          slider.value = String(arguments[0]);
          for (const name of ["input", "change"]) slider.dispatchEvent(new Event(name, { bubbles: true }));""", rev)

    def blur(self):
        """Takes the focus from fields, where keys are text."""
        self.run_("document.activeElement?.blur()")

    def nodes(self):
        self.assertLessEqual(self.look()["nodes"], MOST_NODES)


# --- What a state looks like -----------------------------------------------------------------------

SPACES = ("flexibleSpace", "fixedSpace")


def face(slot):
    """What a button of `resolved` shows; None for a space."""
    if slot.get("systemItem") in SPACES:
        return None
    for name in ("title", "image", "systemItem"):
        if name in slot:
            return slot[name].casefold() if name == "systemItem" else slot[name]
    view = slot.get("customView")
    if isinstance(view, dict):
        view = view.get("title", view)
    return view if isinstance(view, str) else None


def buttons(slots):
    """Ids and texts of the buttons of slots, in their order."""
    return [(slot["button"], face(slot)) for slot in slots if "button" in slot and slot.get("systemItem") not in SPACES]


def facts(state):
    """The texts of a state, by the names of their slots; what does not show is missing. None stands for any text."""
    bar, found = state.get("resolved") or {}, {}
    middle = bar.get("middle") or {}
    top = state["screens"][-1] if state["screens"] else {}
    if middle.get("title"):
        found["title"] = [middle["title"]]
        if middle.get("placement") == "large":
            found["large-title"] = found["title"]
    elif "customView" in middle:
        found["title"] = [None]
    for slot in bar.get("left", ()):
        if "back" in slot:
            found["back"] = [slot["back"].get("text", slot["back"].get("image"))]
    if bar.get("metrics", "").endswith("Prompt") and top.get("item", {}).get("prompt"):
        found["prompt"] = [top["item"]["prompt"]]
    # The right side comes right-most first.
    sides = {"left": bar.get("left", ()), "right": reversed(bar.get("right", ()))}
    toolbar = bar.get("toolbar", {})
    sides["toolbar"] = toolbar["items"] if toolbar.get("visible") else ()
    for name, slots in sides.items():
        found[name] = [text for _, text in buttons(slots)]
    found["presented"] = [title_of(entry["screen"]) for entry in state.get("presented", {}).get("chain", ())]
    if "tid" in state.get("transition", {}):
        found["transition"] = [state["transition"]["phase"]]
    if bar.get("layoutHeight") == 0:
        found["hidden"] = True
    return {name: value for name, value in found.items() if value}


def title_of(screen):
    return screen.get("title") or screen.get("item", {}).get("title") or screen["id"]


def comparable(shown, wanted):
    """The facts that a page shows, in the form of `facts`. What the contract leaves open is taken as wanted."""
    found = {}
    for name in ("title", "large-title", "back", "prompt", "left", "right", "toolbar", "presented", "transition"):
        texts = [text for text in shown.get(name, ()) if text not in SPACES]
        expected = wanted.get(name, [])
        if name == "title" and not texts and "large-title" in wanted:
            texts = expected  # shown as the large title
        if "hidden" in wanted and not texts and name in ("title", "large-title", "back", "prompt", "left", "right"):
            texts = expected  # a bar that is hidden shows nothing
        if expected == [None] and not texts:
            texts = expected  # the indicator alone, or a view in the place of the title
        if name == "transition" and expected:
            texts = expected if expected[0] in " ".join(texts) else texts
        elif name == "presented" and len(texts) > len(expected):
            # More about a screen than its title, such as its style, is welcome.
            texts = [text for text in texts if text in expected] or texts
        if len(texts) == len(expected):
            texts = [same(text, each, name) for text, each in zip(texts, expected)]
        if texts:
            found[name] = texts
    if "hidden" in wanted:
        found["hidden"] = True
    return found


def same(text, wanted, name):
    """What is wanted, if the text means the same."""
    if text is None or wanted is None:
        return wanted
    if name in ("left", "right", "toolbar") and text.casefold() == wanted:
        return wanted
    return wanted if name == "presented" and text.startswith(wanted) else text


__all__ = [
    "BINARIES", "HERE", "Client", "Inspector", "InspectorTest", "Keys", "MOST_NODES", "PATIENCE", "READING",
    "comparable", "facts", "page_directory", "start"]
