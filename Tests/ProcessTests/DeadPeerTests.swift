import Foundation
import Testing

extension ProcessTests {
  /// What others see when a process dies, stops, or is there twice.
  @Suite struct DeadPeerTests {
    /// A process of its own that does something on a nav, says so, and stays.
    private func stranger(_ daemon: TestDaemon, _ does: String) throws -> Child {
      let fixtures = URL(fileURLWithPath: ReferenceClientTests.script).deletingLastPathComponent()
      let script = """
        import signal, sys
        sys.path.insert(0, sys.argv[1])
        sys.dont_write_bytecode = True
        import nsp
        nav = nsp.Nav(sys.argv[2], "kiosk")
        nav.ready()
        \(does)
        print("ready", flush=True)
        while True:
            try: nav.step()
            except nsp.zmq.Again: pass
        """
      let child = try Child(
        ReferenceClientTests.python, ["-c", script, fixtures.path, daemon.endpoint])
      try child.says("ready")
      return child
    }

    /// A daemon whose nav has the screens home and a, and somebody in a session who watches it.
    private func stage(_ settings: String = "{}") throws -> (TestDaemon, Peer) {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      try peer.perform(
        "kiosk", #"[{"push":{"screen":{"id":"a"}}},{"nav.configure":\#(settings)}]"#)
      #expect(try peer.ask("watch", #""nav":"kiosk""#).verb == "ok")
      return (daemon, peer)
    }

    private func kinds(_ diff: JSON) -> [String] {
      (diff["ev"]?.array ?? []).flatMap { $0.members.keys.sorted() }
    }

    @Test(.enabled(if: ReferenceClientTests.isRunnable, "python3-zmq is not installed"))
    func `the gesture of a killed process is cancelled`() throws {
      let (daemon, peer) = try stage()
      let owner = try stranger(
        daemon, #"nav.op({"any": True}, {"gesture.begin": {"kind": "edge", "translation": 5}})"#)
      let begun = try peer.awaits("begin") { $0.verb == "diff" }.body
      #expect(kinds(begun) == ["willHide", "willShow", "transitionBegan"])
      owner.kill(SIGKILL)
      let ended = try peer.awaits("cancellation") { $0.verb == "diff" }.body
      #expect(kinds(ended) == ["transitionEnded"])
      #expect(ended["cause"]?.string == "cancel")
      #expect(ended["ch"]?.array.count == 1)
      #expect(try peer.state("kiosk")["value"]?["screens"]?.ids == ["home", "a"])
      try peer.perform("kiosk", #"[{"pop":{}}]"#, guards: #"{"top":"a"}"#)
      #expect(try daemon.stop() == 0)
    }

    @Test(
      .enabled(if: ReferenceClientTests.isRunnable, "python3-zmq is not installed"),
      arguments: [(SIGKILL, 60000), (SIGSTOP, 300)])
    func `a delegate that dies or stops is silent, and changes nothing`(
      signal: Int32, deadline: Int
    ) throws {
      let (daemon, peer) = try stage(#"{"veto":{"deadline":\#(deadline)}}"#)
      let judge = try stranger(
        daemon, #"nav.request("delegate", roles=["veto"]); nav.sock.poll(500)"#)
      // Whoever is registered is asked; before that there is nobody to ask.
      let before = try peer.state("kiosk")["value"]
      judge.kill(SIGSTOP)
      let body = #"{"id":900,"nav":"kiosk","if":{"top":"a"},"do":[{"pop":{}}]}"#
      try peer.send("op", body)
      // Connections have no order among each other: an answer behind the op says that it was taken.
      #expect(try peer.state("kiosk")["value"] == before)
      judge.kill(signal)
      let refusal = try peer.awaits("refusal") { $0.body["id"]?.integer == 900 }.body
      #expect(refusal["code"]?.string == "delegate-timeout", "\(refusal)")
      #expect(refusal["retry"]?.string == "same")
      #expect(try peer.state("kiosk")["value"] == before)
      judge.kill(SIGKILL)
      try judge.ended()
      // The same octets, now that nobody is asked any more.
      let end = Date(timeIntervalSinceNow: Child.patience)
      while true {
        try peer.send("op", body)
        let again = try peer.awaits("answer") { $0.body["id"]?.integer == 900 }
        if again.verb == "ok" || end < Date() {
          #expect(again.body["out"]?.array.first?["popped"]?.string == "a", "\(again.body)")
          break
        }
      }
      #expect(try daemon.stop() == 0)
    }

    @Test func `of two processes with one id the older one is put out`() throws {
      let (daemon, peer) = try stage()
      let copy = try Peer(daemon.endpoint)
      try copy.send("hello", #"{"ver":[1,1],"client":"\#(peer.client)","nonce":"copy"}"#)
      _ = try copy.awaits("welcome") { $0.verb == "welcome" }
      let bye = try peer.awaits("bye") { $0.verb == "bye" }
      #expect(bye.body["why"]?.string == "fenced")
      let late = try peer.ask(
        "op", #""nav":"kiosk","if":{"top":"a"},"do":[{"pop":{}}]"#)
      #expect(late.body["code"]?.string == "fenced")
      #expect(try copy.state("kiosk")["value"]?["screens"]?.ids == ["home", "a"])
      #expect(try daemon.stop() == 0)
    }

    @Test func `after kill -9 a session is gone, and its op runs once`() throws {
      let (daemon, peer) = try stage()
      let before = try peer.state("kiosk")["value"]
      let position = try #require(before?["dig"]?.string)
      let epoch = try #require(before?["epoch"]?.string)
      try daemon.kill()
      try daemon.start()
      let body = #"{"id":901,"nav":"kiosk","if":{"epoch":"\#(epoch)","top":"a"},"do":[{"pop":{}}]}"#
      try peer.send("op", body)
      let refusal = try peer.awaits("refusal") { $0.body["id"]?.integer == 901 }.body
      #expect(refusal["code"]?.string == "no-session")
      #expect(refusal["retry"]?.string == "same")
      try peer.hello()
      // The mirror goes on from where it was.
      let watch = try peer.ask(
        "watch", #""nav":"kiosk","from":{"epoch":"\#(epoch)","rev":2,"dig":"\#(position)"}"#)
      #expect(watch.body["mode"]?.string == "resume", "\(watch.body)")
      try peer.send("op", body)
      let answer = try peer.awaits("answer") { $0.body["id"]?.integer == 901 }.body
      #expect(answer["rev"]?.integer == 3)
      try daemon.kill()
      try daemon.start()
      try peer.hello()
      try peer.send("op", body)
      let again = try peer.awaits("answer") { $0.body["id"]?.integer == 901 }.body
      #expect(again == answer)
      #expect(try peer.state("kiosk")["rev"]?.integer == 3)
      #expect(try daemon.stop() == 0)
    }
  }
}
