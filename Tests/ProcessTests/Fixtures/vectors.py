#!/usr/bin/env python3
"""vectors.py FILE [FAULT]: runs each vector of FILE (docs/vectors.md) through the client in nsp.py, without a daemon.

FAULT spoils the client on purpose: `shallow` drops titles of inserted screens, `trusting` takes each digest for right.
"""
import json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nsp

GOOD = {"replaced": True, "resumed": True, "applied": True, "gap": False, "diverged": False, "ended": False}

class Failed(Exception): pass

def need(holds, *why):
    if not holds: raise Failed(*why)

class Client(nsp.Nav):
    """The client with lists in the place of its socket."""
    def __init__(self, nav):
        self.sent, self.incoming = [], None
        self.prepare(nav)
    def send(self, verb, **body): self.sent.append((verb, body))
    def frames(self): return self.incoming

class Shallow(Client):
    def diff(self, f1):
        for c in f1["ch"]:
            for s in c.get("ins", []): s.pop("title", None)
        super().diff(f1)

class Trusting(Client):
    def adopt(self, f1, screens, parts): super().adopt({**f1, "dig": nsp.checksum(screens, parts) + f1["dig"][8:]}, screens, parts)

def same(a, b): return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)

def summary(m):
    if m is None: return None
    ids = [s["id"] for s in m["screens"]]
    chain = [e["screen"]["id"] for e in m["parts"].get("presented", {}).get("chain", [])]
    return {"epoch": m["epoch"], "rev": m["rev"], "dig": m["dig"], "screens": ids, "presented": chain,
            "top": ids[-1] if ids else None, "visible": (chain or ids or [None])[-1]}

class Runner:
    def __init__(self, vector, make):
        self.client, self.shown, self.ids = make(vector["nav"]), None, {}
        for number, step in enumerate(vector["steps"]):
            try: self.take(step)
            except Failed as failure: raise Failed("%s, step %d" % (vector["id"], number), *failure.args)
    def take(self, step):
        c = self.client
        if "watch" in step: c.watch()
        elif "lost" in step:
            c.sent.clear()
            c.welcome({"hb": 60000, "ops": {"last": 0}, "limits": {"window": 65536}})
        elif "to" in step: self.sent(*step["to"])
        elif "do" in step:
            verb, body = step["do"]
            more = {k: v for k, v in body.items() if k not in ("id", "nav", "if", "do")}
            self.ids[body["id"]] = c.begin(body.get("if", {}), *body["do"], **more) if verb == "op" else c.request(verb, **more)
            c.sent.pop()
        elif "from" in step: self.got(step, *step["from"])
        else:
            m, state = c.m, step["state"]
            mine = {**{k: m[k] for k in ("epoch", "rev", "dig", "screens")}, **m["parts"], "kind": state["kind"]}
            if m["resolved"] is not None: mine["resolved"] = m["resolved"]
            need(same(mine, state), "the state is", mine)
    def sent(self, verb, body):
        found = [b for v, b in self.client.sent if v == verb]
        need(len(found) == 1, "not one %s is sent" % verb, self.client.sent)
        mine = found[0]
        need(mine["nav"] == body["nav"] and same(mine.get("from"), body.get("from")), "sent", mine)
        need("bad" not in body or {"rev", "dig"} <= set(mine.get("bad", {})), "sent", mine)
        self.ids[body["id"]] = mine["id"]
        self.client.sent.clear()
    def got(self, step, verb, body):
        c, before, pending, asked = self.client, self.client.m, self.client.pending, set(self.client.unanswered)
        size = len(body if isinstance(body, str) else json.dumps(body))
        f1 = json.loads(body) if isinstance(body, str) else json.loads(json.dumps(body))
        if f1.get("id") in self.ids: f1["id"] = self.ids[f1["id"]]
        c.incoming, over = (verb, f1, size), False
        try: c.step()
        except nsp.Refused: over = True
        c.sent = [(v, b) for v, b in c.sent if v != "credit"]
        watches, moved, is_ = len(c.sent), c.m is not before, step["is"]
        if is_ in ("gap", "diverged"): need(watches == 1 and c.pending, "no watch is sent")
        else: need(watches == 0, "sent", c.sent)
        if is_ in ("replaced", "applied"): need(moved and not over, "the mirror has not changed")
        elif is_ == "resumed": need(pending and not c.pending and not moved, "not resumed")
        elif is_ == "ended": need(over, "the end is not noticed")
        elif is_ == "refused": need(over == (f1["id"] == pending), "the refusal is not noticed")
        else: need(not over, "the watch is over")     # `then` says whether the mirror stays
        need(GOOD.get(is_, c.good) == c.good, "the mirror's own word is", c.good)
        if verb != "queued" and f1.get("id") in asked: need(c.answers.pop(f1["id"]) == (verb, f1), "the answer is not reported")
        if "refused" in step: need(all(f1[k] == v for k, v in step["refused"].items() if k != "id"), "another refusal")
        if "then" in step: self.shown = step["then"]
        need(same(summary(c.m), self.shown), "the mirror shows", summary(c.m), "not", self.shown)

def run(vector, make):
    if vector["kind"] != "digest": return Runner(vector, make)
    dig = nsp.checksum(vector["screens"], {p["id"]: p for p in vector["parts"]})
    need(dig == vector["checksum"], vector["id"], "the checksum is", dig)

if __name__ == "__main__":
    make = {"": Client, "shallow": Shallow, "trusting": Trusting}[(sys.argv + [""])[2]]
    passed = failed = 0
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            try: run(json.loads(line), make); passed += 1
            except Exception as failure:
                failed += 1
                print("%s: %s" % (json.loads(line)["id"], repr(failure)[:1000]))
    print("passed %d, failed %d" % (passed, failed))
    sys.exit(1 if failed else 0)
