@testable import NavigationCore
@testable import NavigationHub
import Testing

/// `Coordinations` against dictionaries that are copied with every batch.
@Suite struct CoordinationsTests {
  private static let sessions: Sessions = {
    var sessions = Sessions()
    for number in UInt64(0)..<3 {
      var session = Session.vacant
      session.connection = ConnectionID(number)
      session.client = ClientID(high: 0, low: number)
      _ = sessions.insert(session)
    }
    return sessions
  }()

  private static let navs = Navs(seed: 1)
  private static let author = Author(name: "panel", principal: "uid:0", pid: nil)

  /// What the hub does when batches are rolled back; returns the slots of what was restored.
  private static func rollBack(
    _ coordinations: inout Coordinations, _ batches: inout Batches, among sessions: Sessions,
    at now: UInt64 = 0
  ) -> Set<NavSlot> {
    var slots: Set<NavSlot> = []
    for change in batches.rollBack(isStorageFailing: false).undo.reversed() {
      guard case .coordination(let slot, let before) = change else { continue }
      coordinations.restore(before, slot, among: sessions, at: Instant(boot: now, wall: 0))
      slots.insert(slot)
    }
    return slots
  }

  @Test(arguments: UInt64(1)...8)
  func `a rollback goes back to the batch's beginning`(seed: UInt64) {
    var coordinations = Coordinations()
    var batches = Batches()
    var durable: [NavSlot: UInt64] = [:]
    var now: [NavSlot: UInt64] = [:]
    var unfinished: Set<NavSlot> = []
    var random = SeededGenerator(seed: seed)
    let slots = (3..<7).map { NavSlot($0) }
    for _ in 0..<1500 {
      let slot = slots[Int(random.next() % 4)]
      switch random.next() % 10 {
      case 0...4:
        let due = random.next() % 3
        now[slot] = due == 0 ? nil : due
        coordinations.update(slot, in: &batches) { $0.transitionDeadline = due == 0 ? nil : due }
      case 5:
        let removed = coordinations.remove(slot, in: &batches)
        #expect(removed?.transitionDeadline == now[slot])
        now[slot] = nil
      case 6 where batches.mayDecideDuringCommit: batches.seal(Self.navs)
      case 6, 7:
        while batches.beginRelease() { batches.endRelease(wasSealed: true) }
        batches.endRelease(wasSealed: false)
        durable = now
      case 8:
        let changed = Self.rollBack(&coordinations, &batches, among: Self.sessions)
        for slot in slots where now[slot] != durable[slot] {
          #expect(changed.contains(slot))
          unfinished.insert(slot)
        }
        now = durable
      default:
        // More than what differs may be unfinished: what changed and changed back.
        #expect(coordinations.hasUnrecordedEndings || unfinished.isEmpty)
        let taken = coordinations.takeUnrecordedEndings(in: &batches)
        #expect(unfinished.isSubset(of: taken))
        unfinished = []
      }
      #expect(coordinations.slots == now.keys.sorted())
      #expect(coordinations.count == now.count && coordinations.isEmpty == now.isEmpty)
      for slot in slots { #expect(coordinations[slot]?.transitionDeadline == now[slot]) }
    }
  }

  @Test func `what sessions held that have ended does not come back`() {
    var sessions = Self.sessions
    let (one, two) = (
      sessions.reference(to: SessionSlot(0)), sessions.reference(to: SessionSlot(1))
    )
    var coordinations = Coordinations()
    var batches = Batches()
    let nav = NavSlot(7)
    coordinations.update(nav, in: &batches) {
      $0.register([.veto], of: one, Self.author, nil)
      $0.register([.veto], of: two, Self.author, nil)
      $0.displayHolder = one
      $0.gestureSession = one
    }
    batches.endRelease(wasSealed: batches.beginRelease())
    coordinations.update(nav, in: &batches) { $0.displayHolder = two }
    sessions.remove(SessionSlot(0))
    #expect(Self.rollBack(&coordinations, &batches, among: sessions, at: 5) == [nav])
    #expect(coordinations[nav]?.delegates.map(\.session) == [two])
    #expect(coordinations[nav]?.displayHolder == nil)
    #expect(coordinations[nav]?.gestureSession == nil)
    #expect(coordinations[nav]?.transitionDeadline == 5)
    let unfinished = coordinations.takeUnrecordedEndings(in: &batches)
    #expect(unfinished == [nav])
    #expect(!coordinations.hasUnrecordedEndings)
  }

  @Test func `a registration takes the place of the session's former one`() {
    let refs = (0..<3).map { Self.sessions.reference(to: SessionSlot($0)) }
    var coordination = Coordination()
    for ref in refs { coordination.register([.veto], of: ref, Self.author, nil) }
    coordination.register([.veto, .animator], of: refs[0], Self.author, nil)
    #expect(coordination.delegates.map(\.session) == [refs[1], refs[2], refs[0]])
    #expect(coordination.has(.animator, refs[0]) && !coordination.has(.animator, refs[1]))
    coordination.register([], of: refs[1], Self.author, nil)
    #expect(coordination.delegates.map(\.session) == [refs[2], refs[0]])
    #expect(coordination.lastRegistration == 4)
  }
}
