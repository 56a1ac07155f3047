"""Hostile text in every place that a client may choose: shown as it is, or as escapes; it runs nothing.

The scenes are those of test_hostile.py, which tries the kiosk. Here they are seen live, and in a file without a server.
"""
import json
import re
import unittest

import test_hostile as scenes
from harness import IS_LONG, Directory, Gateway, Refused
from inspectors import PATIENCE, Inspector, InspectorTest, eventually, page_directory, start
from recordings import Recording

TABS = ("stream", "compare", "why", "sessions", "refusals", "plots")
TEXTS = scenes.TEXTS if IS_LONG else {name: scenes.TEXTS[name] for name in ("markup", "address")}
# What a text of a client must not have added or changed.
INSPECT = """
const [text] = arguments, tags = new Set(), handlers = [], addresses = [], outside = [];
for (const element of document.querySelectorAll("*")) {
  tags.add(element.localName);
  for (const { name, value } of element.attributes) {
    if (name.startsWith("on") || name === "srcdoc") handlers.push(`${element.localName} ${name}`);
    if (["src", "href", "action", "style", "poster", "xlink:href"].includes(name) && /evil|javascript:/i.test(value)) {
      addresses.push(`${element.localName} ${name}`);
    }
  }
  for (const pseudo of [null, "::before", "::after"]) {
    const style = getComputedStyle(element, pseudo);
    for (const name of ["backgroundImage", "borderImageSource", "listStyleImage", "maskImage", "cursor", "content", "filter"]) {
      if (/evil/i.test(style[name])) addresses.push(`${element.localName} ${name}`);
    }
  }
}
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const { data, parentElement } = walker.currentNode;
  const isAlone = parentElement.textContent === data && getComputedStyle(parentElement).display !== "inline";
  const isScript = ["script", "style"].includes(parentElement.localName);
  const isOutside = !isScript && !parentElement.closest("bdi") && !isAlone;
  if (data.includes(text) && isOutside) outside.push(parentElement.outerHTML.slice(0, 200));
}
return { tags: [...tags].sort(), handlers, addresses, outside, title: document.title,
  requests: performance.getEntriesByType("resource").map(({ name }) => name)
    .filter((name) => !name.startsWith(`${location.origin}/`)) };
"""
# Characters that a page may show as escapes: controls, marks of direction, and what has no width.
UNSEEN = re.compile("[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff\u0300-\u036f\u0489]+")


def setUpModule():
    global evil, web
    evil = scenes.evil = scenes.Evil()
    unittest.addModuleCleanup(evil.close)
    start(rules=f"MAP evil.test 127.0.0.1:{evil.port}")
    web = Gateway(InspectorTest.daemon)
    unittest.addModuleCleanup(web.close)
    # The scenes use the daemon and the gateway of their module.
    scenes.daemon, scenes.gateway = InspectorTest.daemon, web


def pieces(text):
    """The visible pieces of a text, in order; the page may put escapes between them."""
    return [piece.strip() for piece in UNSEEN.split(text) if piece.strip()]


def has(shown, text):
    at = 0
    for piece in pieces(text):
        at = shown.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


# The page's own elements of lists and tables, which have rows as soon as there is something to list.
ROWS = {"li", "tr", "td"}


class HostileText(InspectorTest):
    def inspect(self, text, plain=None):
        found = self.run_(INSPECT, text)
        for name in ("handlers", "addresses", "outside", "requests"):
            self.assertEqual(found[name], [], name)
        self.assertNotIn("evil", found["title"])
        self.assertEqual(evil.asked, [])
        self.nodes()
        if plain is not None:
            self.assertLessEqual(set(found["tags"]), set(plain) | {"bdi", "svg", "path", "li", "tr", "td", "p", "span", "dd", "dt"})
        return found["tags"]

    def fact(self, slot, text):
        """Some element of the slot has the text inside a `bdi`."""
        def texts():
            return self.run_("""
              return [...document.querySelectorAll(`[data-part=facts] [data-slot-name=${arguments[0]}] bdi`)].map(
                (each) => each.textContent)""", slot)
        try:
            eventually(slot, lambda: any(has(each, text) for each in texts()), PATIENCE)
        except AssertionError:
            self.fail(f"{slot}: no {text[:80]!r} in {[each[:80] for each in texts()]}")

    def play(self, text):
        nav = next(scenes.HostileTest.navs)
        story = scenes.Story(nav, text)
        story.make()
        story.greet()
        self.addCleanup(story.actor.close)
        for refused in ({text[:60]: {}}, {"screen.set": {"screen": "home", text[:60]: 1}}):
            with self.assertRaises(Refused):
                self.daemon.control.op(nav, refused)
        self.open(nav)
        tags = set()
        for scene in ("stack", "views", "sheets"):
            getattr(story, scene)()
            self.live(nav)
            if scene == "stack":
                for slot, shown in (("title", text), ("prompt", text), ("left", text), ("right", text), ("toolbar", text)):
                    self.fact(slot, shown)
            for tab in TABS if scene == "sheets" else TABS[:1]:
                self.tab(tab)
                tags |= set(self.inspect(text))
        self.fact("presented", text)
        story.actor.close()
        return nav, tags

    def test_a_text_in_every_member_runs_nothing_live_and_in_a_file(self):
        plain = self.play(scenes.PLAIN)[1]
        for name, text in TEXTS.items():
            with self.subTest(name):
                nav, tags = self.play(text)
                self.assertEqual(tags - plain - ROWS, set())
                self.in_a_file(nav, text)

    def in_a_file(self, nav, text):
        """The same nav in a recording: no server, and nothing that a `</script>` could end."""
        recording = Recording.of(self.daemon.control, nav)
        directory = Directory()
        self.addCleanup(directory.remove)
        path = directory.write("hostile.html", recording.html(page_directory()))
        self.driver.get("about:blank")
        self.driver.get(f"file://{path}")
        rev, dig = recording.last
        self.slide(rev)
        self.becomes("the end", (str(rev), dig, "true"), lambda: self.place()[2:])
        for tab in ("stream", "why"):
            self.tab(tab)
            self.inspect(text)
        self.fact("presented", text)
        self.assertEqual(self.run_("return [witness.violations, witness.dialogs, witness.errors]"), [[], [], []])

    def test_keys_of_a_client_stay_own_keys(self):
        nav, control = next(scenes.HostileTest.navs), self.daemon.control
        value = {key: {"polluted": key} for key in ("__proto__", "constructor", "toString", "then", "toJSON")}
        control.create(nav, container=value)
        control.op(nav, {"push": {"screen": {"id": "constructor", "title": "__proto__", "args": value}}})
        control.op(nav, {"screen.set": {"screen": "constructor", "args": {**value, "more": 1}}})
        self.open(nav)
        self.live(nav)
        self.shows(control.get(nav))
        self.link(nav, rev=2, with_=3)
        self.tab("compare")
        self.until("the difference", "return document.querySelector('[data-change][data-id=constructor]') !== null")
        self.assertEqual(self.run_("return String({}.polluted)"), "undefined")
        self.inspect("__proto__", None)

    def test_a_long_word_does_not_widen_the_page(self):
        nav, word = next(scenes.HostileTest.navs), "W" * 62000
        self.daemon.control.create(nav)
        self.daemon.control.op(nav, {"push": {"screen": {"id": "top", "title": word}}})
        self.open(nav)
        self.live(nav)
        self.assertLessEqual(*self.run_("const { scrollWidth, clientWidth } = document.documentElement; return [scrollWidth, clientWidth]"))
        self.inspect(word)

    def test_an_address_with_a_hostile_nav_is_text(self):
        for text in TEXTS.values():
            self.driver.get("about:blank")
            self.driver.get(self.inspector.url(nav=text))
            self.until("the state", "return ['live', 'connecting', 'stale'].includes(document.documentElement.dataset.state)")
            self.until("the rows", "return document.querySelector('[data-view=tree] [role=treeitem]') !== null")
            self.inspect(text)

    def test_a_token_with_a_hostile_name_is_text(self):
        """A name of a token has few characters, but `__proto__` is one."""
        own = Inspector(self.daemon, tokens=[f"__proto__ {scenes.TOKENS['boss']} admin * $*"])
        self.addCleanup(own.close)
        self.addCleanup(self.driver.get, "about:blank")
        nav = next(scenes.HostileTest.navs)
        self.daemon.control.create(nav)
        self.driver.get("about:blank")
        self.driver.get(own.url(nav=nav))
        self.until("the state", lambda: self.place()[0] == nav)
        self.tab("sessions")
        self.until("the session", "return document.querySelector('[data-session]') !== null")
        self.assertEqual(self.run_("return String({}.polluted)"), "undefined")
        self.assertEqual(json.loads(self.run_("return JSON.stringify(Object.keys(Object.prototype))")), [])


if __name__ == "__main__":
    unittest.main()
