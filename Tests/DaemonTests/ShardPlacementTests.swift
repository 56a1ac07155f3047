import Journal
import NavigationCore
import NavigationHub
import Testing

@testable import NavigationDaemon

/// `ShardPlacement`: members that decide alone, each by what it reads, come to one division.
@Suite struct ShardPlacementTests {
  /// A cluster as the database has it, and what each member serves.
  private struct Cluster {
    var owners: [String?] = Array(repeating: nil, count: Shard.count)
    var alive: [String] = []
    var draining: Set<String> = []
    var wanted: [Shard: String] = [:]
    var held: [String: Set<Shard>] = [:]

    func state(for member: String) -> ClusterState {
      let members = (alive + held.keys.filter { !alive.contains($0) }).sorted().map { name in
        ClusterMember(
          name: name, endpoint: "ipc:///\(name)", isDraining: draining.contains(name),
          leaseLeft: alive.contains(name) ? 1000 : 0,
          shards: owners.indices.filter { owners[$0] == name }.map { Shard($0) })
      }
      return ClusterState(
        view: ClusterView(ownName: member, members: members), wantedOwners: wanted)
    }

    /// Lets a member decide and do so; returns how many shards it took, gave or lost.
    mutating func turn(_ member: String) -> Int {
      let plan = ShardPlacement(state(for: member), held: held[member] ?? [])
      held[member, default: []].subtract(plan.lost)
      for shard in plan.shardsToTake {
        #expect(
          owners[shard.number].map { $0 == member || !alive.contains($0) } ?? true,
          "\(member) takes \(shard.number) from \(owners[shard.number] ?? "")")
        owners[shard.number] = member
        held[member, default: []].insert(shard)
      }
      for (target, shards) in plan.shardsToGive {
        #expect(alive.contains(target) && target != member)
        for shard in shards {
          #expect(held[member]?.contains(shard) == true)
          held[member]?.remove(shard)
          owners[shard.number] = target
        }
      }
      #expect(plan.shardsToGive.values.joined().count <= ShardPlacement.shardsGivenAtOnce)
      return plan.shardsToTake.count + plan.lost.count + plan.shardsToGive.values.joined().count
    }

    /// Lets the members decide in turn until none of them changes anything.
    mutating func settle(_ note: String) {
      var rounds = 0
      while alive.map({ turn($0) }).reduce(0, +) > 0 {
        rounds += 1
        guard rounds < 100 else {
          Issue.record("\(note): no end")
          return
        }
      }
    }

    var counts: [String: Int] {
      Dictionary(grouping: owners.compactMap { $0 }, by: { $0 }).mapValues(\.count)
    }
  }

  private func parts(_ members: Int) -> ClosedRange<Int> {
    (Shard.count / members - 1)...((Shard.count + members - 1) / members + 1)
  }

  @Test func `the first member takes everything, and later ones get their part`() {
    var cluster = Cluster()
    for (number, name) in ["b", "a", "d", "c"].enumerated() {
      cluster.alive.append(name)
      cluster.settle(name)
      #expect(cluster.counts.count == number + 1)
      #expect(cluster.counts.values.allSatisfy(parts(number + 1).contains), "\(cluster.counts)")
    }
    // A member that gave and took back more than the excess would move shards for nothing.
    #expect(
      cluster.held.allSatisfy { name, held in held.allSatisfy { cluster.owners[$0.number] == name }
      })
  }

  @Test func `who drains gives everything away, unless all do`() {
    var cluster = Cluster(alive: ["a", "b", "c"])
    cluster.settle("start")
    cluster.draining = ["b"]
    cluster.settle("drain")
    #expect(cluster.counts["b"] == nil && cluster.counts.values.allSatisfy(parts(2).contains))
    cluster.draining = ["a", "b", "c"]
    cluster.settle("all")
    #expect(cluster.counts.values.reduce(0, +) == Shard.count)
    cluster.draining = []
    cluster.settle("none")
    #expect(cluster.counts.values.allSatisfy(parts(3).contains))
  }

  @Test func `a shard stays where an administrator moved it, as long as that member is there`() {
    var cluster = Cluster(alive: ["a", "b"])
    cluster.settle("start")
    let shard = Shard(cluster.owners.firstIndex(of: "a") ?? 0)
    cluster.wanted[shard] = "b"
    cluster.settle("moved")
    #expect(cluster.owners[shard.number] == "b")
    #expect(cluster.counts.values.allSatisfy(parts(2).contains))
    cluster.alive = ["a"]
    cluster.settle("lost")
    #expect(cluster.owners[shard.number] == "a")
    cluster.held["b"] = []
    cluster.alive = ["a", "b"]
    cluster.settle("back")
    #expect(cluster.owners[shard.number] == "b")
  }

  @Test func `what another member has taken is lost, and is not taken back`() {
    var cluster = Cluster(alive: ["a", "b"])
    cluster.settle("start")
    let shard = Shard(cluster.owners.firstIndex(of: "a") ?? 0)
    cluster.owners[shard.number] = "b"
    let plan = ShardPlacement(cluster.state(for: "a"), held: cluster.held["a"] ?? [])
    #expect(plan.lost == [shard] && !plan.shardsToTake.contains(shard))
  }

  @Test func `a shard that is being given counts where it will be, and broken ones are not taken`()
  {
    var cluster = Cluster(alive: ["a"])
    _ = cluster.turn("a")
    cluster.alive.append("b")
    let state = cluster.state(for: "a")
    let first = ShardPlacement(state, held: cluster.held["a"] ?? [])
    let leaving = first.shardsToGive.flatMap { member, shards in shards.map { ($0, member) } }
    let next = ShardPlacement(
      state, held: cluster.held["a"] ?? [],
      leaving: Dictionary(uniqueKeysWithValues: leaving))
    let given = Set(first.shardsToGive.values.joined())
    #expect(given.count == ShardPlacement.shardsGivenAtOnce)
    #expect(given.isDisjoint(with: next.shardsToGive.values.joined()))
    cluster.owners = Array(repeating: nil, count: Shard.count)
    let broken: Set<Shard> = [Shard(3), Shard(7)]
    let careful = ShardPlacement(cluster.state(for: "a"), held: [], unreadable: broken)
    #expect(!careful.shardsToTake.isEmpty && broken.isDisjoint(with: careful.shardsToTake))
  }

  @Test(arguments: UInt64(1)...20)
  func `whatever happens, everything has one owner in the end, and all have their part`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let names = ["a", "b", "c", "d"]
    var cluster = Cluster(alive: ["a"])
    for step in 0..<60 {
      let name = names[below(4)]
      switch below(8) {
      case 0 where !cluster.alive.contains(name): cluster.alive.append(name)
      case 1 where cluster.alive.count > 1 && cluster.alive.contains(name):
        // It is killed: what it held is gone with it.
        cluster.alive.removeAll { $0 == name }
        cluster.held[name] = []
      case 2: cluster.draining.formSymmetricDifference([name])
      case 3: cluster.wanted[Shard(below(Shard.count))] = name
      default:
        let member = cluster.alive[below(cluster.alive.count)]
        _ = cluster.turn(member)
      }
      for member in cluster.alive {
        for shard in cluster.held[member] ?? [] where cluster.owners[shard.number] == member {
          let others = cluster.alive.filter {
            $0 != member && cluster.held[$0]?.contains(shard) == true
              && cluster.owners[shard.number] == $0
          }
          #expect(others.isEmpty, "seed \(seed), step \(step): \(shard.number)")
        }
      }
    }
    cluster.settle("seed \(seed)")
    #expect(cluster.owners.allSatisfy { $0.map(cluster.alive.contains) ?? false })
    let willing = cluster.alive.filter { !cluster.draining.contains($0) }
    guard !willing.isEmpty else { return }
    #expect(Set(cluster.counts.keys).isSubset(of: willing))
    let pinned = cluster.wanted.count
    for name in willing {
      let count = cluster.counts[name] ?? 0
      #expect(count >= Shard.count / willing.count - 1 - pinned, "seed \(seed): \(cluster.counts)")
    }
  }
}
