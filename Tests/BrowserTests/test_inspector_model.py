"""The model of the inspector's page: differences, links, histories and recordings, without navd behind them.

esbuild makes a page of page/inspector_model.js. What is right is computed here.
"""
import itertools
import os
import random
import subprocess
import unittest
import zlib

from differences import longest, members
from harness import HERE, Daemon, Directory, Gateway
from navrecs import EPOCH, PARTS, Nav, base64_of, copy, end, header, pack, recording
from pages import PageTest, browser

NAV = "team/kiosk"


def setUpModule():
    profile, page, daemon = Directory(), Directory(), Daemon()
    for each in (profile, page):
        unittest.addModuleCleanup(each.remove)
    unittest.addModuleCleanup(daemon.close)
    subprocess.run(["esbuild", os.path.join(HERE, "page", "inspector_model.js"), "--bundle", "--format=iife", "--log-level=warning",
                    f"--outfile={page / 'model.js'}"], check=True)
    page.write("index.html", '<!DOCTYPE html><meta charset="utf-8"><title>model</title><link rel="icon" href="data:,">'
                             '<script src="model.js"></script>', 0o644)
    PageTest.gateway = Gateway(daemon, page=page.path)
    unittest.addModuleCleanup(PageTest.gateway.close)
    PageTest.driver = browser(profile)
    unittest.addModuleCleanup(PageTest.driver.quit)


def as_state(state, rev, epoch=EPOCH):
    """A state in the form of the client."""
    return {"nav": NAV, "epoch": epoch, "rev": rev, "screens": state["screens"],
            "parts": {part: state[part] for part in PARTS}, "bar": None, "dig": state["dig"]}


class Differences(PageTest):
    maxDiff = None

    def compared(self, pairs):
        return self.run_script("return given[0].map(([one, other]) => compare(one, other))", pairs)

    def check(self, old, new, found):
        self.assertIsNone(found["refused"])
        before, after = ({record["id"]: (at, record) for at, record in enumerate(state["screens"])} for state in (old, new))
        screens = found["screens"]
        self.assertEqual({each["id"]: each["at"] for each in screens["added"]},
                         {name: at for name, (at, _) in after.items() if name not in before})
        self.assertEqual({each["id"]: each["at"] for each in screens["removed"]},
                         {name: at for name, (at, _) in before.items() if name not in after})
        changed = {name: members(before[name][1], after[name][1]) for name in before if name in after}
        self.assertEqual({each["id"]: self.paths(each) for each in screens["changed"]},
                         {name: found for name, found in changed.items() if found})
        parts = {part: members(old["parts"][part], new["parts"][part]) for part in PARTS}
        self.assertEqual({each["part"]: self.paths(each) for each in found["parts"]},
                         {part: found for part, found in parts.items() if found})
        versions = lambda pairs: {name for name, (one, other) in pairs.items()  # noqa: E731
                                  if one["ver"] != other["ver"] and not members(one, other)}
        self.assertEqual({each["id"] for each in screens["renewed"]},
                         versions({name: (before[name][1], after[name][1]) for name in before if name in after}))
        self.assertEqual({each["part"] for each in found["renewed"]},
                         versions({part: (old["parts"][part], new["parts"][part]) for part in PARTS}))
        # What moved is a smallest set: the others stand in the same order, and no larger set of them does.
        common = [name for name in before if name in after]
        moved = {each["id"] for each in screens["moved"]}
        for each in screens["moved"]:
            self.assertEqual((each["from"], each["to"]), (before[each["id"]][0], after[each["id"]][0]))
        order = [after[name][0] for name in common]
        kept = [after[name][0] for name in common if name not in moved]
        self.assertEqual(kept, sorted(kept))
        self.assertEqual(len(kept), longest(order))
        bare = [[[{**record, "ver": 0} for record in state["screens"]], [{**state["parts"][part], "ver": 0} for part in PARTS]]
                for state in (old, new)]
        self.assertEqual(found["isEmpty"], bare[0] == bare[1])

    @staticmethod
    def paths(change):
        return {tuple(each["path"]): (each.get("old"), each.get("new")) for each in change["members"]}

    def test_random_pairs_in_both_orders(self):
        _, _, states = recording(600, seed=5)
        chance = random.Random(8)
        pairs = []
        for _ in range(150):
            one, other = chance.sample(sorted(states), 2)
            pairs += [[as_state(states[one], one), as_state(states[other], other)]]
        there, back = self.compared(pairs), self.compared([[new, old] for old, new in pairs])
        kinds = set()
        for (old, new), found, reverse in zip(pairs, there, back):
            self.check(old, new, found)
            self.check(new, old, reverse)
            names = [{each["id"] for each in each["screens"]["moved"]} for each in (found, reverse)]
            self.assertEqual(*names)
            kinds |= {kind for kind, changes in found["screens"].items() if changes and kind != "renewed"} | {each["part"] for each in found["parts"]}
        self.assertEqual(kinds, {"added", "removed", "moved", "changed", "bar", "presented", "environment"})

    def test_moves_parts_and_equal_states(self):
        state = Nav().state
        stack = [{"id": name, "ver": 1} for name in "abcde"]
        base = as_state({**state, "screens": stack}, 1)
        pairs = [[base, {**base, "rev": 2, "screens": [stack["abcde".index(name)] for name in order]}]
                 for order in ("bacde", "eabcd", "edcba", "bcdea", "abcde")]
        pairs += [[base, {**base, "rev": 2, "parts": {**base["parts"], part: {"ver": 2, "new": 1}}}] for part in PARTS]
        pairs += [[base, {**base, "rev": 2, "parts": {**base["parts"], "bar": {"ver": 2}}, "screens": [{**stack[0], "ver": 2}, *stack[1:]]}]]
        found = self.compared(pairs)
        for (old, new), each in zip(pairs, found):
            self.check(old, new, each)
        self.assertEqual([len(each["screens"]["moved"]) for each in found[:5]], [1, 1, 4, 1, 0])
        self.assertEqual([each["isEmpty"] for each in found[4:]], [True] + [False] * len(PARTS) + [True])
        chain = [{"screen": {"id": name, "ver": 3}, "covers": "byStyle"} for name in "xy"]
        shown = {**base, "rev": 3, "parts": {**base["parts"], "presented": {"ver": 3, "chain": chain}}}
        [found] = self.compared([[base, shown]])
        self.assertEqual([each["id"] for each in found["presented"]["added"]], ["x", "y"])

    def test_states_of_two_epochs_or_navs_are_refused(self):
        state = as_state(Nav().state, 4)
        found = self.compared([[state, {**state, "epoch": "other"}], [state, {**state, "nav": "other"}]])
        self.assertEqual([each["refused"]["reason"] for each in found], ["epoch", "nav"])
        self.assertIn(EPOCH, found[0]["refused"]["message"])

    def test_hostile_keys_are_members_like_others(self):
        text = '{"id":"a","ver":%d,"args":{"__proto__":{"x":%d},"constructor":%d,"a.b":[%d]}}'
        found = self.run_script("""
          const [one, other] = given.map((text) => JSON.parse(text));
          const part = { ver: 1 };
          const state = (record, rev) => ({ nav: "n", epoch: "e", rev, screens: [record], parts: { bar: part }, bar: null });
          return [compare(state(one, 1), state(other, 2)).screens.changed[0].members.map(({ path }) => path), ({}).x ?? null];
        """, text % (1, 1, 1, 1), text % (2, 2, 2, 2))
        self.assertEqual(sorted(map(tuple, found[0])), [
            ("args", "__proto__", "x"), ("args", "a.b"), ("args", "constructor")])
        self.assertIsNone(found[1])


class Links(PageTest):
    def test_each_place_comes_back(self):
        names = ["kiosk", "team/a/b.c-d", "50%", "%2F", "a&rev=7", "a=b#c", "it's \"x\"", "\u202e😀", "\\u{1f}+ +", "<script>"]
        places = [{"nav": nav, "at": at, "epoch": epoch, "compareWith": other, "filter": text, "tab": tab, "pins": pins, "bookmarks": marks}
                  for (pins, marks), (nav, (at, epoch)), other, text, tab in itertools.product(
                      ((None, None), (["a/b", "50%"], [f"a@b.c@{EPOCH}.7", "é&=@.1"])), itertools.product(names, ((None, None), (42, EPOCH), (0, None))), (None, 7),
                      ("", "by:é %"), ("stream", "compare"))]
        found = self.run_script("""
          const anchor = document.createElement("a");
          return given[0].map((place) => {
            const link = formatLink(place);
            anchor.href = link;
            return [link, parseLink(anchor.hash)];
          });
        """, places)
        for place, (link, back) in zip(places, found):
            # Without a comparison, the first tab goes without saying, and a link without a tab leaves it.
            goes = place["tab"] == "stream" and place["compareWith"] is None
            self.assertEqual(back, {**place, "tab": None} if goes else place, link)
            self.assertRegex(link, r"^#[\x21-\x7e]+$")
            self.assertNotRegex(link, r"[\"'<> \\]")
        self.assertEqual(found[0][0], "#nav=kiosk")
        self.assertTrue(next(link for link, _ in found if "team" in link).startswith("#nav=team%2Fa%2Fb.c-d"))

    def test_what_is_no_link(self):
        texts = ["", "#", "#nav=", "#rev=4", "#c=CODE", "#nav=%E0%A4%A", "#nav"]
        self.assertEqual(self.run_script("return given[0].map((text) => parseLink(text))", texts), [None] * len(texts))
        odd = self.run_script("return given[0].map((text) => parseLink(text))", [
            "#nav=a&rev=-1", "#nav=a&rev=1e3&tab=x", "#nav=a&nav=b&rev=3&rev=4", "#nav=a&with=99999999999999999999", "#nav=%252F"])
        self.assertEqual([(each["nav"], each["at"], each["compareWith"], each["tab"]) for each in odd], [
            ("a", None, None, None), ("a", None, None, None), ("a", 3, None, None), ("a", None, None, "compare"), ("%2F", None, None, None)])
        found = self.run_script("return parseLink(given[0])", "#nav=a&mark=a&mark=@.1&mark=a@e.-1&mark=a@e.1" + "".join(
            f"&pin={number}" for number in range(40)))
        self.assertEqual((found["bookmarks"], len(found["pins"])), (["a@e.1"], 32))


class Plots(PageTest):
    def test_quantiles_and_the_maximum_are_the_buckets_of_the_values(self):
        chance, bounds = random.Random(3), [2 ** power for power in range(10, 20)]

        def reading(values):
            places = [sum(value > bound for bound in bounds) for value in values]
            histogram = {"bounds": bounds, "counts": [places.count(at) for at in range(len(bounds) + 1)]}
            return {"boot": "b", "operations": {}, "commit": histogram, "fanOut": histogram, "batch": histogram}
        for values in ([int(2 ** chance.uniform(9, 21)) for _ in range(200)], [1025] * 99 + [2 ** 22], [600], []):
            [sample] = self.run_script("""
              const samples = new Samples();
              given.forEach((each, at) => samples.take(each, 1000 * (at + 1)));
              return samples.list;""", reading([700] * 50), reading([700] * 50 + values))
            for suffix, share in (("50", 0.5), ("99", 0.99), ("Max", 1)) if values else ():
                value, (low, high) = sorted(values)[-int(-len(values) * share // 1) - 1], sample["commit" + suffix]
                # Beyond the last bound there is no upper one: JSON has null for Infinity.
                self.assertTrue(low < value <= (high or value) and high in (None, 2 * low), (suffix, low, value, high))
            self.assertEqual(sample["fanOutMax"] is None, not values)


class Unblocked(PageTest):
    """Long work leaves frames to the page. How long a task lasts is measured by `make bench-inspector`."""

    def unblocked(self, found):
        self.assertGreater(found.pop("frames"), 1)
        return found


class Histories(Unblocked):
    def test_columns_equal_a_list(self):
        found = self.run_script("""
          const source = new SyntheticSource(5300);
          const history = new History("n", source);
          history.start();
          await until(() => history.length && history.isComplete);
          const list = [];
          for (let at = 0; at < history.length; at++) {
            const { rev, t, cause, by, operations, subject, isLoaded } = history.at(at);
            const entry = source.entry(rev);
            const wanted = [at + 1, entry.t, entry.cause, entry.by?.principal, entry.by?.pid, entry.do.join(" "), entry.ins?.[0].id ?? entry.del[0], true];
            const own = [rev, t, cause, by?.principal, by?.pid, operations, subject, isLoaded];
            if (JSON.stringify(own) !== JSON.stringify(wanted)) throw new Error(`${JSON.stringify(own)}, not ${JSON.stringify(wanted)}`);
            list.push(entry);
          }
          const has = (text, word) => (text ?? "").toLowerCase().includes(word);
          const author = ({ by }) => by && `${by.principal} ${by.name} ${by.pid}`;
          const filters = {
            "": () => true, "by:1001": (entry) => has(author(entry), "1001"), "CLIENT op:push": (entry) => has(author(entry), "client") && has(entry.do.join(" "), "push"),
            "-cause:timeout": (entry) => entry.cause !== "timeout", "screen:s7": (entry) => has(entry.ins?.[0].id ?? entry.del[0], "s7"), "nothing": () => false,
          };
          for (const [filter, test] of Object.entries(filters)) {
            const matches = history.matches(filter);
            const wanted = list.filter(test).map((entry) => entry.rev - 1);
            if (JSON.stringify([...matches.positions.subarray(0, matches.count)]) !== JSON.stringify(wanted)) throw new Error(filter);
          }
          for (const [from, to, width] of [[0, 5300, 700], [100, 140, 700], [17, 4000, 33], [5299, 5300, 10]]) {
            const matches = history.matches("by:1001");
            const columns = fold(history, { from, to, width, matches });
            const counts = new Array(width).fill(0), shown = new Array(width).fill(0), people = new Array(width).fill(0);
            for (let at = from; at < to; at++) {
              const x = Math.min(width - 1, Math.floor((at - from) * (width / (to - from))));
              counts[x]++;
              if (!matches.flags[at]) continue;
              shown[x]++;
              if (list[at].cause === "timeout") people[x]++;
            }
            if (JSON.stringify([[...columns.count], [...columns.shown], [...columns.kinds[2]]]) !== JSON.stringify([counts, shown, people])) throw new Error("fold");
          }
          return [history.loaded, history.positionOf(1), history.positionOf(5300), history.positionOf(5301), source.reads];
        """)
        self.assertEqual(found, [5300, 0, 5299, -1, 7])

    def test_it_follows_the_watch_and_keeps_what_was_pruned(self):
        found = self.run_script("""
          const source = new SyntheticSource(3000);
          const history = new History("n", source);
          history.start();
          await until(() => history.length && history.isComplete);
          const seen = [history.length];
          source.newest = 5200;
          source.floor = 1200;
          history.follow({ rev: 5200, epoch: "e" });
          seen.push(history.isComplete, history.missing);
          await until(() => history.isComplete);
          seen.push(history.length, history.loaded, history.floor, history.at(0).isLoaded, history.at(5199).isLoaded);
          source.epoch = "f";
          history.follow({ rev: 2, epoch: "f" });
          seen.push(history.successor !== null, history.length, historyOf(source, "m").nav);
          history.stop();
          return seen;
        """)
        self.assertEqual(found, [3000, False, 2200, 5200, 5200, 1200, True, True, True, 5200, "m"])

    def test_pruning_ahead_of_the_reader_and_small_answers(self):
        found = self.run_script("""
          const source = new SyntheticSource(4000);
          const read = source.log.bind(source);
          source.log = async (nav, options) => {
            if (options.limit > 250) throw Object.assign(new Error("limit"), { code: "limit" });
            if (source.reads === 6) source.floor = 2900;
            return read(nav, options);
          };
          const history = new History("n", source);
          history.start();
          await until(() => history.length && history.isComplete);
          return [history.floor, history.loaded, history.at(0).isLoaded];
        """)
        self.assertEqual(found[0], 2900)
        self.assertGreaterEqual(found[1], 1101)
        self.assertFalse(found[2])

    def test_borders_of_epochs(self):
        found = self.run_script("""
          const history = new History("n");
          history.extend(1, 9, "c");
          for (const rev of [9, 8, 7]) history.put({ rev, do: [] });
          history.put({ rev: 6, epoch: "c", cause: "crash" });
          for (const rev of [6, 5, 4]) history.put({ rev, do: [] });
          history.put({ rev: 3, epoch: "b", cause: "backup" });
          for (const rev of [3, 2, 1]) history.put({ rev, do: [] });
          return Array.from({ length: 9 }, (_, at) => history.at(at).epoch);
        """)
        # The state at which an epoch begins is of that epoch, as navd counts.
        self.assertEqual(found, ["before b"] * 2 + ["b"] * 3 + ["c"] * 4)

    def test_a_long_history_never_blocks_the_page(self):
        found = self.unblocked(self.run_script("""
          const source = new SyntheticSource(100_000);
          const history = new History("n", source);
          const loading = await measured(async () => {
            history.start();
            await until(() => history.length && history.isComplete);
          });
          return { loaded: history.loaded, frames: loading.frames };
        """))
        self.assertEqual(found, {"loaded": 100_000})


class Recordings(Unblocked):
    maxDiff = None

    def opened(self, octets, script, *more):
        return self.run_script("""
          const source = await openFile(given[0]).catch((error) => error);
          if (source instanceof Error) return { code: source.code, message: source.message };
          const history = source.history(source.facts.nav);
          const plain = ({ epoch, rev, dig, isProven, unproven, screens, parts, cause }) => ({ epoch, rev, dig, isProven, unproven, screens, parts, cause });
        """ + script, base64_of(octets), *more)

    def states(self, octets):
        return self.opened(octets, """
          const states = [];
          for (let at = 0; at < history.length; at++) {
            const { rev, epoch } = history.at(at);
            states.push(plain(await source.stateAt(source.facts.nav, rev, epoch)));
          }
          return { states, facts: source.facts, flags: [...history.columns.flags.subarray(0, history.length)] };
        """)

    def check(self, state, wanted):
        self.assertEqual(state["screens"], wanted["screens"])
        self.assertEqual(state["parts"], {part: wanted[part] for part in PARTS})
        self.assertEqual(state["dig"], wanted["dig"])

    def test_each_revision_in_any_order(self):
        lines, nav, states = recording(700, seed=2)
        order = list(states)
        random.Random(3).shuffle(order)
        found = self.opened(pack(*lines), """
          const states = {};
          for (const rev of given[1]) states[rev] = plain(await source.stateAt(source.facts.nav, rev));
          const page = await source.log(source.facts.nav, { from: 11, limit: 3 });
          return { states, facts: source.facts, last: plain(await source.state(source.facts.nav)), page };
        """, order)
        for rev, state in states.items():
            self.check(found["states"][str(rev)], state)
            self.assertTrue(found["states"][str(rev)]["isProven"])
        self.assertIsNone(found["facts"]["problem"])
        self.assertEqual(found["last"]["rev"], nav.rev)
        entries = [{name: value for name, value in line.items() if name not in ("kind", "ch", "ev", "depth", "resolved")} for line in lines[11:14]]
        self.assertEqual(found["page"]["list"], entries)

    def test_a_wrong_digest_makes_the_rest_unproven_until_a_whole_state(self):
        lines, _, states = recording(60)
        lines[30] = {**lines[30], "dig": "00000000"}
        whole = {"kind": "state", "rev": 50, "epoch": EPOCH, "state": states[50], "resolved": lines[1]["resolved"]}
        found = self.states(pack(*lines[:51], whole, *lines[51:]))
        self.assertEqual([each["isProven"] for each in found["states"]], [True] * 29 + [False] * 20 + [True] * 11)
        self.assertIn("revision 30", found["states"][35]["unproven"])
        for rev, state in states.items():
            self.assertEqual(found["states"][rev - 1]["screens"], state["screens"])
        [doubt] = found["facts"]["unproven"]
        self.assertEqual((doubt["from"], doubt["to"]), (29, 48))

    def test_forged_changes_are_unproven(self):
        lines, _, _ = recording(20)
        forged = {
            "order": lambda entry: entry | {"rev": entry["rev"] + 1}, "before": lambda entry: entry | {"before": "ffffffff"},
            "splice": lambda entry: entry | {"ch": [{"at": 0, "del": ["nobody"], "ins": []}]}, "part": lambda entry: entry | {"ch": [{"set": "__proto__", "to": {}}]},
            "no list": lambda entry: entry | {"ch": {"at": 0}}, "no id": lambda entry: entry | {"ch": [{"at": 0, "del": [], "ins": [{"id": 7, "ver": 1}]}]},
            "chain": lambda entry: entry | {"ch": [{"set": "presented", "to": {"ver": 1, "chain": [None]}}]},
        }
        for name, forge in forged.items():
            with self.subTest(name):
                found = self.states(pack(*lines[:10], forge(copy(lines[10])), *lines[11:]))
                proven = [each["isProven"] for each in found["states"]]
                self.assertEqual(proven[:9], [True] * 9)
                self.assertNotIn(True, proven[9:])

    def test_values_of_other_types_are_no_texts(self):
        lines, _, _ = recording(12)
        odd = {"toString": 1, "__proto__": {"polluted": 1}}
        head = {**lines[0], "server": odd, "rules": odd, "redacted": [odd, "contents"], "recorded": odd}
        entry = {**lines[6], "cause": odd, "do": [odd, "push"], "by": {"name": odd, "principal": 7, "pid": "x"}, "t": "never", "ins": [odd], "del": [odd]}
        found = self.opened(pack(head, *lines[1:6], entry, {"kind": "epoch", "rev": 6, "epoch": odd}, {"kind": "report", "bad": odd}, *lines[7:]), """
          const { operations, cause, by, t, subject } = history.at(5);
          const { nav } = source.facts;
          return { facts: source.facts, entry: [operations, cause, Object.keys(by), t, subject], last: (await source.state(nav)).isProven,
            before: (await source.stateAt(nav, 5)).isProven, polluted: String({}.polluted), log: (await source.log(nav)).list.length };
        """)
        self.assertEqual(found["facts"]["redacted"], ["contents"])
        self.assertEqual(found["entry"], ["push", "", [], 0, ""])
        self.assertEqual((found["before"], found["last"], found["polluted"]), (True, False, "undefined"))

    def test_contents_that_come_with_a_state_of_their_own(self):
        lines, _, states = recording(20)
        omitted = {name: value for name, value in lines[10].items() if name not in ("ch", "ev", "depth", "resolved")} | {"omitted": True}
        whole = {"kind": "state", "rev": 10, "epoch": EPOCH, "state": states[10], "resolved": lines[1]["resolved"]}
        bare = {name: value for name, value in omitted.items() if name != "dig"}
        for entry in (omitted, bare):
            found = self.states(pack(*lines[:10], entry, whole, *lines[11:-1], {**lines[-1], "end": 21}))
            self.assertEqual(len(found["states"]), 20)
            self.assertTrue(all(each["isProven"] for each in found["states"]))
            self.assertEqual((found["facts"]["unproven"], found["facts"]["problem"]), ([], None))
        missing = self.states(pack(*lines[:10], omitted, *lines[11:]))
        self.assertEqual([each["isProven"] for each in missing["states"]], [True] * 9 + [False] * 11)

    def test_files_that_are_not_whole(self):
        lines, _, _ = recording(300)
        whole = pack(*lines)
        cut = self.states(whole[:len(whole) // 2])
        self.assertEqual(cut["facts"]["problem"]["code"], "truncated")
        # Each line that the octets give, and no fewer; the first is the header.
        self.assertEqual(len(cut["states"]), zlib.decompressobj(31).decompress(whole[:len(whole) // 2]).count(b"\n") - 1)
        self.assertTrue(all(each["isProven"] for each in cut["states"]))
        self.assertEqual(self.states(pack(*lines[:-1]))["facts"]["problem"]["code"], "truncated")
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 4
        self.assertIn(self.states(bytes(flipped))["facts"]["problem"]["code"], ("damaged", "truncated"))
        wrong = self.states(pack(*lines[:-1], {**lines[-1], "end": 7}))
        self.assertEqual(wrong["facts"]["problem"]["code"], "damaged")
        broken = self.states(pack(*lines[:9], "{", *lines[9:]))
        self.assertEqual((broken["facts"]["problem"]["code"], len(broken["states"])), ("damaged", 8))

    def test_files_that_cannot_be_opened(self):
        lines, nav, _ = recording(3)
        files = {"version": pack({**header(nav), "navrec": 2}, *lines[1:]), "format": pack({"a": 1}), "damaged": b"no gzip",
                 "format ": pack(header(nav), lines[2]), "format  ": pack("[1]"), "format   ": pack(header(nav))}
        for code, octets in files.items():
            found = self.opened(octets, "return 'opened'")
            self.assertEqual(found["code"], code.strip(), found)
        self.assertIn("newer inspector", self.opened(files["version"], "return 0")["message"])

    def test_two_epochs_in_one_file(self):
        nav = Nav(4)
        entries, states = [nav.first()], {(nav.epoch, 1): copy(nav.state)}
        for _ in range(9):
            entries.append(nav.step())
            states[nav.epoch, nav.rev] = copy(nav.state)
        entries.append(nav.begin("00000000000000bb", 5))
        states[nav.epoch, nav.rev] = copy(nav.state)
        for _ in range(9):
            entries.append(nav.step())
            states[nav.epoch, nav.rev] = copy(nav.state)
        found = self.states(pack(header(nav), *entries, end(entries, nav)))
        self.assertEqual([(each["epoch"], each["rev"]) for each in found["states"]], list(states))
        for state in found["states"]:
            self.check(state, states[state["epoch"], state["rev"]])
            self.assertTrue(state["isProven"])
        whole = copy(entries[:10])
        whole.insert(6, {"kind": "epoch", "rev": 6, "epoch": "00000000000000cc", "cause": "crash"})
        found = self.states(pack(header(nav), *whole))
        self.assertEqual([(each["epoch"], each["rev"]) for each in found["states"]],
                         [(EPOCH, rev) for rev in range(1, 6)] + [("00000000000000cc", rev) for rev in range(6, 11)])
        self.assertTrue(all(each["isProven"] for each in found["states"]))
        newest = self.opened(pack(header(nav), *entries, end(entries, nav)), "return (await source.stateAt(source.facts.nav, 7)).epoch")
        self.assertEqual(newest, "00000000000000bb")

    def test_base64_in_pieces_and_a_long_file_never_block_the_page(self):
        lines, nav, _ = recording(15_000)
        text = base64_of(pack(*lines))
        wrapped = "\n".join(text[at:at + 75] for at in range(0, len(text), 75))
        found = self.unblocked(self.run_script("""
          const shares = [];
          const { value, frames } = await measured(() => RecordingSource.openText(given[0], ({ share }) => shares.push(share)));
          const history = value.history(value.facts.nav);
          const { unproven, nav } = value.facts;
          return { length: history.length, dig: (await value.state(nav)).dig, frames, unproven, share: shares.at(-1) };
        """, wrapped))
        self.assertEqual(found, {"length": 15_000, "dig": nav.state["dig"], "unproven": [], "share": 1})


if __name__ == "__main__":
    unittest.main()
