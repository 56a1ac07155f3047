"""Bars: about sixty states in four profiles; the boxes that the page draws have the heights and slots of `resolved`."""
import itertools
import json
import os
import unittest

from harness import IS_LONG
from inspectors import InspectorTest, buttons, start

SCREENSHOTS = os.environ.get("NAVD_TEST_SCREENSHOTS")
PROFILES = {
    "phone": {"idiom": "phone", "scale": 3, "statusBar": 44},
    "pad": {"idiom": "pad", "scale": 2, "statusBar": 24},
    "vehicle": {"idiom": "pad", "scale": 1, "statusBar": 0},
    "rtl": {"idiom": "phone", "scale": 2, "statusBar": 20, "locale": "ar"},
}
BUTTON = {"id": "b-title", "title": "Edit"}
# What the top screen has, what the bar has, and what the environment has.
ITEMS = {
    "plain": {}, "prompt": {"prompt": "Choose a network"}, "no back": {"hidesBackButton": True},
    "large": {"largeTitleDisplayMode": "always"}, "small": {"largeTitleDisplayMode": "never"},
    "right": {"rightItems": [BUTTON]}, "two": {"rightItems": [BUTTON, {"id": "b-item", "systemItem": "refresh"}]},
    "left": {"leftItems": [BUTTON]},
    "beside": {"leftItems": [BUTTON], "leftItemsSupplementBackButton": True},
    "done": {"rightItems": [{"id": "b-done", "title": "Save", "style": "done"}]},
    "image": {"rightItems": [{"id": "b-image", "image": "gear"}]},
    "view": {"titleView": {"view": {"text": "A view"}, "height": 30}},
    "space": {"rightItems": [BUTTON, {"id": "b-space", "systemItem": "fixedSpace"}, {"id": "b-more", "title": "More"}]},
    "title": {"title": "Of the item"},
}
BARS = {
    "default": {}, "large": {"prefersLargeTitles": True}, "black": {"barStyle": "black"}, "opaque": {"translucent": False},
    "tint": {"barTintColor": "#204060", "tintColor": "#ff8800"},
}
ENVIRONMENTS = {"regular": {}, "compact": {"vCompact": True}}
TOP = {"id": "top", "title": "Network"}


def states():
    """Sixty combinations, of which each value is in several."""
    bars, environments = itertools.cycle(BARS), itertools.cycle(["regular", "regular", "compact"])
    made = []
    for _ in range(4):
        for item in ITEMS:
            made.append((item, next(bars), next(environments)))
    return list(dict.fromkeys(made))[:56]


def setUpModule():
    start()
    # Without motion a drawing is at rest at once.
    InspectorTest.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})


MEASURE = """
const device = document.querySelector("[data-view=stage] [data-device]"), bar = device.querySelector("[data-slot=bar]");
const box = (element) => {
  const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
  return { left, right, top, bottom, width, height };
};
const visible = (element) => element && element.checkVisibility({ visibilityProperty: true, checkVisibilityCSS: true });
// A point and the height of the status bar, as lengths of the drawing.
const length = (value) => {
  const probe = document.createElement("div");
  probe.style.setProperty("position", "absolute");
  probe.style.setProperty("height", value);
  bar.append(probe);
  const { height } = probe.getBoundingClientRect();
  probe.remove();
  return height;
};
const point = Number(device.dataset.scale ?? 0) || length("calc(100 * var(--pt))") / 100;
const layer = bar.querySelector(".bar-layer:not([aria-hidden=true])") ?? bar;
const buttons = (root) => [...root.querySelectorAll("[data-slot=button]")].filter(visible).map(
  (each) => [each.dataset.button, box(each)]);
const texts = (element) => visible(element) ? [element.textContent.trim(), box(element)] : null;
const toolbar = device.querySelector("[data-slot=toolbar]");
const title = layer.querySelector("[data-slot=title]");
return {
  scale: point, status: bar.dataset.status === undefined ? length("var(--status)") / point : Number(bar.dataset.status),
  visible: visible(bar) && box(bar).bottom > box(device).top,
  height: Number(bar.dataset.height), layoutHeight: Number(bar.dataset.layoutHeight), bar: box(bar), device: box(device),
  back: texts(layer.querySelector("[data-slot=back]")), prompt: texts(layer.querySelector("[data-slot=prompt]")),
  title: title && [title.textContent.trim(), title.dataset.placement ?? null, box(title)], buttons: buttons(layer),
  toolbar: visible(toolbar) ? [box(toolbar), buttons(toolbar)] : null,
  sheets: [...device.querySelectorAll("[data-slot=sheet]")].map((each) => each.dataset.screen),
  dir: getComputedStyle(bar).direction,
};
"""


class Bars(InspectorTest):
    def draw(self, nav, item, bar, environment, profile):
        """Brings a nav into a state, and waits until the page shows it at rest."""
        cleared = dict.fromkeys(("prefersLargeTitles", "barStyle", "translucent", "barTintColor", "tintColor"))
        look = {**cleared, **BARS[bar]}
        look["prefersLargeTitles"] = look["prefersLargeTitles"] or False
        # A button belongs to one screen, also to one that is detached.
        number = next(self.numbers)
        own = json.loads(json.dumps(ITEMS[item]).replace('"b-', f'"n{number}-'))
        self.daemon.control.op(
            nav, {"setStack": {"screens": ["home", {**TOP, "id": f"top-{number}", "item": own}]}}, {"bar.set": look},
            {"env.set": {"vCompact": False, "locale": "en", **PROFILES[profile], **ENVIRONMENTS[environment]}})
        self.live(nav)
        return self.daemon.control.get(nav)

    def measured(self, state, wanted):
        """The boxes, when they no longer move and the drawing is of this state."""
        last = None

        def still():
            nonlocal last
            before, last = last, self.run_(MEASURE)
            return last == before and wanted(last) and last
        try:
            return self.until("the drawing at rest", still)
        except AssertionError:
            return last

    def is_drawn(self, state, profile):
        bar = state["resolved"]
        wanted = bar["layoutHeight"]
        # A device of another size has its scale a frame later.
        found = self.measured(state, lambda each: (each["layoutHeight"], each["height"]) == (wanted, bar["height"]) and (
            not wanted or abs(each["bar"]["height"] / each["scale"] - each["status"] - wanted) <= 1))
        scale, status = found["scale"], found["status"]
        self.assertGreater(scale, 0)
        self.assertEqual((found["height"], found["layoutHeight"]), (bar["height"], bar["layoutHeight"]))
        self.assertEqual(found["visible"], bar["layoutHeight"] > 0)
        if not found["visible"]:
            return
        points = found["bar"]["height"] / scale - status
        self.assertAlmostEqual(points, bar["height"], delta=1.0)
        self.assertEqual(found["dir"], "rtl" if profile == "rtl" else "ltr")
        self.slots(found, state, profile)

    def slots(self, found, state, profile):
        bar, edges = state["resolved"], found["bar"]
        back = next((slot["back"] for slot in bar["left"] if "back" in slot), None)
        self.assertEqual(found["back"] is not None, back is not None)
        if back and "text" in back:
            self.assertIn(found["back"][0], [*(text or "" for text in back.get("candidates", [])), back["text"]])
        shown = dict(found["buttons"])
        self.assertEqual(len(shown), len(found["buttons"]), "a button twice")
        left = [key for key, _ in buttons(bar["left"])]
        right = [key for key, _ in buttons(reversed(bar["right"]))]
        self.assertEqual(set(shown), {*left, *right})
        sign = -1 if profile == "rtl" else 1
        order = sorted(shown, key=lambda each: sign * shown[each]["left"])
        self.assertEqual(order, [*left, *right])
        middle = bar.get("middle", {})
        if middle.get("title"):
            self.assertEqual(found["title"][:2], [middle["title"], middle["placement"]])
            box = found["title"][2]
            self.inside(box, edges)
        prompted = bar["metrics"].endswith("Prompt")
        self.assertEqual(found["prompt"] is not None, prompted)
        boxes = [*shown.values(), *([found["back"][1]] if back else [])]
        for box in boxes:
            self.inside(box, edges)
        for one, two in itertools.combinations(boxes, 2):
            self.assertTrue(one["right"] <= two["left"] + 1 or two["right"] <= one["left"] + 1, (one, two))

    def inside(self, box, edges):
        """Within the bar from side to side, and with the middle in it: a button may be higher than a compact bar."""
        self.assertGreaterEqual(box["left"], edges["left"] - 1)
        self.assertLessEqual(box["right"], edges["right"] + 1)
        self.assertTrue(edges["top"] <= (box["top"] + box["bottom"]) / 2 <= edges["bottom"], (box, edges))

    def test_the_boxes_of_bars_are_those_of_resolved(self):
        nav = self.nav("bars")
        self.daemon.control.create(nav)
        self.open(nav)
        self.live(nav)
        cases = states()
        profiles = list(PROFILES)
        for number, case in enumerate(cases):
            # In the short form, each item is there once, and each profile has a quarter of the states.
            if not IS_LONG and number >= len(ITEMS) + 8:
                break
            for profile in profiles if IS_LONG else [profiles[number % len(profiles)]]:
                with self.subTest(case=case, profile=profile):
                    self.is_drawn(self.draw(nav, *case, profile), profile)
                    self.shows(self.daemon.control.get(nav))
                self.keep("-".join((*case, profile)))
        self.nodes()

    def keep(self, name):
        """Keeps a picture for a person to look at."""
        if SCREENSHOTS:
            self.driver.save_screenshot(os.path.join(SCREENSHOTS, f"{name.replace(' ', '_')}.png"))

    def test_hidden_bars_toolbars_and_sheets(self):
        nav, control = self.nav("bars"), self.daemon.control
        control.create(nav)
        self.open(nav)
        self.live(nav)
        tools = [{"id": "t-a", "title": "Left"}, {"id": "t-s", "systemItem": "flexibleSpace"}, {"id": "t-b", "systemItem": "trash"}]
        control.op(nav, {"push": {"screen": {**TOP, "toolbarItems": tools}}}, {"toolbar.setHidden": {"hidden": False}})
        self.live(nav)
        state = control.get(nav)
        found = self.measured(state, lambda each: each["toolbar"] is not None)
        self.assertEqual([key for key, _ in found["toolbar"][1]], ["t-a", "t-b"])
        self.assertLessEqual(found["toolbar"][0]["bottom"], found["device"]["bottom"] + 1)
        self.shows(state)
        control.op(nav, {"bar.setHidden": {"hidden": True}}, {"toolbar.setHidden": {"hidden": True}})
        self.live(nav)
        self.measured(control.get(nav), lambda each: not each["visible"] and each["toolbar"] is None)
        self.is_drawn(control.get(nav), "ltr")
        control.op(nav, {"bar.setHidden": {"hidden": False}})
        for number, style in enumerate(("pageSheet", "formSheet", "popover")):
            control.op(nav, {"present": {"screen": {"id": f"sheet-{number}", "title": f"Sheet {number}"}, "style": style}})
            self.live(nav)
            wanted = [f"sheet-{each}" for each in range(number + 1)]
            found = self.measured(None, lambda each: each["sheets"] == wanted)
            self.assertEqual(found["sheets"], wanted)
        self.shows(control.get(nav))

    def test_a_transition_shows_its_phase_and_ends_with_the_new_bar(self):
        nav, control = self.nav("bars"), self.daemon.control
        control.create(nav, transitionDeadline=60000)
        self.open(nav)
        self.live(nav)
        control.request("op", nav=nav, do=[{"push": {"screen": TOP}}], client=control.own, animated=True, **{"if": {"any": True}})
        state = control.get(nav)
        self.assertEqual(state["transition"]["phase"], "animating")
        self.live(nav)
        self.shows(state)
        control.op(nav, {"transition.complete": {"tid": state["transition"]["tid"]}})
        self.live(nav)
        self.is_drawn(control.get(nav), "ltr")
        self.shows(control.get(nav))


if __name__ == "__main__":
    unittest.main()
