"""What the tests share: navd and navd-web as processes, and HTTP without a library's help.

Each daemon and gateway has a directory of its own and a port that the kernel chooses. A test waits
for conditions, never for times: `eventually` checks until the deadline.
"""
import atexit
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "Tests", "ProcessTests", "Fixtures"))

import nsp  # noqa: E402, F401 - for the clients
import zmq  # noqa: E402

BINARIES = os.path.abspath(os.environ.get("NAVD_BINARIES", os.path.join(ROOT, ".build", "debug")))
IS_LONG = os.environ.get("NAVD_TEST_LONG") == "1"
DEADLINE = 60.0

# Tokens of the tests: the name says what the token may do.
TOKENS = {
    "alice": "AliceAliceAliceAliceAliceAlice01",
    "bob": "BobBobBobBobBobBobBobBobBobBob02",
    "reader": "ReaderReaderReaderReaderReader03",
    "boss": "BossBossBossBossBossBossBossBo04",
}
TOKEN_LINES = [
    f"alice {TOKENS['alice']} ui",
    f"bob {TOKENS['bob']} ui",
    f"reader {TOKENS['reader']}",
    f"boss {TOKENS['boss']} admin * $*",
]


def eventually(what, condition, deadline=DEADLINE, pause=0.01):
    """Returns the first true value of `condition`; fails after the deadline.

    It looks less often the longer it waits: each look takes a processor from what it waits for.
    """
    begun = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - begun
        if waited > deadline:
            raise AssertionError(f"not within {deadline:g} s: {what}")
        time.sleep(max(pause, min(waited / 4, 0.1)))


class Directory:
    """A directory under /tmp with a short name, since the path of a socket must be short."""

    def __init__(self, mode=0o700):
        self.path = tempfile.mkdtemp(prefix="nw-", dir="/tmp")
        os.chmod(self.path, mode)

    def __truediv__(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text, mode=0o600):
        path = self / name
        partial = f"{path}.partial"
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
            file.write(text)
        os.chmod(partial, mode)
        os.rename(partial, path)
        return path

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


def __getattr__(name):
    """MODULE is the client for pages, which is built for those who import it."""
    if name != "MODULE":
        raise AttributeError(name)
    subprocess.run([os.path.join(ROOT, "web", "client", "build")], check=True)
    return os.path.join(ROOT, ".build", "web", "navigation-client.js")


def kiosk_page():
    """The page of the kiosk, in a directory that is removed at the end."""
    directory = Directory()
    atexit.register(directory.remove)
    subprocess.run([os.path.join(ROOT, "demo", "kiosk", "build"), directory.path], check=True)
    return directory.path


_running = set()


@atexit.register
def _kill_all():
    for process in list(_running):
        process.kill()


class Process:
    """A program whose output goes to a file."""

    def __init__(self, arguments, log, *, user=None, environment=None, stdin=None):
        self.log_path = log
        self.start_of_log = os.path.getsize(log) if os.path.exists(log) else 0
        base = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": os.path.dirname(log)}
        more = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        with open(log, "ab") as file:
            self.popen = subprocess.Popen(
                arguments, stdin=stdin or subprocess.DEVNULL, stdout=file, stderr=file,
                env={**base, **(environment or {})}, **more)
        _running.add(self)

    @property
    def pid(self):
        return self.popen.pid

    @property
    def is_running(self):
        return self.popen.poll() is None

    def log(self):
        """What it printed since its start."""
        with open(self.log_path, "rb") as file:
            file.seek(self.start_of_log)
            return file.read().decode(errors="replace")

    def says(self, pattern, deadline=DEADLINE):
        def find():
            text = self.log()
            found = re.search(pattern, text)
            if not found and not self.is_running:
                raise AssertionError(f"ended with {self.popen.returncode}: {text[-2000:]}")
            return found
        return eventually(f"a line like {pattern}", find, deadline)

    def signal(self, number):
        if self.is_running:
            self.popen.send_signal(number)

    def ended(self, deadline=DEADLINE):
        status = self.popen.wait(deadline)
        _running.discard(self)
        return status

    def kill(self):
        self.signal(signal.SIGKILL)
        return self.ended()

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.ended()

    def resident(self):
        """The resident memory in octets."""
        with open(f"/proc/{self.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) * 1024


class Daemon:
    """A navd with a journal, which can be killed and started again."""

    def __init__(self, configuration="", *, is_open=False, options=(), state=None, before=()):
        self.directory = Directory(0o755 if is_open else 0o700)
        self.endpoint = f"ipc://{self.directory / 'op'}"
        config = self.directory.write("navd.conf", configuration)
        self.arguments = [
            *before, os.path.join(BINARIES, "navd"), "--listen", self.endpoint,
            "--state", state or self.directory / "state", "--config", config, *options]
        self.control = None
        self.start()
        if is_open:
            os.chmod(self.directory / "op", 0o666)

    def start(self):
        self.process = Process(self.arguments, self.directory / "navd.log")
        self.process.says("serving ")
        if self.control:
            self.control.close()
        self.control = Control(self.endpoint)

    def kill(self):
        self.process.kill()

    def close(self):
        if self.control:
            self.control.close()
        self.process.signal(signal.SIGCONT)
        if self.process.is_running:
            self.process.stop()
        self.directory.remove()

    def navctl(self, *arguments):
        done = subprocess.run(
            [os.path.join(BINARIES, "navctl"), "--endpoint", self.endpoint, *arguments],
            capture_output=True, text=True, timeout=DEADLINE,
            env={"PATH": "/usr/bin:/bin", "HOME": self.directory.path})
        return done.returncode, done.stdout, done.stderr


class Refused(Exception):
    """The daemon refused a request of the control; args[0] is the `err`."""


class Control:
    """The administrator's view of navd, past the gateway; any thread may use it."""

    def __init__(self, endpoint):
        self.lock, self.id, self.own = threading.Lock(), 0, os.urandom(16).hex()
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        for option, value in ((zmq.LINGER, 0),
                              (zmq.RCVTIMEO, 60000), (zmq.SNDTIMEO, 60000)):
            self.socket.setsockopt(option, value)
        self.socket.connect(endpoint)

    def close(self):
        with self.lock:
            self.socket.close()

    def request(self, verb, *, raw=None, **members):
        """Sends a message and returns the `ok`; `raw` is the body with %d for the id."""
        with self.lock:
            self.id += 1
            body = raw % self.id if raw else json.dumps({"id": self.id, **members})
            self.socket.send_multipart([b"nsp1." + verb.encode(), body.encode()])
            while True:
                frame, answer = self.socket.recv_multipart()
                answer = json.loads(answer)
                # An error without an id is about a message whose id navd did not read.
                if answer.get("id", ...) in (self.id, None) and frame != b"nsp1.queued":
                    break
        if frame == b"nsp1.err":
            raise Refused(answer)
        return answer

    def get(self, nav=None, what="state", **more):
        return self.request("get", what=what, **({"nav": nav} if nav else {}), **more)["value"]

    def position(self, nav):
        """The revision and the digest, after the daemon has computed everything anew."""
        answer = self.request("get", nav=nav, what="verify")
        if not answer["value"]["ok"]:
            raise AssertionError(f"{nav}: {answer['value']}")
        return answer["rev"], answer["value"]["dig"]

    def op(self, nav, *operations, guard=None):
        return self.request("op", nav=nav, do=list(operations), client=self.own,
                            name="control", **{"if": guard or {"any": True}})

    def create(self, nav, **settings):
        do = {"nav.create": {"root": {"id": "home", "title": "Home"}, "settings": settings}}
        return self.op(nav, do, {"attach": {}})

    def clients(self):
        """The records of the sessions."""
        return self.get("$clients")["screens"]

    def rest(self):
        """Waits until no page has a session."""
        eventually("the sessions end", lambda: self.get(what="stats")["sessions"] == 0)

    def client(self, name):
        return next((each for each in self.clients() if each.get("name") == name), None)

    def log(self, nav):
        entries, start = [], None
        while True:
            more = {} if start is None else {"from": start}
            found = self.get(nav, "log", limit=200, **more)
            entries += found
            revisions = [each["rev"] for each in found if "rev" in each]
            if not revisions or revisions[-1] >= self.get(nav)["rev"]:
                return entries
            start = revisions[-1] + 1

    def standing(self):
        """What navd has counted; the request for it is a message too."""
        stats = self.get(what="stats")
        return {"ops": sum(stats["operations"].values()), "opened": stats["opened"], "row": stats["seq"],
                "refusals": sum(stats["refusals"].values()), "messages": stats["messages"]["received"]}

    def count_of_ops(self):
        """How many ops the daemon has answered, by outcome; what it refused counts too."""
        return sum(self.get(what="stats")["operations"].values())


class Gateway:
    """A navd-web beside a daemon."""

    def __init__(self, daemon, *, tokens=TOKEN_LINES, page=None, module=None, launch=None, user=None,
                 listen="127.0.0.1:0", options=()):
        self.daemon, self.user, self.directory = daemon, user, Directory()
        if user is not None:
            os.chown(self.directory.path, user, user)
        self.arguments = [os.path.join(BINARIES, "navd-web"), "--endpoint", daemon.endpoint]
        if tokens is not None:
            self.set_tokens(tokens)
            self.arguments += ["--tokens", self.directory / "tokens"]
        for name, value in (("page", page), ("module", module), ("launch", launch)):
            if value:
                self.arguments += [f"--{name}", value]
        self.arguments += options
        self.port, self.listen = None, listen
        self.start()

    def set_tokens(self, lines, mode=0o600):
        path = self.directory.write("tokens", "".join(f"{line}\n" for line in lines), mode)
        if self.user is not None:
            os.chown(path, self.user, self.user)

    def start(self):
        """Starts it, after the first time on the port of the first time."""
        listen = self.listen if self.port is None else f"127.0.0.1:{self.port}"
        self.process = Process(
            [*self.arguments, "--listen", listen], self.directory / "navd-web.log", user=self.user)
        found = self.process.says(r"serving on (\S+)")[1]
        if not found.startswith("unix:"):
            self.port = int(found.rsplit(":", 1)[1])

    def reload_tokens(self, lines):
        """Replaces the tokens while it runs, and returns once it has read them."""
        self.set_tokens([*lines, f"probe-{os.urandom(4).hex()} {(probe := os.urandom(16).hex())}"])
        self.process.signal(signal.SIGHUP)
        eventually("the tokens", lambda: self.request("POST", "/nsp1/code", token=probe, body="").status == 200)

    def codes(self):
        """The launch codes that it printed, oldest first."""
        return re.findall(r"open http://[^/]+/#c=(\S+)", self.process.log())

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()

    def close(self):
        self.process.signal(signal.SIGCONT)
        if self.process.is_running:
            self.process.stop()
        self.directory.remove()

    def request(self, method, path, *, token=None, body=None, headers=(), host=None):
        """One request as a page sends it; the answer whole."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or self.host}"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        lines += [f"{name}: {value}" for name, value in headers]
        if body is not None:
            body = body.encode() if isinstance(body, str) else body
            lines.append(f"Content-Length: {len(body)}")
        lines.append("Connection: close")
        return self.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))

    def raw(self, octets, address="127.0.0.1"):
        """Sends octets as they are, and reads the answer to its end."""
        with socket.create_connection((address, self.port), DEADLINE) as connection:
            try:
                connection.sendall(octets)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it answered before it had read everything
            return Response.read(connection)

    def code(self):
        """A new launch code of alice."""
        return self.request("POST", "/nsp1/code", token=TOKENS["alice"]).json()["code"]

    def trade(self, code):
        return self.request("POST", "/nsp1/token", body=json.dumps({"code": code}))


class Response:
    """An answer of an HTTP server."""

    def __init__(self, head, rest):
        lines = head.decode("latin-1").split("\r\n")
        found = re.match(r"HTTP/1\.1 (\d{3}) ?", lines[0])
        if not found:
            raise AssertionError(f"no status line: {head!r}")
        self.status = int(found[1])
        self.headers = [tuple(line.split(": ", 1)) for line in lines[1:] if line]
        self.body = rest

    def header(self, name):
        """The value of the header; None without one, and a fault if it comes twice."""
        values = [value for each, value in self.headers if each.lower() == name.lower()]
        if len(values) > 1:
            raise AssertionError(f"{name} comes {len(values)} times")
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)

    @staticmethod
    def read(connection):
        """Reads until the server closes, or until the length that it named."""
        data, response = b"", None
        while True:
            if response is None and b"\r\n\r\n" in data:
                response = Response(*data.split(b"\r\n\r\n", 1))
                data = response.body
            if response is not None:
                length = response.header("Content-Length")
                if length is not None and len(data) >= int(length):
                    response.body = data[:int(length)]
                    return response
            try:
                chunk = connection.recv(65536)
            except ConnectionResetError:
                chunk = b""
            if not chunk:
                break
            data += chunk
        if response is None:
            # Nothing at all, or a part of a head: a closed connection is an answer too.
            closed = Response(b"HTTP/1.1 000 closed", data)
            return closed
        response.body = data
        return response


@contextlib.contextmanager
def closing(*things):
    """Closes the things in the opposite order."""
    with contextlib.ExitStack() as stack:
        for thing in things:
            stack.callback(thing.close)
        yield things[0] if len(things) == 1 else things


class Concurrently:
    """Runs functions in threads at once; `result` waits for one and raises what it raised."""

    def __init__(self, **functions):
        self.results = {}
        self.threads = {
            name: threading.Thread(target=self._run, args=(name, function), daemon=True)
            for name, function in functions.items()}
        for thread in self.threads.values():
            thread.start()

    def _run(self, name, function):
        try:
            self.results[name] = (function(), None)
        except BaseException as error:  # noqa: B036 - the test raises it
            self.results[name] = (None, error)

    def result(self, name, deadline=DEADLINE):
        self.threads[name].join(deadline)
        if name not in self.results:
            raise AssertionError(f"{name} did not end within {deadline:g} s")
        value, error = self.results[name]
        if error:
            raise error
        return value
