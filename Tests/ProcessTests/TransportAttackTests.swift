import ZeroMQ
import Foundation
import Testing

extension ProcessTests {
  /// What strangers and peers do to the transport; others go on being served.
  @Suite struct TransportAttackTests {
    private func path(_ daemon: TestDaemon) -> String {
      String(daemon.endpoint.dropFirst("ipc://".count))
    }

    @Test func `an unknown key, another server's key and no key get no answer`() throws {
      let known = try CurveKeyPair.generate()
      let site = try NetworkDaemon(authorized: ["known": (known, "admin")])
      let bystander = try Bystander(site.daemon)
      try bystander.watches("unknown keys") {
        for _ in 0..<20 {
          let stranger = try site.peer(CurveKeyPair.generate())
          let wrong = try Peer(
            site.endpoint, as: known, server: CurveKeyPair.generate().publicKey)
          let plain = try Peer(site.endpoint)
          for peer in [stranger, wrong, plain] {
            #expect(try !peer.isAdmitted())
          }
        }
        #expect(try site.peer(known).ask("ping", "\"a\":1").verb == "pong")
      }
      try site.daemon.child.complains("its key is not authorised")
    }

    /// What a stranger sends over a network, none of it CURVE.
    static let greetings: [(String, [UInt8])] = [
      ("NULL", RawWire.opening() + RawWire.message("ping", "{\"id\":1}")),
      (
        "PLAIN",
        RawWire.greeting("PLAIN") + RawWire.command("HELLO", [4] + Array("root".utf8) + [0])
          + RawWire.message("ping", "{\"id\":1}")
      ),
      ("version 1", [1, 0] + RawWire.message("ping", "{\"id\":1}")),
      (
        "version 2",
        [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 1, 5, 0, 0] + RawWire.message("ping", "{\"id\":1}")
      ),
      ("HTTP", Array("GET /metrics HTTP/1.1\r\nHost: navd\r\n\r\n".utf8)),
      (
        "CURVE, then noise",
        RawWire.greeting("CURVE") + RawWire.command("HELLO", Array(repeating: 7, count: 194))
      ),
      (
        "CURVE as a server",
        RawWire.greeting("CURVE").prefix(32) + [1] + Array(repeating: 0, count: 31)
      ),
    ]

    @Test func `what is not CURVE on a network is cut off without an answer`() throws {
      let site = try NetworkDaemon()
      let bystander = try Bystander(site.daemon)
      try bystander.watches("other mechanisms on tcp") {
        var open: [(String, RawConnection)] = []
        for (name, bytes) in Self.greetings {
          for _ in 0..<10 {
            let stranger = try RawConnection(port: site.port)
            stranger.sendAll(bytes)
            open.append((name, stranger))
          }
        }
        for (name, stranger) in open {
          let answer = stranger.receiveToEnd()
          #expect(answer != nil, "\(name) is not cut off")
          let text = String(decoding: answer ?? [], as: UTF8.self)
          #expect(!text.contains("nsp1.") && !text.contains("pong"), "\(name)")
        }
      }
    }

    @Test func `thousands of half-open handshakes are given up, and others are served meanwhile`()
      throws
    {
      let site = try NetworkDaemon()
      let bystander = try Bystander(site.daemon)
      let (_, peak, before) = try bystander.watches("half-open handshakes") {
        var open: [RawConnection] = []
        let parts: [[UInt8]] = [
          [], [0xFF], Array(RawWire.greeting("NULL").prefix(20)), RawWire.greeting("NULL"),
          RawWire.greeting("CURVE"),
        ]
        for round in 0..<1000 {
          let stranger =
            try round % 2 == 0
            ? RawConnection(path(site.daemon)) : RawConnection(port: site.port)
          stranger.send(parts[round / 2 % parts.count])
          open.append(stranger)
        }
        for (index, stranger) in open.enumerated() {
          #expect(stranger.receiveToEnd() != nil, "\(index) is still open")
        }
        #expect(try Peer(site.daemon.endpoint).ask("ping", "\"a\":1").verb == "pong")
      }
      #expect(peak.descriptors < before.descriptors + 1200)
      #expect(
        try eventually { Vitals(of: site.daemon.child.pid).descriptors < before.descriptors + 20 })
    }

    @Test func `more connections than descriptors harm nobody who is connected`() throws {
      let known = try CurveKeyPair.generate()
      let site = try NetworkDaemon(authorized: ["known": (known, "ui")], descriptors: 256)
      let bystander = try Bystander(site.daemon)
      let far = try site.peer(known)
      try far.hello()
      try bystander.watches("more connections than descriptors") {
        var open: [RawConnection] = []
        for _ in 0..<1000 {
          open.append(try RawConnection(path(site.daemon)))
          open.append(try RawConnection(port: site.port))
        }
        #expect(try far.ask("ping", "\"a\":1").verb == "pong")
        #expect(Vitals(of: site.daemon.child.pid).descriptors <= 256)
        open.removeAll()
        #expect(try Peer(site.daemon.endpoint).ask("ping", "\"a\":1").verb == "pong")
        #expect(try site.peer(known).ask("ping", "\"a\":1").verb == "pong")
      }
    }

    /// Peers that ask for routing ids, over ipc or with a key; the arguments are the endpoint, the
    /// server's key, the client's public and its secret one, empty over ipc.
    private static let chooser = """
      import sys, zmq, struct
      c = zmq.Context(); c.set(zmq.MAX_SOCKETS, 2000); held = []
      def peer():
          s = c.socket(zmq.DEALER); s.linger = 0
          if sys.argv[2]:
              s.curve_serverkey, s.curve_publickey, s.curve_secretkey = \
                  [text.encode() for text in sys.argv[2:5]]
          return s
      # Around what a library without a seed gives out, and those that two would have.
      ids = [b'\\0' + struct.pack('>I', n) for n in range(0x6B8B4567 - 20, 0x6B8B4567 + 40)]
      for name in ids + [b'name', b'name', b'other']:
          s = peer(); s.setsockopt(zmq.IDENTITY, name); s.connect(sys.argv[1]); held.append(s)
          # Who is cut off already has nobody to send to.
          try: s.send_multipart([b'nsp1.ping', b'{"id":1}'], zmq.DONTWAIT)
          except zmq.Again: pass
      for n in range(100):
          s = peer(); s.RCVTIMEO = 10000; s.connect(sys.argv[1])
          s.send_multipart([b'nsp1.ping', b'{"id":1}']); assert s.recv_multipart()[0] == b'nsp1.pong'
          s.close()
      for s in held:
          assert not s.poll(0), s.recv_multipart()
      print('served')
      """

    @Test(.enabled(if: ReferenceClientTests.isRunnable, "python3-zmq is not installed"))
    func `guessed routing ids do not stop the daemon`() throws {
      let known = try CurveKeyPair.generate()
      for who in ["uid:\(getuid())", "a peer"] {
        // A daemon each: it says the same only so often.
        let site = try NetworkDaemon(authorized: ["known": (known, "ui")])
        let bystander = try Bystander(site.daemon)
        let file = try site.daemon.directory.write("ids.py", Self.chooser)
        let arguments =
          who == "a peer"
          ? [site.endpoint, "\(site.server)", "\(known.publicKey)", known.secretKey.z85]
          : [site.daemon.endpoint, ""]
        try bystander.watches("guessed routing ids, by \(who)") {
          let child = try Child(ReferenceClientTests.python, [file] + arguments)
          #expect(try child.ended() == 0, "\(child.transcript)")
          #expect(child.standardOutput == "served\n")
        }
        try site.daemon.child.complains("\(who) is disconnected: it chose its own routing id")
      }
    }

    @Test func `routing ids in any handshake are turned away before the library has them`() throws {
      let daemon = try TestDaemon()
      let bystander = try Bystander(daemon)
      let place = path(daemon)
      try bystander.watches("routing ids in handshakes of any form") {
        for round in 0..<200 {
          let id = String(decoding: [UInt8(round % 2), UInt8(round % 100), 1], as: UTF8.self)
          var opening = RawWire.opening([("Identity", id)])
          // libzmq takes a handshake that does not say that it is a command, too.
          opening[64] = [4, 0, 1, 5][round % 4]
          let piece = round % 40 + 1
          let peer = try RawConnection(place)
          for start in stride(from: 0, to: opening.count, by: piece) {
            peer.send(Array(opening[start..<min(start + piece, opening.count)]))
          }
          #expect(peer.receiveToEnd() != nil, "round \(round) is let in")
        }
      }
    }

    @Test func `what connections leave behind is not held against those who come next`() throws {
      let daemon = try TestDaemon()
      let bystander = try Bystander(daemon)
      let place = path(daemon)
      let whole = (0..<4090).flatMap { _ in RawWire.frame([]) }
      try bystander.watches("connections that leave messages behind") {
        for round in 0..<60 {
          let peer = try RawConnection(place)
          peer.sendAll(
            round % 2 == 0 ? RawWire.greeting("NULL") + whole : RawWire.opening() + whole)
        }
        for _ in 0..<20 {
          #expect(try Peer(daemon.endpoint).ask("ping", "\"a\":1").verb == "pong")
        }
      }
    }

    @Test func `the name that a peer gives itself in the handshake is not believed`() throws {
      let daemon = try TestDaemon()
      let peer = try RawConnection(path(daemon))
      try peer.greet([
        ("Peer-Address", "localhost:4242:4242:1"), ("User-Id", "uid:4242"), ("__fd", "0"),
      ])
      peer.sendAll(
        RawWire.message(
          "hello",
          #"{"ver":[1,1],"client":"0123456789abcdef0123456789abcdef","nonce":"n"}"#))
      let answer = String(decoding: peer.receive(until: "\"role\"") ?? [], as: UTF8.self)
      #expect(answer.contains("\"uid\":\(getuid()),"), "\(answer)")
    }

    @Test func `a peer that comes and goes thousands of times fills no queue`() throws {
      let daemon = try TestDaemon()
      let bystander = try Bystander(daemon)
      let place = path(daemon)
      let (_, _, before) = try bystander.watches("5,000 reconnections") {
        for _ in 0..<5000 { _ = try RawConnection(place) }
      }
      #expect(try eventually { Vitals(of: daemon.child.pid).descriptors < before.descriptors + 20 })
      #expect(try Peer(daemon.endpoint).ask("ping", "\"a\":1").verb == "pong")
    }

    @Test func `connections that say nothing count for their user`() throws {
      let daemon = try TestDaemon(
        configuration: "[limits]\nconnections-per-principal = 20\n")
      let bystander = try Bystander(daemon)
      try bystander.watches("silent connections") {
        let silent = try (0..<40).map { _ in
          let connection = try RawConnection(path(daemon))
          connection.sendAll(RawWire.opening())
          return connection
        }
        let admitted = silent.count { $0.receive(until: "ROUTER") != nil }
        // The bystander has one of the 20.
        #expect(admitted == 19)
        #expect(try !Peer(daemon.endpoint).isAdmitted())
        withExtendedLifetime(silent) {}
      }
      #expect(try eventually { try Peer(daemon.endpoint).isAdmitted() })
    }

    @Test func `a recorded session is of no use to who sends it again`() throws {
      let known = try CurveKeyPair.generate()
      let site = try NetworkDaemon(authorized: ["known": (known, "ui")])
      let proxy = try RecordingProxy(to: site.port)
      let bystander = try Bystander(site.daemon)
      let peer = try Peer("tcp://127.0.0.1:\(proxy.port)", as: known, server: site.server)
      try peer.hello()
      try peer.create("kiosk")
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"a"}}}]"#, guards: #"{"any":true}"#)
      let before = try peer.state("kiosk")["value"]
      let parts = proxy.recorded
      #expect(parts.count > 5)
      // Has proved its key and says nothing.
      let silent = try site.peer(known)
      #expect(try silent.isAdmitted())
      try bystander.watches("replayed session") {
        // At once, and step by step as the daemon answers.
        for isPatient in [false, true] {
          let again = try RawConnection(port: site.port)
          var answer: [UInt8] = []
          for part in parts where again.sendAll(part) && isPatient {
            answer += again.receive(within: 0.1)
          }
          answer += try #require(again.receiveToEnd(), "it is not cut off")
          // A greeting and a WELCOME, to which only the old keys know the answer.
          #expect(answer.count < 400, "\(answer.count)")
          #expect(!isPatient || answer.count > 64)
        }
        // The old connection is alive, and takes no frame twice.
        #expect(try peer.state("kiosk")["value"] == before)
        proxy.inject(try #require(RawWire.lastFrame(of: parts.flatMap { $0 })))
        #expect(try site.peer(known).state("kiosk")["value"] == before)
      }
      #expect(try site.peer(known).log("kiosk").count == 2)
      try site.daemon.child.complains("no message came in 10 s")
    }
  }
}
