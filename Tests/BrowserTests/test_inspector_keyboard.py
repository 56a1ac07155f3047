"""Without a mouse and without eyes: the whole tour by keys, the accessibility tree, zoom, motion and forced colours.

The tree is that of Chromium, by CDP. `test_axe` tries the rules of axe-core.
"""
import itertools
import re
import time
import unittest

from selenium.webdriver.common.action_chains import ActionChains

from inspectors import InspectorTest, Keys, start

NAV, OTHER = "keyboard/kiosk", "keyboard/seat"
TABS = ("stream", "compare", "why", "sessions", "refusals", "plots")
# Each text that the live region had, with its time.
LISTEN = """
window.said = [];
const region = document.querySelector("[data-part=live-region]");
new MutationObserver(() => {
  const text = region.textContent.trim();
  if (text && text !== said.at(-1)?.[0]) said.push([text, performance.now()]);
}).observe(region, { childList: true, characterData: true, subtree: true });
"""
# The texts that differ too little from what is behind them; a ground that is no plain colour is left out.
POOR = """
const parse = (text) => {
  const [red, green, blue, alpha = 1] = text.match(/[\\d.]+/g)?.map(Number) ?? [];
  return blue === undefined ? null : [red, green, blue, alpha];
};
const curve = (each) => each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4;
const light = ([red, green, blue]) => 0.2126 * curve(red / 255) + 0.7152 * curve(green / 255) + 0.0722 * curve(blue / 255);
const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const ground = (element) => {
  for (let one = element; one; one = one.parentElement) {
    const style = getComputedStyle(one), colour = parse(style.backgroundColor);
    if (style.backgroundImage !== "none") return null;
    if (colour && colour[3] > 0.99) return colour;
    if (colour && colour[3] > 0) return null;
  }
  return isDark ? null : [255, 255, 255];
};
const left = "[data-device], :disabled, [aria-disabled=true], [aria-hidden=true]";
const poor = [];
for (const element of document.querySelectorAll("*")) {
  const hasText = [...element.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
  const isSeen = element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  if (!hasText || !isSeen || element.closest(left)) continue;
  const over = parse(getComputedStyle(element).color), under = ground(element);
  if (!over || !under || over[3] < 1) continue;
  const [high, low] = [light(over), light(under)].sort((a, b) => b - a);
  const ratio = (high + 0.05) / (low + 0.05);
  if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${element.outerHTML.slice(0, 90)}`);
}
return poor;
"""


def setUpModule():
    start()
    control = InspectorTest.daemon.control
    for nav in (NAV, OTHER):
        control.create(nav)
    for name in ("wifi", "details", "about"):
        control.op(NAV, {"push": {"screen": {"id": name, "title": name.title()}}})


class Keyboard(InspectorTest):
    def setUp(self):
        # A page that a test left as a person would is where the next test begins.
        if self.look()["state"] != "live" or self.place()[0] != NAV:
            super().setUp()
            self.open(NAV)
        self.live(NAV)
        self.enabled("[data-part=previous]")
        self.blur()

    def tearDown(self):
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        super().tearDown()

    def rev(self):
        return self.place()[2]

    def test_the_tour_by_keys(self):
        newest = self.rev()
        self.key(Keys.ARROW_LEFT)
        self.becomes("the revision before", str(int(newest) - 1), self.rev)
        self.key(Keys.HOME)
        self.becomes("the first", "1", self.rev)
        self.key(Keys.ARROW_RIGHT)
        self.becomes("the next", "2", self.rev)
        self.key(Keys.END)
        self.becomes("the last", newest, self.rev)
        self.key("l")
        self.live(NAV)
        for number, tab in enumerate(TABS, 1):
            self.key(str(number))
            self.until(tab, f"return document.querySelector('[data-tab={tab}]').getAttribute('aria-selected') === 'true'")
            self.until(tab, f"return document.querySelector('[data-view={tab}]').checkVisibility()")
        self.key("p")
        self.until("the pause", "return document.querySelector('[data-part=pause]').getAttribute('aria-pressed') === 'true'")
        self.key("p")
        self.until("no pause", "return document.querySelector('[data-part=pause]').getAttribute('aria-pressed') === 'false'")
        self.key("/")
        self.until("the search", "return document.activeElement.matches('[data-part=search]')")
        # In a field, keys are text.
        self.key("l", "1")
        self.assertEqual(self.run_("return document.activeElement.value"), "l1")
        self.key(Keys.BACKSPACE, Keys.BACKSPACE)
        self.blur()

    def test_j_and_k_lead_through_the_tree(self):
        self.key("j")
        self.becomes("the nav below", OTHER, lambda: self.place()[0])
        self.blur()
        self.key("k")
        self.becomes("the nav above", NAV, lambda: self.place()[0])

    def pinned(self):
        """The navs of the tree from the top, and whether each is pinned."""
        return [(row["nav"], "pin" in row) for row in self.rows("[role=treeitem][data-nav]")]

    def test_a_row_in_use_stays_while_others_come(self):
        """The active row of the tree, and the focus in the timeline, while navs and revisions come before them."""
        control = self.daemon.control
        self.run_("document.querySelector('[data-view=tree]').focus()")
        self.key(Keys.END)
        self.run_("""
          const tree = document.querySelector("[data-view=tree]");
          window.active = document.getElementById(tree.getAttribute("aria-activedescendant"));
          window.renewed = 0;
          new MutationObserver((list) => { renewed += list.length; }).observe(tree, { attributeFilter: ["aria-activedescendant"] });""")
        for name in ("aa", "seam"):
            control.create(f"keyboard/{name}")
            self.addCleanup(control.op, f"keyboard/{name}", {"nav.close": {}})
        self.until("the new ones", "return document.querySelectorAll('[role=treeitem][data-nav]').length === 4")
        found = self.run_("return [active.isConnected, active.dataset.nav, active.dataset.active, renewed]")
        self.assertEqual(found, [True, OTHER, "", 0])
        # A list that is not longer than its place cannot scroll.
        rev = [control.op(NAV, {"screen.set": {"screen": "home", "title": f"Before {number}"}})["rev"] for number in range(30)][-2]
        row = f"document.querySelector('[data-row][data-rev=\"{rev}\"] .rev')"
        self.until("its row", f"return {row}")
        self.run_(f"{row}.focus()")
        place = "held.getBoundingClientRect().top - document.querySelector('.revisions').getBoundingClientRect().top"
        before = self.run_(f"window.held = document.activeElement; return {place}")
        for number in range(30):
            control.op(NAV, {"screen.set": {"screen": "home", "title": f"Home {number}"}})
        self.live(NAV)
        newest = self.daemon.control.get(NAV)["rev"]
        self.until("the newest", f"return document.querySelector('[data-view=timeline]').dataset.loaded === '{newest}'")
        found = self.run_(f"return [document.activeElement === held, held.textContent, {place}]")
        self.assertEqual(found, [True, str(rev), before])
        self.run_("document.activeElement.blur(); document.querySelector('.revisions').scrollTop = 0")

    def test_a_pin_puts_a_nav_on_top_and_stays_in_the_address(self):
        self.key("j")
        self.becomes("the nav below", OTHER, lambda: self.place()[0])
        self.key("t")
        self.becomes("the pinned one first", [(OTHER, True), (NAV, False)], self.pinned)
        places = self.run_("return [...document.querySelectorAll('[aria-level=\"1\"]')].map((each) =>"
                           " ['aria-posinset', 'aria-setsize'].map((name) => each.getAttribute(name)))")
        self.assertEqual(places, [["1", "2"], ["2", "2"]])
        self.until("the address", "return location.hash.includes('pin=keyboard%2Fseat')")
        self.driver.refresh()
        self.becomes("the same after a reload", [(OTHER, True), (NAV, False)], self.pinned)
        self.click("[data-part=pin][aria-pressed=true]")
        self.becomes("its own place", [(NAV, False), (OTHER, False)], self.pinned)
        self.until("the address without it", "return !location.hash.includes('pin=')")
        self.link(NAV)

    def test_a_bookmark_leads_back_and_can_be_removed(self):
        self.key(Keys.HOME, Keys.ARROW_RIGHT)
        self.becomes("the second", "2", self.rev)
        self.key("b")
        self.until("the bookmark", "return document.querySelector('[data-part=bookmark][aria-pressed=true]')")
        self.until("its sign", "return document.querySelector('[data-row][data-bookmark][data-rev=\"2\"]')")
        self.until("the address", f"return location.hash.includes('mark=keyboard%2Fkiosk%40{self.place()[1]}.2')")
        self.key("l", "j")
        self.becomes("another nav", OTHER, lambda: self.place()[0])
        self.click("[data-part=bookmarks]")
        self.until("the list", "return document.activeElement.matches('dialog[open] .link')")
        self.key(Keys.ENTER)
        self.becomes("the revision", (NAV, "2"), lambda: self.place()[::2][:2])
        self.assertEqual(self.run_("return document.querySelectorAll('dialog[open], .bookmark-list > *').length"), 0)
        self.click("[data-part=bookmarks]")
        self.click("[data-bookmark='2'][data-nav] .act")
        self.until("no bookmark", "return document.querySelector('[data-part=bookmark][aria-pressed=false]')")
        self.assertIn("There is none", self.run_("return document.querySelector('dialog[open]').textContent"))
        ActionChains(self.driver).send_keys(Keys.ESCAPE).perform()
        self.blur()
        self.key("l")

    def test_the_help_opens_and_closes(self):
        self.key("?")
        self.until("the help", "return document.querySelector('dialog[open], [role=dialog]:not([hidden])') !== null")
        text = self.run_("return document.querySelector('dialog[open], [role=dialog]:not([hidden])').textContent")
        for word in ("Home", "End", "L", "P", "J", "K"):
            self.assertIn(word, text)
        self.assertTrue(self.run_("return document.querySelector('dialog[open], [role=dialog]').contains(document.activeElement)"))
        ActionChains(self.driver).send_keys(Keys.ESCAPE).perform()
        self.until("no help", "return document.querySelector('dialog[open], [role=dialog]:not([hidden])') === null")

    def letters(self, is_on):
        """Sets the switch of the help by the keyboard."""
        self.click("[data-part=help]")
        self.run_("document.querySelector('[data-part=letters]').focus()")
        self.assertNotEqual(self.run_("return document.activeElement.checked"), is_on)
        self.key(Keys.SPACE)
        ActionChains(self.driver).send_keys(Keys.ESCAPE).perform()
        self.until("no help", "return document.querySelector('dialog[open]') === null")
        self.blur()

    def test_letters_can_be_turned_off_and_stay_off(self):
        self.letters(False)
        self.driver.refresh()
        self.live(NAV)
        self.enabled("[data-part=previous]")
        newest = self.rev()
        self.key("p", "2", "j", "?", Keys.ARROW_LEFT)
        self.becomes("the revision before", str(int(newest) - 1), self.rev)
        self.assertEqual(self.run_("""
          return [document.querySelector("[data-part=pause]").getAttribute("aria-pressed"), document.querySelector("dialog[open]") === null,
            document.querySelector("[role=tab][aria-selected=true]").dataset.tab === "compare"]"""), ["false", True, False])
        self.letters(True)
        self.key("l")
        self.live(NAV)

    def test_tab_reaches_each_control_and_shows_where_it_is(self):
        wanted = {"search", "slider", "first", "previous", "next", "last", "live", "filter", "pause", "copy-json", "copy-navctl"}
        found, unseen, trapped = set(), [], None
        for step in range(90):
            self.key(Keys.TAB)
            part, outline, what = self.run_("""
              const one = document.activeElement, style = getComputedStyle(one);
              const part = one.closest("[data-part]") ?? one.querySelector("[data-part]");
              return [part?.dataset.part ?? null,
                one === document.body || style.outlineStyle !== "none" || style.boxShadow !== "none", one.outerHTML.slice(0, 80)];""")
            found.add(part)
            if not outline:
                unseen.append(what)
            if wanted <= found:
                break
            trapped = what
        disabled = set(self.run_("""return [...document.querySelectorAll("[data-part]:disabled")].map((each) => each.dataset.part)"""))
        self.assertEqual(wanted - found - disabled, set(), trapped)
        self.assertEqual(unseen, [])

    def test_arrows_move_among_the_tabs(self):
        self.tab("stream")
        self.run_("document.querySelector('[role=tab][data-tab=stream]').focus()")
        self.key(Keys.ARROW_RIGHT)
        self.until("the next tab", "return document.activeElement.dataset.tab === 'compare'")
        self.assertEqual(self.rev(), str(self.daemon.control.get(NAV)["rev"]))

    # --- The accessibility tree -------------------------------------------------------------------

    def tree(self):
        nodes = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        return [self.of(node) for node in nodes if not node.get("ignored")]

    @staticmethod
    def of(node):
        """Role, name, and the properties of a node."""
        properties = {each["name"]: each["value"].get("value") for each in node.get("properties", ())}
        value = node.get("value", {}).get("value")
        return node.get("role", {}).get("value"), node.get("name", {}).get("value", ""), {**properties, "value": value}

    def test_the_tree_has_levels_and_places(self):
        nodes = self.tree()
        roles = {role for role, _, _ in nodes}
        self.assertLessEqual({"tree", "treeitem", "slider", "tablist", "tab", "tabpanel"}, roles)
        items = [(name, more) for role, name, more in nodes if role == "treeitem"]
        self.assertTrue(all(more.get("level", 0) >= 1 for _, more in items), items)
        self.assertTrue(all(name for name, _ in items), items)
        places = self.run_("""
          return [...document.querySelectorAll("[role=treeitem]")].map((each) =>
            ["aria-level", "aria-setsize", "aria-posinset"].map((name) => Number(each.getAttribute(name))));""")
        self.assertTrue(all(1 <= place <= size and level >= 1 for level, size, place in places), places)
        chosen = [name for name, more in items if more.get("selected")]
        self.assertEqual(len(chosen), 1)
        self.assertIn("kiosk", chosen[0])

    def test_the_rows_of_long_lists_have_places(self):
        """Only those in sight are in the document, so each names its place and how many there are."""
        control, depth = self.daemon.control, 30
        self.tab("stream")
        ids = [{"id": f"deep-{number}"} for number in range(depth - 4)]
        for some in (ids[:13], ids[13:]):
            control.op(NAV, *({"push": {"screen": each}} for each in some))
        self.addCleanup(control.op, NAV, {"popTo": {"screen": "about"}})
        self.live(NAV)

        def places(selector):
            return self.run_("""
              return [...document.querySelectorAll(`${arguments[0]} > .rows > [role=listitem]`)].map((each) =>
                ["data-index", "aria-posinset", "aria-setsize"].map((name) => Number(each.getAttribute(name))));""", selector)
        screens = self.until("the screens", lambda: (found := places("[data-part=screens]")) and found[0][2] == depth and found)
        self.assertLess(len(screens), depth)
        rows = places("[data-view=stream] [role=list]")
        for found in (screens, rows, places("[data-view=timeline] [role=list]")):
            self.assertEqual([place for _, place, _ in found], [index + 1 for index, _, _ in found])
            self.assertEqual(len({size for _, _, size in found}), 1)
        self.assertGreaterEqual(rows[0][2], len(rows))

    def test_each_control_has_a_name(self):
        for role, name, _ in self.tree():
            if role in ("button", "tab", "slider", "textbox", "searchbox", "link", "combobox", "tree", "dialog", "table", "tablist"):
                self.assertTrue(name.strip(), role)
        unnamed = self.run_("""return [...document.querySelectorAll("canvas")].filter((each) => !each.closest("[aria-hidden=true]")
          && !each.getAttribute("aria-label") && !each.getAttribute("aria-labelledby")).length;""")
        self.assertEqual(unnamed, 0)

    def test_the_slider_says_where_it_is(self):
        def value():
            return self.run_("return document.querySelector('[data-part=slider]').getAttribute('aria-valuetext') ?? ''")
        newest = self.rev()
        self.slide(2)
        self.becomes("revision 2", "2", self.rev)
        wanted = re.compile(rf"revision 2 of {newest}\b.*push.*wifi.*uid:0.*control")
        self.until("the text", lambda: wanted.search(value()))
        # By CDP, Chromium gives the number of a range and not its text.
        sliders = [more for role, _, more in self.tree() if role == "slider"]
        self.assertEqual([more["value"] for more in sliders if more["value"] == 2], [2])

    def test_the_live_region_is_polite_and_seldom(self):
        region = self.run_("""
          const all = [...document.querySelectorAll("[aria-live], [role=status], [role=alert], output:not([aria-live=off])")];
          return all.filter((each) => each.matches("[data-part=live-region]")).map((each) => [
            each.getAttribute("aria-live"), each.getAttribute("role")]);""")
        self.assertEqual(len(region), 1)
        self.assertTrue(region[0][0] == "polite" or region[0][1] == "status", region)
        # An <output> announces itself; the position changes too often for that.
        self.assertEqual(self.run_("return document.querySelector('[data-part=position]').getAttribute('aria-live')"), "off")
        self.run_(LISTEN)
        begun, count = time.monotonic(), 0
        while len(self.run_("return said")) < 2:
            self.daemon.control.op(NAV, {"screen.set": {"screen": "about", "title": f"About {count}"}})
            count += 1
            self.assertLess(time.monotonic() - begun, 60, "nothing was announced")
        for number in range(150):
            self.daemon.control.op(NAV, {"push": {"screen": {"id": f"flood-{number % 2}"}}} if number % 2 == 0 else {"pop": {}})
        self.live(NAV)
        said = self.run_("return said")
        gaps = [after[1] - before[1] for before, after in itertools.pairwise(said)]
        # A timer may be early by a frame.
        self.assertTrue(all(gap >= 980 for gap in gaps), said)

    def test_a_plot_has_a_table(self):
        self.tab("plots")
        self.until("the plots", "return document.querySelectorAll('[data-view=plots] [data-plot]').length > 0")
        without = self.run_("""
          return [...document.querySelectorAll("[data-view=plots] [data-plot]")].filter((plot) => {
            const table = plot.querySelector("table") ?? document.getElementById(plot.getAttribute("aria-describedby"));
            return !table || !table.querySelector("th") || !table.querySelector("caption, thead");
          }).map((each) => each.dataset.plot);""")
        self.assertEqual(without, [])
        self.until("a row", "return document.querySelector('[data-view=plots] table tbody tr td') !== null")
        for plot in ("commit", "fanout"):
            heads = self.run_(f"return [...document.querySelectorAll('[data-plot={plot}] th')].map((each) => each.textContent)")
            self.assertEqual(heads, ["Time", "max", "p99", "p50"])

    # --- Sizes, motion, colours -------------------------------------------------------------------

    def test_at_400_percent_it_reflows(self):
        """1280 px at 400 % are 320 CSS px: everything by scrolling in one direction."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": 320, "height": 256, "deviceScaleFactor": 4, "mobile": False})
        self.until("the width", "return innerWidth === 320")
        for tab in TABS:
            self.tab(tab)
            wide, room = self.run_("const { scrollWidth, clientWidth } = document.documentElement; return [scrollWidth, clientWidth]")
            self.assertLessEqual(wide, room, tab)
        for part in ("search", "slider", "live", "pause", "copy-json"):
            box = self.run_("""
              const one = document.querySelector(`[data-part=${arguments[0]}]`);
              one.scrollIntoView({ block: "center" });
              const { left, right, width, height } = one.getBoundingClientRect();
              return [left, right, width, height];""", part)
            self.assertTrue(box[0] >= -1 and box[1] <= 321 and box[2] > 0 and box[3] > 0, (part, box))

    def test_motion_can_be_reduced(self):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
        self.daemon.control.op(NAV, {"push": {"screen": {"id": "moving", "title": "Moving"}}}, )
        self.live(NAV)
        moving = self.run_("""
          return [...document.querySelectorAll("*")].filter((each) => {
            const { transitionDuration, animationName, animationDuration } = getComputedStyle(each);
            return [...transitionDuration.split(","), ...(animationName === "none" ? [] : animationDuration.split(","))].some(
              (time) => parseFloat(time) > 0.01);
          }).map((each) => each.outerHTML.slice(0, 80));""")
        self.assertEqual(moving, [])
        self.daemon.control.op(NAV, {"pop": {}})

    def test_colours_of_the_system_and_the_dark_leave_texts_readable(self):
        """Text and ground differ, in the light, in the dark, and with the colours of the system."""
        for features in ([], [{"name": "prefers-color-scheme", "value": "dark"}], [{"name": "forced-colors", "value": "active"}]):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            poor = self.run_(POOR)
            self.assertEqual(poor, [], features)


if __name__ == "__main__":
    unittest.main()
