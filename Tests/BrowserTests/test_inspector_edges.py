"""What the inspector shows of navs that are not there, or not in memory, and the names of its styles."""
import glob
import os
import re
import unittest

from harness import ROOT
from inspectors import InspectorTest, start

CANVAS = """
const canvas = document.querySelector("canvas.strip");
if (canvas.width < 3) return false;
// Chromium warns of a canvas that is read again and again.
const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
copy.drawImage(canvas, 0, 0);
return copy.getImageData(0, 0, canvas.width, canvas.height).data.some((each) => each > 0);
"""


def setUpModule():
    start()


class Edges(InspectorTest):
    def test_a_nav_that_is_not_there_has_no_timeline(self):
        nav = self.nav("edges")
        self.daemon.control.create(nav)
        self.daemon.control.op(nav, {"push": {"screen": {"id": "a"}}})
        self.open(nav)
        self.live(nav)
        self.until("the strip", CANVAS)
        self.until("the rows", lambda: len(self.rows("[data-view=timeline] [data-row]")) == 2)
        self.link("edges/nowhere")
        self.until("the reason", "return document.querySelector('[data-part=stage-notice]').textContent.includes('no nav')")
        self.becomes("the rows", [], lambda: self.rows("[data-view=timeline] [data-row]"))
        self.becomes("the strip", False, lambda: self.run_(CANVAS))
        self.assertEqual(self.run_("return document.querySelector('[data-part=history-status]').textContent"), "")
        self.assertTrue(self.run_("return document.querySelector('[data-part=slider]').disabled"))

    def test_after_a_restart_the_tree_has_the_positions_of_all_navs(self):
        nav = self.nav("edges")
        self.daemon.control.create(nav)
        self.daemon.control.op(nav, {"push": {"screen": {"id": "wifi"}}})
        self.daemon.kill()
        self.daemon.start()
        self.open()
        self.until("the row of the nav", lambda: any(
            "revision 2" in label and "top wifi" in label for label in self.run_(
                "return [...document.querySelectorAll('[role=treeitem]')].map((each) => each.getAttribute('aria-label') ?? '')")))


class StyleNames(unittest.TestCase):
    def test_no_part_of_the_page_has_a_class_of_the_kiosk(self):
        """The drawing of the device is the kiosk's; whatever else has one of its classes would get its style."""
        kiosk = set()
        for name in ("colours", "contents", "device"):
            with open(os.path.join(ROOT, "web", "view", f"{name}.css"), encoding="utf-8") as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            # Only a selector that begins with the class reaches an element outside of the device.
            kiosk |= set(re.findall(r"(?:^|[},])\s*\.([a-z][\w-]*)(?=[\s,:{]|::)", text))
        own = set()
        for path in glob.glob(os.path.join(ROOT, "web", "inspector", "**", "*.js"), recursive=True):
            if not path.endswith("drawing.js"):
                with open(path, encoding="utf-8") as file:
                    own |= {name for names in re.findall(r'class: "([^"]+)"', file.read()) for name in names.split()}
        with open(os.path.join(ROOT, "web", "inspector", "index.html"), encoding="utf-8") as file:
            own |= {name for names in re.findall(r'class="([^"]+)"', file.read()) for name in names.split()}
        self.assertIn("switch", kiosk)
        self.assertGreater(len(own), 20)
        self.assertEqual(kiosk & own, set())


if __name__ == "__main__":
    unittest.main()
