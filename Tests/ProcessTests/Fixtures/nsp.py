#!/usr/bin/env python3
"""nsp.py ENDPOINT NAV: NSP/1 reference client."""
import json, os, sys, zlib, zmq

PARTS = ("bar", "toolbar", "presented", "transition", "environment", "settings")

class Refused(Exception): pass                        # args[0] is the err object

def digest(screens, parts):
    lines = ["%s@%d" % (s["id"], s["ver"]) for s in screens]
    lines += [":%s@%d" % (p, parts[p]["ver"]) for p in PARTS if p in parts]
    return "%08x" % zlib.crc32("\n".join(lines).encode())

class Nav:
    tmp = []                                          # the screens of a snapshot in parts
    def __init__(self, endpoint, nav, window=65536):
        self.nav, self.window, self.used, self.upto, self.m, self.pending = nav, window, 0, window, None, None
        self.sock = zmq.Context.instance().socket(zmq.DEALER)
        for option, value in ((zmq.IMMEDIATE, 1), (zmq.LINGER, 0), (zmq.RCVTIMEO, 15000)): self.sock.setsockopt(option, value)
        self.sock.connect(endpoint)
        nonce = os.urandom(4).hex()
        self.send("hello", ver=[1, 1], client=os.urandom(16).hex(), name="nsp.py", nonce=nonce, window=window, hb=5000)
        verb, f1, _ = self.frames()
        while not (verb == "welcome" and f1["nonce"] == nonce): verb, f1, _ = self.frames()   # discard older messages
        self.id = f1["ops"]["last"]
        self.watch()
    def send(self, verb, **f1): self.sock.send_multipart([b"nsp1." + verb.encode(), json.dumps(f1).encode()])
    def frames(self):
        f0, f1 = self.sock.recv_multipart()
        return f0[5:].decode(), json.loads(f1), len(f1)
    def request(self, verb, **f1):
        self.id += 1
        self.send(verb, id=self.id, nav=self.nav, **f1)
        return self.id
    def watch(self, **how): self.pending = self.request("watch", **how)    # join, or resume with "from"
    def position(self, *names): return {k: self.m[k] for k in names}
    def resume(self): self.watch(**({"from": self.position("epoch", "rev", "dig")} if self.m else {}))
    def suspect(self): self.watch(**({"bad": self.position("rev", "dig")} if self.m else {}))
    def step(self):                                   # receive one message, keep the mirror, return the message
        verb, f1, size = self.frames()
        if verb in ("ok", "err") and f1.get("id") == self.pending:
            self.pending = None
            if verb == "err": self.over(f1)           # no such nav, or not permitted
        if verb == "end":
            if self.pending is None: self.over(f1)
            self.m = None                             # the end of the watch before
        if verb in ("snap", "diff", "diffs", "latest", "event"):
            self.used += size
            for d in f1.get("list", [f1]) if verb in ("snap", "diff", "diffs") else ():
                if self.pending is None: getattr(self, verb.rstrip("s"))(d)
            if self.used > self.upto - self.window // 2:
                self.upto = self.used + self.window
                self.send("credit", upto=self.upto)
        if verb == "mark" and self.pending is None and self.m:
            for _, rev, dig in f1["at"]:
                if rev > self.m["rev"] or rev == self.m["rev"] and dig != self.m["dig"]: self.suspect()
        return verb, f1
    def over(self, f1):                               # without a watch, no mirror
        self.m = None
        raise Refused(f1)
    def snap(self, f1):
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
        new = {**{k: f1.get(k) for k in ("epoch", "rev", "dig", "resolved")}, "screens": screens, "parts": parts}
        if digest(screens, parts) == f1["dig"]: self.m = new
        else: self.suspect()
    def ready(self):
        while self.m is None or self.pending: self.step()
        return self.m
    def op(self, guard, *do, **more):                 # by R1 the mirror shows the op when this returns
        mine, (verb, f1) = self.request("op", do=list(do), **{"if": guard}, **more), self.step()
        while f1.get("id") != mine or verb == "queued": verb, f1 = self.step()
        if verb == "err": raise Refused(f1)
        while self.ready()["rev"] < f1["rev"]: self.step()
        return f1
    def push(self, **screen): return self.op({"epoch": self.ready()["epoch"]}, {"push": {"screen": screen}})
    def pop(self): return self.op({"epoch": self.ready()["epoch"], "top": (self.m["screens"] or [{"id": None}])[-1]["id"]}, {"pop": {}})

if __name__ == "__main__":
    nav = Nav(*sys.argv[1:3])
    print([s["id"] for s in nav.ready()["screens"]], nav.m["rev"], nav.m["dig"])
    print(nav.push(title="Hello", route="hello")["rev"], nav.pop()["out"])
