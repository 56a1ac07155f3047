"""libnavd for Python, by ctypes: the declarations of navd.h, and a thin object for each handle."""
import ctypes
import json
import os
import select
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "Tests", "BrowserTests"))

BINARIES = os.path.abspath(os.environ.get("NAVD_BINARIES", os.path.join(ROOT, ".build", "debug")))
LIBRARY = os.environ.get("NAVD_LIBRARY", os.path.join(BINARIES, "libnavd-c.so"))
HEADERS = os.path.join(ROOT, "Sources", "CNavd", "include")
DEADLINE = 60.0

OK, REFUSED, UNREACHABLE, TIMEOUT, CLOSED, MISUSE, SYSTEM = range(7)
(NONE, CONNECTED, DISCONNECTED, ENDED_CLIENT, STATE, SUSPECT, ACTIVITY, ENDED, ANSWER, QUEUED, RESULT, ROLES,
 QUESTION, SETTLED, DISPLAY) = range(15)
TAKE, FORCE, RELEASE = range(3)
ANIMATED, STILL, QUEUE = 1, 2, 4

P, S, I, U64 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint64
OUT = ctypes.POINTER(P)


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("endpoint", S), ("name", S), ("server_key", S), ("key_file", S),
                ("heartbeat_ms", I)]


# Texts that the caller frees are P here, because ctypes forgets the address of an S.
SIGNATURES = {
    "navd_version": (S, []),
    "navd_connect": (I, [ctypes.POINTER(Options), I, OUT, OUT]),
    "navd_client_free": (None, [P]),
    "navd_fd": (I, [P]),
    "navd_next": (P, [P]),
    "navd_watch": (I, [P, S, I, OUT]),
    "navd_unwatch": (I, [P, S, OUT]),
    "navd_state": (I, [P, S, OUT, OUT]),
    "navd_is_synced": (I, [P, S]),
    "navd_guard": (I, [P, S, S, OUT, OUT]),
    "navd_perform": (I, [P, S, S, S, ctypes.c_uint, I, OUT, OUT]),
    "navd_submit": (I, [P, S, S, S, ctypes.c_uint, I, ctypes.POINTER(U64), OUT]),
    "navd_get": (I, [P, S, S, I, OUT, OUT]),
    "navd_await_result": (I, [P, S, S, OUT]),
    "navd_delegate": (I, [P, S, S, OUT]),
    "navd_answer": (I, [P, U64, S, OUT]),
    "navd_lease": (I, [P, S, I, I, OUT]),
    "navd_event_kind": (I, [P]),
    "navd_event_nav": (S, [P]),
    "navd_event_id": (U64, [P]),
    "navd_event_json": (S, [P]),
    "navd_event_change": (S, [P]),
    "navd_event_error": (P, [P]),
    "navd_event_free": (None, [P]),
    "navd_error_status": (I, [P]),
    "navd_error_code": (S, [P]),
    "navd_error_message": (S, [P]),
    "navd_error_advice": (S, [P]),
    "navd_error_retry": (I, [P]),
    "navd_error_retry_after": (ctypes.c_int64, [P]),
    "navd_error_may_have_happened": (I, [P]),
    "navd_error_json": (S, [P]),
    "navd_error_free": (None, [P]),
    "navd_json_get": (P, [S, S]),
    "navd_json_count": (I, [S, S]),
    "navd_json_string": (P, [S]),
    "navd_string_free": (None, [P]),
}

lib = ctypes.CDLL(LIBRARY)
for _name, (_result, _arguments) in SIGNATURES.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments


def encoded(text):
    return text.encode() if isinstance(text, str) else text


def owned(pointer):
    """The text at a pointer, which is freed; None for NULL."""
    if not pointer:
        return None
    text = ctypes.string_at(pointer).decode()
    lib.navd_string_free(pointer)
    return text


class Failure(Exception):
    """An error of the library, copied out of its handle."""

    def __init__(self, handle):
        self.status = lib.navd_error_status(handle)
        self.code = lib.navd_error_code(handle).decode()
        self.message = lib.navd_error_message(handle).decode()
        self.advice = lib.navd_error_advice(handle).decode()
        self.retry = lib.navd_error_retry(handle)
        self.retry_after = lib.navd_error_retry_after(handle)
        self.may_have_happened = lib.navd_error_may_have_happened(handle)
        self.body = json.loads(lib.navd_error_json(handle))
        super().__init__(f"{self.code}: {self.message}")


def call(name, *arguments):
    """Calls a function with a status; raises its error."""
    error = P()
    status = getattr(lib, name)(*arguments, ctypes.byref(error))
    if status == OK:
        if error.value:
            raise AssertionError(f"{name} is NAVD_OK and has an error")
        return
    failure = Failure(error)
    lib.navd_error_free(error)
    if failure.status != status:
        raise AssertionError(f"{name}: {status} is not {failure.status}")
    raise failure


def call_for_text(name, *arguments):
    """Calls a function that writes a text."""
    text = P()
    call(name, *arguments, ctypes.byref(text))
    return owned(text.value)


class Event:
    """An event of the library, copied out of its handle."""

    def __init__(self, handle):
        self.kind = lib.navd_event_kind(handle)
        nav, change = lib.navd_event_nav(handle), lib.navd_event_change(handle)
        self.nav = nav.decode() if nav is not None else None
        self.id = lib.navd_event_id(handle)
        self.json = json.loads(lib.navd_event_json(handle))
        self.change = json.loads(change) if change is not None else None
        error = lib.navd_event_error(handle)
        self.error = Failure(error) if error else None

    def __repr__(self):
        return f"Event({self.kind}, {self.nav}, {self.id}, {self.json}, {self.change}, {self.error!r})"


class Client:
    """A client of the library; one thread at a time uses its `events`."""

    def __init__(self, endpoint=None, *, name="test", timeout=10000, heartbeat=0, server_key=None, key_file=None):
        options = Options(ctypes.sizeof(Options), encoded(endpoint), encoded(name), encoded(server_key),
                          encoded(key_file), heartbeat)
        handle = P()
        call("navd_connect", ctypes.byref(options), timeout, ctypes.byref(handle))
        self.handle = handle
        self.events = []

    def close(self):
        lib.navd_client_free(self.handle)

    def pump(self):
        """Takes all events that are there; returns whether there were any."""
        count = len(self.events)
        while handle := lib.navd_next(self.handle):
            self.events.append(Event(handle))
            lib.navd_event_free(handle)
        return len(self.events) > count

    def wait(self, milliseconds):
        """Waits for the descriptor; returns whether it is readable."""
        poll = select.poll()
        poll.register(lib.navd_fd(self.handle), select.POLLIN)
        return bool(poll.poll(milliseconds))

    def until(self, what, condition, deadline=DEADLINE):
        """Takes events until one of them meets the condition; returns that one and drops those before."""
        end = time.monotonic() + deadline
        while True:
            self.pump()
            for index, event in enumerate(self.events):
                if condition(event):
                    del self.events[:index + 1]
                    return event
            left = end - time.monotonic()
            if left <= 0:
                raise AssertionError(f"not within {deadline:g} s: {what}; got {self.events}")
            self.wait(left * 1000)

    def of_kind(self, kind, nav=None):
        return self.until(f"an event {kind}", lambda e: e.kind == kind and (nav is None or e.nav == nav))

    def shown(self, nav, *screens):
        """Waits for the state with these screens; returns it."""
        return self.until(f"{screens} on {nav}", lambda e: e.kind == STATE and e.nav == nav
                          and [s["id"] for s in e.json["screens"]] == list(screens)).json

    def watch(self, nav, wait=0):
        call("navd_watch", self.handle, encoded(nav), wait)

    def unwatch(self, nav):
        call("navd_unwatch", self.handle, encoded(nav))

    def state(self, nav):
        text = call_for_text("navd_state", self.handle, encoded(nav))
        return json.loads(text) if text is not None else None

    def is_synced(self, nav):
        return lib.navd_is_synced(self.handle, encoded(nav))

    def guard(self, state, what="top"):
        return json.loads(call_for_text("navd_guard", self.handle, encoded(json.dumps(state)), encoded(what)))

    def perform(self, nav, *operations, guard=None, flags=0, timeout=-1):
        return json.loads(call_for_text(
            "navd_perform", self.handle, encoded(nav), encoded(json.dumps(operations)),
            None if guard is None else encoded(json.dumps(guard)), flags, timeout))

    def submit(self, nav, *operations, guard=None, flags=0, within=-1):
        number = U64()
        call("navd_submit", self.handle, encoded(nav), encoded(json.dumps(operations)),
             None if guard is None else encoded(json.dumps(guard)), flags, within, ctypes.byref(number))
        return number.value

    def get(self, nav, what="state", timeout=-1):
        return json.loads(call_for_text("navd_get", self.handle, encoded(nav), encoded(what), timeout))

    def await_result(self, nav, screen):
        call("navd_await_result", self.handle, encoded(nav), encoded(screen))

    def delegate(self, nav, *roles):
        call("navd_delegate", self.handle, encoded(nav), encoded(json.dumps({"roles": roles})))

    def answer(self, question, value):
        call("navd_answer", self.handle, question, encoded(json.dumps(value)))

    def lease(self, nav, wish=TAKE, kept=0):
        call("navd_lease", self.handle, encoded(nav), wish, kept)
