"""The kiosk as a person meets it: what it draws of a state, keyboard, screen reader, motion, swipes, sizes."""
import json
import unittest

from selenium.webdriver.common.keys import Keys

from harness import MODULE, TOKEN_LINES, Daemon, Gateway, eventually, kiosk_page
from kiosk import Kiosk
from pages import browser, console

PHONE = (390, 844)
SMALL = (320, 568)
DESK = (1280, 960)
WALL = (3840, 2160)
# Its role is not in navd.conf.
STRANGER = "StrangerStrangerStrangerStran006"

def setUpModule():
    global daemon, gateway, driver, kiosk
    driver = browser()
    daemon = Daemon()
    gateway = Gateway(daemon, page=kiosk_page(), module=MODULE, tokens=[*TOKEN_LINES, f"stranger {STRANGER} operators"])
    kiosk = Kiosk(driver, daemon, gateway)


def tearDownModule():
    driver.quit()
    gateway.close()
    daemon.close()


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
        kiosk.open(query="&shape=phone")
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

    def test_a_bar_of_32_points_takes_taps_of_44(self):
        kiosk.size(844, 390)
        kiosk.open(create=False)
        for prompt in (None, "A prompt"):
            with self.subTest(prompt):
                kiosk.do({"push": {"screen": screen("Page", item={"rightItems": [button("Info", image="info")], **({"prompt": prompt} if prompt else {})})}})
                kiosk.settled()
                taken = lambda: kiosk.run("""
                  return [...document.querySelectorAll(".bar-layer:not([inert]) .bar-button")].map((one) => {
                    const { left, top, width, height } = one.getBoundingClientRect(), x = left + width / 2, y = top + height / 2;
                    const lines = [[...Array(innerHeight).keys()].map((at) => [x, at + 0.5]), [...Array(innerWidth).keys()].map((at) => [at + 0.5, y])];
                    return [height, ...lines.map((points) => points.filter((point) => one.contains(document.elementFromPoint(...point))).length)];
                  });""")
                eventually("the bar", lambda: len(taken()) == 2 and taken()[0][0] == 32)
                for height, *taps in taken():
                    self.assertGreaterEqual(min(taps), 44)

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

    def test_escape_alt_left_and_backspace_go_back_and_a_field_keeps_its_backspace(self):
        for keys in (Keys.ESCAPE, Keys.ALT + Keys.ARROW_LEFT, Keys.BACKSPACE):
            kiosk.do({"push": {"screen": {"id": "settings", "title": "Settings", "route": "settings"}}})
            kiosk.top("settings")
            kiosk.key(keys)
            kiosk.top("home")
        # Without a back button there is nowhere to go.
        kiosk.key(Keys.ESCAPE)
        kiosk.do({"push": {"screen": {"id": "wifi", "title": "Wi-Fi", "route": "settings/network/wifi"}}})
        kiosk.top("wifi")
        kiosk.tab_to("channel")
        kiosk.key(Keys.BACKSPACE)
        kiosk.settled()
        self.assertEqual(kiosk.page()["top"], "wifi")

    def test_the_log_scrolls_by_keys(self):
        kiosk.run("document.querySelector('[data-part=drawer]').click()")
        kiosk.until("the log", "const log = document.querySelector('[data-part=log]'); log.focus(); return document.activeElement === log")

    def test_arrow_keys_go_through_the_rows(self):
        kiosk.tab_to("settings")
        kiosk.key(Keys.ARROW_DOWN)
        self.assertEqual(kiosk.focus(), "photo")
        kiosk.key(Keys.ARROW_UP)
        self.assertEqual(kiosk.focus(), "settings")

    def test_a_veto_knows_what_was_typed_just_before_a_key(self):
        kiosk.do({"push": {"screen": {"id": "wifi", "title": "Wi-Fi", "route": "settings/network/wifi", "args": {"channel": 1}}}})
        kiosk.top("wifi")
        kiosk.run("""
          const field = document.querySelector("[data-field=channel]");
          field.focus();
          field.value = "36";
          field.dispatchEvent(new Event("input", { bubbles: true }));
          field.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));""")
        kiosk.visible("discard")
        self.assertEqual(daemon.control.get(kiosk.nav)["screens"][-1]["args"]["draft"], {"channel": 36})

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
        self.assertIn("Back, Harbour Museum", self.names("button"))
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

    def test_a_title_is_said_once_also_when_it_changes(self):
        self.addCleanup(kiosk.speak, "")
        kiosk.speak("fr")
        kiosk.open(create=False)
        kiosk.do({"push": {"screen": {"id": "spoken", "title": "Spoken", "route": "settings"}}})
        kiosk.until("the focus", "return document.activeElement.dataset.slot === 'title' && document.title === 'Spoken'")
        kiosk.do({"item.set": {"screen": "spoken", "title": "Other"}})
        kiosk.until("the announcement", "return document.querySelector('[data-part=live]').textContent === 'Other'")
        self.assertEqual(kiosk.run("return [document.title, document.documentElement.lang]"), ["Other", "fr"])

    def test_slots_have_the_names_hints_and_states_that_the_model_has(self):
        kiosk.open(create=False)
        slots = [
            {"button": "a", "image": "gear", "title": "Tune", "accessibilityHint": "Opens the tuner", "accessibilityIdentifier": "tune"},
            {"button": "b", "image": "unknown.png", "accessibilityLabel": "Record", "isSelected": True},
            {"button": "c", "systemItem": "trash", "isEnabled": False}, {"button": "d", "image": "gear"},
            {"back": {"text": "Net", "language": "de", "source": "title", "accessibilityLabel": "Netzwerk", "accessibilityHint": "Geht zurück",
                      "accessibilityIdentifier": "way-back"}},
        ]
        middle = {"title": "Wi-Fi", "accessibilityLabel": "Wireless", "language": "en-GB", "placement": "inline"}
        drawn = driver.execute_async_script("""
          const [slots, middle, done] = arguments;
          import("/view/bar.js").then(({ drawLayer }) => {
            const layer = drawLayer({ top: "x", prompt: "Hello", language: "en-GB", left: slots, right: [], middle, colours: {} });
            const names = ["aria-label", "aria-description", "aria-disabled", "aria-pressed", "data-testid", "lang"];
            done([...layer.querySelectorAll("button, h1, .bar-prompt")].map((each) => names.map((name) => each.getAttribute(name))));
          });""", slots, middle)
        self.assertEqual(drawn, [
            [None, None, None, None, None, "en-GB"],
            ["Tune", "Opens the tuner", None, None, "tune", None], ["Record", None, None, "true", None, None],
            ["Delete", None, "true", None, None, None], ["gear", None, None, None, None, None],
            ["Back, Netzwerk", "Geht zurück", None, None, "way-back", "de"],
            ["Wireless", None, None, None, None, "en-GB"],
        ])

    def test_the_names_and_languages_of_screens_reach_the_page(self):
        kiosk.open(create=False)
        kiosk.do({"push": {"screen": {
            "id": "said", "title": "Réglages", "language": "fr", "accessibilityLabel": "Page des réglages", "route": "settings",
            "item": {"prompt": "Bonjour", "accessibilityLabel": "Tous les réglages", "rightItems": [
                {"id": "on", "title": "On", "isSelected": True, "accessibilityHint": "Switches it", "accessibilityIdentifier": "switch"},
                {"id": "off", "title": "Off", "isEnabled": False}]}}}},
            {"push": {"screen": {"id": "next", "title": "Next", "route": "settings"}}})
        kiosk.settled()
        back = self.attributes("[data-slot=back]")
        self.assertEqual((back["aria-label"], back["lang"]), ("Back, Tous les réglages", "fr"))
        self.assertEqual(driver.execute_async_script("""
          const done = arguments[0];
          document.querySelector("[data-slot=back]").dispatchEvent(new MouseEvent("contextmenu", { bubbles: true }));
          const entry = document.querySelector("[data-slot=back-menu-entry]");
          done([entry.textContent, entry.getAttribute("aria-label"), entry.lang]);"""), ["Réglages", "Tous les réglages", "fr"])
        kiosk.do({"pop": {}})
        kiosk.settled()
        self.assertEqual([self.attributes(each)["lang"] for each in ("[data-slot=page]", "[data-slot=title]", "[data-slot=prompt]")], ["fr"] * 3)
        eventually("the names", lambda: {("region", "Page des réglages"), ("heading", "Tous les réglages")}
                   <= {(role, name) for role, name, _ in self.tree()})
        properties = {name: more for role, name, more in self.tree() if "utton" in role}
        self.assertEqual(properties["On"].get("pressed"), "true")
        self.assertTrue(properties["Off"].get("disabled"))
        # What is disabled is refused here, without a message.
        kiosk.click("[aria-disabled=true]")
        kiosk.click("[data-testid=switch]")
        pressed = "return [...document.querySelectorAll('.log-line')].map((each) => each.textContent).filter((each) => !/Opened|Showing|back/.test(each))"
        self.assertEqual(kiosk.until("the press", pressed), ["Pressed On"])

    def attributes(self, selector):
        return kiosk.run("""
          const { attributes } = [...document.querySelectorAll(arguments[0])].find((one) => !one.closest("[inert], [aria-hidden=true]"));
          return Object.fromEntries([...attributes].map(({ name, value }) => [name, value]));""", selector)

    def test_navd_is_told_what_the_browser_knows_of_its_reader(self):
        kiosk.prefer(prefers_contrast="more")
        kiosk.open(create=False)
        has = lambda *wanted: eventually(f"{wanted}", lambda: [  # noqa: E731
            daemon.control.get(kiosk.nav)["environment"].get(name) for name in ("accessibilityContrast", "contentSizeCategory")] == [*wanted])
        has("high", None)
        kiosk.prefer()
        kiosk.run("document.documentElement.style.fontSize = '32px'")
        has(None, "accessibilityLarge")

    def test_the_texts_of_the_light_scheme_have_the_contrast_of_aa(self):
        kiosk.prefer(prefers_color_scheme="light")
        kiosk.open(create=False)
        weak = kiosk.run("""
          const style = getComputedStyle(document.documentElement), canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
          const on = (ground, colour) => {
            canvas.fillStyle = ground; canvas.fillRect(0, 0, 1, 1);
            if (colour) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
            return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
          };
          const light = (rgb) => rgb.map((value) => value / 255).map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
            .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
          const weak = [];
          for (const ground of ["--ground", "--card", "--elevated", "--popover", "--solid"]) {
            for (const text of ["--label", "--faint", "--blue", "--red"]) {
              const [one, other] = [on(style.getPropertyValue(ground)), on(style.getPropertyValue(ground), style.getPropertyValue(text))].map(light);
              const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
              if (ratio < 4.5) weak.push([ground, text, ratio]);
            }
          }
          return weak;""")
        self.assertEqual(weak, [])

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

    def swipe(self, share, side=1):
        kiosk.open(create=False)
        kiosk.do({"push": {"screen": {"id": "new", "title": "New", "route": "settings"}}})
        kiosk.settled()
        eventually("the display", lambda: kiosk.page()["display"] == "mine")
        place = kiosk.drag(share, side)
        left = kiosk.box(".page.above")["left"] - kiosk.box("[data-part=glass]")["left"]
        self.assertAlmostEqual(side * left / PHONE[0], share, delta=0.03)
        kiosk.lift(place)
        kiosk.settled()
        return [name for entry in daemon.control.log(kiosk.nav) for name in entry.get("do", []) if name.startswith("gesture.")]

    def test_a_swipe_past_the_middle_goes_back(self):
        self.assertEqual(self.swipe(0.7), ["gesture.begin", "gesture.finish"])
        self.assertEqual(kiosk.page()["top"], "home")

    def test_in_a_language_from_right_to_left_everything_is_mirrored(self):
        self.addCleanup(kiosk.speak, "")
        kiosk.speak("he")
        self.assertEqual(self.swipe(0.7, side=-1), ["gesture.begin", "gesture.finish"])
        self.assertEqual(kiosk.page()["top"], "home")
        right = [screen("Wi-Fi", item={"rightItems": [button("Save")]}, route="settings/network/wifi")]
        kiosk.do({"setStack": {"screens": ["home", *right]}})
        kiosk.settled()
        self.assertGreater(kiosk.box("[data-slot=back]")["left"], PHONE[0] / 2)
        self.assertLess(kiosk.box("[data-side=right]")["left"], PHONE[0] / 2)

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
