@testable import NavigationCore
@testable import NavigationHub
import Testing

/// `Navs` against lists that are searched from the beginning.
@Suite struct NavsTests {
  private struct Twin {
    /// A nav; one without a name is being closed.
    struct Nav {
      var name: String?
      var number: UInt64
      var bytes: [Int] = []
    }

    var navs: [NavSlot: Nav] = [:]
    var last: UInt64 = 0

    func slot(of name: String) -> NavSlot? { navs.first { $0.value.name == name }?.key }
  }

  private static func controller() -> NavigationController {
    NavigationController(revision: Revision(1))
  }

  @Test(arguments: UInt64(1)...8)
  func `names, numbers and bytes agree with the list of navs`(seed: UInt64) {
    var navs = Navs(seed: seed)
    var twin = Twin()
    var closing: [NavSlot: String] = [:]
    var random = SeededGenerator(seed: seed)
    let names = ["a", "b", "c", "d"]
    for _ in 0..<1500 {
      let name = names[Int(random.next() % 4)]
      let slot = twin.slot(of: name)
      switch (random.next() % 8, slot) {
      case (0, nil), (1, nil):
        let slot = navs.create(name, ownedBy: "uid:0", Self.controller())
        twin.last += 1
        #expect(twin.navs.updateValue(.init(name: name, number: twin.last), forKey: slot) == nil)
      case (2, let slot?):
        navs.releaseName(of: slot)
        twin.navs[slot]?.name = nil
        closing[slot] = name
      case (3, nil):
        guard let (slot, _) = closing.sorted(by: { $0.key < $1.key }).first(where: { $1 == name })
        else { continue }
        navs.restoreName(of: slot)
        twin.navs[slot]?.name = name
        closing[slot] = nil
      case (4, _):
        guard let slot = closing.keys.min() else { continue }
        navs.remove(slot)
        twin.navs[slot] = nil
        closing[slot] = nil
      case (5, let slot?) where twin.navs[slot]?.number == twin.last:
        navs.removeCreated(slot)
        twin.navs[slot] = nil
        twin.last -= 1
      case (6, let slot?), (7, let slot?):
        let count = Int(random.next() % 90)
        navs.appendToRing(
          EncodedDiff(bytes: [UInt8](repeating: 0x20, count: count), resolved: 0..<0), slot)
        navs[slot].durable = navs[slot].ring.last
        navs.trimRing(slot, revisions: 3, bytes: 1000)
        let bytes = (twin.navs[slot]?.bytes ?? []) + [count]
        twin.navs[slot]?.bytes = bytes.suffix(3)
      default: continue
      }
      #expect(navs.count == twin.navs.count)
      #expect(Array(navs.loaded) == twin.navs.keys.sorted())
      #expect(navs.ringBytes == twin.navs.values.reduce(0) { $0 + $1.bytes.reduce(0, +) })
      for name in names {
        #expect(navs.slot(of: name) == twin.slot(of: name))
        let found = navs.slot(of: name)
        #expect(found == twin.slot(of: name))
      }
      for (slot, nav) in twin.navs {
        #expect(navs.slot(numbered: nav.number) == slot)
        #expect(navs.hasName(slot) == (nav.name != nil))
      }
      #expect(navs.slot(numbered: twin.last + 1) == nil)
    }
  }

  @Test(arguments: UInt64(1)...4)
  func `rings are trimmed in turn until they fit together`(seed: UInt64) {
    var navs = Navs(seed: seed)
    var random = SeededGenerator(seed: seed)
    for name in ["a", "b", "c"] { _ = navs.create(name, ownedBy: "", Self.controller()) }
    for _ in 0..<400 {
      let slot = NavSlot(Int(random.next() % 3) + Navs.virtualSlots.count)
      navs.appendToRing(
        EncodedDiff(bytes: [UInt8](repeating: 0x20, count: 40), resolved: 0..<0), slot)
      navs[slot].durable = navs[slot].ring.last
      navs.trimRings(to: 800, bytes: 500)
      #expect(navs.ringBytes <= 800)
      let sum = navs.indices.reduce(0) { $0 + navs[$1].ring.byteCount }
      #expect(navs.ringBytes == sum)
    }
  }

  @Test func `epochs come from the seed, and the virtual navs have the run's`() {
    var (one, same, other) = (Navs(seed: 1), Navs(seed: 1), Navs(seed: 2))
    #expect(one.boot == same.boot && one.boot != other.boot)
    for slot in Navs.virtualSlots {
      #expect(one[slot].epoch == one.boot && one[slot].number == 0)
    }
    #expect(one.count == 0 && one.loaded.isEmpty)
    let epochs = [one.makeEpoch(), same.makeEpoch(), other.makeEpoch()]
    #expect(epochs[0] == epochs[1] && epochs[0] != epochs[2])
  }
}
