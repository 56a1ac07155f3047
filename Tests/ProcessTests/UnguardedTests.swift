#if DEBUG
  import Testing

  extension ProcessTests {
    /// A debug build passes on everything that peers send if `TRANSPORT_GUARD=off`.
    @Suite struct UnguardedTests {
      @Test(arguments: [false, true])
      func `without the guard a chosen routing id and an endless message reach the library`(
        isGuarded: Bool
      ) throws {
        let daemon = try TestDaemon(
          environment: isGuarded ? [:] : ["TRANSPORT_GUARD": "off"])
        let path = String(daemon.endpoint.dropFirst("ipc://".count))
        let chooser = try RawConnection(path)
        chooser.sendAll(RawWire.opening([("Identity", "name")]))
        #expect((chooser.receive(until: "ROUTER") == nil) == isGuarded)
        let endless = try RawConnection(path)
        try endless.greet()
        let part = RawWire.frame(Array(repeating: 7, count: 200), more: true)
        let wasSent = endless.sendAll((0..<20_000).flatMap { _ in part })
        #expect((!wasSent || endless.isEnded(within: 0.5)) == isGuarded)
        #expect(try Peer(daemon.endpoint).ask("ping", "\"a\":1").verb == "pong")
      }
    }
  }
#endif
