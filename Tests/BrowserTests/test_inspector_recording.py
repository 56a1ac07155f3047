"""Recordings in the model of the inspector's page, without navd behind it. What is right is computed here."""
import random
import unittest
import zlib

from models import Unblocked, open_model
from navrecs import EPOCH, PARTS, Nav, base64_of, copy, end, header, pack, recording


def setUpModule():
    open_model()


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
        # A new epoch begins the chain.
        whole[7]["before"] = whole[5]["dig"][:8] + "00000000000000cc"
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
