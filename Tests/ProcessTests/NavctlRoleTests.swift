import Foundation
import Testing

extension ProcessTests {
  /// Roles that navctl plays while it runs: delegate and holder of the display.
  @Suite struct NavctlRoleTests {
    /// A daemon with a nav whose questions have all the time a busy machine may need.
    private func daemon(veto: String = #"{"deadline":60000}"#) throws -> TestDaemon {
      let daemon = try TestDaemon()
      let settings = "{\"veto\":\(veto)}"
      #expect(
        try daemon.navctl(["create", "kiosk", "--root", "home", "--settings", settings]).status == 0
      )
      return daemon
    }

    /// Starts a delegate and waits until it is registered.
    private func delegate(
      _ daemon: TestDaemon, _ command: String, roles: String = "veto", _ options: [String] = []
    ) throws -> Child {
      let child = try daemon.startNavctl(
        ["delegate", "kiosk", "--roles", roles, "--exec", command, "--name", "gate"] + options)
      try child.says("kiosk  delegate  ")
      return child
    }

    @Test func `a delegate's command allows with 0 and refuses with 1`() throws {
      let daemon = try daemon()
      let gate = try delegate(daemon, #"test "$NAVD_SCREEN" != form"#)
      #expect(try daemon.navctl(["push", "kiosk", "wifi", "--new"]).status == 0)
      let refused = try daemon.navctl(["push", "kiosk", "form", "--new"])
      #expect(refused.status == 1, "\(refused.errors)")
      #expect(refused.errors.contains("vetoed: gate"), "\(refused.errors)")
      #expect(refused.errors.contains("form"), "\(refused.errors)")
      try gate.says("denied by gate")
      #expect(gate.standardOutput.contains("shouldPush  screen wifi"))
      #expect(try daemon.navctl(["pop", "kiosk", "--top", "wifi"]).status == 0)
      #expect(gate.standardOutput.contains("shouldPop  screen wifi  cause api"))
      gate.kill(SIGTERM)
      #expect(try gate.ended() == 0, "\(gate.transcript)")
      // Nobody is asked any more.
      #expect(try daemon.navctl(["push", "kiosk", "form", "--new"]).status == 0)
    }

    @Test(arguments: [("deny", Int32(4), "home"), ("allow", 0, "wifi")])
    func `a command that is too slow is killed and the policy decides`(
      policy: String, status: Int32, top: String
    ) throws {
      let daemon = try daemon(veto: #"{"deadline":300,"policy":"\#(policy)"}"#)
      let gate = try delegate(daemon, "exec sleep 600")
      let push = try daemon.navctl(["push", "kiosk", "wifi", "--new", "--timeout", "20s"])
      #expect(push.status == status, "\(push.errors)")
      #expect(push.errors.contains("delegate-timeout:") == (status == 4))
      try gate.says("timeout")
      let state = try Peer(daemon.endpoint).state("kiosk")["value"]
      #expect(state?["screens"]?.ids.last == top)
      gate.kill(SIGTERM)
      #expect(try gate.ended() == 0, "\(gate.transcript)")
      // Its stderr is the command's too, and has ended; so the command has.
      #expect(gate.standardOutput.contains("ask 1  shouldPush  screen wifi"))
    }

    @Test func `a delegate that is killed while it is asked is a timeout at once`() throws {
      let daemon = try daemon()
      let gate = try delegate(daemon, "echo asked $$ >&2; exec sleep 600")
      let push = try daemon.startNavctl(["push", "kiosk", "wifi", "--new", "--timeout", "50s"])
      try gate.complains("asked")
      gate.kill(SIGKILL)
      // The question has 60 s.
      #expect(try push.ended() == 4, "\(push.transcript)")
      #expect(push.standardError.contains("delegate-timeout:"), "\(push.transcript)")
      let words = gate.standardError.split(whereSeparator: \.isWhitespace)
      if let command = words.last.flatMap({ Int32($0) }) { Foundation.kill(command, SIGKILL) }
      #expect(try daemon.navctl(["push", "kiosk", "dns", "--new"]).status == 0)
    }

    @Test func `a command that ends otherwise is complained about and is no answer`() throws {
      let daemon = try daemon()
      let gate = try delegate(daemon, "exit 3")
      let push = try daemon.startNavctl(["push", "kiosk", "wifi", "--new", "--timeout", "50s"])
      try gate.complains("question 1: the command ended with status 3, not 0 or 1")
      #expect(push.isRunning)
      // Who leaves has not answered either.
      gate.kill(SIGTERM)
      #expect(try push.ended() == 4, "\(push.transcript)")
    }

    @Test func `an animator's answer is in the transition, and others see it`() throws {
      let daemon = try daemon()
      #expect(
        try daemon.navctl(["set", "kiosk", "settings", "questionDeadline=60000"]).status == 0)
      let gate = try delegate(
        daemon, #"echo '{"animator":"fade","duration":45000}'"#, roles: "animator",
        ["--count", "1"])
      #expect(try daemon.navctl(["push", "kiosk", "wifi", "--new", "--animated"]).status == 0)
      #expect(try gate.ended() == 0, "\(gate.transcript)")
      let shown = try daemon.navctl(["transition", "kiosk"])
      #expect(shown.output.contains("animator fade"), "\(shown.output)")
      #expect(shown.output.contains("lasts 45000 ms"), "\(shown.output)")
    }

    @Test func `orientations are held as long as the delegate runs`() throws {
      let daemon = try daemon()
      let watch = try daemon.startNavctl(["watch", "kiosk"])
      try watch.writes(lines: 1)
      let given = #"{"supported":["portrait"],"preferred":"portrait"}"#
      let child = try daemon.startNavctl(["delegate", "kiosk", "--orientations", given])
      try child.says("kiosk  delegate  orientation")
      try watch.writes(lines: 2)
      let environment = try daemon.navctl(["set", "kiosk", "display", "-o", "json"]).output
      #expect(
        try JSON(environment.utf8)["orientations"]?["preferred"] == .string("portrait"),
        "\(environment)")
      child.kill(SIGKILL)
      try watch.writes(lines: 3)
      #expect(try !daemon.navctl(["set", "kiosk", "display"]).output.contains("portrait"))
    }

    @Test func `who holds the display is alone to set it, and forced out with status 5`() throws {
      let daemon = try daemon()
      let holder = try daemon.startNavctl(["lease", "kiosk", "take", "--name", "holder"])
      try holder.says("display held by holder")
      #expect(try daemon.navctl(["show", "kiosk"]).output.contains("display holder"))
      for command in [["set", "kiosk", "display", "scale=3"], ["lease", "kiosk", "take"]] {
        let refused = try daemon.navctl(command)
        #expect(refused.status == 5, "\(command) \(refused.errors)")
        #expect(refused.errors.contains("lease-lost: "), "\(refused.errors)")
        #expect(refused.errors.contains("try: "), "\(refused.errors)")
      }
      let refused = try daemon.navctl(["lease", "kiosk", "release"])
      #expect(refused.status == 2, "\(refused.errors)")
      // A command's own output is all there is on stdout.
      let forced = try daemon.navctl(["lease", "kiosk", "take", "--force", "--", "echo", "mine"])
      #expect(forced.status == 0, "\(forced.errors)")
      #expect(forced.output == "mine\n")
      #expect(try holder.ended() == 5, "\(holder.transcript)")
      #expect(holder.standardError.contains("taken away"), "\(holder.transcript)")
      #expect(try daemon.navctl(["set", "kiosk", "display", "scale=3"]).status == 0)
    }

    @Test func `a lease ends with its command's status, and on a signal with 0`() throws {
      let daemon = try daemon()
      #expect(
        try daemon.navctl(["lease", "kiosk", "take", "--", "/bin/sh", "-c", "exit 9"]).status == 9)
      #expect(try daemon.navctl(["lease", "kiosk", "take", "--", "/nowhere"]).status == 127)
      #expect(try daemon.navctl(["lease", "kiosk", "take", "--", "/"]).status == 126)
      let holder = try daemon.startNavctl(["lease", "kiosk", "take", "-o", "json"])
      try holder.writes(lines: 1)
      holder.kill(SIGINT)
      #expect(try holder.ended() == 0, "\(holder.transcript)")
      #expect(try JSON(holder.standardOutput.utf8)["owner"] != nil)
      #expect(try daemon.navctl(["set", "kiosk", "display", "scale=3", "--lease"]).status == 0)
    }

    @Test func `the display of a client that dies is free long before its heartbeat`() throws {
      let daemon = try daemon()
      var holder: Peer? = try Peer(daemon.endpoint)
      try holder?.hello(name: "holder", heartbeat: 60_000)
      #expect(try holder?.ask("lease", #""nav":"kiosk","take":true"#).verb == "ok")
      let watch = try daemon.startNavctl(["watch", "kiosk", "--count", "2"])
      try watch.writes(lines: 1)
      // Without a bye.
      holder = nil
      #expect(try watch.ended() == 0, "\(watch.transcript)")
      #expect(watch.standardOutput.contains("lease"), "\(watch.transcript)")
    }
  }
}
