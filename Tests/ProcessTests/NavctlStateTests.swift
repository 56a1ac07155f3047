import Foundation
import Testing

extension ProcessTests {
  /// What navctl makes of the state: gestures, transitions, presentations, saved and old stacks.
  @Suite struct NavctlStateTests {
    /// Runs a command that must succeed.
    @discardableResult private func run(_ daemon: TestDaemon, _ words: [String]) throws -> String {
      let result = try daemon.navctl(words)
      #expect(result.status == 0, "\(words): \(result.output)\(result.errors)")
      return result.output
    }

    /// A daemon with a nav of some screens whose transitions never end by themselves here.
    private func daemon(_ screens: [String] = []) throws -> TestDaemon {
      let daemon = try TestDaemon()
      let settings = #"{"transitionDeadline":60000,"gestureDeadline":60000}"#
      try run(
        daemon, ["create", "kiosk", "--root", "home", "--title", "Home", "--settings", settings])
      for screen in screens { try run(daemon, ["push", "kiosk", screen, "--new"]) }
      return daemon
    }

    private func stack(_ daemon: TestDaemon) throws -> [String] {
      try Peer(daemon.endpoint).state("kiosk")["value"]?["screens"]?.ids ?? []
    }

    @Test func `a gesture that finishes pops, one that is cancelled does not`() throws {
      let daemon = try daemon(["wifi", "dns"])
      try run(daemon, ["gesture", "kiosk", "begin", "0.4", "update", "0.8", "finish", "--any"])
      #expect(try stack(daemon) == ["home", "wifi"])
      try run(daemon, ["gesture", "kiosk", "begin", "0.4", "cancel", "--top", "wifi"])
      #expect(try stack(daemon) == ["home", "wifi"])
    }

    @Test func `steps of a gesture come from stdin, and it is its session's alone`() throws {
      let daemon = try daemon(["wifi"])
      let watch = try daemon.startNavctl(["watch", "kiosk"])
      try watch.writes(lines: 1)
      let gesture = try daemon.startNavctl(["gesture", "kiosk", "begin", "--top", "wifi"])
      try gesture.says("transition ")
      let shown = try run(daemon, ["show", "kiosk"])
      #expect(shown.contains("⇄ pop wifi → home"), "\(shown)")
      #expect(shown.contains("interactive"), "\(shown)")
      for step in ["finish", "cancel", "0.5"] {
        let other = try daemon.navctl(["gesture", "kiosk", step])
        #expect(other.status == 5, "\(other.errors)")
        #expect(other.errors.contains("gesture-owner: "), "\(other.errors)")
      }
      try gesture.tell("update 0.3")
      try gesture.writes(lines: 2)
      try gesture.tell("finish")
      #expect(try gesture.ended() == 0, "\(gesture.transcript)")
      #expect(try stack(daemon) == ["home"])

      try run(daemon, ["push", "kiosk", "dns", "--new"])
      let left = try daemon.startNavctl(["gesture", "kiosk", "begin", "--top", "dns"])
      try left.says("transition ")
      left.closeInput()
      #expect(try left.ended() == 0, "\(left.transcript)")
      #expect(left.standardError.contains("the gesture is cancelled"), "\(left.transcript)")
      try watch.says("cancel", after: "push dns")
      #expect(try stack(daemon) == ["home", "dns"])
    }

    @Test func `while a transition runs others are told to wait, or queue behind it`() throws {
      let daemon = try daemon()
      let pushed = try run(
        daemon, ["push", "kiosk", "wifi", "--title", "Wi-Fi", "--animated", "-o", "json"])
      let number = try #require(try JSON(pushed.utf8)["rev"]?.integer)
      let shown = try run(daemon, ["show", "kiosk"])
      #expect(shown.contains("⇄ push home → wifi  animating  transition \(number)"), "\(shown)")
      let refused = try daemon.navctl(["push", "kiosk", "dns", "--new"])
      #expect(refused.status == 4)
      #expect(refused.errors.contains("transition-in-progress: "), "\(refused.errors)")
      #expect(refused.errors.contains("--on-busy queue"), "\(refused.errors)")
      let late = try daemon.navctl([
        "push", "kiosk", "late", "--new", "--queue", "--timeout", "2s",
      ])
      #expect(late.status == 4, "\(late.errors)")
      let queued = try daemon.startNavctl(
        ["push", "kiosk", "dns", "--new", "--on-busy", "queue", "--timeout", "60s"])
      try queued.complains("waiting for an open transition, position ")
      let wrong = try daemon.navctl(["transition", "kiosk", "complete", "999"])
      #expect(wrong.status == 2, "\(wrong.errors)")
      #expect(wrong.errors.contains("navctl transition --help"), "\(wrong.errors)")
      try run(daemon, ["transition", "kiosk", "complete", "\(number)"])
      #expect(try queued.ended() == 0, "\(queued.transcript)")
      // What was given up is never done.
      #expect(try stack(daemon) == ["home", "wifi", "dns"])
      #expect(try run(daemon, ["transition", "kiosk"]).contains("no transition is running"))
    }

    @Test func `a dismissal by a presenter takes nothing that came since the last look`() throws {
      let daemon = try daemon(["wifi"])
      let peer = try Peer(daemon.endpoint)
      func present(_ id: String) throws {
        try peer.perform("kiosk", #"[{"present":{"screen":{"id":"\#(id)"}}}]"#)
      }
      let terminal = try Terminal(daemon)
      try present("pin")
      #expect(try terminal.run("show kiosk") == 0)
      // A change of its own does not make the terminal forget what it showed.
      #expect(try terminal.run("set kiosk screen wifi title=Wi-Fi") == 0)
      try present("alarm")
      #expect(try terminal.run("dismiss kiosk --from wifi") == 3, "\(terminal.transcript)")
      #expect(terminal.transcript.contains("visible"), "\(terminal.transcript)")
      #expect(try run(daemon, ["show", "kiosk"]).contains("◆ alarm"))
      #expect(try terminal.run("show kiosk") == 0)
      #expect(try terminal.run("dismiss kiosk --from wifi") == 0, "\(terminal.transcript)")
      #expect(try !run(daemon, ["show", "kiosk"]).contains("◆"))
    }

    @Test func `presentations lie above the stack and are dismissed by what presents them`() throws
    {
      let daemon = try daemon(["wifi"])
      try run(daemon, ["present", "kiosk", "pin", "--title", "密码", "--style", "formSheet"])
      try run(daemon, ["present", "kiosk", "help", "--new"])
      let lines = try run(daemon, ["show", "kiosk"]).split(separator: "\n").map(String.init)
      #expect(
        lines.filter { $0.hasPrefix("◆") || $0.hasPrefix("▶") }.map { $0.prefix(6) }
          == ["◆ help", "◆ pin ", "▶ wifi"], "\(lines)")
      let again = try daemon.navctl(["present", "kiosk", "third", "--new", "--from", "pin"])
      #expect(again.status == 1)
      #expect(again.errors.contains("already-presenting: "), "\(again.errors)")
      #expect(
        try run(daemon, ["dismiss", "kiosk", "--from", "pin"]).contains("dismissed help"))
      #expect(try run(daemon, ["dismiss", "kiosk", "--any"]).contains("dismissed pin"))
      try run(daemon, ["segue", "kiosk", "a", "--title", "A"])
      try run(daemon, ["segue", "kiosk", "b", "--new", "--detail"])
      #expect(try stack(daemon) == ["home", "wifi", "a"])
      #expect(try run(daemon, ["show", "kiosk"]).contains("◆ b"))
    }

    @Test func `what save wrote is what restore brings back, and nothing is not saved`() throws {
      let daemon = try daemon()
      let file = daemon.directory.path + "/saved.json"
      let nothing = try daemon.navctl(["save", "kiosk", file])
      #expect(nothing.status == 1)
      #expect(nothing.errors.contains("try: navctl set kiosk settings"), "\(nothing.errors)")
      #expect(!FileManager.default.fileExists(atPath: file))
      try run(daemon, ["set", "kiosk", "settings", "restorationID=kiosk"])
      try run(daemon, ["set", "kiosk", "screen", "home", "restorationID=home"])
      try run(
        daemon,
        ["push", "kiosk", "wifi", "--title", "无线", "--route", "w", "--restoration-id", "wifi"])
      try run(daemon, ["push", "kiosk", "volatile", "--new"])
      try run(daemon, ["save", "kiosk", file])
      let text = try run(daemon, ["save", "kiosk"])
      #expect(text == (try String(contentsOfFile: file, encoding: .utf8)))
      try run(daemon, ["close", "kiosk", "--any"])
      try run(daemon, ["create", "kiosk", "--root", "other", "--title", "Other"])
      try run(daemon, ["set", "kiosk", "settings", "restorationID=kiosk"])
      try run(daemon, ["restore", "kiosk", file, "--any"])
      let screens = try Peer(daemon.endpoint).state("kiosk")["value"]?["screens"]
      #expect(screens?.ids == ["home", "wifi"])
      #expect(screens?.array.last?["title"]?.string == "无线")
      #expect(screens?.array.last?["route"]?.string == "w")
      for (payload, status) in [("{\"v\":99}", Int32(1)), ("[]", 2), ("{", 2)] {
        let bad = try daemon.directory.write("bad.json", payload)
        let refused = try daemon.navctl(["restore", "kiosk", bad, "--any"])
        #expect(refused.status == status, "\(payload): \(refused.errors)")
      }
      #expect(try stack(daemon) == ["home", "wifi"])
    }

    @Test func `history tells what to revert to`() throws {
      let daemon = try daemon(["wifi", "dns"])
      try run(daemon, ["pop-to-root", "kiosk"])
      let history = try run(daemon, ["history", "kiosk"]).split(separator: "\n")
      #expect(history.count >= 4, "\(history)")
      #expect(try run(daemon, ["history", "kiosk", "--at", "3"]).contains("▶ dns"))
      try run(daemon, ["revert", "kiosk", "3", "--any"])
      #expect(try stack(daemon) == ["home", "wifi", "dns"])
      try run(daemon, ["revert", "kiosk", "1", "--rev", "5"])
      #expect(try stack(daemon) == ["home"])
      let never = try daemon.navctl(["revert", "kiosk", "999", "--any"])
      #expect(never.status == 6)
      #expect(never.errors.contains("compacted: "), "\(never.errors)")
      #expect(never.errors.contains("navctl history kiosk"), "\(never.errors)")
    }

    @Test func `a route opens its screens, and those that agree stay`() throws {
      let daemon = try daemon()
      let routes =
        #"[{"match":"s/:page","screens":["home",{"route":"s"},{"route":"s/{page}","title":"P"}]}]"#
      try run(daemon, ["set", "kiosk", "settings", "routes=\(routes)"])
      let opened = try run(daemon, ["open", "kiosk", "s/net", "--any"])
      #expect(opened.contains("depth 3"), "\(opened)")
      let first = try stack(daemon)
      try run(daemon, ["open", "kiosk", "s/audio", "--any"])
      #expect(try stack(daemon).dropLast() == first.dropLast())
      #expect(try run(daemon, ["show", "kiosk"]).contains("s/audio"))
      let unknown = try daemon.navctl(["open", "kiosk", "nowhere", "--any"])
      #expect(unknown.status == 6)
      #expect(unknown.errors.contains("navctl set kiosk settings"), "\(unknown.errors)")
    }

    @Test func `show draws what bars, toolbar and environment are set to`() throws {
      let daemon = try daemon(["wifi"])
      let item = [
        "title=无线局域网", "prompt=请选择网络", "leftItems=edit=编辑", "rightItems=scan=扫描,more=More",
        "leftItemsSupplementBackButton=true", "largeTitleDisplayMode=always",
      ]
      try run(daemon, ["set", "kiosk", "item", "wifi"] + item)
      try run(daemon, ["set", "kiosk", "bar", "prefersLargeTitles=true", "barTintColor=red"])
      try run(daemon, ["set", "kiosk", "toolbar", "hidden=false"])
      let buttons =
        #"[{"id":"a","title":"左"},{"id":"s","systemItem":"flexibleSpace"},"#
        + #"{"id":"b","title":"R"}]"#
      try run(daemon, ["set", "kiosk", "screen", "wifi", "toolbarItems=\(buttons)"])
      try run(daemon, ["set", "kiosk", "appearance", #"scrollEdge={"background":"clear"}"#])
      #expect(
        try run(daemon, ["set", "kiosk", "appearance"]).contains("scrollEdge.background  clear"))
      try run(daemon, ["set", "kiosk", "display", "locale=zh-Hans", "statusBar=44"])
      #expect(try run(daemon, ["set", "kiosk", "display"]).contains("zh-Hans"))
      #expect(try run(daemon, ["set", "kiosk", "bar"]).contains("barTintColor"))
      let lines = try run(daemon, ["show", "kiosk"]).split(separator: "\n").map(String.init)
      #expect(lines[0].trimmingCharacters(in: .whitespaces) == "请选择网络")
      #expect(lines[1].hasPrefix("‹ Home  [编辑]  "), "\(lines)")
      #expect(lines[1].hasSuffix("  [More]  [扫描]"), "\(lines)")
      #expect(lines[2] == "无线局域网")
      #expect(lines.contains { $0.hasPrefix("[左] ") && $0.hasSuffix(" [R]") }, "\(lines)")
      try run(daemon, ["set", "kiosk", "bar", "hidden=true"])
      try run(daemon, ["set", "kiosk", "toolbar", "hidden=true"])
      let hidden = try run(daemon, ["show", "kiosk"])
      #expect(hidden.contains("(the bar is hidden)") && !hidden.contains("[左]"), "\(hidden)")
      let narrow = try daemon.navctl(["show", "kiosk"], environment: ["COLUMNS": "40"]).output
      #expect(narrow.split(separator: "\n").contains(Substring(String(repeating: "─", count: 40))))
    }
  }
}
