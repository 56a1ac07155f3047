"""The guards and the errors of docs/clients.md and docs/browser.md: each row of their tables holds in a browser."""
import os
import re
import unittest

from guide import (CLIENTS, GUIDE, TYPES, GuideTest, setUpModule, table, tearDownModule, text_of,  # noqa: F401 - unittest calls two
                   words)
from harness import ROOT, TOKENS


CHANGES = {
    "title": {"item.set": {"screen": "a", "title": "Other"}},
    "below": {"insert": {"screen": {"id": "below"}, "above": "home"}},
    "push": {"push": {"screen": {"id": "over"}}},
    "present": {"present": {"screen": {"id": "sheet"}}},
    "life": None,
}
HOLDS = {
    "top": {"title", "below", "present"}, "stack": {"title", "present"}, "revision": set(),
    "life": {"title", "below", "push", "present"}, "visible": {"title", "below"},
    "override": {"title", "below", "push", "present", "life"},
}


class Guards(GuideTest):
    def guards(self):
        return words(row[0] for row in table("| guard | holds while | for |", CLIENTS))

    def test_the_table_has_every_guard(self):
        named = [name for name in self.guards() if name != "none"]
        found = self.run_script(
            "return Object.getOwnPropertyNames(Guard).filter((name) => !['length', 'name', 'prototype'].includes(name))")
        self.assertEqual(sorted(named), sorted(found))
        self.assertEqual(sorted(named), sorted(HOLDS))

    def test_each_guard_holds_while_the_table_says(self):
        found = {name: set() for name in HOLDS}
        for change, operation in CHANGES.items():
            nav = f"guards/{change}"
            self.control.create(nav)
            self.control.op(nav, {"push": {"screen": {"id": "a"}}})
            self.run_script(
                f"window.client = await NavigationClient.connect({{ token: '{TOKENS['boss']}', name: 'page' }});"
                "window.seen = await client.state(given[0])", nav)
            if operation:
                self.control.op(nav, operation)
            else:
                self.control.op(nav, {"nav.close": {}})
                self.control.create(nav)
                self.control.op(nav, {"push": {"screen": {"id": "a"}}})
            # Each guard for itself, with an operation that changes nothing.
            result = self.run_script("""
              const [nav, names] = given, codes = {};
              for (const name of names) {
                const guard = name === "override" ? Guard.override : Guard[name](seen);
                codes[name] = await client.perform(nav, [{ "bar.setHidden": { hidden: false } }], { if: guard })
                  .then(() => "ok", (error) => error.code);
              }
              await client.close();
              return codes;
            """, nav, list(HOLDS))
            for name, code in result.items():
                self.assertIn(code, ("ok", "desync"))
                if code == "ok":
                    found[name].add(change)
        self.assertEqual(found, HOLDS)

    def test_a_removal_by_position_must_name_what_was_seen(self):
        self.control.create("kiosk")
        found = self.connected("""
          const seen = await client.state("kiosk");
          const bare = [{ pop: {} }, { setStack: { screens: ["home"] } }, { insert: { screen: { id: "a" }, at: 0 } },
            { replace: { with: { id: "a" } } }, { "ui.backTap": {} }, { revert: { rev: 1 } }, { "ui.dismiss": {} }, { "ui.back": {} }];
          const codes = [];
          for (const each of bare) codes.push((await caught(client.perform("kiosk", [each]))).code);
          const [push] = [await client.perform("kiosk", [{ push: { screen: { id: "b" } } }])];
          const named = [{ "item.set": { screen: "b", title: "B" } }, { replace: { screen: "b", with: { id: "c" } } },
            { insert: { screen: { id: "d" }, above: "home" } }, { popTo: { screen: "d" } }, { remove: { screens: ["d"] } }];
          for (const each of named) codes.push((await caught(client.perform("kiosk", [each]))).code);
          const joined = { ...Guard.top(seen), ...Guard.visible(seen) };
          codes.push((await caught(client.perform("kiosk", [{ pop: {} }], { if: joined }))).code);
          codes.push((await caught(client.perform("kiosk", [{ pop: {} }], { if: { top: "home" } }))).code);
          return codes;
        """)
        self.assertEqual(found, ["guard-required"] * 8 + [None] * 7)

    def test_a_guard_of_a_mirror_that_is_away_fails_at_once(self):
        self.control.create("kiosk")
        self.run_script(f"""
          window.client = await NavigationClient.connect({{ token: '{TOKENS["alice"]}', name: 'page' }});
          window.loop = client.watch("kiosk");
          window.seen = (await loop.next()).value;
        """)
        self.daemon.kill()
        found = self.run_script("""
          for await (const status of client.statuses()) if (status === "disconnected") break;
          const { code, message, retry, mayHaveHappened } = await client.pop(seen).catch((error) => error);
          window.later = client.state("kiosk");
          return [code, message, retry, mayHaveHappened];
        """)
        self.assertEqual(found, ["unreachable", "the connection is lost, and the client connects again; decide again on "
                                                "the next state of kiosk", "resync", False])
        self.daemon.start()
        self.assertEqual(self.run_script("return (await later).rev === seen.rev"), True)
        self.daemon.kill()
        # A client that has ended does not promise to connect again.
        self.assertEqual(self.run_script("""
          for await (const status of client.statuses()) if (status === "disconnected") break;
          await client.close();
          return (await client.pop(seen).catch((error) => error)).code;
        """), "closed")
        self.daemon.start()


class Errors(GuideTest):
    def test_a_refusal_names_the_position_and_who_was_faster(self):
        self.control.create("kiosk")
        found = self.connected("""
          const seen = await client.state("kiosk");
          await client.perform("kiosk", [{ push: { screen: { id: "a" } } }]);
          const error = await client.pop(seen).catch((error) => error);
          return [error instanceof NavigationError, error.code, error.top, error.depth, error.rev - seen.rev, error.retry,
            error.since.by.name, error.mayHaveHappened];
        """)
        self.assertEqual(found, [True, "desync", "a", 2, 1, "resync", "page", False])

    def test_the_table_has_every_value_of_retry(self):
        named = words(row[0] for row in table("| `retry` | reaction |", CLIENTS))
        types = re.search(r"export type Retry =\s*([^;]+);", text_of(TYPES))[1]
        self.assertEqual(sorted(named), sorted(re.findall(r'"(\w+)"', types)))
        protocol = text_of(os.path.join(ROOT, "docs", "protocol.md"))
        self.assertEqual(sorted(named), sorted(re.findall(r"^\* `(\w+)`: (?:never|these|resync)", protocol, re.M)))

    def test_wrong_arguments_are_type_errors(self):
        self.control.create("kiosk")
        found = self.connected("""
          const state = await client.state("kiosk");
          const calls = [
            () => client.perform("kiosk", [{ pop: {} }], { iff: Guard.top(state) }), () => client.perform("kiosk", []),
            () => client.perform("kiosk", { pop: {} }), () => client.perform("kiosk", [{ pop: {} }], { within: "1s" }),
            () => client.pop(state, { iff: {} }), () => client.pop("kiosk"), () => client.state("Not a nav"),
            () => client.watch("kiosk", { everyrevision: true }), () => client.watch("kiosk", { view: "toolbar" }),
            () => client.get("kiosk", { whta: "log" }), () => client.result("kiosk", 5), () => client.lease("kiosk", { forced: true }),
            () => client.delegate("kiosk", { roles: [] }, () => true), () => client.delegate("kiosk", { roles: ["veto"] }),
            () => new NavigationClient({ tokens: "" }), () => Guard.top(state.top),
          ];
          const other = [];
          for (const call of calls) {
            const error = await caught((async () => { await call(); })());
            if (!(error instanceof TypeError)) other.push(`${call}`);
          }
          return other;
        """)
        self.assertEqual(found, [])

    def test_the_codes_of_the_module_come_as_the_guide_says(self):
        self.control.create("kiosk")
        sentence = re.search(r"Codes that come from the module itself are ([^.]+)\.", text_of(GUIDE))[1]
        named = re.findall(r"`([a-z-]+)`", sentence)
        # `unauthorized` and `unreachable` have tests of their own.
        found = self.connected("""
          const codes = {}, held = new AbortController();
          codes.aborted = (await caught(client.state("kiosk", { signal: AbortSignal.abort() }))).code;
          codes.expired = (await caught(client.get("kiosk", { within: 0 }))).code;
          const first = await client.lease("kiosk");
          await client.lease("kiosk");
          codes.replaced = (await first.lost).code;
          const waiting = client.watch("kiosk");
          await waiting.next();
          const next = caught(waiting.next()), ended = client.statuses();
          await client.close();
          codes.closed = (await next).code;
          const later = (await caught(client.state("kiosk"))).code;
          const statuses = [];
          for await (const status of ended) statuses.push(status);
          return [codes, later, statuses];
        """)
        self.assertEqual(found, [{code: code for code in named if code not in ("unauthorized", "unreachable")},
                                 "closed", ["closed"]])

    def test_what_was_not_posted_has_not_happened(self):
        self.control.create("kiosk")
        self.run_script(f"""
          window.client = await NavigationClient.connect({{ token: '{TOKENS["alice"]}', name: 'page' }});
          window.push = (id, options) => client.perform("kiosk", [{{ push: {{ screen: {{ id }} }} }}], options);
        """)
        self.daemon.kill()
        found = self.run_script("""
          for await (const status of client.statuses()) if (status === "disconnected") break;
          const { code, mayHaveHappened } = await push("never", { within: 100 }).catch((error) => error);
          window.pending = push("once");
          return [code, mayHaveHappened];
        """)
        self.assertEqual(found, ["expired", False])
        self.daemon.start()
        self.assertEqual(self.run_script("const { top } = await pending; await client.close(); return top"), "once")
        self.control = self.daemon.control
        self.assertEqual(self.stack(), ["home", "once"])


if __name__ == "__main__":
    unittest.main()
