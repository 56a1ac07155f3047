"""Load: the page stays small, its counts stay exact, and a hidden page costs nothing."""
import threading
import time
import unittest

import test_attack_pages as pages
from harness import IS_LONG
from inspectors import MOST_NODES, Client, InspectorTest, start
from pages import witness

NAVS, BURST, TABS, HISTORY = (1000, 60000, 8, 100000) if IS_LONG else (60, 600, 3, 400)
PACE = 1000
HEAP = 60 * 1024 * 1024
OCTETS_PER_SECOND = 200 * 1000


def setUpModule():
    start("[history]\nrevisions = 200000\n", is_whole=True)
    control = InspectorTest.daemon.control
    for number in range(NAVS):
        control.create(f"load/{number:04}")


def recorder_octets(recorder):
    return sum(map(len, list(recorder.answers)))


class Load(InspectorTest):
    def sessions(self):
        """The sessions of pages; the control has none."""
        return [each for each in self.daemon.control.clients() if each.get("via") != "self" and "actor" in each]

    def burst(self, count, navs, *, pace=None):
        """Changes navs in turn, and at the pace if there is one."""
        client, begun = Client(self.daemon.endpoint, "writer"), time.monotonic()
        try:
            for number in range(count):
                nav = f"load/{number % navs:04}"
                client.op(nav, {"screen.set": {"screen": "home", "title": f"Title {number}"}})
                ahead = begun + number / pace - time.monotonic() if pace else 0
                if ahead > 0:
                    time.sleep(ahead)
        finally:
            client.close()

    def test_the_page_stays_small_and_its_tree_true(self):
        # What comes passes a recorder, which counts it.
        pages.gateway = self.inspector
        recorder = pages.Recorder()
        self.addCleanup(recorder.close)
        self.driver.get(self.inspector.url(nav="load/0000").replace(self.inspector.host, recorder.host))
        self.live("load/0000")
        begun, before = time.monotonic(), recorder_octets(recorder)
        most, sessions, writer = 0, 0, threading.Thread(
            target=self.burst, args=(BURST, NAVS), kwargs={"pace": PACE if IS_LONG else None})
        writer.start()
        while writer.is_alive():
            most = max(most, self.look()["nodes"])
            sessions = max(sessions, len(self.sessions()))
        writer.join()
        came = (recorder_octets(recorder) - before) / (time.monotonic() - begun)
        self.live("load/0000")
        if IS_LONG:
            self.assertLessEqual(came, OCTETS_PER_SECOND)
        self.assertLessEqual(most, MOST_NODES)
        self.assertEqual(sessions, 1)
        self.assertEqual(self.run_("return document.querySelector('[data-view=tree]').dataset.count"), str(len(
            self.daemon.control.get("$navs")["screens"])))
        # Rows that are in the document have their place among all.
        rows = self.run_("""
          return [...document.querySelectorAll("[data-view=tree] [role=treeitem]")].map((each) => [
            each.dataset.nav ?? null, Number(each.getAttribute("aria-setsize")), Number(each.getAttribute("aria-posinset"))]);""")
        leaves = [row for row in rows if row[0] and row[0].startswith("load/")]
        self.assertTrue(leaves)
        self.assertEqual({size for _, size, _ in leaves}, {NAVS})
        for nav, _, place in leaves:
            self.assertEqual(place, int(nav[-4:]) + 1, nav)
        if IS_LONG:
            self.driver.execute_cdp_cmd("HeapProfiler.enable", {})
            self.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
            self.driver.execute_cdp_cmd("Performance.enable", {})
            metrics = {each["name"]: each["value"] for each in self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
            self.assertLessEqual(metrics["JSHeapUsedSize"], HEAP)

    def test_folded_rows_count_exactly(self):
        nav = self.nav("fold")
        control = self.daemon.control
        control.create(nav)
        self.open(nav)
        self.live(nav)
        self.tab("stream")
        first = control.get(nav)["rev"]
        # Of a page that does not run, states are skipped.
        client = Client(self.daemon.endpoint, "writer")
        self.addCleanup(client.close)
        for number in range(BURST // 3 if not IS_LONG else 3000):
            client.op(nav, {"screen.set": {"screen": "home", "title": f"Title {number}"}})
        self.live(nav)
        newest = control.get(nav)["rev"]

        def counted():
            rows = self.rows("[data-view=stream] [data-event], [data-view=stream] [data-folded], [data-view=stream] [data-gap]")
            events = {int(row["rev"]) for row in rows if "event" in row and int(row["rev"]) > first}
            hidden = sum(int(row.get("folded") or row.get("gap") or 0) for row in rows)
            lowest = min(events, default=0)
            return lowest, len(events) + hidden, max(events, default=0)
        # The pool has the newest rows; from the lowest of them on, everything is accounted for.
        self.until("an exact count", lambda: self.is_exact(*counted(), first, newest))
        self.nodes()

    def is_exact(self, lowest, count, highest, first, newest):
        # A fold below the lowest row stands for revisions before it.
        return highest == newest and newest - lowest + 1 <= count <= newest - first

    def test_the_history_of_a_long_nav_is_loaded_to_its_floor(self):
        nav, count = self.nav("long"), HISTORY
        control = self.daemon.control
        control.create(nav)
        for number in range(count - 1):
            control.op(nav, {"screen.set": {"screen": "home", "title": f"Title {number}"}})
        self.open(nav)
        self.live(nav)
        self.becomes("the history", [str(count), "true"], lambda: self.run_(
            "const { loaded, complete } = document.querySelector('[data-view=timeline]').dataset; return [loaded, complete];"))
        self.slide(2)
        self.past(nav, 2)
        self.assertLessEqual(len(self.rows("[data-row]")), 60)
        self.nodes()

    def test_all_tabs_load_and_a_hidden_tab_holds_no_connection(self):
        nav, first = "load/0001", self.driver.current_window_handle
        self.open(nav)
        self.live(nav)
        opened = []
        try:
            for _ in range(TABS - 1):
                self.driver.switch_to.new_window("tab")
                witness(self.driver)
                opened.append(self.driver.current_window_handle)
                self.open(nav)
                self.live(nav)
            # A browser shows one tab of a window. The others let go of their streams.
            self.becomes("one session", 1, lambda: len(self.sessions()))
            self.driver.switch_to.window(first)
            self.daemon.control.op(nav, {"screen.set": {"screen": "home", "title": "Seen again"}})
            self.live(nav)
            self.becomes("one session", 1, lambda: len(self.sessions()))
        finally:
            for handle in opened:
                self.driver.switch_to.window(handle)
                self.driver.close()
            self.driver.switch_to.window(first)

    def test_a_page_that_is_gone_leaves_nothing(self):
        self.open("load/0002")
        self.live("load/0002")
        self.driver.get("about:blank")
        self.daemon.control.rest()

    def test_a_page_watches_no_more_than_it_shows(self):
        """Full watches of the chosen nav alone, wherever it went before."""
        self.open("load/0003")
        for nav in ("load/0003", "load/0004", "load/0005"):
            self.link(nav)
            self.live(nav)
        self.becomes("the watches", [["load/0005", 1]], lambda: [
            [each["id"], each["watches"]] for each in self.daemon.control.get("$heads")["screens"] if each["watches"]])


if __name__ == "__main__":
    unittest.main()
