"""Breaks: the daemon or the inspector is killed or stopped, or the disk is full. The page goes on without a hole."""
import contextlib
import os
import signal
import subprocess
import unittest

from harness import IS_LONG, Daemon, Directory, Refused
from inspectors import Inspector, InspectorTest, Keys, start

STATES = ("stale", "expired")


def setUpModule():
    # A silent daemon is missed after three beats.
    start()


class BreaksTest(InspectorTest):
    """A test in which something breaks."""

    # A browser reports each request that has no server.
    noise = ("Failed to load resource", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE",
             "ERR_CONNECTION_RESET")

    def begin(self, screens=3):
        nav = self.nav("breaks")
        self.daemon.control.create(nav)
        self.more(nav, screens)
        self.open(nav)
        self.live(nav)
        return nav

    def more(self, nav, count):
        for _ in range(count):
            state = self.daemon.control.get(nav)
            self.daemon.control.op(nav, {"push": {"screen": {"id": f"s-{state['rev']}", "title": f"Screen {state['rev']}"}}}
                                   if len(state["screens"]) < 40 else {"popToRoot": {}})

    def becomes_stale(self):
        self.until("the page notices", "return document.documentElement.dataset.state === 'stale'")
        # What is shown stays, so that a person can read it.
        self.assertTrue(self.look()["facts"])
        self.assertIn("stale", self.run_("return document.body.innerText").casefold())
        # What was proven may have changed since: no green beside a state that is old.
        proof, good = self.run_("""
          const proof = document.querySelector("[data-part=proof]"), probe = document.createElement("i");
          probe.style.color = "var(--i-good)";
          document.body.append(probe);
          const good = getComputedStyle(probe).color;
          probe.remove();
          return [proof && [proof.innerText, getComputedStyle(proof).color], good];""")
        if proof:
            self.assertRegex(proof[0], r"stale since \S")
            self.assertNotEqual(proof[1], good)

    def contiguous(self, nav):
        """The rows of the stream name each revision: by itself, in a fold, or in a gap."""
        def fault():
            rows = self.rows(", ".join(f"[data-view=stream] [data-{kind}]" for kind in ("event", "folded", "gap", "epoch-border")))
            newest = self.daemon.control.get(nav)["rev"]
            # The contract leaves the order open.
            return self.hole(rows, newest) and self.hole(rows[::-1], newest)
        self.tab("stream")
        self.becomes("the stream without a hole", "", fault)

    @staticmethod
    def hole(rows, newest):
        """What is missing in rows, the oldest first; "" if nothing is."""
        last, epoch, hidden = None, None, 0
        for row in rows:
            if row["border"] or (epoch and row.get("epoch", epoch) != epoch):
                last, hidden, epoch = None, 0, row.get("epoch")
            hidden += int(row.get("folded") or 0) + int(row.get("gap") or 0)
            if "event" not in row:
                continue
            rev = int(row["rev"])
            if last is not None and rev != last and rev - last - 1 != hidden:
                return f"{rev - last - 1} revisions between {last} and {rev}, {hidden} accounted for"
            last, hidden, epoch = rev, 0, row.get("epoch", epoch)
        return "" if last == newest else f"the stream ends at {last}, not at {newest}"


class Breaks(BreaksTest):
    def test_a_killed_daemon_makes_it_stale_until_it_is_back(self):
        nav = self.begin()
        self.tab("stream")
        for _ in range(2 if IS_LONG else 1):
            self.daemon.kill()
            self.becomes_stale()
            self.daemon.start()
            self.more(nav, 4)
            self.live(nav)
            self.shows(self.printed("show", "-n", nav))
            self.contiguous(nav)

    def test_a_daemon_that_goes_on_alone_leaves_a_gap_at_most(self):
        """More happened meanwhile than a watch can resume."""
        nav = self.begin()
        self.tab("stream")
        self.daemon.kill()
        self.becomes_stale()
        self.inspector.process.signal(signal.SIGSTOP)
        self.daemon.start()
        self.more(nav, 400)
        self.inspector.process.signal(signal.SIGCONT)
        self.live(nav)
        self.contiguous(nav)

    def test_a_killed_inspector_makes_it_stale_and_then_expired(self):
        """Launch codes and their tokens end with the process; the page prints the command that helps."""
        nav = self.begin()
        self.inspector.kill()
        self.becomes_stale()
        self.more(nav, 3)
        self.inspector.start()
        self.until("the end of the session", "return document.documentElement.dataset.state === 'expired'")
        self.assertIn("navctl inspect", self.run_("return document.querySelector('[data-part=expired]').textContent"))
        self.open(nav)
        self.live(nav)

    def test_both_killed_and_started_again(self):
        nav = self.begin()
        self.daemon.kill()
        self.inspector.kill()
        self.becomes_stale()
        self.daemon.start()
        self.inspector.start()
        self.until("an end or a return", "return ['expired', 'live'].includes(document.documentElement.dataset.state)")
        self.open(nav)
        self.live(nav)
        self.shows(self.printed("show", "-n", nav))

    def test_a_new_epoch_is_a_border(self):
        nav = self.begin()
        self.tab("stream")
        before = self.place()[1]
        self.daemon.control.op(nav, {"nav.close": {}})
        self.daemon.control.create(nav)
        self.daemon.control.op(nav, {"push": {"screen": {"id": "later", "title": "Later"}}})
        self.live(nav)
        self.assertNotEqual(self.place()[1], before)
        self.until("the border", "return document.querySelector('[data-view=stream] [data-epoch-border]') !== null")
        self.contiguous(nav)

    def test_what_it_travelled_to_stays_while_the_daemon_is_away(self):
        nav = self.begin(5)
        self.slide(3)
        self.past(nav, 3)
        state = self.history(nav, 3)
        self.daemon.kill()
        self.until("the page notices", "return document.documentElement.dataset.state !== 'live'")
        self.assertEqual(self.place(), (nav, state["epoch"], "3", state["dig"], "true"))
        self.shows(state)
        self.daemon.start()
        self.more(nav, 2)
        self.click("[data-part=live]")
        self.live(nav)

    @unittest.skipUnless(IS_LONG, "a silent daemon is missed after three beats of 5 s")
    def test_a_stopped_daemon_makes_it_stale_until_it_goes_on(self):
        nav = self.begin()
        self.daemon.process.signal(signal.SIGSTOP)
        self.becomes_stale()
        self.daemon.process.signal(signal.SIGCONT)
        self.more(nav, 3)
        self.live(nav)
        self.contiguous(nav)


class FullDisk(BreaksTest):
    """A daemon whose state is on a file system of its own, which a test fills."""

    @classmethod
    def setUpClass(cls):
        cls.disk = Directory()
        cls.addClassCleanup(cls.disk.remove)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m,mode=0700", "none", cls.disk.path],
                                 capture_output=True, text=True, check=False)
        if mounted.returncode:
            raise unittest.SkipTest(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
        cls.addClassCleanup(subprocess.run, ["umount", "-l", cls.disk.path], check=True)
        cls.daemon = Daemon(state=cls.disk / "state")
        cls.addClassCleanup(cls.daemon.close)
        cls.inspector = Inspector(cls.daemon)
        cls.addClassCleanup(cls.inspector.close)

    def test_a_full_disk_stops_changes_and_no_view(self):
        nav = self.begin()
        with open(self.disk / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while ballast.write(b"x" * 4096) == 4096:
                pass
        refused = None
        for number in range(200):
            try:
                self.daemon.control.op(nav, {"screen.set": {"screen": "home", "title": f"{number} " + "x" * 30000}})
            except Refused as error:
                refused = error
                break
        self.assertEqual(refused.args[0]["code"], "storage")
        self.live(nav)
        self.contiguous(nav)
        self.key(Keys.ARROW_LEFT)
        newest = self.daemon.control.get(nav)["rev"]
        self.until("the revision before", f"return document.querySelector('[data-part=position]').dataset.rev === '{newest - 1}'")
        self.click("[data-part=live]")
        os.remove(self.disk / "ballast")
        self.more(nav, 2)
        self.live(nav)
        self.contiguous(nav)


if __name__ == "__main__":
    unittest.main()
