"""Who takes part in test_consistency.py: pages in browsers of their own, `navctl`, and Swift clients."""
import collections
import json
import os
import random
import re
import subprocess
import threading
import time

from harness import BINARIES, DEADLINE, Process, eventually
from pages import browser


class Browser:
    """A chromium of its own with one page, page/worker.html."""

    def __init__(self, name):
        self.name, self.driver = name, None

    def open(self, gateway, seed, navs, signal):
        self.driver = browser()
        self.driver.set_script_timeout(DEADLINE)
        self.driver.get(f"http://{gateway.host}/worker.html")
        eventually("the page", lambda: self.driver.execute_script(
            "return document.documentElement.dataset.ready ?? null"))
        self.call("connect", {"token": token_of(self.name), "name": self.name, "seed": seed, "navs": navs,
                              "signal": signal})

    def call(self, method, *arguments):
        """Calls a method of the page's worker and returns what it resolves with."""
        value = self.driver.execute_async_script(
            "const [method, given, done] = arguments;"
            "Promise.resolve().then(() => worker[method](...given))"
            ".then((value) => done({ value }), (error) => done({ error: String(error) }))", method, arguments)
        if "error" in value:
            raise AssertionError(f"{self.name}: {method}: {value['error']}")
        return value.get("value")

    def answered(self):
        return self.call("answered")

    def console(self):
        """What it reported since the last call: the times in seconds, and the messages."""
        return [(entry["timestamp"] / 1000, entry["message"]) for entry in self.driver.get_log("browser")]

    def close(self):
        if self.driver:
            self.driver.quit()


def token_of(name):
    return name.encode().hex().rjust(32, "0")


Run = collections.namedtuple("Run", "nav arguments pid status output began ended")


def lead_a_session_if_nobody_does():
    """Makes this process the leader of a session where the leader of its session has ended.

    `navctl` records what it showed by the session, and records nothing where the leader has ended, as in a job of a
    service manager.
    """
    leader = os.getsid(0)
    if leader == 0 or not os.path.exists(f"/proc/{leader}"):
        os.setsid()


class Navctl:
    """Runs one `navctl` after the other."""

    def __init__(self, daemon, directory, name, seed, navs):
        self.daemon, self.name, self.navs, self.random = daemon, name, navs, random.Random(seed)
        self.runs, self.number, self.is_stopping, self.thread = [], 0, False, None
        # What a terminal has seen is in its user's home, and guards are made from it.
        self.home = directory / name
        os.mkdir(self.home)

    def work(self):
        self.thread = threading.Thread(target=self._loop, daemon=True)
        self.thread.start()

    def stop(self):
        self.is_stopping = True
        if self.thread:
            self.thread.join(DEADLINE)

    def answered(self):
        return sum(run.status in (0, 3) for run in self.runs[:])

    def _loop(self):
        for nav in self.navs:
            self.run(nav, "show")
        while not self.is_stopping:
            nav = self.random.choice(self.navs)
            if self.random.random() < 0.3:
                self.run(nav, "show")
            self.run(nav, *self._choose())

    def run(self, nav, command, *arguments):
        """Runs it with its answer as JSON; the process id names it in the log."""
        began = time.time()
        process = subprocess.Popen(
            [os.path.join(BINARIES, "navctl"), "--endpoint", self.daemon.endpoint, "-o", "json", command, nav,
             *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={"PATH": "/usr/bin:/bin", "HOME": self.home})
        output, _ = process.communicate(timeout=DEADLINE)
        found = Run(nav, [command, *arguments], process.pid, process.returncode, output, began, time.time())
        self.runs.append(found)
        return found

    def _choose(self):
        self.number += 1
        fresh = f"{self.name}-{self.number}"
        push = ["push", fresh, "--title", f"T{self.number}"]
        record = json.dumps({"id": fresh, "title": "Set"})
        return self.random.choice([
            push, push, push, ["insert", fresh, "--title", "Inserted", "--at", "0"], ["pop"], ["pop"],
            ["pop", "--any"], ["pop-to-root"], ["replace", fresh, "--title", "Replaced"],
            ["stack", record, json.dumps({"id": f"{fresh}b"})]])


class Swift:
    """A ConsistencyWorker: what it takes and prints is in its main.swift."""

    def __init__(self, daemon, directory, name, seed, navs):
        self.name, navs = name, ",".join(navs)
        self.process = Process(
            [os.path.join(BINARIES, "ConsistencyWorker"), daemon.endpoint, name, str(seed), navs, navs],
            directory / f"{name}.log", stdin=subprocess.PIPE)

    def tell(self, command):
        self.process.popen.stdin.write(f"{command}\n".encode())
        self.process.popen.stdin.flush()

    def answered(self):
        return max(map(int, re.findall(r"answered (\d+)\n", self.process.log())), default=0)

    def report(self, positions):
        self.tell("report " + ",".join(f"{nav}={rev}" for nav, (rev, _) in positions.items()))
        status, text = self.process.ended(), self.process.log()
        if status:
            raise AssertionError(f"{self.name}: {status}: {text[-2000:]}")
        return json.loads(text.splitlines()[-1])

    def close(self):
        if self.process.is_running:
            self.process.kill()
