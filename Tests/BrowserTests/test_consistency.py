"""Many clients of each kind change the same navs at random while navd and the gateway are killed.

One run serves all tests of this file: pages in browsers of their own, `navctl`, and Swift clients
(Tests/ConsistencyWorker). The short run and that of NAVD_TEST_LONG=1 differ by their numbers only.
NAVD_TEST_SEED repeats the choices of a run; the kernel chooses how they meet.
"""
import collections
import json
import os
import random
import re
import signal
import sys
import time
import unittest

from harness import HERE, IS_LONG, MODULE, Concurrently, Daemon, Directory, Gateway, eventually
from participants import Browser, Navctl, Swift, lead_a_session_if_nobody_does, token_of

Numbers = collections.namedtuple("Numbers", "browsers navctls swifts navs seconds kills rounds")
NUMBERS = Numbers(8, 4, 2, 4, 20, 2, 3) if IS_LONG else Numbers(2, 2, 1, 2, 3, 1, 2)
NAVS = [f"nav/{number}" for number in range(NUMBERS.navs)]
SIGNAL = "signal"
# The log must have every revision of the run.
HISTORY = "[history]\nrevisions = 1000000\n"
PARTS = ("bar", "toolbar", "presented", "transition", "environment", "settings")

# What a browser reports of a request that a kill ended. The page asks again; nothing else may be in the console.
NOISE = re.compile(
    r"http://127\.0\.0\.1:\d+/nsp1/(stream|messages\?stream=[\w-]+&n=\d+) - Failed to load resource: ("
    r"net::ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)"
    r"|the server responded with a status of 410 \(Gone\))")


# Simultaneous pops of one screen: what each participant was answered, and the stack before the push and at the end.
Round = collections.namedtuple("Round", "nav answers before after")

# When a kill began, when the next process served, and when each client had answers from it.
Outage = collections.namedtuple("Outage", "began served answered")


class Story:
    """The run: what everybody did, and what navd says about it."""

    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)
        self.daemon, self.gateway, self.directory = Daemon(HISTORY), None, Directory()
        self.browsers = [Browser(f"page{number}") for number in range(NUMBERS.browsers)]
        self.navctls = [Navctl(self.daemon, self.directory, f"navctl{number}", self._seed(), NAVS)
                        for number in range(NUMBERS.navctls)]
        self.swifts, self.outages, self.rounds = [], [], []

    def _seed(self):
        return self.random.randrange(1, 2 ** 31)

    def play(self):
        self._open()
        self._work()
        self._rest()
        # A mirror that is wrong already might wait for ever to see what is to be popped.
        if not any(each.call("violations") for each in self.browsers):
            self.rounds = [self._pop_at_once(nav, number) for number in range(NUMBERS.rounds) for nav in NAVS]
        self._collect()

    def close(self):
        for navctl in self.navctls:
            navctl.stop()
        closing = Concurrently(**{each.name: each.close for each in self.browsers + self.swifts})
        for each in self.browsers + self.swifts:
            closing.result(each.name)
        if self.gateway:
            self.gateway.close()
        self.daemon.close()
        self.directory.remove()

    def _open(self):
        for nav in [*NAVS, SIGNAL]:
            self.daemon.control.create(nav)
        self.epochs = {nav: self.daemon.control.get(nav)["epoch"] for nav in NAVS}
        tokens = [f"{each.name} {token_of(each.name)} ui" for each in self.browsers]
        self.gateway = Gateway(self.daemon, tokens=tokens, page=os.path.join(HERE, "page"), module=MODULE)
        seeds = {each.name: self._seed() for each in self.browsers}
        opening = Concurrently(**{
            each.name: lambda each=each: each.open(self.gateway, seeds[each.name], NAVS, SIGNAL) for each in self.browsers})
        for each in self.browsers:
            opening.result(each.name)

    # The random operations and the kills.

    def _work(self):
        self.swifts = [Swift(self.daemon, self.directory, f"swift{number}", self._seed(), NAVS)
                       for number in range(NUMBERS.swifts)]
        for each in self.browsers:
            each.call("work")
        for each in self.navctls:
            each.work()
        self._all_are_answered()
        start, victims = time.time(), [self.daemon, self.gateway] * NUMBERS.kills
        for number, victim in enumerate(victims, 1):
            self._until(start + NUMBERS.seconds * number / (len(victims) + 1))
            began = time.time()
            self._kill(victim)
            victim.start()
            served = time.time()
            self._all_are_answered()
            self.outages.append(Outage(began, served, time.time()))
        self._until(start + NUMBERS.seconds)

    def _kill(self, victim):
        """Kills navd at any moment, but the gateway when navd has every page's operations and no page an answer."""
        if victim is self.gateway:
            self.daemon.process.signal(signal.SIGSTOP)
            for each in self.browsers:
                eventually(f"{each.name} waits for navd alone", lambda: each.call("isWaitingForAnswers"))
            victim.kill()
            self.daemon.process.signal(signal.SIGCONT)
        else:
            victim.kill()

    def _until(self, moment):
        eventually("the time of the next kill", lambda: time.time() >= moment)

    def _all_are_answered(self):
        """Waits until each client was answered again, and more often than it had operations in flight."""
        for each in [*self.browsers, *self.navctls, *self.swifts]:
            wanted = each.answered() + (5 if isinstance(each, Browser) else 2)
            eventually(f"answers to {each.name}", lambda: each.answered() >= wanted)

    def _rest(self):
        """Stops everybody; from here on nothing is in flight."""
        for each in self.swifts:
            each.tell("stop")
        for each in self.navctls:
            each.stop()
        for each in self.browsers:
            each.call("stop")
        for each in self.swifts:
            each.process.says("quiet\n")

    # The simultaneous pops.

    def _pop_at_once(self, nav, number):
        control, screen = self.daemon.control, f"contested-{number}"
        before = self._shape(nav)
        control.op(nav, {"push": {"screen": {"id": screen}}})
        for each in self.browsers:
            eventually(f"{screen} in {each.name}", lambda: each.call("position", nav)["top"] == screen)
            each.call("arm", nav)
        # Pages pop when the diff of the signal arrives. Each `navctl` has to connect first.
        if number % 2:
            self._signal(nav, number)
        others = Concurrently(**{
            each.name: lambda each=each: each.run(nav, "pop", "--top", screen) for each in self.navctls})
        if number % 2 == 0:
            self._signal(nav, number)
        answers = {each.name: each.call("popped")["code"] for each in self.browsers}
        for each in self.navctls:
            answers[each.name] = {0: "ok", 3: "desync"}.get(others.result(each.name).status, "failed")
        return Round(nav, answers, before, self._shape(nav))

    def _signal(self, nav, number):
        self.daemon.control.op(SIGNAL, {"push": {"screen": {"id": f"{nav.replace('/', '-')}-{number}"}}})

    def _shape(self, nav):
        return [each["id"] for each in self.daemon.control.get(nav)["screens"]]

    # What is left at the end.

    def _collect(self):
        control = self.daemon.control
        self.positions = {nav: control.position(nav) for nav in NAVS}
        for each in self.browsers:
            for nav, (rev, _) in self.positions.items():
                eventually(f"{each.name} at {nav} {rev}", lambda: each.call("position", nav)["rev"] >= rev)
        self.pages = {each.name: each.call("report") for each in self.browsers}
        self.consoles = {each.name: each.console() for each in self.browsers}
        self.workers = {each.name: each.report(self.positions) for each in self.swifts}
        self.states = {nav: control.get(nav) for nav in NAVS}
        self.read = {nav: json.loads(self.daemon.navctl("-o", "json", "get", nav)[1])["value"] for nav in NAVS}
        self.outcomes = control.get(what="stats")["operations"]
        self.logs = {nav: control.log(nav) for nav in NAVS}

    def state_at(self, nav, rev):
        return self.daemon.control.get(nav, at=rev)

    def transcripts(self):
        """What somebody needs who asks why it failed."""
        parts = [f"NAVD_TEST_SEED={self.seed}", f"outages: {self.outages}"]
        for process in [self.daemon, *([self.gateway] if self.gateway else []), *self.swifts]:
            with open(process.process.log_path, errors="replace") as file:
                parts.append(f"--- {process.process.log_path}\n{tail(file.read().splitlines())}")
        for each in self.navctls:
            parts.append(f"--- {each.name}\n{tail(map(str, each.runs))}")
        for each in self.browsers:
            try:
                parts.append(f"--- {each.name}\n{tail(each.call('transcript'), 100)}\n{tail(map(str, each.console()))}")
            except Exception as error:  # noqa: B902 - a page that is gone must not hide the rest
                parts.append(f"--- {each.name}: {error}")
        return "\n".join(parts)


def tail(lines, count=20):
    return "\n".join(line[:400] for line in list(lines)[-count:])


def comparable(state):
    """The members of a state that say what it is, not how it was sent."""
    return {name: state[name] for name in ("epoch", "rev", "dig", "screens", *PARTS)}


def mirror_of_page(state):
    return {**{name: state[name] for name in ("epoch", "rev", "dig", "screens")}, **state["parts"]}


class Consistency(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lead_a_session_if_nobody_does()
        cls.story = Story(int(os.environ.get("NAVD_TEST_SEED") or random.randrange(2 ** 31)))
        cls.addClassCleanup(cls.story.close)
        cls.has_failed = False
        try:
            cls.story.play()
            cls.summarize()
        except BaseException:
            print(cls.story.transcripts(), file=sys.stderr)
            raise

    @classmethod
    def tearDownClass(cls):
        if cls.has_failed:
            print(cls.story.transcripts(), file=sys.stderr)

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        type(self).has_failed |= len(result.failures) + len(result.errors) > before
        return result

    @classmethod
    def summarize(cls):
        story = cls.story
        codes = collections.Counter(
            answer["code"] for report in [*story.pages.values(), *story.workers.values()]
            for answer in report["answers"])
        statuses = collections.Counter(run.status for each in story.navctls for run in each.runs)
        sums = {name: sum(page[name] for page in story.pages.values())
                for name in ("losses", "inFlightAtLoss", "resynchronised")}
        winners = collections.Counter(
            re.sub(r"\d", "", name) for each in story.rounds for name, code in each.answers.items() if code == "ok")
        revisions = sum(len(log) for log in story.logs.values())
        noise = collections.Counter(
            line.rsplit(": ")[-1] for lines in story.consoles.values() for _, line in lines)
        seen = [len(page["seen"][nav]) / story.positions[nav][0] for page in story.pages.values() for nav in NAVS]
        print(f"consistency: seed {story.seed}, {revisions} revisions, of which a page saw {min(seen):.0%} or more, "
              f"answers {dict(codes)}, {story.outcomes.get('repeated', 0)} repeated, navctl {dict(statuses)}, "
              f"pages {sums}, pops won by {dict(winners)}, console {dict(noise)}", file=sys.stderr)

    def test_every_mirror_is_the_daemons_at_the_end(self):
        story = self.story
        for nav, state in story.states.items():
            self.assertEqual((state["rev"], state["dig"]), story.positions[nav])
            self.assertEqual(state["epoch"], story.epochs[nav])
            self.assertEqual(comparable(story.read[nav]), comparable(state), "navctl get")
            for name, page in story.pages.items():
                self.assertEqual(mirror_of_page(page["mirrors"][nav]), comparable(state), name)
            for name, report in story.workers.items():
                last = [each for each in report["samples"] if each["nav"] == nav][-1]
                self.assertEqual(comparable(last), comparable(state), name)

    def test_every_mirror_was_the_daemons_at_every_revision(self):
        story = self.story
        digests = {(nav, entry["rev"]): entry["dig"] for nav, log in story.logs.items() for entry in log}
        for name, page in story.pages.items():
            wrong = [(nav, rev, dig, digests.get((nav, rev))) for nav, seen in page["seen"].items()
                     for rev, dig in seen if digests.get((nav, rev)) != dig]
            self.assertEqual(wrong, [], name)
        for name, report in story.workers.items():
            for sample in report["samples"]:
                self.assertEqual(
                    comparable(sample), comparable(story.state_at(sample["nav"], sample["rev"])), name)

    def test_no_client_saw_a_gap_or_a_wrong_answer(self):
        for name, report in {**self.story.pages, **self.story.workers}.items():
            self.assertEqual(report["violations"], [], name)
        for name, report in self.story.workers.items():
            self.assertLessEqual(set(report["snapshots"]), {"lag", "size"}, name)

    def test_every_client_lost_its_connection_with_operations_in_flight_and_went_on(self):
        ends_of_pages, ends_of_navd = 2 * NUMBERS.kills, NUMBERS.kills
        self.assertEqual(len(self.story.outages), ends_of_pages)
        for name, page in self.story.pages.items():
            self.assertGreaterEqual(page["losses"], ends_of_pages, name)
        for name, report in self.story.workers.items():
            self.assertEqual(report["losses"], ends_of_navd, name)
        # The last kill left operations that had run without an answer, and the pages sent them again.
        self.assertGreater(self.story.outcomes.get("repeated", 0), 0)
        for reports in (self.story.pages, self.story.workers):
            self.assertGreater(sum(report["inFlightAtLoss"] for report in reports.values()), 0)
        for report in [*self.story.pages.values(), *self.story.workers.values()]:
            codes = {answer["code"] for answer in report["answers"]}
            self.assertLessEqual({"ok", "desync"}, codes)

    def test_the_log_has_each_revision_once_and_no_divergence(self):
        for nav, log in self.story.logs.items():
            # An entry of another form reports a new epoch, or a mirror that differed.
            self.assertEqual([entry for entry in log if "rev" not in entry or "bad" in entry], [], nav)
            self.assertEqual([entry["rev"] for entry in log], list(range(1, self.story.positions[nav][0] + 1)), nav)

    def test_what_was_acknowledged_ran_once_and_nothing_else_ran(self):
        logged = self.logged()
        twice = {author: places for author, places in logged.items() if len(places) > 1}
        self.assertEqual(twice, {})
        told = self.acknowledged()
        missing = {author: (place, logged.get(author)) for author, place in told.items()
                   if logged.get(author) != [place]}
        self.assertEqual(missing, {})
        # What was not acknowledged must be an operation whose answer is missing.
        others = [(author, place) for author, [place] in logged.items() if author not in told]
        surplus = collections.Counter((author[0], nav) for author, (nav, _) in others) - self.unanswered()
        self.assertEqual(surplus, {}, f"refused, or never sent: {others}")

    def test_navctl_failed_only_while_there_was_no_daemon(self):
        for run in (run for each in self.story.navctls for run in each.runs if run.status not in (0, 3)):
            self.assertIn(run.status, (4, 7), run)
            is_outage = any(run.began <= each.served and run.ended >= each.began for each in self.story.outages)
            self.assertTrue(is_outage, run)

    def test_one_of_simultaneous_pops_succeeds_and_the_others_are_refused(self):
        participants = NUMBERS.browsers + NUMBERS.navctls
        self.assertEqual(len(self.story.rounds), NUMBERS.rounds * NUMBERS.navs)
        for each in self.story.rounds:
            codes = collections.Counter(each.answers.values())
            self.assertEqual(codes, {"ok": 1, "desync": participants - 1}, (each.nav, each.answers))
            self.assertEqual(each.after, each.before, each.nav)

    def test_the_consoles_have_nothing_but_the_requests_that_kills_ended(self):
        for name, lines in self.story.consoles.items():
            self.assertEqual([line for line in lines if not self.is_noise(*line)], [], name)

    def is_noise(self, moment, message):
        # The browser's clock counts in milliseconds.
        is_outage = any(each.began - 0.01 <= moment <= each.answered + 0.01 for each in self.story.outages)
        return is_outage and NOISE.fullmatch(message)

    # Who did what, by the log and by the answers. An author is a name and an id; of `navctl`, its process.

    def logged(self):
        """The places of each author's changes, without those of the test itself."""
        found = collections.defaultdict(list)
        for nav, log in self.story.logs.items():
            for entry in log:
                by = entry.get("by", {})
                name = by.get("name")
                if name != "control":
                    found[name, by.get("pid" if name == "navctl" else "op")].append((nav, entry["rev"]))
        return found

    def acknowledged(self):
        """The place of each change that somebody was told of."""
        told = {}
        for name, report in {**self.story.pages, **self.story.workers}.items():
            for answer in report["answers"]:
                if answer["changed"]:
                    told[name, answer["id"]] = (answer["nav"], answer["rev"])
        for run in (run for each in self.story.navctls for run in each.runs if run.status == 0):
            answer = json.loads(run.output)
            if answer.get("changed"):
                told["navctl", run.pid] = (run.nav, answer["rev"])
        return told

    def unanswered(self):
        """How many operations of a client on a nav may have run without an answer."""
        count = collections.Counter()
        for name, page in self.story.pages.items():
            count.update((name, answer["nav"]) for answer in page["answers"] if answer["isUnknown"])
        for each in self.story.navctls:
            count.update(("navctl", run.nav) for run in each.runs if run.status in (4, 7))
        return count


if __name__ == "__main__":
    unittest.main()
