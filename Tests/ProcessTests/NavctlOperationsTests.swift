import Foundation
import NavigationCore
import Testing

extension ProcessTests {
  /// Every operation and every read, by the command that is for it.
  @Suite struct NavctlOperationsTests {
    private static let settings =
      #"{"hidesBarsOnTap":true,"hidesBarsOnSwipe":true,"restorationID":"kiosk","#
      + #""routes":[{"match":"s/:page","screens":["home",{"route":"s/{page}"}]}]}"#

    /// Commands that change, in an order in which each makes a revision; `FILE` is a file.
    private static let changes: [[String]] = [
      ["create", "kiosk", "--root", "home", "--restoration-id", "home", "--settings", settings],
      ["set", "kiosk", "settings", "queue=4", "--animated"], ["detach", "kiosk"],
      ["attach", "kiosk"],
      ["push", "kiosk", "a", "--new"], ["push", "kiosk", "b", "--new", "--show", "--still"],
      ["segue", "kiosk", "c", "--new"], ["pop", "kiosk", "--top", "c"], ["pop-to", "kiosk", "a"],
      ["pop-to-root", "kiosk"], ["save", "kiosk", "FILE"],
      ["stack", "kiosk", "home", #"{"id":"x"}"#, "--any"], ["open", "kiosk", "s/net", "--any"],
      ["restore", "kiosk", "FILE", "--any"], ["revert", "kiosk", "6", "--any"],
      ["present", "kiosk", "pin", "--new"], ["dismiss", "kiosk", "--from", "b"],
      ["screen", "kiosk", "create", "later", "title=Later"],
      ["screen", "kiosk", "release", "later"],
      ["set", "kiosk", "screen", "home", "title=Home", "--animated"],
      ["set", "kiosk", "item", "b", "rightItems=done=Done", "--animated"],
      ["button", "kiosk", "create", "more", "title=More"],
      ["button", "kiosk", "release", "more"],
      ["set", "kiosk", "button", "done", "action=nav.pop"],
      ["button", "kiosk", "activate", "done"], ["back", "kiosk", "--top", "a"],
      ["push", "kiosk", "d", "--new"],
      ["gesture", "kiosk", "begin", "0.3", "cancel", "--top", "d"],
      ["gesture", "kiosk", "begin", "update", "0.7", "finish", "--top", "d"],
      ["push", "kiosk", "r", "--new"], ["insert", "kiosk", "q", "--new", "--below", "r"],
      ["remove", "kiosk", "q"], ["replace", "kiosk", "s", "--new", "--top", "r"],
      ["present", "kiosk", "sheet", "--new"],
      ["dismiss", "kiosk", "--swipe", "--visible", "sheet", "--result", "{}"],
      ["push", "kiosk", "s", "--on-duplicate", "popTo"], ["push", "kiosk", "t", "--new"],
      ["back", "kiosk", "--to", "s"], ["push", "kiosk", "t"],
      ["back", "kiosk", "--key", "--visible", "t"],
      ["set", "kiosk", "bar", "barTintColor=red"], ["set", "kiosk", "toolbar", "barStyle=black"],
      ["set", "kiosk", "toolbar", "hidden=false"], ["set", "kiosk", "bar", "hidden=true"],
      ["set", "kiosk", "bar", "hidden="],
      ["set", "kiosk", "appearance", "standard.background=clear"],
      ["set", "proxy", "barTintColor=green"], ["set", "kiosk", "display", "scale=3"],
      ["swipe", "kiosk", "up"], ["tap", "kiosk"],
      ["create", "hud", "--kind", "bar"], ["push", "hud", "i", "--title", "I"],
      ["stack", "hud", "i", #"{"id":"n"}"#, "--any"], ["pop", "hud", "--top", "n"],
      // UIKit's names of the same.
      ["op", "hud", #"{"pushItem":{"item":"n"}}"#],
      ["op", "hud", #"{"popItem":{}}"#, "--top", "n"],
      ["op", "hud", #"{"setItems":{"items":["n"]}}"#, "--any"],
    ]

    /// What leaves no trace in the log of a nav that is still there.
    private static let untold: Set<OperationKind> = [.navClose, .gestureUpdate, .unknown]

    /// Runs a command that must succeed and whose output is as the options say.
    @discardableResult private func run(
      _ daemon: TestDaemon, _ words: [String], _ options: [String]
    ) throws -> [JSON] {
      let result = try daemon.navctl(words + options)
      #expect(result.status == 0, "\(words): \(result.output)\(result.errors)")
      #expect(result.errors == "", "\(words)")
      #expect(!result.output.isEmpty, "\(words)")
      guard !options.isEmpty else { return [] }
      return try result.output.split(separator: "\n").map { try JSON($0.utf8) }
    }

    @Test(arguments: [[], ["-o", "json"]])
    func `every operation has a command`(options: [String]) throws {
      let daemon = try TestDaemon()
      let file = daemon.directory.path + "/saved.json"
      for words in Self.changes {
        let answers = try run(daemon, words.map { $0 == "FILE" ? file : $0 }, options)
        for answer in answers { #expect(answer["rev"]?.integer != nil, "\(words): \(answer)") }
      }
      try run(daemon, ["push", "kiosk", "slow", "--new", "--animated"], options)
      let running = try run(daemon, ["transition", "kiosk"], ["-o", "json"])
      let number = try #require(running.first?["tid"]?.integer)
      try run(daemon, ["transition", "kiosk", "complete", "\(number)"], options)

      let peer = try Peer(daemon.endpoint)
      let entries = try ["kiosk", "hud", "$appearance"].flatMap { try peer.log($0) }
      let done = Set(entries.flatMap { $0["do"]?.array ?? [] }.compactMap(\.string))
      let wanted = OperationKind.allCases.filter { !Self.untold.contains($0) }.map(\.name)
      #expect(Set(wanted).subtracting(done) == [])
      try run(daemon, ["close", "hud", "--any"], options)
      #expect(try daemon.navctl(["show", "hud"]).status == 6)
    }

    @Test(arguments: [[], ["-o", "json"]])
    func `everything that can be read has a command`(options: [String]) throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"a"}}}]"#)
      // A cluster is not that of a nav, and navctl trace traces.
      let others: [GetRequest.What] = [.backup, .cluster, .trace, .refusals]
      for what in GetRequest.What.allCases where !others.contains(what) {
        let screen = what == .screen ? ["--screen", "home"] : []
        let answer = try run(daemon, ["get", "kiosk", "--what", what.word] + screen, options)
        guard !options.isEmpty else { continue }
        #expect(answer.first?["value"] != nil, "\(what)")
      }
      for what in ["state", "top", "bar"] {
        let answer = try run(
          daemon, ["get", "kiosk", "--what", what, "--at", "1"], ["-o", "json"])
        let value = answer.first?["value"]
        #expect((value?["id"] ?? value?["top"] ?? value?["rev"]) != nil, "\(what)")
      }
      for view in ["full", "bar", "top"] {
        try run(daemon, ["watch", "kiosk", "--view", view, "--count", "1"], options)
      }
      let unset = try daemon.navctl(["set", "proxy"])
      #expect(unset.status == 6 && unset.errors.contains("navctl set proxy KEY=VALUE"), "\(unset)")
      for words in [
        ["get", "--what", "stats"], ["status"], ["list"], ["list", "--clients"], ["verify"],
        ["log", "kiosk", "--from", "1", "--limit", "2"], ["history", "kiosk"],
        ["history", "kiosk", "--at", "1"], ["show", "kiosk"], ["set", "kiosk", "display"],
        ["set", "kiosk", "bar"], ["set", "kiosk", "toolbar"], ["set", "kiosk", "appearance"],
        ["set", "proxy", "barStyle=black"], ["set", "proxy"], ["set", "kiosk", "screen", "a"],
        ["set", "kiosk", "item", "a"], ["set", "kiosk", "appearance", "a"],
        ["set", "kiosk", "item", "a", "rightItems=b=B"], ["set", "kiosk", "button", "b"],
        ["set", "kiosk", "settings"], ["transition", "kiosk"], ["back", "kiosk", "--menu"],
        // A name of digits is a name.
        ["create", "5", "--root", "a"], ["log", "-n", "5"], ["history", "--nav", "5"],
      ] { try run(daemon, words, options) }
      #expect(try daemon.navctl(["set", "proxy", "NoSuch"]).output == "no member is set\n")
      #expect(try daemon.navctl(["back", "kiosk", "--menu"]).output == "home  Home\n")
      let mixed = try daemon.navctl(["back", "kiosk", "--menu", "--visible", "a"])
      #expect(mixed.status == 2 && mixed.errors.contains("--visible"), "\(mixed)")
      for (words, remedy) in [
        (["get", "kiosk", "--what", "log", "--at", "1"], "--at goes with"),
        (["get", "kiosk", "--what", "top", "--screen", "a"], "--screen goes with"),
        (["show", "$navs"], "navctl list"), (["show", "$clients"], "navctl list --clients"),
        (["set", "kiosk", "display", "foo=1"], "try: one of idiom, vCompact"),
        (["op", "kiosk", #"{"fly":{}}"#], "navctl op --help"),
      ] {
        let refused = try daemon.navctl(words)
        #expect(refused.status == 2, "\(words): \(refused.errors)")
        #expect(refused.errors.contains(remedy), "\(words): \(refused.errors)")
      }
    }
  }
}
