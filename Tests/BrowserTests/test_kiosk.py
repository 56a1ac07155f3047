"""The kiosk as a person meets it: what it draws of a state, keyboard, screen reader, motion, swipes, sizes."""
import itertools
import json
import os
import unittest

from selenium.webdriver.common.keys import Keys

from harness import MODULE, ROOT, TOKENS, Daemon, Directory, Gateway, eventually
from pages import browser, console

PHONE = (390, 844)
SMALL = (320, 568)
DESK = (1280, 960)
WALL = (3840, 2160)

# Runs before the page's own scripts.
WITNESS = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(`${event.violatedDirective} ${event.blockedURI}`));
window.moved = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, options) {
  moved.push(...frames.flatMap((frame) => Object.keys(frame)));
  return animate.call(this, frames, options);
};
"""


class Kiosk:
    """The kiosk in a browser, on a nav of its own."""

    numbers = itertools.count(1)

    def __init__(self, driver, daemon, gateway):
        self.driver, self.daemon, self.gateway, self.nav = driver, daemon, gateway, None
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WITNESS})

    def size(self, width, height, scale=1):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})

    def prefer(self, **features):
        """Sets media features, such as prefers_reduced_motion="reduce"."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})

    def open(self, who="alice", *, nav=None, create=True, wait=True, query=""):
        self.nav = nav or f"kiosk/{next(self.numbers)}"
        if create:
            self.daemon.control.create(self.nav)
        self.driver.get("about:blank")
        self.driver.get(f"http://{self.gateway.host}/?nav={self.nav}{query}#t={TOKENS[who]}")
        if wait:
            self.settled()

    def page(self):
        return self.driver.execute_script("return {...document.documentElement.dataset}")

    def position(self):
        rev, digest = self.daemon.control.position(self.nav)
        return str(rev), digest

    def settled(self):
        """Waits until the page shows the newest state, and nothing moves."""
        def is_settled():
            page = self.page()
            return (page.get("moving") == "false" and page.get("display") != "free"
                    and (page.get("rev"), page.get("dig")) == self.position()
                    and "tid" not in self.daemon.control.get(self.nav)["transition"])
        eventually("the newest state", is_settled)

    def do(self, *operations, animated=False):
        members = {"animated": True} if animated else {}
        self.daemon.control.request("op", nav=self.nav, do=list(operations), client=self.daemon.control.own,
                                    name="control", onBusy="queue", **{"if": {"any": True}}, **members)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, what, script, *arguments):
        return eventually(what, lambda: self.run(script, *arguments))

    def top(self, screen):
        self.until(f"{screen} on top", "return document.documentElement.dataset.top === arguments[0]", screen)
        self.settled()

    def visible(self, screen):
        self.until(f"{screen} visible", "return document.documentElement.dataset.visible === arguments[0]", screen)
        self.settled()

    # --- A person ---------------------------------------------------------------------------------

    def key(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def focus(self):
        """The slot, the key or the text of what has the focus."""
        return self.run("""
          const { activeElement: one } = document;
          return one === document.body ? "nothing" : one.dataset.slot ?? one.dataset.key ?? one.textContent;""")

    def tab_to(self, wanted, key=Keys.TAB):
        passed = []
        for _ in range(30):
            self.key(key)
            passed.append(self.focus())
            if passed[-1] == wanted:
                return
        raise AssertionError(f"{wanted} is not among {passed}")

    def mouse(self, kind, x, y):
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1})

    def box(self, selector):
        return self.run("""
          const { left, top, width, height } = [...document.querySelectorAll(arguments[0])].at(-1).getBoundingClientRect();
          return { left, top, width, height };""", selector)

    def click(self, selector):
        box = self.box(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, box["left"] + box["width"] / 2, box["top"] + box["height"] / 2)

    def drag(self, share):
        """Puts a finger to the left edge, and moves it so far over the width. The finger stays there."""
        box = self.box("[data-part=glass]")
        x, y = box["left"], box["top"] + box["height"] / 2
        self.mouse("mousePressed", x + 4, y)
        for step in range(1, 13):
            self.mouse("mouseMoved", x + 4 + box["width"] * share * step / 12, y)
        eventually("the gesture", lambda: self.daemon.control.get(self.nav)["transition"].get("phase") == "interactive")
        # Standing still, it has no speed when it is lifted.
        for _ in range(8):
            self.mouse("mouseMoved", x + 4 + box["width"] * share, y)
        return x + 4 + box["width"] * share, y

    def lift(self, place):
        self.mouse("mouseReleased", *place)


def setUpModule():
    global daemon, gateway, driver, profile, kiosk
    profile = Directory()
    driver = browser(profile)
    daemon = Daemon()
    gateway = Gateway(daemon, page=os.environ.get("NAVD_KIOSK", os.path.join(ROOT, "demo", "kiosk")), module=MODULE)
    kiosk = Kiosk(driver, daemon, gateway)


def tearDownModule():
    driver.quit()
    gateway.close()
    daemon.close()
    profile.remove()


class KioskTest(unittest.TestCase):
    """A test after which the console is empty, no policy was violated, and nothing reaches over the side."""

    def setUp(self):
        console(driver)
        kiosk.prefer()
        kiosk.size(*PHONE)

    def tearDown(self):
        self.assertEqual(console(driver), [])
        self.assertEqual(kiosk.run("return window.violations"), [])
        self.assertEqual(overflowing(), [])


def overflowing():
    """The elements that scroll sideways."""
    return kiosk.run("""
      return [document.documentElement, ...document.querySelectorAll(".scroller, .panel, .log")]
        .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.className || one.localName);""")


# --- What is drawn -----------------------------------------------------------------------------------

def screen(title=None, *, item=None, **members):
    number = next(Kiosk.numbers)
    return {"id": f"s{number}", **({"title": title} if title else {}), **({"item": item} if item else {}), **members}


def button(name, **members):
    return {"id": f"{name}{next(Kiosk.numbers)}", **(members or {"title": name})}


LONG = "A title that is too long for a back button"
RESET = [
    {"setStack": {"screens": ["home"]}}, {"bar.setHidden": {"hidden": False}}, {"toolbar.setHidden": {"hidden": True}},
    {"bar.set": {"prefersLargeTitles": False, "barStyle": None, "barTintColor": None, "tintColor": None, "titleTextAttributes": {}}},
]
LARGE = {"bar.set": {"prefersLargeTitles": True}}


def states():
    """Names, the screens above the root, the text of the back button (None: no button, "": a chevron), and operations."""
    wide = [button(f"wide{at}", title=f"An action of many words {at}") for at in (1, 2)]
    bar = lambda **members: {"bar.set": members}  # noqa: E731
    return [
        ("the root", [], None, []),
        ("a pushed screen", [screen("Settings")], "Home", []),
        ("the title of the screen below", [screen("Settings"), screen("Display")], "Settings", []),
        ("a title too long", [screen(LONG), screen("Display")], "Back", []),
        ("no title below", [screen(), screen("Display")], "Back", []),
        ("no room for a text", [screen(LONG), screen("A title that needs room", item={"rightItems": wide})], "", []),
        ("a text of its own", [screen(LONG, item={"backBarButtonItem": button("short")}), screen("Wi-Fi")], "short", []),
        ("a back button as a picture", [screen("A", item={"backBarButtonItem": button("b", image="gear")}), screen("B")], "", []),
        ("a hidden back button", [screen("Settings", item={"hidesBackButton": True})], None, []),
        ("a button instead of it", [screen("Form", item={"leftItems": [button("Cancel")]})], None, []),
        ("a button beside it", [screen("Form", item={"leftItems": [button("Help")], "leftItemsSupplementBackButton": True})], "Home", []),
        ("buttons in order", [screen("Mail", item={"rightItems": [button("One"), button("Two")]})], "Home", []),
        ("system items", [screen("Mail", item={"rightItems": [button("d", systemItem="done"), button("a", systemItem="add")]})], "Home", []),
        ("a prompt", [screen("Wi-Fi", item={"prompt": "Applies to everyone"})], "Home", []),
        ("a view as the title", [screen("Map", item={"titleView": {"view": "Compass"}})], "Home", []),
        ("a large title", [screen("Inbox")], "Home", [LARGE]),
        ("a large title with a prompt", [screen("Inbox", item={"prompt": "All accounts"})], "Home", [LARGE]),
        ("a small title among large ones", [screen("Mail", item={"largeTitleDisplayMode": "never"})], "Home", [LARGE]),
        ("a toolbar", [screen("Mail", toolbarItems=[button("One"), button("f", systemItem="flexibleSpace"), button("Two")])],
         "Home", [{"toolbar.setHidden": {"hidden": False}}]),
        ("a hidden toolbar", [screen("Mail", toolbarItems=[button("One")])], "Home", []),
        ("a hidden bar", [screen("Photo", prefersBarHidden=True)], "Home", []),
        ("a black bar", [screen("Night")], "Home", [bar(barStyle="black")]),
        ("a tinted bar", [screen("Sea")], "Home", [bar(barTintColor="navy", tintColor="white", titleTextAttributes={"color": "gold"})]),
    ]


# What is drawn, in the words of `resolved`.
DRAWN = """
const device = document.querySelector("[data-device]");
const point = parseFloat(getComputedStyle(device).getPropertyValue("--pt"));
const all = (selector) => [...device.querySelectorAll(`[data-part=stack] ${selector}`)].filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest("[aria-hidden=true]"));
const text = (selector) => all(selector)[0]?.textContent ?? null;
const inOrder = (side) => all(`[data-side=${side}]`).sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left)
  .map((one) => [one.dataset.button, one.getAttribute("aria-label") ?? one.textContent]);
const glass = device.querySelector("[data-part=glass]").getBoundingClientRect();
const layers = device.querySelector("[data-part=layers]").getBoundingClientRect();
const status = parseFloat(getComputedStyle(device.querySelector("[data-part=layers]")).top);
const content = all(".page:not([inert]) .content")[0].getBoundingClientRect();
const back = all("[data-slot=back]")[0];
return {
  back: back ? back.textContent : null, source: back?.dataset.source ?? null,
  title: text("[data-slot=title]"), placement: all("[data-slot=title]")[0]?.dataset.placement ?? null, prompt: text("[data-slot=prompt]"),
  left: inOrder("left"), right: inOrder("right"), toolbar: inOrder("toolbar"),
  colour: all("[data-slot=title]").map((one) => getComputedStyle(one).color)[0] ?? null,
  height: layers.bottom > glass.top ? layers.height / point : 0, layoutHeight: (content.top - glass.top - status) / point,
};
"""
WORDS = {"done": "Done", "add": "Add"}
COLOURS = {"black": "rgb(0, 0, 0)", "white": "rgb(255, 255, 255)", "gold": "rgb(255, 215, 0)"}


def expected(state, text):
    """What must be drawn of a state as `navctl show -o json` prints it."""
    bar, top = state["resolved"], state["screens"][-1]
    is_shown = bar["layoutHeight"] > 0
    middle = bar.get("middle", {})
    backs = [slot["back"] for slot in bar["left"] if "back" in slot]
    slots = lambda slots: [  # noqa: E731
        [slot["button"], slot.get("title") or WORDS[slot["systemItem"]]] for slot in slots
        if "button" in slot and slot.get("systemItem") != "flexibleSpace"]
    title = middle.get("title") or middle.get("customView")
    return {
        "back": text if is_shown else None, "source": backs[0]["source"] if backs and is_shown else None,
        "title": title if is_shown else None, "placement": middle.get("placement", "inline") if is_shown else None,
        "prompt": top["item"]["prompt"] if bar["metrics"].endswith("Prompt") else None,
        "left": slots(bar["left"]), "right": slots(bar["right"][::-1]),
        "toolbar": slots(bar["toolbar"]["items"]) if bar["toolbar"]["visible"] else [],
        "colour": COLOURS[bar["textColor"]] if is_shown else None,
        "height": bar["height"] if is_shown else 0, "layoutHeight": bar["layoutHeight"],
    }


class Drawing(KioskTest):
    def shown(self):
        drawn = kiosk.run(DRAWN)
        return {**drawn, "height": round(drawn["height"]), "layoutHeight": round(drawn["layoutHeight"])}

    def test_every_state_is_drawn_as_navd_resolved_it(self):
        kiosk.size(*DESK)
        kiosk.open()
        for name, screens, text, operations in states():
            with self.subTest(name):
                kiosk.do(*RESET, *operations, {"setStack": {"screens": ["home", *screens]}})
                kiosk.settled()
                code, output, error = daemon.navctl("show", kiosk.nav, "-o", "json")
                self.assertEqual((code, error), (0, ""))
                state = json.loads(output)["value"]
                wanted = expected(state, text)
                backs = [slot["back"] for slot in state["resolved"]["left"] if "back" in slot]
                if text is not None and "candidates" in (backs or [{}])[0]:
                    self.assertIn(text or None, backs[0]["candidates"])
                try:
                    # Bars take 300 ms to a new height.
                    eventually(name, lambda: self.shown() == wanted, 3)
                except AssertionError:
                    self.assertEqual(self.shown(), wanted)

    def test_no_size_and_no_page_reaches_over_the_side(self):
        kiosk.open(create=False)
        for size in (SMALL, WALL):
            kiosk.size(*size)
            for route in ("home", "settings/network/wifi", "settings/display"):
                with self.subTest(f"{size[0]} {route}"):
                    record = {"id": f"over{next(Kiosk.numbers)}", "title": LONG, "route": route, "args": {"network": "W" * 60}}
                    kiosk.do({"push": {"screen": record}})
                    kiosk.settled()
                    self.assertEqual(overflowing(), [])


class Keyboard(KioskTest):
    def setUp(self):
        super().setUp()
        kiosk.open(create=False)

    def test_a_row_opens_by_enter_and_the_focus_goes_to_the_heading_and_back_to_the_row(self):
        kiosk.tab_to("settings")
        kiosk.key(Keys.ENTER)
        kiosk.top("settings")
        self.assertEqual(kiosk.focus(), "title")
        kiosk.tab_to("back", Keys.SHIFT + Keys.TAB)
        kiosk.key(Keys.ENTER)
        kiosk.top("home")
        self.assertEqual(kiosk.focus(), "settings")

    def test_arrow_keys_open_the_back_menu_and_choose_in_it(self):
        kiosk.do({"push": {"screen": {"id": "a", "title": "A", "route": "settings"}}},
                 {"push": {"screen": {"id": "b", "title": "B", "route": "settings"}}})
        kiosk.top("b")
        kiosk.tab_to("back", Keys.SHIFT + Keys.TAB)
        kiosk.key(Keys.ARROW_DOWN)
        self.assertEqual(kiosk.focus(), "back-menu-entry")
        kiosk.key(Keys.ESCAPE)
        self.assertEqual(kiosk.focus(), "back")
        kiosk.key(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
        kiosk.top("home")

    def test_escape_closes_a_sheet_and_the_focus_returns(self):
        kiosk.tab_to("about")
        kiosk.key(Keys.ENTER)
        kiosk.visible("about")
        self.assertTrue(kiosk.run("return document.activeElement.closest('[role=dialog]') !== null"))
        kiosk.key(Keys.ESCAPE)
        kiosk.visible("home")
        self.assertEqual(kiosk.focus(), "about")

    def test_arrow_keys_go_through_the_rows(self):
        kiosk.tab_to("settings")
        kiosk.key(Keys.ARROW_DOWN)
        self.assertEqual(kiosk.focus(), "photo")
        kiosk.key(Keys.ARROW_UP)
        self.assertEqual(kiosk.focus(), "settings")

    def test_the_question_of_a_veto_is_answered_by_keys(self):
        for key, screen_id in (("settings", "settings"), ("settings/network", "network"), ("settings/network/wifi", "wifi")):
            kiosk.tab_to(key)
            kiosk.key(Keys.ENTER)
            kiosk.top(screen_id)
        kiosk.tab_to("channel")
        kiosk.key(Keys.CONTROL + "a", "36")
        kiosk.tab_to("back", Keys.SHIFT + Keys.TAB)
        kiosk.key(Keys.ENTER)
        kiosk.visible("discard")
        self.assertTrue(kiosk.run("return document.activeElement.closest('[role=alertdialog]') !== null"))
        kiosk.key(Keys.ESCAPE)
        kiosk.visible("wifi")
        kiosk.tab_to("back", Keys.SHIFT + Keys.TAB)
        kiosk.key(Keys.ENTER)
        kiosk.visible("discard")
        kiosk.tab_to("discard")
        kiosk.key(Keys.ENTER)
        kiosk.top("network")


class ScreenReader(KioskTest):
    def tree(self):
        """Roles and names, with the properties that are true. The browser makes it after the frame, at a time of its own."""
        nodes = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", ""),
                 {each["name"]: each["value"].get("value") for each in node.get("properties", [])})
                for node in nodes if not node["ignored"]]

    def names(self, role):
        return [name for each, name, _ in self.tree() if each == role]

    def test_a_page_has_a_heading_a_back_button_with_its_target_and_a_list(self):
        kiosk.open(create=False)
        kiosk.do({"push": {"screen": {"id": "settings", "title": "Settings", "route": "settings"}}})
        kiosk.settled()
        eventually("the heading", lambda: [
            name for role, name, more in self.tree() if role == "heading" and more.get("level") == 1] == ["Settings"])
        tree = self.tree()
        self.assertIn("Back, Kiosk", self.names("button"))
        self.assertEqual(self.names("list"), ["", ""])  # the groups; at this width, the log is in a closed drawer
        self.assertIn("Network & Internet", self.names("button"))
        self.assertGreaterEqual(len(self.names("listitem")), 4)
        polite = [more for role, _, more in tree if more.get("live") == "polite" and role == "status"]
        self.assertEqual(len(polite), 1)

    def test_a_sheet_is_a_modal_dialog_and_what_it_covers_is_not_there(self):
        kiosk.open(create=False)
        kiosk.do({"present": {"screen": {"id": "about", "title": "About", "route": "about"}, "style": "pageSheet"}})
        kiosk.settled()
        self.has_dialogs(("About", True))
        self.assertNotIn("Settings", self.names("button"))
        kiosk.do({"present": {"screen": {"id": "discard", "title": "Sure?", "route": "discard"}, "style": "alert"}})
        kiosk.settled()
        self.has_dialogs(("Sure?", True))

    def has_dialogs(self, *wanted):
        eventually(f"the dialogs {wanted}", lambda: [
            (name, more.get("modal")) for role, name, more in self.tree() if "dialog" in role] == [*wanted])

    def test_a_new_screen_is_announced(self):
        kiosk.open(create=False)
        kiosk.do({"push": {"screen": {"id": "spoken", "title": "Spoken", "route": "settings"}}})
        kiosk.until("the announcement", "return document.querySelector('[data-part=live]').textContent === 'Spoken'")


class Motion(KioskTest):
    def moves(self):
        """What a push animates."""
        kiosk.open(create=False)
        kiosk.run("moved.length = 0")
        kiosk.do({"push": {"screen": {"id": "new", "title": "New", "route": "settings"}}}, animated=True)
        kiosk.top("new")
        return set(kiosk.run("return moved"))

    def test_a_push_slides(self):
        self.assertIn("transform", self.moves())

    def test_nothing_slides_for_somebody_who_prefers_less_motion(self):
        kiosk.prefer(prefers_reduced_motion="reduce")
        self.assertEqual(self.moves(), {"opacity"})

    def swipe(self, share):
        kiosk.open(create=False)
        kiosk.do({"push": {"screen": {"id": "new", "title": "New", "route": "settings"}}})
        kiosk.settled()
        eventually("the display", lambda: kiosk.page()["display"] == "mine")
        place = kiosk.drag(share)
        left = kiosk.box(".page.above")["left"] - kiosk.box("[data-part=glass]")["left"]
        self.assertAlmostEqual(left / PHONE[0], share, delta=0.03)
        kiosk.lift(place)
        kiosk.settled()
        return [name for entry in daemon.control.log(kiosk.nav) for name in entry.get("do", []) if name.startswith("gesture.")]

    def test_a_swipe_past_the_middle_goes_back(self):
        self.assertEqual(self.swipe(0.7), ["gesture.begin", "gesture.finish"])
        self.assertEqual(kiosk.page()["top"], "home")

    def test_a_short_swipe_changes_nothing(self):
        self.assertEqual(self.swipe(0.3), ["gesture.begin", "gesture.cancel"])
        self.assertEqual(kiosk.page()["top"], "new")

    def test_a_pressed_row_looks_pressed_at_once_and_a_finger_that_moves_lets_it_go(self):
        kiosk.open(create=False)
        box = kiosk.box(".tile[data-key=settings]")
        x, y = box["left"] + 20, box["top"] + 20
        pressed = "return document.querySelector('.tile[data-key=settings]').matches('[data-pressed]')"
        kiosk.mouse("mousePressed", x, y)
        self.assertTrue(kiosk.run(pressed))
        kiosk.mouse("mouseMoved", x, y + 40)
        self.assertFalse(kiosk.run(pressed))
        kiosk.mouse("mouseReleased", x, y + 400)
        kiosk.settled()
