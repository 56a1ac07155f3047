"""The client processes of the modes, ConsistencyWorker, and what their reports must agree with."""
import json
import os
import subprocess
import threading
import time

import torture
from torture import Violation

NAVS = [f"nav/{number}" for number in range(8)]
# How a state was sent, not what it is.
HOW = {"id", "i", "last", "why", "floor"}


class Worker:
    """A ConsistencyWorker, which changes navs and follows four of them."""

    def __init__(self, binaries, endpoint, index, seed, navs=tuple(NAVS)):
        self.name, self.lines, self.changed = f"w{index}", [], threading.Condition()
        self.watched = [navs[(index + step * 2) % len(navs)] for step in range(4)]
        self.process = subprocess.Popen(
            [os.path.join(binaries, "ConsistencyWorker"), endpoint, self.name, str(seed), ",".join(self.watched),
             ",".join(navs)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                # Of what it counts, the newest counts.
                self.lines = [each for each in self.lines if each.split()[0] != line.split()[0]] + [line]
                self.changed.notify_all()

    def number(self, word):
        """The newest number behind a word."""
        with self.changed:
            return next((int(each.split()[1]) for each in self.lines if each.startswith(word + " ")), 0)

    def awaits(self, what, condition, within=torture.PATIENCE):
        end = time.monotonic() + within
        with self.changed:
            while not condition(self.lines):
                left = end - time.monotonic()
                if self.process.poll() is not None and not self.reader.is_alive() or left < 0:
                    raise Violation(f"{self.name} does not say {what}: {self.lines[-3:]}, {self.process.poll()}")
                self.changed.wait(min(left, 0.5))

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def become_quiet(self):
        """Waits until it has the answers to all its ops."""
        self.tell("stop")
        self.awaits("quiet", lambda lines: "quiet\n" in lines)

    def report(self, revisions):
        """Its report, as soon as its mirrors are at these revisions."""
        self.tell("report " + ",".join(f"{nav}={revisions[nav]}" for nav in self.watched))
        self.awaits("its report", lambda lines: lines and lines[-1].startswith("{"))
        if self.process.wait(torture.PATIENCE):
            raise Violation(f"{self.name} ended with {self.process.returncode}")
        return json.loads(self.lines[-1])

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()


def comparable(state, has_bar=True):
    """What a state is, without how it was sent."""
    return {name: value for name, value in state.items() if name not in HOW and (has_bar or name != "resolved")}


def check_mirrors(reports, peer, floors):
    """Each mirror is the daemon's state at its revision; returns how many were the newest, and the violations."""
    newest = {nav: comparable(peer.state(nav)) for nav in floors}
    states, current, found = {}, 0, []
    for report in reports:
        found += report["violations"]
        found += [f"a snapshot came for {why}" for why in report["snapshots"] if why not in ("lag", "size")]
        for sample in report["samples"]:
            nav, revision = sample["nav"], sample["rev"]
            if revision < floors[nav]:
                continue
            key = nav, revision
            if key not in states:
                states[key] = comparable(peer.state(nav, at=revision))
            # Of an older one, in the middle of a resume, the bar can be that of a revision before.
            is_newest = revision == newest[nav]["rev"]
            current += is_newest
            if comparable(sample, is_newest) != comparable(states[key], is_newest):
                found.append(f"a mirror of {nav} at {revision} is {sample}, navd has {states[key]}")
    return current, found


def check_log(reports, logs):
    """Each op acknowledged as a change is one entry of the log, and no other is; returns the number and violations."""
    acknowledged, found = {}, []
    for index, report in enumerate(reports):
        for answer in report["answers"]:
            if answer["changed"]:
                acknowledged[answer["nav"], f"w{index}", answer["id"]] = answer["rev"]
    for (nav, name, number), revision in acknowledged.items():
        ops, floor = logs[nav]
        if revision >= floor and ops.get((name, number)) != [revision]:
            found.append(f"{name} {number} of {nav} was told {revision}, logged is {ops.get((name, number))}")
    for nav, (ops, _) in logs.items():
        for (name, number), revisions in ops.items():
            if name.startswith("w") and acknowledged.get((nav, name, number)) != revisions[0]:
                found.append(f"{name} {number} of {nav} is logged as {revisions}, and was not acknowledged so")
    return len(acknowledged), found


def create(peer, navs=tuple(NAVS)):
    """Makes the navs; returns their epochs."""
    for nav in navs:
        do = [{"nav.create": {"root": {"id": "home", "title": "Home"}}}, {"attach": {}}]
        verb, body = peer.ask("op", nav=nav, client=peer.client, name="torture", do=do)
        if verb != "ok":
            raise Violation(f"{nav} cannot be made: {body}")
    return {nav: peer.state(nav)["epoch"] for nav in navs}


