"""The model of the inspector's page: differences, links, plots and histories, without navd behind it.

What is right is computed here.
"""
import itertools
import random
import unittest

from differences import longest, members
from models import NAV, Unblocked, open_model
from navrecs import EPOCH, PARTS, Nav, recording
from pages import PageTest


def setUpModule():
    open_model()


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

    def test_a_history_of_any_length_has_a_bounded_list(self):
        found = self.run_script("""
          const source = new SyntheticSource(5300);
          const history = new History("n", source, { most: 1000 });
          const follow = async (list, rev) => {
            source.newest = rev;
            list.follow({ rev, epoch: "e" });
            await until(() => list.successor || list.isComplete);
          };
          history.start();
          await until(() => history.length && history.isComplete);
          const seen = [history.oldest, history.newest, history.loaded, history.floor];
          await follow(history, 5800);
          seen.push(history.length, history.successor);
          await follow(history, 5801);
          const next = history.successor;
          seen.push(history.length, history.at(999).rev, next.length);
          next.start();
          await until(() => next.length && next.isComplete);
          seen.push(next.oldest, next.newest, next.epoch);
          next.stop();
          return seen;
        """)
        self.assertEqual(found, [4801, 5300, 500, 1, 1000, None, 1000, 5800, 0, 5302, 5801, "e"])

    def test_a_busy_nav_is_read_slowly_and_the_newest_first_until_it_rests(self):
        found = self.run_script("""
          const source = new SyntheticSource(3000);
          const read = source.log.bind(source);
          const pages = [];
          source.log = (nav, options) => { pages.push([options.from, performance.now()]); return read(nav, options); };
          const history = new History("n", source);
          history.start();
          await until(() => history.length && history.isComplete);
          pages.length = 0;
          source.newest = 33_000;
          history.follow({ rev: 33_000, epoch: "e" });
          await until(() => history.isComplete);
          const [first, second] = pages;
          return [pages.slice(0, 3).map(([from]) => from), second[1] - first[1] >= 999, history.loaded];
        """)
        # Between the first two reads of it, the nav did nothing.
        self.assertEqual(found, [[32_001, 31_751, 30_751], True, 33_000])

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


if __name__ == "__main__":
    unittest.main()
