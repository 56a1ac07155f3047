import Journal
import NavigationCore
import NavigationHub

/// Decides which shards a member of a cluster takes and gives away, by what it reads of the cluster.
///
/// All members decide by the same rules, so they agree without talking to each other:
///
/// 1. A member serves what it owns. An owner whose lease has ended owns nothing. 2. A shard without
/// an owner goes where an administrator wants it, else to the member with the fewest shards.
/// Members that are draining get none, unless all are. 3. A member gives a shard to the member
/// where an administrator wants it, and everything if it is draining. 4. A member that has more
/// than its share gives the excess to those that have less than theirs. A shard that an
/// administrator wants here stays.
struct ShardPlacement: Hashable, Sendable {
  /// The number of shards to give away at a time, so that each of them is without an owner for a
  /// short time.
  static let shardsGivenAtOnce = 64

  private(set) var shardsToTake: [Shard] = []
  /// The shards to give away, by the member that is to have them.
  private(set) var shardsToGive: [String: [Shard]] = [:]
  /// The shards that this member serves and no longer owns.
  private(set) var lost: [Shard] = []

  /// Decides by the shards that this member serves (`held`), and those that it is giving away, each
  /// with the member that is to have it (`leaving`).
  ///
  /// It takes none of the `unreadable` shards.
  init(
    _ state: ClusterState, held: Set<Shard>, leaving: [Shard: String] = [:],
    unreadable: Set<Shard> = []
  ) {
    let view = state.view
    let alive = view.members.filter(\.isAlive)
    let willing = alive.filter { !$0.isDraining }
    var takers = Takers(
      counts: (willing.isEmpty ? alive : willing).map { ($0.name, $0.shards.count) })
    let owners = Dictionary(
      uniqueKeysWithValues: alive.flatMap { member in member.shards.map { ($0, member.name) } })
    guard let me = alive.first(where: { $0.name == view.ownName }) else { return }
    // What is being given away counts where it will be.
    for (shard, target) in leaving where owners[shard] == me.name {
      takers.move(from: me.name, to: target)
    }
    lost = held.filter { owners[$0] != me.name }.sorted()
    for number in 0..<Shard.count {
      let shard = Shard(number)
      let wanted = state.wantedOwners[shard].flatMap { takers.contains($0) ? $0 : nil }
      switch owners[shard] {
      case nil:
        let taker = takers.give(to: wanted)
        if taker == me.name, !unreadable.contains(shard) { shardsToTake.append(shard) }
      case me.name where !held.contains(shard):
        if !unreadable.contains(shard) { shardsToTake.append(shard) }
      default: break
      }
    }
    let mine = held.filter { owners[$0] == me.name && leaving[$0] == nil }.sorted()
    shardsToGive = Self.shardsToGive(mine, of: me, state.wantedOwners, &takers)
  }

  private static func shardsToGive(
    _ mine: [Shard], of me: ClusterMember, _ wanted: [Shard: String], _ takers: inout Takers
  ) -> [String: [Shard]] {
    var shardsToGive: [String: [Shard]] = [:]
    var rest = shardsGivenAtOnce
    for shard in mine where rest > 0 {
      guard let target = wanted[shard], target != me.name, takers.contains(target) else { continue }
      takers.move(from: me.name, to: target)
      shardsToGive[target, default: []].append(shard)
      rest -= 1
    }
    let given = Set(shardsToGive.values.joined())
    // The highest first, so that two members that come one after the other do not get the same ones.
    for shard in mine.reversed() where rest > 0 && !given.contains(shard) {
      guard wanted[shard] != me.name || !takers.contains(me.name) else { continue }
      guard let target = takers.receiver(from: me.name) else { break }
      takers.move(from: me.name, to: target)
      shardsToGive[target, default: []].append(shard)
      rest -= 1
    }
    return shardsToGive.mapValues { $0.sorted() }
  }

  /// The members that take shards, with the number of shards of each.
  private struct Takers {
    private(set) var counts: [(name: String, count: Int)]

    /// The number of shards that each member should have, rounded up.
    ///
    /// No member gives more than its excess over this number, because others give theirs at the
    /// same time.
    private var fairShare: Int {
      (counts.reduce(0) { $0 + $1.count } + counts.count - 1) / max(counts.count, 1)
    }

    func contains(_ name: String) -> Bool { counts.contains { $0.name == name } }

    /// The index of the member with the fewest shards; of several, the first by name.
    private var emptiestIndex: Int? {
      counts.indices.min {
        (counts[$0].count, counts[$0].name) < (counts[$1].count, counts[$1].name)
      }
    }

    /// Gives a shard without an owner to a member, or else to the one with the fewest.
    mutating func give(to wanted: String?) -> String? {
      let place = wanted.flatMap { name in counts.firstIndex { $0.name == name } } ?? emptiestIndex
      guard let place else { return nil }
      counts[place].count += 1
      return counts[place].name
    }

    mutating func move(from: String, to: String) {
      for place in counts.indices {
        if counts[place].name == from { counts[place].count -= 1 }
        if counts[place].name == to { counts[place].count += 1 }
      }
    }

    /// The member that gets the next shard of `name`, which has too many or is draining; nil if
    /// none should.
    func receiver(from name: String) -> String? {
      guard let emptiest = emptiestIndex else { return nil }
      guard let own = counts.first(where: { $0.name == name }) else { return counts[emptiest].name }
      // A difference of one is even enough.
      return own.count > max(fairShare, counts[emptiest].count + 1) ? counts[emptiest].name : nil
    }
  }
}
