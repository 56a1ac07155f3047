#!/usr/bin/env python3
"""nsp.py ENDPOINT NAV [SECONDS]: a client of NSP/1, written from "The core" of docs/protocol.md alone."""
import json, os, random, sys, time, zlib, zmq

PARTS = ("bar", "toolbar", "presented", "transition", "environment", "settings")

class Refused(Exception): pass                        # args[0] is the body of `err`, `end` or `bye`

def checksum(screens, parts):
    lines = ["%s@%d" % (s["id"], s["ver"]) for s in screens]
    lines += [":%s@%d" % (p, parts[p]["ver"]) for p in PARTS if p in parts]
    return "%08x" % zlib.crc32("\n".join(lines).encode())

class Seen:
    """The newest `seq` of each shard that a daemon has reported."""
    def __init__(self): self.rows, self.shards = {}, 1
    def begin(self, f1):                              # a welcome; after a crash there can be fewer
        self.shards = 1024 if "shards" in f1.get("features", []) else 1
        self.rows.update(map(tuple, f1["ops"].get("seq", [])))
    def shard(self, nav): return zlib.crc32((nav or "").encode()) % self.shards
    def of(self, nav): return self.rows.get(self.shard(nav), 0)
    def note(self, f1):                               # a mark has pairs; a virtual nav has those of all shards
        seq, nav = f1.get("seq", []), f1.get("nav", "$")
        if isinstance(seq, int): seq = [] if nav.startswith("$") else [(self.shard(nav), seq)]
        for shard, row in seq: self.rows[shard] = max(row, self.rows.get(shard, 0))

class Mirror:
    """The mirror of one nav. `good`: it shows the nav, and guards may be built from it."""
    m, pending, good, tmp = None, None, False, []     # pending: the id of the unanswered watch; tmp: screens of parts
    def position(self, *names): return {k: self.m[k] for k in names}
    def resume(self): self.watch(**({"from": self.position("epoch", "rev", "dig")} if self.m else {}))
    def suspect(self): self.watch(**({"bad": self.position("rev", "dig")} if self.m else {}))
    def snap(self, f1):
        self.good = False
        self.tmp = (self.tmp if f1["i"] else []) + f1["screens"]    # the digest finds a missing part
        if f1["last"]: self.adopt(f1, self.tmp, {p: f1[p] for p in PARTS if p in f1})
    def diff(self, f1):
        m = self.m
        if not m: return self.resume()                # the snapshot was lost
        if f1["epoch"] == m["epoch"] and f1["rev"] <= m["rev"]:
            return self.suspect() if f1["rev"] == m["rev"] and f1["dig"] != m["dig"] else None
        if f1["epoch"] != m["epoch"] or f1["base"] != m["rev"]: return self.resume()
        screens, parts = list(m["screens"]), dict(m["parts"])
        for c in f1["ch"]:
            ids = [s["id"] for s in screens]
            if "at" in c:
                if ids[c["at"]:c["at"] + len(c["del"])] != c["del"] or c["at"] > len(ids): return self.suspect()
                screens[c["at"]:c["at"] + len(c["del"])] = c["ins"]
            elif c["set"] != "screen": parts[c["set"]] = c["to"]
            elif c["to"]["id"] in ids: screens[ids.index(c["to"]["id"])] = c["to"]
            else: return self.suspect()
        self.adopt({"resolved": m["resolved"], **f1}, screens, parts)
    def adopt(self, f1, screens, parts):
        if checksum(screens, parts) != f1["dig"][:8]: return self.suspect()
        self.m = {**{k: f1.get(k) for k in ("epoch", "rev", "dig", "resolved")}, "screens": screens, "parts": parts}
        self.good = True
    def mark(self, f1):
        for nav, rev, dig in f1["at"] if self.m else ():
            if nav == self.nav and (rev > self.m["rev"] or rev == self.m["rev"] and dig != self.m["dig"]): self.suspect()

class Nav(Mirror):
    """A connection that resumes, and the mirror of one nav."""
    until = float("inf")                              # when to stop to wait for the first session
    def __init__(self, endpoint, nav, window=65536, within=60):
        self.prepare(nav, window)
        self.endpoint, self.until = endpoint, time.monotonic() + within
        self.connect()
    def prepare(self, nav, window=65536):
        self.nav, self.window, self.used, self.upto, self.id = nav, window, 0, window, 0
        self.unanswered, self.again, self.answers = {}, set(), {}    # seen and bodies of ops by id; ids sent again; answers
        self.client, self.sock, self.seen = os.urandom(16).hex(), None, Seen()
    def open(self):                                   # a new socket for each connection: libzmq does not reconnect
        if self.sock:
            self.sock.disable_monitor()
            self.sock.close()
        self.lost, self.hb, self.sock = False, 5000, zmq.Context.instance().socket(zmq.DEALER)
        for option, value in ((zmq.LINGER, 0), (zmq.SNDTIMEO, 1000), (zmq.RECONNECT_IVL, 86_400_000)):
            self.sock.setsockopt(option, value)
        self.poller = zmq.Poller()
        self.poller.register(self.sock, zmq.POLLIN)
        self.poller.register(self.sock.get_monitor_socket(zmq.EVENT_DISCONNECTED), zmq.POLLIN)
        self.sock.connect(self.endpoint)
    def connect(self, after=0):
        self.good, tries = False, 0
        while True:
            time.sleep(after + random.uniform(0, min(5, 0.1 * 2 ** tries)) if after or tries else 0)
            after, tries, nonce = 0, min(tries + 1, 6), os.urandom(4).hex()
            self.open()
            self.send("hello", ver=[1, 1], client=self.client, name="nsp.py", nonce=nonce, window=self.window, hb=self.hb)
            try:
                verb, f1, _ = self.frames()
                while f1.get("nonce") != nonce: verb, f1, _ = self.frames()     # discard what is older
            except zmq.Again:
                if time.monotonic() < self.until: continue
                raise TimeoutError("no navd answers at " + self.endpoint)
            if verb == "welcome": return self.welcome(f1)
            if f1["retry"] != "later": raise Refused(f1)
            after = f1.get("after", 1000) / 1000
    def welcome(self, f1):
        self.until = float("inf")
        self.window, self.hb, self.id = f1["limits"]["window"], f1["hb"], max(self.id, f1["ops"]["last"])
        self.used, self.upto = 0, self.window
        self.seen.begin(f1)
        self.resume()
        for id, (seen, body) in self.unanswered.items():            # the same octets and one member more, in the same order
            self.unanswered[id] = min(seen, self.seen.of(self.nav)), body
            self.resend(id)
        self.again = set(self.unanswered)
    def resend(self, id): self.send("op", **self.unanswered[id][1], again=self.unanswered[id][0])
    def send(self, verb, **f1):
        try: self.sock.send_multipart([b"nsp1." + verb.encode(), json.dumps(f1).encode()])
        except zmq.Again: self.lost = True            # there is no connection, or the daemon does not read
    def frames(self):
        if self.lost or self.sock not in dict(self.poller.poll(3 * self.hb)): raise zmq.Again    # silence, or its end
        f0, f1 = self.sock.recv_multipart()
        return f0[5:].decode(), json.loads(f1), len(f1)
    def request(self, verb, **f1):
        self.id += 1
        self.send(verb, id=self.id, nav=self.nav, **f1)
        return self.id
    def watch(self, **how): self.good, self.pending = False, self.request("watch", **how)
    def step(self):                                   # receive one message, keep the mirror, return the message
        try: verb, f1, size = self.frames()
        except zmq.Again:
            self.connect()
            return "lost", {}
        if verb in ("ok", "diff", "mark"): self.seen.note(f1)
        if verb in ("ok", "err"): self.answer(verb, f1)
        if verb == "bye":
            if f1["why"] not in ("shutting-down", "stalled"): raise Refused(f1)
            self.connect(f1.get("after", 0) / 1000)
        if verb == "end" and f1["nav"] == self.nav:
            if self.pending is None: self.over(f1)
            self.m = None                             # the end of the watch before
        if verb in ("snap", "diff", "diffs", "latest", "event"):
            self.used += size
            for d in f1.get("list", [f1]) if verb in ("snap", "diff", "diffs") else ():
                if self.pending is None: getattr(self, verb.rstrip("s"))(d)
            if self.used > self.upto - self.window // 2:
                self.upto = self.used + self.window
                self.send("credit", upto=self.upto)
        if verb == "mark" and self.pending is None: self.mark(f1)
        return verb, f1
    def answer(self, verb, f1):
        id = f1["id"]
        if id is not None and id == self.pending:
            self.pending, self.good = None, f1.get("mode") == "resume"
            if verb == "err": self.over(f1)           # no such nav, or not permitted
        elif id in self.unanswered:
            if f1.get("code") == "busy" and id in self.again:           # it says nothing about the first sending
                time.sleep(f1.get("after", 100) / 1000)
                return self.resend(id)
            del self.unanswered[id]
            self.answers[id] = verb, f1
    def over(self, f1):                               # without a watch, no mirror
        self.m, self.good = None, False
        raise Refused(f1)
    def ready(self):
        while not self.good: self.step()
        return self.m
    def begin(self, guard, *do, **more):              # many ops can be under way
        self.id += 1
        body = {"id": self.id, "nav": self.nav, "if": guard, "do": list(do), **more}
        self.unanswered[self.id] = self.seen.of(self.nav), body
        self.send("op", **body)
        return self.id
    def finish(self, id):                             # the mirror shows the op when this returns
        while id not in self.answers: self.step()
        verb, f1 = self.answers.pop(id)
        if verb == "err": raise Refused(f1)
        while self.ready()["epoch"] == f1["epoch"] and self.m["rev"] < f1["rev"]: self.step()
        return f1
    def op(self, guard, *do, **more): return self.finish(self.begin(guard, *do, **more))
    def push(self, **screen): return self.op({"epoch": self.ready()["epoch"]}, {"push": {"screen": screen}})
    def pop(self): return self.op({"epoch": self.ready()["epoch"], "top": (self.m["screens"] or [{"id": None}])[-1]["id"]}, {"pop": {}})

if __name__ == "__main__":
    nav = Nav(*sys.argv[1:3], within=float((sys.argv[3:] or [5])[0]))
    print([s["id"] for s in nav.ready()["screens"]], nav.m["rev"], nav.m["dig"])
    print(nav.push(title="Hello", route="hello")["rev"], nav.pop()["out"])
