@testable import NavigationCore
import Testing

@testable import NavigationClient

@Suite struct ClusterLawTests {
  @Test(arguments: 1...100 as ClosedRange<UInt64>)
  func `ops run once and in order, and no mirror has a gap, wherever the navs are`(seed: UInt64) {
    var world = ClusterWorld(seed: seed)
    for _ in 0..<1500 { world.step() }
    world.settle()
    let ops = world.navs.values.flatMap { $0.answers.keys }
    #expect(Set(ops) == world.told, "seed \(seed)")
    for (name, nav) in world.navs {
      guard let replica = world.client.replica(of: name) else { continue }
      #expect(replica.isSynced && replica.mirror == nav.state.state, "\(name), seed \(seed)")
      let holds = world.client.holdsLease(of: name)
      let owner = nav.lease.flatMap { world.connections[$0]?.daemon }
      #expect(!holds || owner == nav.owner, "the lease of \(name), seed \(seed)")
    }
    #expect(world.counts["moved", default: 0] > 5 && world.counts["repeated", default: 0] > 5)
  }
}
