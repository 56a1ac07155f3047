"""The inspector as a place of work: room, dividers, labels that stay, empty views, narrow windows, and the locale."""
import itertools
import unittest

from selenium.webdriver.common.action_chains import ActionChains

from inspectors import Client, InspectorTest, Keys, page_directory, start
from harness import Directory
from pages import BROKEN_WORDS

NAV, REVISIONS = "desk/kiosk", 32
TABS = ("stream", "compare", "why", "sessions", "refusals", "plots")
# The rows that are whole in sight.
WHOLE = """
const { top, bottom } = document.querySelector(".revisions").getBoundingClientRect();
return [...document.querySelectorAll("[data-row]")].filter((each) => {
  const box = each.getBoundingClientRect();
  return box.top >= top && box.bottom <= bottom;
}).length;
"""
# Where the labels are that a person presses.
PLACES = """
const found = {};
for (const each of document.querySelectorAll("[role=tab], .act, [data-part=slider], [data-part=filter], .strip, .divider, [data-part=status]")) {
  if (!each.checkVisibility() || each.closest("[role=tabpanel], dialog")) continue;
  const { left, top, width } = each.getBoundingClientRect();
  found[each.dataset.part ?? each.id ?? each.className] = [left, top, width].map(Math.round);
}
return found;
"""
# The parts of rows that have a text and no place in the window.
HIDDEN = """
const poor = [];
for (const row of document.querySelectorAll(arguments[0])) {
  for (const cell of row.children) {
    if (!cell.textContent.trim()) continue;
    const { left, right, width, height } = cell.getBoundingClientRect();
    if (!cell.checkVisibility() || width < 8 || height < 8 || left < 0 || right > innerWidth + 0.5) poor.push(cell.outerHTML.slice(0, 120));
  }
}
return [poor, document.querySelectorAll(arguments[0]).length];
"""


def setUpModule():
    start()
    control = InspectorTest.daemon.control
    control.create(NAV)
    control.op(NAV, {"push": {"screen": {"id": "settings", "title": "Settings"}}})
    control.op(NAV, {"push": {"screen": {"id": "wifi", "title": "Wi-Fi"}}})
    for number in itertools.count(1):
        if control.op(NAV, {"screen.set": {"screen": "home", "args": {"n": number}}})["rev"] == REVISIONS - 2:
            break
    control.op(NAV, {"push": {"screen": {"id": "details", "title": "Details"}}})
    control.op(NAV, {"item.set": {"screen": "wifi", "backBarButtonItem": {"title": "Back"}}})


class Desk(InspectorTest):
    def setUp(self):
        self.size(1280, 800)
        # A page that a test left as it was is where the next test begins.
        if self.look()["state"] == "live":
            self.link(NAV)
            self.tab("stream")
            self.blur()
        else:
            super().setUp()
            self.open(NAV)
        self.live(NAV)
        self.enabled("[data-part=previous]")
        self.until("the rows", f"return document.querySelector('[data-view=timeline]').dataset.loaded === '{REVISIONS}'")

    def tearDown(self):
        for command in ("Emulation.clearDeviceMetricsOverride", "Emulation.setLocaleOverride"):
            self.driver.execute_cdp_cmd(command, {})
        super().tearDown()

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.until("the size", f"return innerWidth === {width} && innerHeight === {height}")

    def other(self):
        """Opens a nav that a test may change, so that the one of all tests stays as it is."""
        nav = self.nav("desk/other")
        self.daemon.control.create(nav)
        self.link(nav)
        self.live(nav)
        self.until("the rows", "return document.querySelectorAll('[data-row]').length === 1")
        return nav

    def text(self, part):
        return self.run_("return document.querySelector(`[data-part=${arguments[0]}]`).innerText", part)

    def fill_in(self, part, text):
        self.run_("document.querySelector(`[data-part=${arguments[0]}]`).select()", part)
        self.key(text or Keys.BACKSPACE)

    # --- Room -------------------------------------------------------------------------------------

    def test_at_1280_by_800_ten_rows_of_history_are_whole(self):
        self.until("ten rows", f"{WHOLE.replace('return [', 'return 10 <= [')}")
        self.link(NAV, rev=20)
        self.past(NAV, 20)
        self.until("ten rows in the past", f"{WHOLE.replace('return [', 'return 10 <= [')}")

    def test_at_1280_by_800_the_filter_and_the_second_lines_of_navs_are_whole(self):
        self.assertTrue(self.run_("""
          const one = document.querySelector("[data-part=filter]"), style = getComputedStyle(one), pen = document.createElement("canvas").getContext("2d");
          pen.font = style.font;
          return pen.measureText(one.placeholder).width <= one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);"""))
        self.becomes("the lines", [], lambda: self.run_("""
          return [...document.querySelectorAll(".tree-more > *")].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent);"""))

    def test_at_1280_by_800_each_sign_of_a_revision_has_a_place(self):
        nav = self.other()
        self.daemon.control.op(nav, {"push": {"screen": {"id": "wifi", "title": "Wi-Fi"}}})
        rev = self.daemon.control.op(nav, {"pop": {}})["rev"]
        self.live(nav)
        remote = Client(self.daemon.endpoint, "dashboard")
        self.addCleanup(remote.close)
        remote.request("watch", nav=nav, bad={"rev": rev, "dig": "00000bad" + "0" * 16})
        signs = f"[...document.querySelectorAll('[data-row][data-rev=\"{rev}\"] .sign')]"
        self.until("both", f"return {signs}.length === 2")
        self.assertEqual(self.run_(f"""
          return {signs}.map((each) => [each.getBoundingClientRect(), each.parentElement.getBoundingClientRect()])
            .filter(([own, all]) => own.right > all.right + 0.5 || own.width < 20).length;"""), 0)

    def test_at_1280_by_800_the_author_of_a_row_is_whole_or_ends_in_dots_and_a_title_has_all(self):
        self.other()
        cut = self.until("an author with a pid", lambda: self.run_("""
          return [...document.querySelectorAll("[data-row] .by")].filter((each) => each.textContent.includes("pid")).map((each) => [
            each.scrollWidth > each.clientWidth, getComputedStyle(each).textOverflow, [...each.children].map((part) => [part.textContent, part.title])]);"""))
        for is_cut, overflow, parts in cut:
            self.assertTrue(not is_cut or overflow == "ellipsis")
            self.assertEqual([(text, title) for text, _ in parts for _, title in parts if text not in title], [])

    def width(self, part):
        return round(self.run_("return document.querySelector(arguments[0]).getBoundingClientRect().width", part))

    def focus(self, divider):
        self.run_("document.querySelector(`[data-divider=${arguments[0]}]`).focus()", divider)

    def value(self, divider):
        return self.run_("""
          const one = document.querySelector(`[data-divider=${arguments[0]}]`);
          return ["now", "min", "max"].map((each) => Number(one.getAttribute(`aria-value${each}`)));""", divider)

    def test_a_divider_moves_by_keys_between_bounds_and_stays_after_a_reload(self):
        for divider, part, side, keys in (("side", ".side", "width", (Keys.ARROW_RIGHT, Keys.ARROW_LEFT)),
                                          ("views", ".panels", "width", (Keys.ARROW_LEFT, Keys.ARROW_RIGHT)),
                                          ("time", ".timeline", "height", (Keys.ARROW_UP, Keys.ARROW_DOWN))):
            with self.subTest(divider):
                def size():
                    return round(self.run_("return document.querySelector(arguments[0]).getBoundingClientRect()[arguments[1]]", part, side))
                own = size()
                self.focus(divider)
                self.key(keys[0], keys[0], keys[1], keys[0])
                self.becomes("two steps more", own + 32, size)
                self.key(Keys.END)
                now, least, most = self.value(divider)
                self.assertEqual((size(), now), (most, most))
                self.key(Keys.HOME)
                self.assertEqual((size(), self.value(divider)[0]), (least, least))
                # Keys of a divider lead to no other revision.
                self.assertEqual(self.place()[2], str(REVISIONS))
                self.driver.refresh()
                self.live(NAV)
                self.becomes("the same after a reload", least, size)
                self.focus(divider)
                self.key(Keys.ENTER)
                self.becomes("its own place", own, size)

    def test_a_divider_follows_a_pointer_and_a_double_click_resets_it(self):
        own = self.width(".panels")
        divider = self.driver.find_element("css selector", "[data-divider=views]")
        ActionChains(self.driver).drag_and_drop_by_offset(divider, -60, 0).perform()
        self.becomes("60 pixels more", own + 60, lambda: self.width(".panels"))
        ActionChains(self.driver).drag_and_drop_by_offset(divider, -600, 0).perform()
        _, _, most = self.value("views")
        self.becomes("the most", most, lambda: self.width(".panels"))
        # A window with less room leaves the parts in sight, and one with more gives back what was chosen.
        self.size(1000, 800)
        self.until("the stage", "return document.querySelector('.stage').getBoundingClientRect().width >= 200")
        self.size(1280, 800)
        self.becomes("the same again", most, lambda: self.width(".panels"))
        ActionChains(self.driver).double_click(divider).perform()
        self.becomes("its own place", own, lambda: self.width(".panels"))

    def listeners(self, divider):
        found = self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": f"document.querySelector('[data-divider={divider}]')"})
        found = self.driver.execute_cdp_cmd("DOMDebugger.getEventListeners", {"objectId": found["result"]["objectId"]})
        return sorted(each["type"] for each in found["listeners"])

    def test_a_drag_is_remembered_once_and_leaves_no_listener(self):
        before = self.listeners("views")
        self.run_("""
          window.writes = [];
          const { setItem } = Storage.prototype;
          Storage.prototype.setItem = function (name, value) { writes.push(name); setItem.call(this, name, value); };""")
        divider = self.driver.find_element("css selector", "[data-divider=views]")
        own = self.width(".panels")
        chain = ActionChains(self.driver).click_and_hold(divider)
        for _ in range(5):
            chain.move_by_offset(-5, 0)
        chain.release().perform()
        self.becomes("25 pixels more", own + 25, lambda: self.width(".panels"))
        self.assertEqual(self.run_("return writes"), ["navd-inspector.divider.views"])
        self.assertEqual(self.listeners("views"), before)
        ActionChains(self.driver).double_click(divider).perform()
        self.becomes("its own place", own, lambda: self.width(".panels"))
        self.driver.get("about:blank")

    def test_labels_stay_where_they_are_when_something_is_chosen(self):
        before = self.run_(PLACES)
        self.assertGreater(len(before), 15)
        for tab in TABS:
            self.tab(tab)
            self.assertEqual(self.run_(PLACES), before, tab)
        self.tab("stream")
        for part in ("previous", "pause", "bookmark", "copy-navctl", "pin"):
            self.click(f"[data-part={part}]")
            self.until(part, "return document.querySelector('[data-part=previous]').disabled === false")
            self.assertEqual(self.run_(PLACES), before, part)
        self.becomes("the revision before", str(REVISIONS - 1), lambda: self.place()[2])
        self.driver.get("about:blank")

    # --- Views ------------------------------------------------------------------------------------

    def test_a_comparison_begins_with_what_a_person_sees(self):
        self.link(NAV, with_=REVISIONS - 2)
        self.tab("compare")
        facts = self.until("the facts", lambda: self.run_("""
          return [...document.querySelectorAll("[data-part=compare-facts] [data-fact]")].map((each) => each.innerText.replace(/\\s+/g, " "));"""))
        self.assertIn("Back Settings → Back", facts)
        self.assertIn("Title Wi-Fi → Details", facts)
        self.assertIn("Stack Home · Settings · Wi-Fi → Home · Settings · Wi-Fi · Details", facts)
        self.assertTrue(self.run_("""
          const [facts, change, json] = ["[data-part=compare-facts]", "[data-view=compare] [data-change]", "[data-part=compare-shown]"].map(
            (each) => document.querySelector(each));
          return !facts.textContent.match(/[{}"]/) && facts.compareDocumentPosition(change) === 4 && change.compareDocumentPosition(json) === 4
            && !json.checkVisibility();"""))
        for side in ("before", "after"):
            width, height = self.run_("""
              const { width, height } = document.querySelector(`[data-side=${arguments[0]}] [data-device]`).getBoundingClientRect();
              return [width, height];""", side)
            # A line of 17 points then has 9 pixels and more.
            self.assertGreaterEqual(width, 210, side)
            self.assertGreaterEqual(height, 450, side)
        self.tab("stream")
        self.until("the device again", "return document.querySelector('.stage .facts').checkVisibility()")

    def test_the_device_chooses_its_texts_by_their_widths_while_a_comparison_covers_it(self):
        nav = self.other()
        self.daemon.control.op(nav, {"screen.set": {"screen": "home", "title": "First"}})
        self.live(nav)
        self.tab("compare")
        self.until("the comparison", "return document.querySelector('[data-view=stage]').dataset.compare === ''")
        self.daemon.control.op(nav, {"push": {"screen": {"id": "wifi", "title": "Wi-Fi"}}})
        self.live(nav)
        self.tab("stream")
        self.becomes("the text of the back button", "First", lambda: self.run_(
            "return document.querySelector('.stage > .case [data-slot=back]')?.innerText.trim()"))

    def test_two_revisions_of_one_look_say_so(self):
        self.link(NAV, rev=10, with_=9)
        self.tab("compare")
        self.until("the same", lambda: "the same" in self.text("compare-facts"))

    def test_the_legend_names_what_the_strip_shows(self):
        self.run_("document.querySelector('[data-part=legend] summary').focus()")
        self.key(Keys.ENTER)
        self.until("the legend", "return document.querySelector('.legend-body').checkVisibility()")
        kinds = {row["kind"] for row in self.rows("[data-part=legend] li")}
        self.assertEqual(kinds, {"program", "person", "daemon", "height", "faint", "author", "mark", "with", "border", "bad", "unproven", "pause"})
        authors = self.run_("return document.querySelector('.legend-authors').innerText")
        self.assertIn("uid:0", authors)
        self.assertIn("control", authors)
        self.key(Keys.ESCAPE)
        self.until("no legend", "return !document.querySelector('[data-part=legend]').open")

    def test_the_strip_has_the_colours_of_each_scheme(self):
        """A bar of the newest revision differs from what is behind it, whichever scheme was drawn before."""
        script = """
          const canvas = document.querySelector("canvas.strip");
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
          copy.fillStyle = getComputedStyle(document.querySelector(".timeline")).backgroundColor;
          copy.fillRect(0, 0, canvas.width, canvas.height);
          const light = () => { const [r, g, b] = copy.getImageData(4, canvas.height - 24, 1, 1).data; return 0.3 * r + 0.6 * g + 0.1 * b; };
          const before = light();
          copy.drawImage(canvas, 0, 0);
          return Math.abs(light() - before) > 50;"""
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        for forced, scheme in (("active", "light"), ("active", "dark"), ("none", "dark"), ("active", "light"), ("none", "light")):
            with self.subTest(forced=forced, scheme=scheme):
                self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
                    {"name": "forced-colors", "value": forced}, {"name": "prefers-color-scheme", "value": scheme}]})
                self.until("the colours", script)

    def test_an_empty_view_says_what_would_fill_it(self):
        self.link("desk/nowhere")
        self.until("the reason", lambda: "no nav “desk/nowhere”" in self.text("stage-notice"))
        for tab, word in (("stream", "adds a row"), ("compare", "Choose a nav")):
            self.tab(tab)
            self.until(tab, lambda: word in self.run_("return document.getElementById(`panel-${arguments[0]}`).innerText", tab))
        self.daemon.control.create("desk/nowhere")
        self.live("desk/nowhere")
        self.daemon.control.op("desk/nowhere", {"nav.close": {}})
        directory = Directory()
        self.addCleanup(directory.remove)
        path = directory / "ticket.html"
        self.assertEqual(self.daemon.navctl("record", NAV, path, "--html", "--page", page_directory())[0], 0)
        self.driver.get(f"file://{path}")
        for tab in ("stream", "sessions", "refusals", "plots"):
            self.tab(tab)
            self.until(tab, lambda: "The page of a daemon" in self.run_("return document.getElementById(`panel-${arguments[0]}`).innerText", tab)
                       or "the page of a daemon" in self.run_("return document.getElementById(`panel-${arguments[0]}`).innerText", tab))

    def test_an_empty_plot_has_no_axis_and_says_what_adds_a_value(self):
        nav = self.other()
        look = """
          return Object.fromEntries([...document.querySelectorAll("[data-plot]")].map((each) => {
            const [canvas, note] = ["canvas", "[data-part=plot-empty]"].map((one) => each.querySelector(one));
            return [each.dataset.plot, [canvas.checkVisibility(), note.checkVisibility() && note.innerText]];
          }));"""
        empty = lambda words: [False, f"No value yet. It comes with {words}."]  # noqa: E731
        self.tab("plots")
        change, drawn = "the next change of a nav", [True, False]
        self.becomes("only zeros", {
            "operations": drawn, "lag": drawn, "commit": empty(change), "batch": empty(change), "fanout": empty(f"{change} that a client watches"),
        }, lambda: self.run_(look))
        self.daemon.control.op(nav, {"screen.set": {"screen": "home", "title": "First"}})
        self.becomes("values", dict.fromkeys(("operations", "commit", "fanout", "batch", "lag"), drawn), lambda: self.run_(look))

    def test_an_unknown_word_of_the_filter_is_an_error_that_names_the_known_ones(self):
        def invalid():
            return self.run_("return document.querySelector('[data-part=filter]').getAttribute('aria-invalid')")
        self.fill_in("filter", "op:push author:control")
        self.until("the error", lambda: all(word in self.text("revisions-empty") for word in ("“author:”", "by:", "cause:", "op:", "screen:")))
        self.assertEqual((invalid(), self.rows("[data-row]")), ("true", []))
        self.fill_in("filter", "op:nothing")
        self.until("no row", lambda: "No revision matches" in self.text("revisions-empty"))
        for known in ("uid:0 op:push", "by:control -cause:timeout op:push", "OP:PUSH"):
            self.fill_in("filter", known)
            self.becomes(known, ["31", "3", "2"], lambda: [row["rev"] for row in self.rows("[data-row]")])
            self.assertIsNone(invalid())
        self.fill_in("filter", "")

    def test_the_stream_is_filtered_by_the_same_words(self):
        nav = self.other()
        for _ in range(2):
            self.daemon.control.op(nav, {"push": {"screen": {"id": "more"}}})
            self.live(nav)
            self.daemon.control.op(nav, {"pop": {}})
            self.live(nav)
        for text, wanted in (("by:control op:push", 2), ("op:pop", 2), ("by:nobody", 0), ("-by:control op:push", 0)):
            self.fill_in("filter", text)
            self.becomes(text, wanted, lambda: len([row for row in self.rows("[data-view=stream] [data-event]") if "state as it is" not in row["text"]]))
        self.fill_in("filter", "")

    def test_a_button_shows_that_it_copied(self):
        self.run_("Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async () => {} } })")
        for part in ("copy-navctl", "copy-json"):
            self.click(f"[data-part={part}]")
            self.becomes(part, [part], lambda: self.run_("""
              return [...document.querySelectorAll(".act")].filter((each) => getComputedStyle(each, "::after").content.includes("Copied"))
                .map((each) => each.dataset.part);"""))
            self.until("the text for screen readers", lambda: "copied" in self.text("live-region"))
        self.becomes("its own label again", [], lambda: self.rows(".act[data-copied]"))

    # --- Narrow windows ---------------------------------------------------------------------------

    def test_at_390_px_no_column_is_hidden(self):
        nav = self.other()
        self.daemon.control.op(nav, {"screen.set": {"screen": "home", "title": "First"}})
        self.live(nav)
        self.size(390, 844)
        for rows in ("[data-row]", "[data-part=screens] [role=listitem] > button", "[role=treeitem] .tree-more"):
            self.becomes(rows, [], lambda: self.run_(HIDDEN, rows)[0])
            self.assertGreater(self.run_(HIDDEN, rows)[1], 0, rows)
        with self.assertRaises(Exception):
            self.daemon.control.op(nav, {"pop": {}}, guard={"top": "wifi"})
        for tab, rows in (("stream", "[data-event]"), ("sessions", "[data-session]"), ("refusals", "[data-refusal]")):
            self.tab(tab)
            self.until(tab, lambda: self.run_(HIDDEN, rows)[1] > 0)
            self.becomes(rows, [], lambda: self.run_(HIDDEN, rows)[0])
        self.assertEqual(self.run_("""
          return [...document.querySelectorAll("[data-refusal] .why-what")].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent);"""), [])
        self.assertLessEqual(self.run_("return document.documentElement.scrollWidth"), 390)

    def test_with_texts_of_twice_the_size_no_word_breaks_and_no_column_is_hidden(self):
        nav = self.other()
        self.daemon.control.op(nav, {"item.set": {"screen": "home", "prompt": "Applies to the whole museum"}})
        self.live(nav)
        # The browser halves the window.
        self.size(195, 422)
        for tab in TABS:
            self.tab(tab)
            self.becomes(tab, [], lambda: self.run_(BROKEN_WORDS))
        self.tab("stream")
        for rows in ("[data-row]", "[data-event]"):
            self.becomes(rows, [], lambda: self.run_(HIDDEN, rows)[0])
            self.assertGreater(self.run_(HIDDEN, rows)[1], 0, rows)

    def test_in_one_column_a_tab_leads_to_its_panel_also_where_it_ends_a_comparison(self):
        self.size(800, 800)
        self.link(NAV, with_=REVISIONS - 2)
        self.tab("compare")
        self.until("the comparison", "return document.querySelector('[data-view=stage]').dataset.compare === ''")
        self.click("[role=tab][data-tab=why]")
        self.until("its panel", """
          const { top, bottom } = document.getElementById("panel-why").getBoundingClientRect();
          return document.querySelector("[data-view=stage]").dataset.compare !== "" && top > 0 && bottom <= innerHeight;""")

    def test_at_390_px_the_tabs_are_in_sight_and_lead_to_their_panels(self):
        self.size(390, 844)
        for top in (0, 400, 100_000):
            self.run_("scrollTo(0, arguments[0])", top)
            boxes = self.run_("""
              return [...document.querySelectorAll("[role=tab]")].map((each) => {
                const { left, right, top, bottom } = each.getBoundingClientRect();
                return left >= 0 && right <= innerWidth && top > 0 && bottom <= innerHeight;
              });""")
            self.assertEqual(boxes, [True] * 6, top)
        for tab in ("why", "stream"):
            self.run_("scrollTo(0, 0)")
            self.click(f"[role=tab][data-tab={tab}]")
            self.until("its panel", """
              const { top, bottom } = document.getElementById(`panel-%s`).getBoundingClientRect();
              return top > 0 && bottom <= innerHeight && bottom > 300;""" % tab)

    # --- The locale -------------------------------------------------------------------------------

    def test_times_and_numbers_are_those_of_the_locale(self):
        self.addCleanup(self.driver.get, "about:blank")
        for locale, number in (("de-DE", "1.234,5"), ("en-US", "1,234.5"), ("ar-EG", "١٬٢٣٤٫٥")):
            with self.subTest(locale):
                self.driver.execute_cdp_cmd("Emulation.setLocaleOverride", {"locale": locale})
                self.open(NAV)
                self.live(NAV)
                self.until("the rows", "return document.querySelectorAll('[data-row] .time').length > 3")
                self.until("their contents", "return !document.querySelector('[data-row]').textContent.includes('not loaded')")
                found, wanted, own, wide = self.run_("""
                  const time = document.querySelector("[data-row] .time");
                  const t = arguments[0], form = { hour: "numeric", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 };
                  const text = (t) => new Intl.DateTimeFormat(arguments[1], form).format(t), found = time.textContent;
                  const isWide = Array.from({ length: 24 }, (_, hour) => hour).some((hour) => {
                    time.textContent = text(new Date(2000, 11, 28, hour, 44, 58, 888));
                    return time.scrollWidth > time.clientWidth;
                  });
                  time.textContent = found;
                  return [found, text(t), (1234.5).toLocaleString(), isWide];""",
                    self.daemon.control.get(NAV, "log", limit=1, **{"from": self.daemon.control.get(NAV)["rev"]})[0]["t"], locale)
                self.assertEqual((found, own, wide), (wanted, number, False))
                count = self.run_("return document.querySelector('[data-part=history-status]').textContent")
                self.assertEqual(count.split()[0], self.run_("return new Intl.NumberFormat(arguments[0]).format(arguments[1])", locale, self.daemon.control.get(NAV)["rev"]))


if __name__ == "__main__":
    unittest.main()
