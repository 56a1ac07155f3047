"""docs/browser.md in a browser: its blocks are one program that runs, and its sentences and tables hold."""
import re
import unittest

from guide import TYPES, GuideTest, setUpModule, table, tearDownModule, text_of, words  # noqa: F401 - unittest calls two
from harness import TOKENS, Refused, eventually


class Program(GuideTest):
    def expect_log(self, printed):
        """The program ends with ten lines of the log, the oldest first."""
        expected = []
        for entry in self.control.log("kiosk")[:10]:
            name = entry.get("by", {}).get("name")
            expected.append(f'{entry["rev"]} "{entry["cause"]}" ' + (f'"{name}"' if name else "undefined"))
        self.assertEqual(printed, expected)

    def test_the_program_runs_to_its_end_and_leaves_what_the_guide_says(self):
        self.launched("guide.js")
        printed = self.printed()
        self.assertEqual(printed[0], '"player is on top by now, thanks to shell"')
        lost = printed.index('"the display went: released"')
        self.expect_log(printed[1:lost] + printed[lost + 1:])
        state = self.control.get("kiosk")
        self.assertEqual([screen["id"] for screen in state["screens"]], ["home", "player", "about", "map"])
        self.assertIsNone(state["transition"].get("tid"))
        self.assertIsNone(state["environment"].get("owner"))
        names = [name for entry in self.control.log("kiosk") for name in entry.get("do", [])]
        self.assertEqual(names[:6], ["nav.create", "attach", "push", "pop", "popToRoot", "push"])
        self.assertEqual(self.control.client("shell"), None)
        self.assertEqual(self.look("location.hash + window.asked"), "")
        self.assertEqual(self.look("document.querySelector('p').textContent"), "closed")
        self.assertEqual(self.look("window.violations"), [])

    def test_a_reload_needs_no_new_code_and_finds_the_stack_where_it_was(self):
        self.launched("guide.js")
        revision = self.control.get("kiosk")["rev"]
        self.printed()
        # The program again: its nav exists, and its screens are known.
        self.driver.refresh()
        self.assertEqual(self.ended(), "")
        self.assertIn('"the display went: released"', self.printed())
        self.assertGreater(self.control.get("kiosk")["rev"], revision)
        self.assertEqual(self.stack(), ["home", "player", "about", "map"])

    def test_the_page_draws_runs_buttons_and_asks_before_a_draft_is_lost(self):
        self.launched("running.js")
        self.printed()
        header = "document.querySelector('header').textContent"
        self.assertEqual(self.look(header), "< About  Map")
        self.assertTrue(self.look("document.querySelector('p').hidden"))
        self.control.op("kiosk", {"pop": {}})
        self.control.op("kiosk", {"push": {"screen": "wifi"}})
        eventually("the header", lambda: self.look(header) == "< About  Wi-Fi  Scan")
        self.assertEqual(self.look("document.querySelector('main').textContent"), "settings/wifi")
        self.control.op("kiosk", {"button.activate": {"button": "scan"}})
        eventually("the button", lambda: '"run wifi.scan"' in self.printed())

        self.control.op("kiosk", {"push": {"screen": {"id": "editor"}}})
        self.driver.execute_script("window.answers.push(false, true)")
        with self.assertRaises(Refused) as refused:
            self.control.op("kiosk", {"pop": {}})
        self.assertEqual((refused.exception.args[0]["code"], refused.exception.args[0]["by"]), ("vetoed", "shell"))
        self.assertEqual(self.control.op("kiosk", {"pop": {}})["top"], "wifi")
        self.assertEqual(self.look("window.asked"), ["Discard the draft?"] * 2)

    def test_the_banner_shows_while_the_daemon_is_away(self):
        self.launched("running.js")
        self.printed()
        self.daemon.kill()
        eventually("the banner", lambda: not self.look("document.querySelector('p').hidden"))
        self.assertEqual(self.look("document.querySelector('[role=status]').textContent"), "disconnected")
        self.daemon.start()
        eventually("its end", lambda: self.look("document.querySelector('p').hidden"))
        self.control = self.daemon.control
        self.control.op("kiosk", {"push": {"screen": "wifi"}})
        eventually("the header", lambda: self.look("document.querySelector('header').textContent").endswith("Scan"))
        self.printed()


class Launch(GuideTest):
    def test_a_page_without_a_token_gets_null_and_one_with_t_keeps_it(self):
        self.assertIsNone(self.run_script("return await launchToken()"))
        self.open(f"http://{self.gateway.host}/#t={TOKENS['alice']}")
        found = self.run_script("return [await launchToken(), location.hash]")
        self.assertEqual(found, [TOKENS["alice"], ""])
        self.open(f"http://{self.gateway.host}/")
        self.assertEqual(self.run_script("return await launchToken()"), TOKENS["alice"])
        kept = self.run_script(
            "return [Object.keys(sessionStorage), Object.keys(localStorage), document.cookie,"
            "(await indexedDB.databases()).length, (await caches.keys()).length]")
        self.assertEqual(kept, [["navigation-token"], [], "", 0, 0])

    def test_the_policy_of_the_page_forbids_what_the_guide_says(self):
        policy = self.gateway.request("GET", "/").header("Content-Security-Policy")
        for rule in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
                     "require-trusted-types-for 'script'"):
            self.assertIn(rule, policy)


class UsedCode(GuideTest):
    noise = ("401",)

    def test_a_code_that_was_used_throws_unauthorized(self):
        code = self.gateway.codes()[-1]
        self.gateway.trade(code)
        self.open(f"http://{self.gateway.host}/#c={code}")
        self.assertEqual(
            self.run_script("return await launchToken().catch((error) => error.code)"), "unauthorized")


class Watches(GuideTest):
    def setUp(self):
        super().setUp()
        self.control.create("kiosk")

    def test_a_state_is_frozen_and_its_records_have_no_prototype(self):
        self.control.op("kiosk", {"push": {"screen": {"id": "a", "args": {"__proto__": 1}}}})
        found = self.connected("""
          const state = await client.state("kiosk");
          const { top } = state;
          const isFrozen = [state, state.screens, top, top.args, state.bar, state.parts, state.parts.bar].every(Object.isFrozen);
          return [isFrozen, Object.getPrototypeOf(top), Object.getPrototypeOf(top.args), Object.keys(top.args),
            Object.hasOwn(top.args, "__proto__"), Object.keys(state.parts).sort(), state.isResynchronised];
        """)
        parts = ["bar", "environment", "presented", "settings", "toolbar", "transition"]
        self.assertEqual(found, [True, None, None, ["__proto__"], True, parts, True])

    def test_loops_share_a_watch_which_ends_with_the_last_of_them(self):
        def watches(count):
            eventually(f"{count} watches", lambda: self.control.client("page")["watches"] == count)
        self.run_script(f"window.client = await NavigationClient.connect({{ token: '{TOKENS['alice']}', name: 'page' }});")
        self.run_script("""
          window.loops = [1, 2].map(() => client.watch("kiosk"));
          window.over = new AbortController();
          loops.push(client.watch("kiosk", { signal: over.signal }));
          await Promise.all(loops.map((loop) => loop.next()));
        """)
        watches(1)
        self.run_script("await loops[0].return(); await loops[1].return(); window.last = loops[2].next();")
        watches(1)
        self.assertEqual(self.run_script("over.abort(); return (await last).done"), True)
        watches(0)
        self.run_script("await client.close()")

    def test_a_slow_loop_gets_the_newest_state_and_all_events(self):
        found = self.connected("""
          const [slow, every] = [client.watch("kiosk"), client.watch("kiosk", { everyRevision: true })];
          const first = (await slow.next()).value;
          await every.next();
          for (const id of ["a", "b", "c"]) await client.perform("kiosk", [{ push: { screen: { id } } }]);
          const { value } = await slow.next();
          const revisions = [];
          for (let count = 0; count < 3; count++) revisions.push((await every.next()).value.rev - first.rev);
          const pushed = value.ev.flatMap(({ didPush }) => didPush?.screen ?? []);
          return [value.rev - first.rev, pushed, revisions, value.by.name, value.cause, value.animated];
        """)
        self.assertEqual(found, [3, ["a", "b", "c"], [1, 2, 3], "page", "api", False])

    def test_a_loop_ends_when_the_nav_closes_and_throws_without_one(self):
        found = self.connected("""
          const loop = client.watch("kiosk");
          await loop.next();
          await client.perform("kiosk", [{ "nav.close": {} }], { if: Guard.override });
          const last = await loop.next();
          return [last.done, (await caught(client.watch("nowhere").next())).code];
        """, who="boss")
        self.assertEqual(found, [True, "no-nav"])

    def test_the_views_have_the_bar_and_the_top_as_values(self):
        found = self.connected("""
          const values = {};
          for (const view of ["bar", "top"]) {
            for await (const { value } of client.watch("kiosk", { view })) { values[view] = value; break; }
          }
          const state = await client.state("kiosk");
          return [JSON.stringify(values.bar) === JSON.stringify(state.bar), values.top.id];
        """)
        self.assertEqual(found, [True, "home"])

    def test_the_daemon_chooses_an_id_and_keeps_popped_screens(self):
        found = self.connected("""
          const { out: [{ id }] } = await client.perform("kiosk", [{ push: { screen: { title: "Any" } } }]);
          await client.pop(await client.state("kiosk"));
          const { top } = await client.perform("kiosk", [{ push: { screen: id } }]);
          return [id === top, (await client.state("kiosk")).top.title];
        """)
        self.assertEqual(found, [True, "Any"])


# What each guard of the table must still accept: the name of a change, and whether the guard holds after it.
class Statuses(GuideTest):
    noise = ("401", "ERR_", "nsp1/stream")

    def test_a_page_sees_each_status_of_the_table_and_no_other(self):
        named = words(row[0] for row in table("| status | |"))
        types = re.search(r"export type Status =\s*([^;]+);", text_of(TYPES))[1]
        self.assertEqual(sorted(named), sorted(re.findall(r'"(\w+)"', types)))
        self.run_script("""
          const [token] = given, note = async (client) => {
            for await (const status of client.statuses()) seen.push(status);
            window.finals += 1;
          };
          Object.assign(window, { seen: [], finals: 0, note });
          note(new NavigationClient({ token: "x".repeat(32) }));
          window.client = new NavigationClient({ token, name: "page" });
          note(client);
          for await (const status of client.statuses()) if (status === "connected") break;
          window.locks = await navigator.locks.query();
        """, TOKENS["alice"])
        [lock] = self.look("locks.held.map((lock) => lock.name)")
        self.assertRegex(lock, "^nsp-stream-[1-4]$")
        self.daemon.kill()
        eventually("the loss", lambda: "disconnected" in self.look("seen"))
        self.daemon.start()
        found = self.run_script("""
          for await (const status of client.statuses()) if (status === "connected") break;
          await client.close();
          const free = [1, 2, 3, 4].map((number) => new Promise((taken) => navigator.locks.request(
            `nsp-stream-${number}`, () => new Promise((release) => taken(release)))));
          const releases = await Promise.all(free);
          // `connect` waits, at most five seconds, and the other client for ever.
          const late = NavigationClient.connect({ token: given[0] }).catch((error) => [error.code, performance.now() - start]);
          const start = performance.now(), fifth = new NavigationClient({ token: given[0] });
          note(fifth);
          const [code, took] = await late;
          const { status } = fifth;
          releases[2]();
          for await (const status of fifth.statuses()) if (status === "connected") break;
          await fifth.close();
          return [status, code, Math.round(took / 1000), [...new Set(seen)].sort(), finals];
        """, TOKENS["alice"])
        self.assertEqual(found, ["waiting", "unreachable", 5, sorted(named), 3])


class Display(GuideTest):
    def test_others_get_lease_lost_and_force_needs_admin(self):
        self.control.create("kiosk")
        found = self.run_script("""
          const [alice, bob, boss] = await Promise.all(given.map((token, index) =>
            NavigationClient.connect({ token, name: ["alice", "bob", "boss"][index] })));
          const code = (promise) => promise.then(() => "ok", (error) => error.code);
          const drive = (client) => code(client.perform("kiosk", [{ "env.set": { locale: "de" } }]));
          const codes = [await drive(bob)];
          const display = await alice.lease("kiosk");
          codes.push(await drive(alice), await drive(bob), await code(bob.lease("kiosk")),
            await code(bob.lease("kiosk", { force: true })), await code(boss.lease("kiosk", { force: true })));
          codes.push((await display.lost).owner, await drive(alice));
          await Promise.all([alice, bob, boss].map((client) => client.close()));
          return codes;
        """, *[TOKENS[who] for who in ("alice", "bob", "boss")])
        self.assertEqual(found, ["ok", "ok", "lease-lost", "lease-lost", "forbidden", "ok", "boss", "lease-lost"])

    def test_a_page_that_is_put_aside_ends_its_stream_and_resumes_when_it_is_shown(self):
        self.control.create("kiosk")
        self.run_script(f"""
          window.client = await NavigationClient.connect({{ token: '{TOKENS["alice"]}', name: 'page' }});
          window.loop = client.watch("kiosk", {{ everyRevision: true }});
          await loop.next();
          window.display = await client.lease("kiosk");
        """)
        self.driver.execute_script("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
        eventually("the end of the session", lambda: not self.control.client("page"))
        self.assertIsNone(self.control.get("kiosk")["environment"].get("owner"))
        self.assertEqual(self.run_script("return (await navigator.locks.query()).held.length"), 0)
        self.control.op("kiosk", {"push": {"screen": {"id": "meanwhile"}}})
        self.driver.execute_script("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        found = self.run_script("""
          const revisions = [];
          for await (const state of loop) {
            revisions.push(state.isResynchronised);
            if (state.top.id === "meanwhile") break;
          }
          return [revisions.includes(true), client.status];
        """)
        self.assertEqual(found, [False, "connected"])
        eventually("the display", lambda: self.control.get("kiosk")["environment"].get("owner") == "page")
        self.run_script("await client.close()")


if __name__ == "__main__":
    unittest.main()
