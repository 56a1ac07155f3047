import Testing

@testable import NavigationCore
@testable import NavigationHub

/// `Sessions` against lists that are searched from the beginning.
@Suite struct SessionsTests {
  private struct Twin {
    var sessions: [SessionSlot: Session] = [:]
    var fenced: Set<ConnectionID> = []

    func slot(of connection: ConnectionID) -> SessionSlot? {
      sessions.first { $0.value.connection == connection }?.key
    }

    func slot(of client: ClientID) -> SessionSlot? {
      sessions.first { $0.value.client == client }?.key
    }

    func count(of principal: String) -> Int {
      sessions.values.count { $0.peer.principal == principal }
    }
  }

  private static func session(_ connection: UInt64, _ client: UInt64, user: UInt32) -> Session {
    var session = Session.vacant
    session.connection = ConnectionID(connection)
    session.client = ClientID(high: 0, low: client)
    session.peer = .local(user: user, group: 0, process: 1)
    return session
  }

  @Test(arguments: UInt64(1)...8)
  func `indexes and counts agree with the list of sessions`(seed: UInt64) {
    var sessions = Sessions()
    var twin = Twin()
    var limits = HubConfiguration()
    (limits.sessions, limits.sessionsPerPrincipal) = (6, 3)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      let new = Self.session(
        random.next() % 10, random.next() % 10, user: UInt32(random.next() % 3))
      let former = [twin.slot(of: new.connection), twin.slot(of: new.client)].compactMap { $0 }
      let hasRoom = sessions.hasRoom(
        for: new.client, of: new.peer.principal, on: new.connection, limits)
      #expect(
        hasRoom
          == (!former.isEmpty
            || twin.sessions.count < 6 && twin.count(of: new.peer.principal) < 3))
      switch random.next() % 4 {
      case 0, 1:
        guard hasRoom else { continue }
        for slot in Set(former) {
          let connection = twin.sessions[slot]?.connection
          sessions.remove(slot)
          twin.sessions[slot] = nil
          guard let connection, connection != new.connection else { continue }
          sessions.fence(connection)
          twin.fenced.insert(connection)
        }
        let slot = sessions.insert(new)
        #expect(twin.sessions.updateValue(new, forKey: slot) == nil)
        twin.fenced.remove(new.connection)
      case 2:
        guard let slot = twin.sessions.keys.sorted().first else { continue }
        sessions.remove(slot)
        twin.sessions[slot] = nil
      default:
        let slot = sessions.forget(new.connection)
        #expect(slot == twin.slot(of: new.connection))
        twin.fenced.remove(new.connection)
        if let slot {
          sessions.remove(slot)
          twin.sessions[slot] = nil
        }
      }
      #expect(sessions.count == twin.sessions.count)
      #expect(sessions.indices == twin.sessions.keys.sorted())
      for number in UInt64(0)..<10 {
        let connection = ConnectionID(number)
        let client = ClientID(high: 0, low: number)
        #expect(sessions.slot(of: connection) == twin.slot(of: connection))
        #expect(sessions.slot(of: client) == twin.slot(of: client))
        #expect(sessions.isFenced(connection) == twin.fenced.contains(connection))
      }
      for user in 0..<3 {
        #expect(sessions.count(of: "uid:\(user)") == twin.count(of: "uid:\(user)"))
      }
    }
  }

  @Test func `a reference does not outlive its session`() {
    var sessions = Sessions()
    let first = sessions.insert(Self.session(1, 1, user: 0))
    let ref = sessions.reference(to: first)
    #expect(sessions.isLive(ref))
    sessions.remove(first)
    #expect(!sessions.isLive(ref))
    #expect(sessions.insert(Self.session(1, 2, user: 0)) == first)
    #expect(sessions.isLive(first) && !sessions.isLive(ref))
  }

  @Test func `a connection has so many ops in each second`() {
    var sessions = Sessions()
    let connection = ConnectionID(3)
    func excess(_ time: UInt64, limit: Int = 2) -> UInt64? {
      sessions.delay(of: connection, over: limit, at: Instant(boot: time, wall: 0))
    }
    #expect([1000, 1001, 1250, 1999, 2000].map { excess($0) } == [nil, nil, 750, 1, nil])
    #expect(excess(2001, limit: 0) == nil)
    #expect(sessions.rates.count == 1)
    _ = sessions.forget(connection)
    #expect(sessions.rates.isEmpty)
  }

  @Test func `ops in flight end once, also when their session is gone`() {
    var sessions = Sessions()
    let (one, two) = (
      sessions.insert(Self.session(1, 1, user: 0)), sessions.insert(Self.session(2, 2, user: 0))
    )
    for slot in [one, one, two] { sessions.beginOp(of: slot) }
    sessions.remove(two)
    sessions.finishOps(
      of: [.inFlight(session: one), .malformed(session: one), .inFlight(session: two)])
    #expect(sessions[one].opsInFlight == 1)
    #expect(sessions.busiest(5).map { sessions[$0].answeredOps } == [1])
    for _ in 0..<2 { sessions.finishOp(of: one, answers: 0) }
    #expect(sessions[one].opsInFlight == 0)
    #expect(sessions[one].answeredOps == 1)
  }
}
