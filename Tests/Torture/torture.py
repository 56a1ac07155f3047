"""What the modes share: navd as a process that is killed and started again, a client, and the checks at the end."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

import zmq

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PATIENCE = 60.0


class Violation(Exception):
    """What navd must not do, in words."""


class Silence(Exception):
    """Nothing came within the time."""


class Ended(Exception):
    """navd has ended while an answer was awaited."""


def arguments(names, usage):
    """The whole numbers of the command line, and the directory of the programs."""
    given, binaries = sys.argv[1:], os.path.join(ROOT, ".build", "debug")
    if "--bin" in given:
        place = given.index("--bin")
        binaries = os.path.abspath(given[place + 1])
        del given[place:place + 2]
    if len(given) != len(names) or not all(each.isdigit() for each in given):
        sys.exit(f"usage: {usage}")
    return *map(int, given), binaries


def end_on_signals():
    """Makes SIGTERM end the script as SIGINT does, so that what it started ends too."""
    def stop(number, _frame):
        sys.exit(128 + number)
    signal.signal(signal.SIGTERM, stop)


class Space:
    """A directory with a short name for one run: on the disk, or in memory where a sync takes no time."""

    def __init__(self, in_memory=False):
        has_memory = in_memory and os.access("/dev/shm", os.W_OK)
        self.path = tempfile.mkdtemp(prefix="nt-", dir="/dev/shm" if has_memory else "/tmp")

    def __truediv__(self, name):
        return os.path.join(self.path, name)

    @property
    def state(self):
        return self / "state"

    def write(self, name, text):
        with open(self / name, "w", encoding="utf-8") as file:
            file.write(text)
        return self / name

    def keep(self, name):
        """Copies all to where a person looks for it; returns the place."""
        target = os.path.join(ROOT, ".build", "torture", "failures", name)
        shutil.rmtree(target, ignore_errors=True)
        # A socket cannot be copied, and an image is large.
        shutil.copytree(self.path, target, ignore=shutil.ignore_patterns("op*", "image", "copy"))
        return target

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Navd:
    """A navd in a space, with its journal in `state`."""

    def __init__(self, binaries, space, configuration="", options=()):
        self.binaries, self.space = binaries, space
        self.endpoint, self.state = f"ipc://{space / 'op'}", space.state
        self.config = space.write("navd.conf", configuration)
        self.options, self.process, self.lives = list(options), None, 0

    def launch(self, more=(), environment=None):
        """Starts the program, without waiting for anything."""
        self.lives += 1
        self.log_path = self.space / f"log.{self.lives}"
        base = {"PATH": "/usr/bin:/bin", "HOME": self.space.path}
        command = [os.path.join(self.binaries, "navd"), "--state", self.state, "--config", self.config, *more]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**base, **(environment or {})})

    def serve(self, environment=None):
        self.launch(["--listen", self.endpoint, *self.options], environment)

    def start(self, environment=None):
        """Starts, and waits until navd serves; its end instead is a violation."""
        self.serve(environment)
        if not self.awaits_serving():
            raise Violation(f"a start ended with {self.process.returncode}: {self.log()[-600:]}")

    def awaits_serving(self):
        """Waits until navd serves or has ended; returns whether it serves."""
        end = time.monotonic() + PATIENCE
        while "serving " not in self.log():
            if self.process.poll() is not None:
                return "serving " in self.log()
            if time.monotonic() > end:
                raise Violation(f"a start takes more than {PATIENCE:g} s: {self.log()[-600:]}")
            time.sleep(0.002)
        return True

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """Ends navd without warning; returns false if it had ended by itself."""
        self.process.kill()
        return self.process.wait(PATIENCE) == -signal.SIGKILL

    def stop(self):
        """Stops navd in order; returns the status, or raises what it is when it does not stop."""
        if self.is_running:
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Violation(f"a stop takes more than {PATIENCE:g} s: {self.log()[-600:]}") from None

    def close(self):
        if self.is_running:
            self.process.kill()
            self.process.wait()


class Peer:
    """A client without a session, whose ops navd recognises in every life."""

    def __init__(self, navd, name, seed):
        self.navd, self.name, self.socket, self.id = navd, name, None, 0
        self.client = f"{random.Random(seed).getrandbits(128):032x}"

    def connect(self):
        """Connects to the present life of navd."""
        self.close()
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        for option, value in ((zmq.LINGER, 0), (zmq.SNDTIMEO, 20), (zmq.RECONNECT_IVL, 5)):
            self.socket.setsockopt(option, value)
        self.socket.connect(self.navd.endpoint)

    def close(self):
        if self.socket:
            self.socket.close()

    def new_id(self):
        self.id += 1
        return self.id

    def send(self, verb, body):
        """Sends a message as soon as there is a connection, or raises why not."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket.send_multipart([b"nsp1." + verb.encode(), json.dumps(body).encode()])
                return
            except zmq.Again:
                self.check_time(end, f"{verb} cannot be sent")

    def check_time(self, end, what):
        """Raises if navd has ended, or if the time is over."""
        if not self.navd.is_running:
            raise Ended("navd has ended")
        if time.monotonic() > end:
            raise Silence(what)

    def receive(self, within):
        """The next message, or raises why none came."""
        end = time.monotonic() + within
        while not self.socket.poll(20):
            self.check_time(end, f"no message within {within:g} s")
        verb, body = self.socket.recv_multipart()
        return verb.decode()[5:], json.loads(body)

    def ask(self, verb, within=PATIENCE, **body):
        """Sends a request; returns verb and body of the answer."""
        number = self.new_id()
        self.send(verb, {"id": number, **body})
        while True:
            answer = self.receive(within)
            if answer[1].get("id") == number and answer[0] != "queued":
                return answer

    def get(self, within=PATIENCE, **body):
        """Reads; a refusal is a violation."""
        verb, answer = self.ask("get", within, **body)
        if verb != "ok":
            raise Violation(f"get {body}: {answer}")
        return answer

    def state(self, nav, **more):
        """The state of a nav, now or at a revision."""
        answer = self.get(nav=nav, **more)
        return {**answer["value"], "epoch": answer["value"].get("epoch", answer["epoch"])}

    def journal(self, nav):
        """All entries of the log of a nav that have a revision, and the floor."""
        answer = self.get(nav=nav, what="log", limit=400)
        entries, floor = list(answer["value"]), answer.get("floor", 1)
        while entries and entries[-1]["rev"] < answer["rev"]:
            answer = self.get(nav=nav, what="log", limit=400, **{"from": entries[-1]["rev"] + 1})
            if not answer["value"]:
                raise Violation(f"the log of {nav} ends at {entries[-1]['rev']}, before {answer['rev']}")
            entries += answer["value"]
        # Reports of divergence and new epochs stand between the revisions.
        return [each for each in entries if "bad" not in each and "epoch" not in each], floor


def logged_ops(peer, nav):
    """The revisions of the log by name and id of the op, after a look at their order; and the floor."""
    entries, floor = peer.journal(nav)
    revisions = [each["rev"] for each in entries]
    if revisions and revisions != list(range(revisions[0], revisions[0] + len(revisions))):
        raise Violation(f"the log of {nav} has a gap: {revisions}")
    found = {}
    for entry in entries:
        by = entry.get("by", {})
        if "op" in by:
            found.setdefault((by["name"], by["op"]), []).append(entry["rev"])
    return found, floor


def checksum(state):
    """The first digits of the digest of a state, as docs/protocol.md has it."""
    parts = ("bar", "toolbar", "presented", "transition", "environment", "settings")
    lines = [f"{each['id']}@{each['ver']}" for each in state["screens"]]
    lines += [f":{name}@{state[name]['ver']}" for name in parts if name in state]
    return f"{zlib.crc32(chr(10).join(lines).encode()):08x}"


def verify(peer, nav):
    """Has navd compute everything anew; returns the violations."""
    value, state = peer.get(nav=nav, what="verify")["value"], peer.state(nav)
    found = [] if value["ok"] else [f"{nav} does not verify: {value['violated']}"]
    if checksum(state) != state["dig"][:8] or state["dig"] != value["dig"]:
        found.append(f"{nav} has the digest {state['dig']}, computed {checksum(state)} and {value['dig']}")
    return found


def backups(state):
    """The files that have the name of a backup."""
    folder = os.path.join(state, "backups")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [os.path.join(folder, each) for each in sorted(names) if each.endswith(".db")]


def finish(mode, count, violations):
    """Prints the line that the driver reads, and ends."""
    for each in violations[:1000]:
        print(f"violation: {each}", flush=True)
    if len(violations) > 1000:
        print(f"and {len(violations) - 1000} more", flush=True)
    print(f"torture {mode} count={count} violations={len(violations)}", flush=True)
    sys.exit(1 if violations else 0)
