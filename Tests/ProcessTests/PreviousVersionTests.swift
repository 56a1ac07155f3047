import Foundation
import NavigationClient
import Testing

extension ProcessTests {
  /// Programs of the version before beside those of this one.
  @Suite(.enabled(if: Binaries.hasPrevious, "the version before is not built"))
  struct PreviousVersionTests {
    /// A day's work, in commands that both versions have; each succeeds.
    private static let work: [[String]] = [
      ["create", "kiosk", "--root", "home", "--title", "Home"],
      ["push", "kiosk", "wifi", "--title", "Wi-Fi", "--route", "settings/wifi"],
      ["push", "kiosk", "dns", "--new"], ["title", "kiosk", "home", "Start"],
      ["item", "kiosk", "dns", "--right", "done=Done"], ["show", "kiosk"],
      ["pop", "kiosk", "--top", "dns"], ["push", "kiosk", "dns"],
      ["back", "kiosk", "--top", "dns"],
      ["present", "kiosk", "pin", "--new"], ["dismiss", "kiosk", "--any"],
      ["set", "kiosk", "home", "dns", "--any"], ["revert", "kiosk", "2", "--any"],
      ["pop-to-root", "kiosk"], ["push", "kiosk", "dns", "--animated"],
      ["pop", "kiosk", "--top", "dns", "--queue"], ["push", "kiosk", "dns"],
      ["gesture", "kiosk", "begin", "cancel", "--top", "dns"], ["wait", "kiosk", "--top", "dns"],
      ["env", "kiosk", "scale=3"], ["bar", "kiosk", "hide"],
      ["bar", "kiosk", "show"], ["log", "kiosk"], ["list"], ["get", "kiosk", "--what", "state"],
      ["history", "kiosk"], ["verify", "kiosk"], ["verify"],
    ]

    /// Does the work with navctl of one version, while navctl of the same version follows the nav.
    private func work(_ daemon: TestDaemon, version: Binaries.Version) throws {
      let create = try daemon.navctl(Self.work[0], version: version)
      #expect(create.status == 0, "\(create)")
      let watch = try daemon.startNavctl(["watch", "kiosk", "-o", "json"], version: version)
      watch.closeInput()
      for words in Self.work.dropFirst() {
        let done = try daemon.navctl(words, version: version)
        #expect(done.status == 0, "\(words): \(done)")
      }
      // The one that followed has the last revision, by its own digest.
      let state = try Peer(daemon.endpoint).state("kiosk")
      let digest = try #require(state["value"]?["dig"]?.string)
      try watch.says(digest)
      watch.kill(SIGTERM)
      try watch.ended()
      // A client reports a mirror that differs, and navd logs the report.
      let log = try daemon.navctl(["log", "kiosk"], version: version)
      #expect(log.status == 0 && !log.output.contains("diverged"), "\(log)")
    }

    @Test func `navctl of the version before works with this daemon`() throws {
      let daemon = try TestDaemon()
      try work(daemon, version: .previous)
      #expect(try daemon.stop() == 0)
    }

    @Test func `navctl of this version works with the daemon before`() throws {
      let daemon = try TestDaemon(version: .previous)
      try work(daemon, version: .present)
      let menu = try daemon.navctl(["back", "kiosk", "--menu"])
      #expect(menu.status == 0 && menu.output == "no menu: this daemon has none\n", "\(menu)")
      // That daemon refuses by name the operations that it lacks.
      for words in [["remove", "kiosk", "dns"], ["back", "kiosk", "--to", "home"]] {
        let refused = try daemon.navctl(words)
        #expect(refused.status == 2 && refused.errors.contains("unsupported"), "\(refused)")
      }
      let file = daemon.directory.path + "/kiosk.navrec"
      let record = try daemon.navctl(["record", "kiosk", file])
      #expect(record.status == 2 && record.errors.contains("feature history"), "\(record)")
      #expect(!FileManager.default.fileExists(atPath: file))
      // It does not know the guard by what is visible; navctl tries again without it.
      let terminal = try Terminal(daemon)
      for command in [
        "present kiosk pin", "show kiosk", "dismiss kiosk --from dns", "present kiosk pin",
        "show kiosk", "dismiss kiosk", "show kiosk", "pop kiosk",
      ] {
        #expect(try terminal.run(command) == 0, "\(command): \(terminal.transcript)")
      }
      #expect(try daemon.stop() == 0)
    }

    @Test func `the library of this version works with both daemons, and knows which it has`()
      async throws
    {
      for version in [Binaries.Version.previous, .present] {
        let daemon = try TestDaemon(version: version)
        let client = try await NavigationClient.connect(endpoint: daemon.endpoint, name: "shell")
        #expect(client.features.contains(.backMenu) == (version == .present))
        #expect(client.features.isEmpty == (version == .previous))
        let home = ScreenDescription(id: "home", title: "Home")
        try await client.perform(
          [.create(root: home), .attach()], on: "kiosk", guardedBy: .unguarded)
        try await client.perform(
          [.push(.init(id: "a", title: "A"))], on: "kiosk", guardedBy: .unguarded)
        let state = try await client.state(of: "kiosk")
        guard case .back(let back)? = state.bar?.left.first else {
          Issue.record("no back button: \(String(describing: state.bar))")
          return
        }
        #expect(back.menu.map(\.screen) == (version == .present ? ["home"] : []))
        #expect(try await client.pop(from: state).popped == ["a"])
        do {
          try await client.perform([.remove(["a"])], on: "kiosk", guardedBy: .unguarded)
          Issue.record("removed a screen that is not on the stack")
        } catch {
          let code = version == .present ? "not-in-stack" : "unsupported"
          #expect((error as NavigationClientError).code.rawValue == code)
        }
        client.close()
        #expect(try daemon.stop() == 0)
      }
    }

    /// What an upgrade must leave as it was.
    private func standing(_ peer: Peer) throws -> [JSON?] {
      let value = try peer.state("kiosk")["value"]
      return ["epoch", "rev", "dig", "screens", "bar", "presented", "settings"].map { value?[$0] }
    }

    @Test(arguments: [false, true])
    func `a journal of the version before is replayed`(isOpen: Bool) throws {
      let daemon = try TestDaemon(version: .previous)
      var peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      for id in ["a", "b", "c"] {
        try peer.perform("kiosk", #"[{"push":{"screen":{"id":"\#(id)","title":"\#(id)"}}}]"#)
      }
      try peer.perform("kiosk", #"[{"pop":{}}]"#, guards: #"{"top":"c"}"#)
      // By the rules of before, these left the bar as it was.
      try peer.perform("kiosk", #"[{"screen.set":{"screen":"home","title":"Start"}}]"#)
      try peer.perform("kiosk", #"[{"env.set":{"backTitleBudget":4}}]"#)
      if isOpen {
        let open =
          #""nav":"kiosk","animated":true,"client":"\#(peer.client)","do":[{"push":{"screen":"c"}}]"#
        #expect(try peer.ask("op", open).verb == "ok")
      }
      let before = try standing(peer)
      let place = try peer.state("kiosk")["value"]
      try daemon.kill()
      daemon.version = .present
      try daemon.start()
      peer = try Peer(daemon.endpoint)
      try peer.hello()
      let after = try standing(peer)
      #expect(after[0] == before[0] && after[3] == before[3] && after[5] == before[5])
      // An open transition is ended at the start, as a revision of its own.
      #expect((after == before) == !isOpen)
      let log = try peer.log("kiosk")
      #expect(log.last?["cause"]?.string == (isOpen ? "recovery" : "api"))
      #expect(try peer.get(#""nav":"kiosk","what":"verify""#)["value"]?["ok"]?.bool == true)
      let left = try peer.state("kiosk")["value"]?["resolved"]?["left"]?.array
      let menu = left?.first?["back"]?["menu"]?.array.compactMap { $0["text"]?.string }
      #expect(menu == (isOpen ? ["b", "a", "Back"] : ["a", "Back"]))
      // A mirror of before resumes if nothing has changed; then its bar has no menu until it changes.
      let position =
        #"{"epoch":"\#(place?["epoch"]?.string ?? "")","rev":\#(place?["rev"]?.integer ?? 0),"#
        + #""dig":"\#(place?["dig"]?.string ?? "")"}"#
      let answer = try peer.ask("watch", #""nav":"kiosk","from":\#(position)"#)
      #expect(answer.verb == "ok" && answer.body["rev"] == after[1], "\(answer.body)")
      try peer.perform("kiosk", #"[{"ui.backMenu":{"screen":"home"}}]"#)
      #expect(try peer.state("kiosk")["value"]?["screens"]?.array.count == 1)
      #expect(try daemon.stop() == 0)
    }
  }
}
