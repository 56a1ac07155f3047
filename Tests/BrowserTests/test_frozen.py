"""A page that stands still costs others nothing, and is right again when it goes on.

A page stands still when the browser freezes it, hides it behind another tab or puts it into the
back/forward cache, and when the system stops the processes of the browser.
"""
import contextlib
import os
import re
import signal
import unittest

from clients import Page, WebNav
from harness import IS_LONG, MODULE, ROOT, TOKENS, Daemon, Gateway, closing, eventually
from pages import PageTest, browser

PAGE = os.path.join(ROOT, "Tests", "BrowserTests", "page")
# What others do meanwhile is 9.6 MB of text, more than the memory may grow by.
OPS, OCTETS = 300, 32000
CONFIGURATION = "[limits]\nresume-revisions = 32\nconnections-per-principal = 1024\n"
STALL = "[session]\nstall-seconds = 2\n"
ENDLESS = 2**53 - 1

# A page that follows a nav and says yes to all but one screen. Its loop notes each revision that it missed unnoticed.
FOLLOW = """
const [token, name, nav, isDelegate, isDisplay] = given;
Object.assign(window, { states: 0, resyncs: 0, gaps: [], mirror: null, freezes: 0, shows: [], asked: 0, hidden: [] });
document.addEventListener("freeze", () => { window.freezes += 1; });
addEventListener("pageshow", (event) => window.shows.push(event.persisted));
window.client = await NavigationClient.connect({ token, name });
(async () => {
  for await (const state of client.watch(nav, { everyRevision: true })) {
    const isNext = mirror === null || state.epoch === mirror.epoch && [0, 1].includes(state.rev - mirror.rev);
    if (!isNext && !state.isResynchronised) gaps.push([mirror.rev, state.rev]);
    window.resyncs += state.isResynchronised ? 1 : 0;
    window.states += 1;
    window.mirror = state;
  }
})();
if (isDelegate) {
  await client.delegate(nav, { roles: ["veto"] }, (question) => {
    window.asked += 1;
    if (document.hidden) window.hidden.push(question.details.screen);
    return question.details.screen !== "unwanted";
  });
}
if (isDisplay) await client.lease(nav);
"""


def setUpModule():
    global daemon, gateway, driver, navs
    daemon = Daemon(CONFIGURATION)
    unittest.addModuleCleanup(daemon.close)
    gateway = Gateway(daemon, page=PAGE, module=MODULE)
    unittest.addModuleCleanup(gateway.close)
    driver = browser(is_whole=True)
    unittest.addModuleCleanup(driver.quit)
    PageTest.driver, PageTest.gateway, Standing.daemon = driver, gateway, daemon
    navs = iter(f"frozen/{number}" for number in range(1000))


def descendants(pid):
    """The processes below a process, the nearest first."""
    found = []
    # A process may end meanwhile.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                for child in map(int, file.read().split()):
                    found += [child, *descendants(child)]
    return found


def is_renderer(pid):
    with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return b"--type=renderer" in file.read()
    return False


def state_of(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]
    return "X"


class Stopped:
    """Stops processes of the browser until the end of the block."""

    def __init__(self, wanted):
        self.pids = [pid for pid in descendants(driver.service.process.pid) if wanted(pid)]

    def signal(self, pids, number):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def __enter__(self):
        self.signal(self.pids, signal.SIGSTOP)
        for pid in self.pids:
            eventually("the stop", lambda: state_of(pid) in "TZX")

    def __exit__(self, *_):
        self.signal(reversed(self.pids), signal.SIGCONT)


class Frozen:
    """The state that the browser gives a page in the background to save power."""

    def set(self, state):
        driver.execute_cdp_cmd("Page.setWebLifecycleState", {"state": state})

    def __enter__(self):
        self.set("frozen")

    def __exit__(self, *_):
        self.set("active")


class Standing(PageTest):
    """Other clients work on a nav while the page that follows it stands still."""

    def setUp(self):
        super().setUp()
        self.nav, self.name = next(navs), f"page of {self.id().rpartition('.')[2]}"
        self.daemon.control.create(self.nav, veto={"deadline": 200, "policy": "allow"})

    def follow(self, isDelegate=False, isDisplay=False):
        self.run_script(FOLLOW, TOKENS["alice"], self.name, self.nav, isDelegate, isDisplay)
        self.addCleanup(lambda: driver.execute_async_script("window.client.close().then(arguments[0])"))

    def session(self):
        return self.daemon.control.client(self.name)

    def other(self):
        page = Page(self.gateway, "bob")
        self.addCleanup(page.close)
        return page

    def work(self, count=OPS):
        """Others change the nav; each of their ops must be answered with ok, and another mirror follows.

        Returns how far the slowest watch was behind.
        """
        behind = 0
        other = WebNav(self.gateway, "bob", self.nav)
        with closing(other):
            for number in range(count):
                text = os.urandom(OCTETS // 2).hex()
                self.daemon.control.op(self.nav, {"screen.set": {"screen": "home", "args": text}})
                if number % 50 == 0:
                    other.caught_up(self.daemon.control)
                    behind = max(behind, self.daemon.control.get(what="stats")["lag"]["max"])
            other.caught_up(self.daemon.control)
        return behind

    def converges(self):
        # Read each time: an op that the page sent again may still change the nav.
        eventually("the mirror of the page", lambda: driver.execute_script(
            "return [mirror?.rev, mirror?.dig]") == list(self.daemon.control.position(self.nav)))
        self.assertEqual(driver.execute_script("return gaps"), [])

    def check_that_it_costs_nothing(self, still):
        """Has a page stand still while others work; afterwards it must be right again."""
        self.follow()
        # The first ops raise the memory to what work needs.
        self.work()
        self.converges()
        judge = self.other()
        judge.request("delegate", nav=self.nav, roles=["veto"])
        driver.execute_script(
            "window.sent = client.perform(arguments[0], [{ push: { screen: { id: 'pending' } } }])", self.nav)
        _, question = judge.until(lambda verb, _: verb == "ask")
        states = driver.execute_script("return states")
        before = [each.process.resident() for each in (self.daemon, self.gateway)]
        with still:
            # The page waits for this op; the answer comes while it stands still.
            judge.post(("answer", {"ask": question["ask"], "value": True}))
            judge.until(lambda verb, _: verb == "settled")
            judge.request("delegate", nav=self.nav, roles=[])
            behind = self.work()
            grown = [each.process.resident() - was for each, was in zip((self.daemon, self.gateway), before)]
        self.converges()
        # What the page missed is skipped, not kept for it.
        self.assertGreater(behind, OPS / 2)
        self.assertLess(driver.execute_script("return states") - states, OPS / 2)
        self.assertGreater(driver.execute_script("return resyncs"), 0)
        self.assertLess(grown[0], 6 << 20, "navd")
        self.assertLess(grown[1], 2 << 20, "navd-web")
        self.assertTrue(self.run_script("return (await window.sent).changed"))
        pushes = [entry for entry in self.daemon.control.log(self.nav) if entry.get("do") == ["push"]]
        self.assertEqual(len(pushes), 1)


class Costs(Standing):
    def test_a_frozen_page_costs_nothing_and_is_right_again(self):
        self.check_that_it_costs_nothing(Frozen())
        self.assertEqual(driver.execute_script("return freezes"), 1)

    def test_a_page_whose_renderer_is_stopped_costs_nothing_and_is_right_again(self):
        self.check_that_it_costs_nothing(Stopped(is_renderer))

    def test_a_page_whose_browser_is_stopped_costs_nothing_and_is_right_again(self):
        self.check_that_it_costs_nothing(Stopped(lambda pid: True))

    def test_a_minimised_page_goes_on(self):
        self.follow()
        driver.minimize_window()
        self.addCleanup(lambda: driver.set_window_size(1280, 960))
        eventually("the page is hidden", lambda: driver.execute_script("return document.hidden"))
        self.work(50)
        self.converges()
        self.assertTrue(driver.execute_script("return document.hidden"))

    def test_a_page_behind_another_tab_goes_on(self):
        self.follow(isDelegate=True)
        first = driver.current_window_handle
        driver.switch_to.new_window("tab")
        try:
            self.work(50)
            self.daemon.control.op(self.nav, {"push": {"screen": {"id": "wanted"}}})
            self.assertNotIn("vetoSkipped", self.daemon.control.log(self.nav)[-1])
        finally:
            driver.close()
            driver.switch_to.window(first)
        self.converges()
        self.assertEqual(driver.execute_script("return hidden"), ["wanted"])


class Duties(Standing):
    def check_that_a_delegate_delays_only(self, still):
        """A delegate that stands still costs the deadline of the question; later it decides again."""
        self.follow(isDelegate=True)
        with still:
            for number in range(3):
                self.daemon.control.op(self.nav, {"push": {"screen": {"id": f"while{number}"}}})
        skipped = [entry for entry in self.daemon.control.log(self.nav) if entry.get("vetoSkipped")]
        self.assertEqual(len(skipped), 3)
        self.converges()

        def is_judged():
            """Answers to the old questions come too late; the page must answer a new one."""
            asked = driver.execute_script("return asked")
            self.daemon.control.op(self.nav, {"push": {"screen": {"id": f"after{asked}"}}})
            return "vetoSkipped" not in self.daemon.control.log(self.nav)[-1]
        eventually("an answer of the page", is_judged)
        verb, answer = self.other().op(self.nav, {"push": {"screen": {"id": "unwanted"}}})
        self.assertEqual((verb, answer["code"], answer["by"]), ("err", "vetoed", self.name))

    def test_a_frozen_delegate_delays_others_by_the_deadline_only(self):
        self.check_that_a_delegate_delays_only(Frozen())

    def test_a_stopped_delegate_delays_others_by_the_deadline_only(self):
        self.check_that_a_delegate_delays_only(Stopped(lambda pid: True))


class Stall(Standing):
    """A daemon that waits for 2 s only."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(STALL)
        cls.addClassCleanup(cls.daemon.close)
        cls.gateway = Gateway(cls.daemon, page=PAGE, module=MODULE)
        cls.addClassCleanup(cls.gateway.close)

    def test_a_stopped_page_that_is_sent_more_than_it_takes_loses_the_display(self):
        self.follow(isDisplay=True)
        other, before = self.other(), self.stalled()
        with Stopped(lambda pid: True):
            self.assertEqual(other.request("lease", nav=self.nav, take=True)[1]["owner"], self.name)
            self.work(50)
            eventually("the end of its session", lambda: self.session() is None)
            self.assertEqual(self.stalled(), before + 1)
            self.assertEqual(other.request("lease", nav=self.nav, take=True)[0], "ok")
            self.assertEqual(other.request("lease", nav=self.nav, take=False)[0], "ok")
        # It comes back, and is the display again as nobody else is.
        eventually("the display", lambda: self.daemon.control.get(self.nav)["environment"].get("owner") == self.name)
        self.converges()

    def stalled(self):
        return self.daemon.control.get(what="stats")["ended"].get("stalled", 0)


class Cache(Standing):
    """The back/forward cache: a page that the browser puts aside whole, and shows again later."""

    def leave(self):
        driver.get(f"http://{self.gateway.host}/?another")

    def test_a_page_in_the_cache_has_no_session_and_no_duties(self):
        self.follow(isDelegate=True, isDisplay=True)
        driver.execute_script(
            "window.held = client.perform(arguments[0], [{ push: { screen: { id: 'before' } } }])", self.nav)
        self.leave()
        eventually("the end of its session", lambda: self.session() is None)
        self.assertNotIn("owner", self.daemon.control.get(self.nav)["environment"])
        self.daemon.control.op(self.nav, {"push": {"screen": {"id": "unwanted"}}})
        self.assertNotIn("vetoSkipped", self.daemon.control.log(self.nav)[-1])
        self.work(50)
        driver.back()
        eventually("the page", lambda: driver.execute_script("return window.shows?.length ?? null"))
        self.assertEqual(driver.execute_script("return shows"), [True])
        self.converges()
        # The op of before, the display and the veto are there as before.
        self.assertEqual(self.run_script("return (await held).top"), "before")
        ids = [screen["id"] for screen in self.daemon.control.get(self.nav)["screens"]]
        self.assertEqual(sorted(ids), ["before", "home", "unwanted"])
        eventually("the display", lambda: self.daemon.control.get(self.nav)["environment"].get("owner") == self.name)
        verb, answer = self.other().op(self.nav, {"remove": {"screens": ["unwanted"]}})
        self.assertEqual((verb, answer["code"], answer["by"]), ("err", "vetoed", self.name))

    def test_a_page_in_the_cache_gives_its_lock_to_others(self):
        self.follow()
        for _ in range(5):
            self.leave()
            eventually("the end of its session", lambda: self.session() is None)
            self.run_script(FOLLOW, TOKENS["alice"], self.name, self.nav, False, False)
            self.converges()


class Gateways(unittest.TestCase):
    def test_200_streams_that_nobody_reads_take_64_megabytes_at_most(self):
        nav = next(navs)
        daemon.control.create(nav)
        own = Gateway(daemon)
        with closing(own):
            pages = [Page(own, window=1 << 20, receive_buffer=4096, hb=60000) for _ in range(200)]
            for page in pages:
                self.addCleanup(page.close)
                page.request("watch", nav=nav)
                page.post(("credit", {"upto": ENDLESS}))
            for number in range(50):
                daemon.control.op(nav, {"screen.set": {"screen": "home", "args": os.urandom(512).hex()}})
            rev = daemon.control.get(nav)["rev"]
            # The gateway has passed all of it on, or holds it.
            eventually("the last diff", lambda: daemon.control.get(what="stats")["lag"]["max"] == 0)
            self.assertLess(own.process.resident(), 64 << 20)
            for page in pages[::50]:
                page.until(lambda verb, body: verb in ("snap", "diff", "diffs") and rev == (
                    body.get("list") or [body])[-1]["rev"])

    def test_a_gateway_without_streams_sleeps_while_others_work(self):
        nav = next(navs)
        daemon.control.create(nav)
        own = Gateway(daemon)
        with closing(own):
            page = Page(own, name="last")
            page.request("watch", nav=nav)
            page.close()
            eventually("the end of its session", lambda: daemon.control.client("last") is None)

            def work(count):
                for number in range(count):
                    daemon.control.op(nav, {"screen.set": {"screen": "home", "title": f"{number}"}})

            def wakes(count):
                before = switches(own.process.pid)
                work(count)
                return switches(own.process.pid) - before
            # It closes what the stream had; then nothing is left to do.
            eventually("rest", lambda: wakes(50) == 0)
            self.assertEqual(wakes(3000 if IS_LONG else 500), 0)


def switches(pid):
    """How often the threads of a process have gone to sleep."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as file:
            total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])
    return total


if __name__ == "__main__":
    unittest.main()
