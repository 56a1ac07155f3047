import NavigationCore

/// The shards that this daemon serves, and the owners of the others.
///
/// Outside of a cluster there is one shard, which this daemon serves.
struct Shards: Sendable {
  let count: Int
  private var areHere: [Bool]
  /// When each shard came, in milliseconds of CLOCK_BOOTTIME.
  private var arrivalTimes: [UInt64]
  /// Whether this daemon serves every shard, so that no message has to be checked.
  private(set) var areAllHere: Bool
  /// How the cluster is divided; nil outside of a cluster, and before the first view.
  private(set) var view: ClusterView?
  /// The index of each shard's owner among the members of the view; nil if there is no owner.
  private var owners: [Int?]
  /// Since when this daemon owns shards that it does not serve yet, by the boot clock.
  private var ownedSince: [Shard: UInt64] = [:]

  init(count: Int = 1) {
    self.count = count
    areAllHere = count == 1
    areHere = Array(repeating: count == 1, count: count)
    arrivalTimes = Array(repeating: 0, count: count)
    owners = Array(repeating: nil, count: count)
  }

  func shard(of nav: String) -> Shard { Shard(ofName: nav, among: count) }

  func isHere(_ shard: Shard) -> Bool { areHere[shard.number] }

  /// The shards that this daemon serves, ascending.
  var here: [Shard] { areHere.indices.filter { areHere[$0] }.map { Shard($0) } }

  /// The daemon that serves a shard; nil if no daemon is known, or the known one is silent.
  ///
  /// A client sent to a daemon that has gone would come back, and wait longer each time.
  func owner(of shard: Shard) -> ClusterMember? {
    guard let view, let place = owners[shard.number] else { return nil }
    let owner = view.members[place]
    // The view can be older than what became of this daemon's own shards.
    return !view.isSilent(owner) && owner.name != view.ownName ? owner : nil
  }

  /// Since when this daemon owns a shard that it does not serve yet, in milliseconds of
  /// CLOCK_BOOTTIME; nil for all other shards.
  func ownedSince(_ shard: Shard) -> UInt64? { ownedSince[shard] }

  /// When a shard came from another daemon; nil outside of a cluster.
  func arrival(of shard: Shard) -> UInt64? { count > 1 ? arrivalTimes[shard.number] : nil }

  /// Notes that this daemon serves some shards from now on, or no longer.
  mutating func set(_ shards: some Sequence<Shard>, here isHere: Bool, at now: UInt64) {
    for shard in shards {
      areHere[shard.number] = isHere
      arrivalTimes[shard.number] = now
      ownedSince[shard] = nil
    }
    areAllHere = areHere.allSatisfy { $0 }
  }

  mutating func note(_ view: ClusterView, at now: UInt64) {
    self.view = view
    owners = Array(repeating: nil, count: count)
    let former = ownedSince
    ownedSince = [:]
    for (place, member) in view.members.enumerated() {
      for shard in member.shards where shard.number < count {
        owners[shard.number] = place
        guard member.name == view.ownName, !isHere(shard) else { continue }
        ownedSince[shard] = former[shard] ?? now
      }
    }
  }

  /// Records a member as owner of shards before the next view does.
  mutating func note(_ member: String, has shards: some Sequence<Shard>) {
    let place = view?.members.firstIndex { $0.name == member }
    for shard in shards { owners[shard.number] = place }
  }
}
