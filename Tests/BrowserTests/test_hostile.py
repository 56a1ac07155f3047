"""Hostile text in every member that a client may choose: shown as it is, or not at all; it runs nothing.

members.py has a row for each member that docs/protocol.md names for what a client sends. A member
without a row fails a test. The kiosk is the page, since it shows more of a state than other pages do.
"""
import http.server
import json
import os
import re
import threading
import unittest
from urllib.parse import quote

from clients import Page, line
from harness import IS_LONG, MODULE, ROOT, TOKENS, Daemon, Gateway, Refused, eventually, kiosk_page
from members import ARGUMENTS, MEMBERS, NO_TEXTS, SETTERS, Row, documented
from pages import browser, console, witness

PAGE = os.path.join(ROOT, "Tests", "BrowserTests", "page")

PLAIN = "Plain"
# Each has at most 128 octets, so that names have the whole of it; the last is a word that fits nowhere.
TEXTS = {
    "markup": "<img src=//evil.test/x onerror=alert(1)><svg onload=alert(2)>"
              "</script><script>alert(3)</script>'\"&lt;<!--",
    "attributes": "'\"><b style=\"background:url(//evil.test/x)\" onclick=alert(4)>"
                  "${alert(5)}`{{7*7}}%s%n{page}#{1}\\u003cb\\x3c<%=1%>",
    "address": "javascript:alert(6)//\u202egnp.exe\u2066\u200f\r\nb\n\tc;}*{background:url(//evil.test/y)}",
    "picture": "url(//evil.test/x)",
    "controls": "a\u0000b\u0001\u001b[2J\u007f\u0085\ufeff\ufffe\u2028c",
    "marks": "\u0301\u0489 e" + "\u0301" * 30 + "\U0001f469\u200d\U0001f469\u200d\U0001f467\ufe0f\U0001f1e6",
    "prototype": "__proto__",
    "constructor": "constructor",
    "word": "W" * 2200,
}

# Those of a test that plays no scenes of its own.
FEW = TEXTS if IS_LONG else {name: TEXTS[name] for name in ("markup", "address", "controls", "prototype")}

# What a page has after a scene. Texts of clients must not change any of it.
INSPECT = """
const [texts] = arguments;
const shape = {}, addresses = [], outside = [];
const loading = ["backgroundImage", "borderImageSource", "listStyleImage", "maskImage", "cursor", "content", "filter",
  "clipPath", "fill", "stroke"];
for (const element of document.querySelectorAll("*")) {
  const names = element.getAttributeNames().filter((name) => name !== "style").sort();
  const form = [element.localName, ...names, element.getAttribute("class")].join(" ");
  shape[form] = (shape[form] ?? 0) + 1;
  const own = element.getAttribute("style") ?? "";
  if (/url\\(|evil/i.test(own)) addresses.push(`${element.localName}: ${own}`);
  for (const pseudo of [null, "::before", "::after"]) {
    const style = getComputedStyle(element, pseudo);
    for (const name of loading) {
      if (/url\\(|evil/i.test(style[name])) addresses.push(`${element.localName} ${name}: ${style[name]}`);
    }
  }
}
// A text of a client that stands beside another text needs a `bdi`, or a paragraph of its own.
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const { data, parentElement } = walker.currentNode;
  const isAlone = parentElement.textContent === data && getComputedStyle(parentElement).display !== "inline";
  const isOfClient = texts.some((text) => data.includes(text));
  if (isOfClient && !parentElement.closest("bdi") && !isAlone) outside.push(parentElement.outerHTML.slice(0, 200));
}
return {
  shape, addresses, outside, violations: witness.violations, dialogs: witness.dialogs, errors: witness.errors,
  isUnchanged: witness.isUnchanged(), title: document.title, location: location.href.split("#")[0],
  requests: performance.getEntriesByType("resource").map(({ name }) => name)
    .filter((name) => !name.startsWith(`${location.origin}/`)),
};
"""

# The digest is there before the drawing of it, which comes with the next frame. The log comes later.
DRAWN = """
const [done] = arguments;
requestAnimationFrame(() => requestAnimationFrame(() => {
  const { dig, rev, moving } = document.documentElement.dataset;
  done([dig, moving, document.querySelector("[data-part=log]").dataset.rev === rev]);
}));
"""

# The texts at places, each a selector and an attribute, or null for the text of the element.
FIND = """
const read = (element, attribute) => (
  attribute === null ? element.textContent : attribute === "value" ? element.value : element.getAttribute(attribute));
const all = (selector) => [...document.querySelectorAll(selector)];
return arguments[0].map(([selector, attribute]) => all(selector).map((element) => read(element, attribute)));
"""


class Story:
    """The scenes of one text: a nav with the text in every member that takes it."""

    def __init__(self, nav, text):
        self.nav, self.text, self.used = nav, text, set()
        self.actor = None

    def say(self, member):
        self.used.add(member)
        if member in ARGUMENTS:
            return Row(limit=ARGUMENTS[member]).fit(self.text)
        return MEMBERS[member].fit(self.text)

    def do(self, *operations):
        daemon.control.op(self.nav, *operations)

    def greet(self):
        """A client whose name is the text."""
        page = Page(gateway, "alice", hello=False)
        page.post(("hello", {"ver": [1, 1], "client": page.client, "nonce": self.say("hello.nonce"),
                             "name": self.say("hello.name")}))
        page.until(lambda verb, _: verb == "welcome")
        self.actor = page

    def act(self, *operations, **members):
        verb, answer = self.actor.op(self.nav, *operations, **members)
        if verb != "ok":
            raise AssertionError(answer)

    def make(self):
        """What is there before the page is."""
        say = self.say
        item = {"backButtonTitle": say("item.backButtonTitle")}
        self.do({"nav.create": {"root": {"id": "home", "title": say("screen.title"), "item": item}, "settings": {
                    "container": {say("settings.container"): say("settings.container")},
                    "restorationID": say("settings.restorationID"),
                    "simultaneous": [[say("settings.simultaneous")] * 2],
                    "routes": [{"match": say("settings.routes"),
                                "screens": ["home", {"title": say("settings.routes"), "route": "opened"}]}]}}},
                {"attach": {}})
        self.do({"push": {"sender": say("sender"), "screen": {
            "id": "wifi", "route": "settings/network/wifi", "title": say("screen.title"),
            "args": {"network": say("screen.args")}, "accessibilityLabel": say("screen.accessibilityLabel"),
            "item": {**{name: say(f"item.{name}") for name in (
                         "subtitleView", "largeTitle", "largeSubtitle", "largeSubtitleView")},
                     "backBarButtonItem": {"id": "backer", "title": say("button.title")},
                     "accessibilityLabel": say("item.accessibilityLabel")}}}})
        looks = dict.fromkeys(("standard", "compact", "scrollEdge", "compactScrollEdge"), {
            name: say("item.appearance.standard") for name in ("background", "titleColor", "shadow")})
        for slot in looks:
            say(f"item.appearance.{slot}")
        self.do({"push": {"screen": {
            "id": "top", "title": say("screen.title"), "route": say("screen.route"),
            "restorationID": say("screen.restorationID"), "args": self.arguments(),
            "accessibilityLabel": say("screen.accessibilityLabel"),
            "item": {
                "accessibilityLabel": say("item.accessibilityLabel"),
                "prompt": say("item.prompt"), "subtitle": say("item.subtitle"), "leftItemsSupplementBackButton": True,
                "leftItems": [{"id": "left", "title": say("button.title"), "action": say("button.action"),
                               **{name: say(f"button.{name}") for name in (
                                   "accessibilityLabel", "accessibilityHint", "accessibilityIdentifier")}}],
                "rightItems": [
                    {"id": "constructor", "title": say("button.title"), "badge": say("button.badge")},
                    {"id": "picture", "image": say("button.image"), "landscapeImage": say("button.landscapeImage")},
                    {"id": "referred", "image": {"ref": say("image.ref"), "hasAlpha": True}},
                    {"id": "view", "customView": say("button.customView")},
                    {"id": "named", "customView": {"title": say("button.customView")}}]},
            "toolbarItems": [{"id": "tool", "title": say("button.title"), **{
                name: say(f"button.{name}")
                for name in ("accessibilityLabel", "accessibilityHint", "accessibilityIdentifier")}}]}}})
        self.do({"toolbar.setHidden": {"hidden": False}},
                {"toolbar.set": {name: say(f"toolbar.{name}") for name in ("tintColor", "barTintColor")}},
                {"bar.set": {name: say(f"bar.{name}") for name in (
                    "tintColor", "backgroundColor", "barTintColor", "shadowImage", "backIndicatorImage",
                    "backIndicatorMask")}},
                {"bar.set": {"titleTextAttributes": {
                    name: say(f"bar.titleTextAttributes.{name}")
                    for name in ("font", "color", "shadowColor", "shadowOffset")}}},
                {"bar.set": {"backgroundImages": dict.fromkeys(
                    ("any/default", "any/defaultPrompt"), say("image.ref"))}})
        self.looks = looks

    def arguments(self):
        text = self.say("screen.args")
        return {text: text, "list": [text]}

    def stack(self):
        """After the page has loaded, so that its log has the author."""
        self.act({"env.set": {"locale": self.say("environment.locale")}})

    def views(self):
        """Views, images and appearance objects; the transition has the answers of delegates."""
        say, actor = self.say, self.actor
        self.do({"appearance.set": {"slot": "standard", "object": self.looks["standard"]}})
        actor.request("lease", nav=self.nav, take=True)
        actor.request("delegate", nav=self.nav, roles=["animator", "interaction"])
        number = actor.next_id()
        back = {"id": "backPicture", "image": say("button.image")}
        self.do({"item.set": {"screen": "top", "backBarButtonItem": back}})
        push = {"push": {"screen": {"id": "second", "item": {
            "title": say("item.title"), "titleView": {"view": {"text": say("item.titleView.view")}, "height": 20},
            "appearance": self.looks}}}}
        say("item.titleView")
        actor.post(("op", {"id": number, "nav": self.nav, "animated": True, "do": [push], "if": {}}))
        for value in ({"animator": say("transition.animator"), "duration": 20}, {"driver": say("transition.driver")}):
            _, ask = actor.until(lambda verb, _: verb == "ask")
            actor.post(("answer", {"ask": ask["ask"], "value": value}))
        verb, answer = actor.answer(number)
        transition = daemon.control.get(self.nav)["transition"]
        if (verb, transition.get("animator"), transition.get("driver")) != ("ok", self.text, self.text):
            raise AssertionError((answer, transition))
        self.act({"transition.complete": {"tid": transition["tid"]}})

    def sheets(self):
        """All forms of presented screens, with an unknown route and with the routes of the kiosk."""
        text = self.say("screen.args")
        # A style that the kiosk does not know looks like a page.
        style = "pageSheet" if text == PLAIN else "constructor"
        for screen, style in (
                ({"id": "details", "title": text, "args": self.arguments()}, "pageSheet"),
                ({"id": "network", "route": "settings/network"}, style),
                ({"id": "wifi2", "route": "settings/network/wifi", "args": {"network": text, "channel": text}},
                 "formSheet"),
                ({"id": "dns", "route": "dns", "args": {"mode": "manual", "server": text}}, "fullScreen"),
                ({"id": "networks", "route": "networks", "args": {"chosen": text, "for": text}}, "overFullScreen"),
                ({"id": "rename", "route": "rename", "args": {"name": "", "draft": {"name": text}}}, "formSheet"),
                ({"id": "toString", "route": "constructor", "args": text}, None),
                ({"id": "status", "route": "status", "args": {"anchor": text}, "item": {"title": text}}, "popover"),
                ({"id": "discard", "title": text, "route": "discard", "args": {"screen": text}}, "alert")):
            self.do({"present": {"screen": screen, **({"style": style} if style else {})}})

    def opened(self):
        self.do({"dismiss": {"result": self.say("result")}}, {"open": {"route": self.say("route")}})


def setUpModule():
    global daemon, gateway, driver, evil
    daemon = Daemon()
    unittest.addModuleCleanup(daemon.close)
    gateway = Gateway(daemon, page=kiosk_page(), module=MODULE)
    unittest.addModuleCleanup(gateway.close)
    evil = Evil()
    unittest.addModuleCleanup(evil.close)
    driver = browser(rules=f"MAP evil.test 127.0.0.1:{evil.port}")
    unittest.addModuleCleanup(driver.quit)
    witness(driver)


class Evil:
    """A server that counts what it is asked for; each name `evil.test` leads to it."""

    def __init__(self):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class HostileTest(unittest.TestCase):
    navs = iter(f"hostile/{number}/__proto__" for number in range(1000))

    def load(self, nav, token="reader", **query):
        console(driver)
        more = "".join(f"&{name}={quote(value, safe='')}" for name, value in query.items())
        driver.get(f"http://{gateway.host}/?nav={quote(nav, safe='')}{more}#t={TOKENS[token]}")

    def drawn(self, nav):
        """Waits until the page shows what the daemon has, and nothing moves."""
        # Read each time: the page itself may change the nav once more, as with its environment.
        eventually("the state in the page", lambda: driver.execute_async_script(DRAWN) == [
            daemon.control.position(nav)[1], "false", True])

    def inspect(self, text):
        found = driver.execute_script(INSPECT, [text])
        for name in ("addresses", "outside", "violations", "dialogs", "errors", "requests"):
            self.assertEqual(found[name], [], name)
        self.assertTrue(found["isUnchanged"], "a prototype has other members")
        self.assertNotRegex(found["title"], "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
        self.assertLessEqual(len(found["title"]), 128)
        self.assertEqual(console(driver), [])
        self.assertEqual(evil.asked, [])
        return found["shape"]

    def see(self, wanted):
        """Checks that an element at each place has its text, and nothing else."""
        at = [(*place.partition(" as ")[0].partition(" @")[::2], text) for place, text in wanted]
        found = driver.execute_script(FIND, [(selector, attribute or None) for selector, attribute, _ in at])
        for (place, text), (_, attribute, _), texts in zip(wanted, at, found):
            form = place.partition(" as ")[2]
            if attribute == "value":
                # A field has one line.
                text = re.sub("[\r\n]", "", text)
            if form == "label":
                text = f"Back, {text}"
            if form == "back text":
                text = text[:128]
            if form == "JSON":
                text = json.dumps({text: text, "list": [text]}, indent=2, ensure_ascii=False)[:4000]
            self.assertTrue(text in texts, f"{place}: not {text[:60]!r} in {[each and each[:60] for each in texts]}")


class Kiosk(HostileTest):
    scenes = ("stack", "menu", "views", "sheets", "opened")

    def play(self, text):
        """Plays the scenes of a text; returns the shape of the page after each."""
        nav, shapes = next(self.navs), {}
        story = Story(nav, text)
        story.make()
        story.greet()
        self.addCleanup(story.actor.close)
        self.load(nav)
        self.drawn(nav)
        for scene in self.scenes:
            if scene == "views":
                # A person who reads the log hears of other screens by the live region.
                driver.execute_script("document.querySelector('[data-part=log]').focus()")
            if scene == "menu":
                driver.execute_script("document.querySelector('[data-slot=back]').dispatchEvent("
                                      "new MouseEvent('contextmenu', { bubbles: true, button: 2 }))")
            else:
                getattr(story, scene)()
                self.drawn(nav)
            self.see([(place, row.fit(text)) for row in MEMBERS.values()
                      for where, place in row.places if where == scene])
            if scene == "views":
                eventually("the announcement", lambda: driver.execute_script(
                    FIND, [["[data-part=live]", None]]) == [[text]])
            shapes[scene] = self.inspect(text)
        return shapes, story.used

    def test_a_text_in_every_member_is_shown_as_it_is_and_runs_nothing(self):
        plain, used = self.play(PLAIN)
        takes = {name for name, row in MEMBERS.items() if not row.refused and not row.why}
        self.assertEqual(takes | set(ARGUMENTS), used)
        for name, text in TEXTS.items():
            with self.subTest(name):
                self.assertEqual(self.play(text)[0], plain)

    def test_a_title_as_long_as_a_message_is_shown_whole(self):
        nav, text = next(self.navs), "<b>" * 21000
        daemon.control.create(nav)
        daemon.control.op(nav, {"push": {"screen": {"id": "top", "title": text}}})
        self.load(nav)
        self.drawn(nav)
        self.see([("h1[data-slot=title] bdi", text)])
        self.inspect(text)

    def test_the_name_of_a_window_is_shown_as_it_is(self):
        for text in FEW.values():
            nav, name = next(self.navs), text[:128]
            self.load(nav, "alice", name=name)
            eventually("the display", lambda: driver.execute_script(
                "return document.documentElement.dataset.display") == "mine")
            driver.execute_script("document.querySelector('.tile[data-key=about]').click()")
            eventually("the sheet", lambda: driver.execute_script("return document.documentElement.dataset.visible") == "about")
            self.drawn(nav)
            eventually("the author", lambda: driver.execute_script(FIND, [[".log-author", None]])[0])
            # It creates the nav, takes the display and presents the sheet, all under its name.
            self.see([(".log-author bdi", name), (".log-author @data-author", name)])
            self.assertEqual(daemon.control.get(nav)["environment"]["owner"], name)
            self.inspect(name)

    def test_an_error_that_quotes_a_text_is_shown_as_it_is(self):
        nav = next(self.navs)
        self.load(nav, "alice")
        eventually("the display", lambda: driver.execute_script(
            "return document.documentElement.dataset.display") == "mine")
        for text in ("<img src=//evil.test/x onerror=alert(1)>", "__proto__", "\u202egnp.exe"):
            for operation in ({"open": {"route": text}}, {text: {}}, {"screen.set": {"screen": "home", text: 1}}):
                with self.assertRaises(Refused) as error:
                    daemon.control.op(nav, operation)
                message = error.exception.args[0]["msg"]
                self.assertIn(text, message)
                driver.execute_async_script(
                    "const [operation, done] = arguments; import('/app.js').then(({ send }) => "
                    "send({ do: [JSON.parse(operation)], if: { any: true } })).then(done)", json.dumps(operation))
                eventually("the announcement", lambda: driver.execute_script(
                    FIND, [["[data-part=live]", None]]) == [[message]])
                self.inspect(text)

    def test_an_address_with_a_hostile_nav_shows_it_as_it_is(self):
        for text in FEW.values():
            self.load(text)
            eventually("the notice", lambda: driver.execute_script(
                "return document.querySelector('[data-part=notice]').hidden") is False)
            found = driver.execute_script(FIND, [["[data-part=notice] p", None]])[0][0]
            self.assertIn(text, found)
            self.inspect(text)


class Client(HostileTest):
    def test_a_client_gives_keys_of_clients_as_own_keys(self):
        own = Gateway(daemon, page=PAGE, module=MODULE, tokens=[f"__proto__ {TOKENS['boss']} admin * $*"])
        self.addCleanup(own.close)
        nav, keys = next(self.navs), ("__proto__", "constructor", "toString", "hasOwnProperty", "then", "toJSON")
        value = {key: {"polluted": key, "__proto__": {"polluted": 1}} for key in keys}
        daemon.control.create(nav, container=value)
        daemon.control.op(nav, {"push": {"screen": {"id": "constructor", "args": value}}},
                          {"appearance.set": {"slot": "standard", "object": value}})
        driver.get(f"http://{own.host}/")
        eventually("the page", lambda: driver.execute_script("return document.documentElement.dataset.ready ?? null"))
        found = driver.execute_async_script("""
          const [token, nav, done] = arguments;
          const text = (value) => JSON.stringify(value);
          (async () => {
            const client = await NavigationClient.connect({ token, name: "__proto__" });
            const first = async (watch) => { for await (const state of watch) return state; };
            const state = await first(client.watch(nav));
            const { value } = await client.get(nav, { what: "top" });
            const clients = await first(client.watch("$clients"));
            const { args } = state.top;
            await client.perform(nav, [{ "screen.set": { screen: "constructor", title: "sent", args } }]);
            const sent = (await client.state(nav)).top;
            const result = client.result(nav, "constructor");
            await client.perform(nav, [{ pop: { result: args } }], { if: { any: true } });
            const given = await result;
            await client.close();
            const { container } = state.parts.settings;
            const { standard } = state.parts.bar.appearance;
            const kinds = [args, args["__proto__"], state.parts, given].map((each) => Object.getPrototypeOf(each));
            return {
              texts: [args, value.args, container, standard, given, sent.args].map(text), own: Object.keys(args), kinds,
              polluted: String({}.polluted),
              actors: clients.screens.map(({ name, actor }) => [name, actor]), isUnchanged: witness.isUnchanged(),
            };
          })().then(done, (error) => done({ error: String(error.stack) }));
        """, TOKENS["boss"], nav)
        self.assertNotIn("error", found)
        self.assertEqual([json.loads(text) for text in found["texts"]], [value] * 6)
        self.assertEqual((found["own"], found["kinds"]), (list(keys), [None] * 4))
        self.assertEqual((found["polluted"], found["isUnchanged"]), ("undefined", True))
        self.assertIn(["__proto__", "__proto__"], found["actors"])
        self.assertEqual((console(driver), evil.asked), ([], []))


class Members(HostileTest):
    def test_every_row_is_a_member_of_the_protocol(self):
        with open(os.path.join(ROOT, "docs", "protocol.md"), encoding="utf-8") as file:
            members, arguments = documented(file.read())
        self.assertEqual(set(MEMBERS), members)
        self.assertEqual(set(ARGUMENTS) | NO_TEXTS, arguments)

    def test_a_member_with_words_of_its_own_refuses_other_texts(self):
        nav = next(self.navs)
        daemon.control.create(nav)
        before = daemon.control.position(nav)
        for member, row in MEMBERS.items():
            record, *path = member.split(".")
            if not row.refused or record == "hello":
                continue
            for text in TEXTS.values():
                if text == "constructor" and member in ("button.id", "presented.style"):
                    continue  # a good id
                value = text
                for name in reversed(path):
                    value = {name: value}
                with self.assertRaises(Refused, msg=f"{member}: {text[:40]!r}") as error:
                    daemon.control.op(nav, SETTERS[record](value))
                self.assertIn(error.exception.args[0]["code"], row.refused, f"{member}: {text[:40]!r}")
        self.assertEqual(daemon.control.position(nav), before)

    def test_a_hello_refuses_texts_that_are_no_words_of_it(self):
        page = Page(gateway, hello=False)
        self.addCleanup(page.close)
        for member, row in MEMBERS.items():
            if not row.refused or not member.startswith("hello."):
                continue
            for text in TEXTS.values():
                hello = {"ver": [1, 1], "client": page.client, "nonce": "n", member[6:]: text}
                self.assertEqual(page.post_raw(line("hello", hello)).status, 400, f"{member}: {text[:40]!r}")

    def test_json_without_text_is_refused(self):
        nav = next(self.navs)
        daemon.control.create(nav)
        page = Page(gateway)
        self.addCleanup(page.close)
        for text in ('"\\ud800"', '"\\udc00\\ud800"', '"a\u0000b"', '"a\nb"', '"\\x41"', "'a'"):
            body = '["op",{"id":%d,"nav":"%s","do":[{"screen.set":{"screen":"home","title":%s}}]}]' % (
                page.next_id(), nav, text)
            answer = page.post_raw(body)
            if answer.status == 400:
                continue
            page.n += 1
            verb, refusal = page.until(lambda verb, _: verb in ("ok", "err"))
            self.assertEqual((verb, refusal["code"]), ("err", "bad-json"), text)
        self.assertNotIn("title", [screen.get("title") for screen in daemon.control.get(nav)["screens"]])


if __name__ == "__main__":
    unittest.main()
