import NavigationCore
import NavigationHub
import Testing

@testable import TransportGuard

@Suite struct ConnectionsTests {
  private let roomy = GuardedRouter.Limits(connections: 1000, ofPrincipal: 1000)

  private func local(_ user: UInt32, process: Int32 = 1) -> Peer {
    .local(user: user, group: 0, process: process)
  }

  /// Accepts a connection, whose cookie is a thousand more than its descriptor unless said.
  @discardableResult
  private func accept(
    _ connections: inout Connections, _ descriptor: Int32, _ peer: Peer, cookie: UInt64? = nil,
    admissions: UInt64 = 0, at now: UInt64 = 0
  ) -> Int {
    connections.noteAccepted(
      Acceptance(
        descriptor: descriptor, cookie: cookie ?? UInt64(descriptor) + 1000,
        origin: Connection.Origin(peer), admissionsBefore: admissions), at: now)
  }

  @Test func `connections that wait for admission are not counted as admitted`() {
    var connections = Connections()
    for descriptor in 10..<20 as Range<Int32> { accept(&connections, descriptor, local(5)) }
    let limits = GuardedRouter.Limits(connections: 2, ofPrincipal: 2)
    #expect(connections.admit(local(5), as: 1, limits) == .admitted)
    #expect(connections.admit(local(5), as: 2, limits) == .admitted)
    #expect(connections.openCount == 10)
    #expect(connections.principals.map(\.connections) == [2])
    #expect(connections.admit(local(5), as: 3, limits) == .tooMany(ofPrincipal: false))
  }

  @Test func `connections that are refused take no place when they go`() {
    var connections = Connections()
    for descriptor in 10..<20 as Range<Int32> { accept(&connections, descriptor, local(5)) }
    let limits = GuardedRouter.Limits(connections: 100, ofPrincipal: 4)
    let verdicts = (1...10).map { connections.admit(local(5), as: $0, limits) }
    #expect(verdicts.count { $0 == .admitted } == 4)
    // Which ones were refused is not known, and it was none of the last four.
    for descriptor in 10..<16 as Range<Int32> {
      connections.noteClosed(descriptor, cookie: UInt64(descriptor) + 1000, at: 0)
    }
    #expect(connections.principals.map(\.connections) == [4])
    accept(&connections, 30, local(5))
    #expect(connections.admit(local(5), as: 11, limits) == .tooMany(ofPrincipal: true))
  }

  @Test func `a connection that has ended is not admitted, and takes no place`() {
    var connections = Connections()
    accept(&connections, 3, local(5))
    connections.noteClosed(3, cookie: 1003, at: 0)
    #expect(connections.admit(local(5), as: 1, roomy) == .ended)
    accept(&connections, 3, local(5), cookie: 7)
    #expect(connections.admit(local(5), as: 2, roomy) == .admitted)
    #expect(connections.admit(local(6), as: 3, roomy) == .ended)
    #expect(
      connections.noteFirstMessage(
        ConnectionID(9), [], from: local(5), key: nil, admission: 2, descriptor: 3) != nil)
    #expect(connections.admit(local(5), as: 4, roomy) == .ended)
  }

  @Test func `each limit counts its own connections`() {
    var connections = Connections()
    let key = Peer.key(name: "panel", address: "192.0.2.1")
    let limits = GuardedRouter.Limits(connections: 3, ofPrincipal: 2)
    for (number, user) in [5, 5, 5, 6, 7].enumerated() {
      accept(&connections, Int32(number), local(UInt32(user)))
    }
    for descriptor in 10..<13 as Range<Int32> { accept(&connections, descriptor, key) }
    var number: UInt64 = 0
    func admit(_ peer: Peer) -> Connections.Verdict {
      number += 1
      return connections.admit(peer, as: number, limits)
    }
    #expect(admit(local(5)) == .admitted)
    #expect(admit(local(5)) == .admitted)
    #expect(admit(local(5)) == .tooMany(ofPrincipal: true))
    #expect(admit(local(6)) == .admitted)
    #expect(admit(local(7)) == .tooMany(ofPrincipal: false))
    // A network has a limit of its own, so that it cannot take the places of this machine.
    #expect(admit(key) == .admitted)
    #expect(admit(key) == .admitted)
    #expect(admit(key) == .tooMany(ofPrincipal: true))
    #expect(connections.principals.map(\.name) == ["panel", "uid:5", "uid:6"])
    #expect(connections.principals.map(\.connections) == [2, 2, 1])
  }

  @Test func `a silent connection has a principal if no other can be meant`() {
    var connections = Connections()
    let panel = Peer.key(name: "panel", address: "192.0.2.1")
    let kiosk = Peer.key(name: "kiosk", address: "192.0.2.2")
    accept(&connections, 10, panel)
    #expect(connections.principal(behind: 10) == nil)
    #expect(connections.admit(panel, as: 1, roomy) == .admitted)
    #expect(connections.principal(behind: 10) == "panel" && connections.principal(behind: 9) == nil)
    accept(&connections, 11, local(5))
    #expect(connections.principal(behind: 10) == "panel")
    // Either of the two may be the one that was admitted.
    accept(&connections, 12, panel, admissions: 1)
    #expect(connections.principal(behind: 10) == nil && connections.principal(behind: 12) == nil)
    #expect(connections.admit(kiosk, as: 2, roomy) == .admitted)
    #expect(connections.principal(behind: 10) == nil && connections.principal(behind: 12) == nil)
    let slot = connections.noteFirstMessage(
      ConnectionID(9), [], from: kiosk, key: nil, admission: 2, descriptor: 12)
    #expect(slot != nil && connections.principal(behind: 12) == "kiosk")
    #expect(connections.principal(behind: 10) == "panel")
    connections.noteClosed(10, cookie: 1010, at: 0)
    #expect(connections.principal(behind: 10) == nil)
  }

  @Test func `far too many connections are noticed when they are accepted`() {
    var connections = Connections()
    let limits = GuardedRouter.Limits(connections: 1000, ofPrincipal: 2)
    var excesses: [Int] = []
    for descriptor in 0..<68 as Range<Int32> {
      let slot = accept(&connections, descriptor, local(5))
      let excess = connections.excess(of: slot, limits)
      excesses.append(excess.count)
      #expect(excess.isOfUser)
    }
    #expect(excesses.suffix(4) == [-1, 0, 1, 2])
    let other = accept(&connections, 100, local(6))
    #expect(connections.excess(of: other, limits).count < 0)
  }

  @Test func `a silent connection over a network is due once, when its time is up`() {
    var connections = Connections()
    let silence = Connections.firstMessageTime
    accept(&connections, 4, local(5), at: 50)
    #expect(connections.wakeAt == nil)
    let first = accept(&connections, 5, .key(name: "a", address: ""), at: 100)
    let second = accept(&connections, 6, .key(name: "a", address: ""), at: 200)
    #expect(connections.wakeAt == 100 + silence)
    #expect(connections.takeDue(at: 99 + silence).silent == [])
    #expect(connections.takeDue(at: 100 + silence).silent == [first])
    #expect(connections.takeDue(at: 100 + silence).silent == [])
    #expect(connections.wakeAt == 200 + silence)
    #expect(connections.takeDue(at: 300 + silence).silent == [second])
    #expect(connections.wakeAt == nil)
  }

  @Test func `a connection that has spoken, ended or was replaced is never due`() {
    var connections = Connections()
    let key = Peer.key(name: "a", address: "")
    for descriptor in 1...4 as ClosedRange<Int32> { accept(&connections, descriptor, key) }
    #expect(connections.admit(key, as: 1, roomy) == .admitted)
    #expect(
      connections.noteFirstMessage(
        ConnectionID(9), [], from: key, key: nil, admission: 1, descriptor: 1) != nil)
    connections.noteClosed(2, cookie: 1002, at: 0)
    let replacing = accept(&connections, 3, key, cookie: 77, at: 50)
    let last = connections.slot(behind: 4)
    #expect(
      connections.takeDue(at: Connections.firstMessageTime).silent == [last].compactMap { $0 })
    #expect(connections.takeDue(at: Connections.firstMessageTime + 50).silent == [replacing])
  }

  @Test func `a connection that may not be to blame is waited for again, a few times`() {
    var connections = Connections()
    let slot = accept(&connections, 1, .key(name: "a", address: ""))
    var now: UInt64 = 0
    for _ in 0..<Connections.maximumPostponements {
      now += Connections.firstMessageTime
      #expect(connections.takeDue(at: now).silent == [slot])
      let isPostponed = connections.postpone(slot, at: now)
      #expect(isPostponed)
    }
    now += Connections.firstMessageTime
    #expect(connections.takeDue(at: now).silent == [slot])
    let isPostponed = connections.postpone(slot, at: now)
    #expect(!isPostponed)
  }

  @Test func `the end of a given-up peer is not reported twice`() throws {
    var connections = Connections()
    accept(&connections, 1, local(5))
    _ = connections.admit(local(5), as: 1, roomy)
    let found = connections.noteFirstMessage(
      ConnectionID(9), [], from: local(5), key: nil, admission: 1, descriptor: 1)
    let slot = try #require(found)
    connections[slot].isEvicted = true
    connections.noteClosed(1, cookie: 1001, at: 0)
    #expect(connections.noteSocketEmpty() == [])
    #expect(connections.count == 0)
  }

  @Test func `a closed connection is kept until the socket is empty, and not for ever`() {
    var connections = Connections()
    for (number, descriptor) in [(1, 1), (2, 2)] as [(UInt64, Int32)] {
      accept(&connections, descriptor, local(5))
      _ = connections.admit(local(5), as: number, roomy)
      #expect(
        connections.noteFirstMessage(
          ConnectionID(number), [], from: local(5), key: nil, admission: number,
          descriptor: descriptor) != nil)
    }
    connections.noteClosed(1, cookie: 1001, at: 10)
    #expect(connections.openCount == 1)
    #expect(connections.slot(of: ConnectionID(1)) != nil)
    #expect(connections.noteSocketEmpty() == [ConnectionID(1)])
    #expect(connections.slot(of: ConnectionID(1)) == nil)
    connections.noteClosed(2, cookie: 1002, at: 10)
    #expect(connections.wakeAt == 10 + Connections.closedLifetime)
    #expect(connections.takeDue(at: 9 + Connections.closedLifetime).ended == [])
    #expect(connections.takeDue(at: 10 + Connections.closedLifetime).ended == [ConnectionID(2)])
    #expect(connections.count == 0)
  }

  /// 50 × 1,000 random orders.
  @Test(arguments: 0..<50)
  func `in whatever order it is observed, a connection that has ended leaves nothing`(seed: UInt64)
  {
    for order in 0..<1000 as Range<UInt64> {
      let violation = ConnectionOrder(seed: seed * 1000 + order).violation()
      #expect(violation == nil, "seed \(seed * 1000 + order)")
      if violation != nil { return }
    }
  }

  @Test(arguments: ConnectionOrder.Fault.allCases)
  func `a fault that is planted is found`(fault: ConnectionOrder.Fault) {
    let found = (0..<1000 as Range<UInt64>).first {
      ConnectionOrder(seed: $0, fault: fault).violation() != nil
    }
    #expect(found != nil)
  }
}
