import NavigationCore

/// The dormant navs of all shards.
///
/// Each shard has its own index, so that a cluster moves a shard in a time that does not depend on
/// the number of its navs.
struct DormantNavs: Sendable {
  /// The place of a dormant nav: its shard, and its slot there.
  struct Place: Hashable, Sendable {
    fileprivate let shard: Int
    fileprivate let place: DormantShard.Place
  }

  private var shards: [DormantShard]
  private(set) var count = 0

  init(shards: Int) { self.shards = Array(repeating: DormantShard(), count: shards) }

  var isEmpty: Bool { count == 0 }

  var places: [Place] { shards.indices.flatMap { places(of: Shard($0)) } }

  func places(of shard: Shard) -> [Place] {
    shards[shard.number].places.map { Place(shard: shard.number, place: $0) }
  }

  /// The dormant navs that still have their name; a nav created later can have taken it over.
  var placesWithName: [Place] { places.filter { place(named: self[$0].name) == $0 } }

  /// The requests that revive the navs with an open state, the oldest nav of each shard first.
  var navsToRecover: [ReloadRequest] {
    places.filter { history($0).needsRecovery }.map(request).sorted { $0.nav < $1.nav }
  }

  func request(_ place: Place) -> ReloadRequest { shards[place.shard].request(place.place) }

  func place(of number: UInt64) -> Place? {
    let shard = Shard(ofNav: number).number
    guard shard < shards.count else { return nil }
    return shards[shard].place(of: number).map { Place(shard: shard, place: $0) }
  }

  func place(named name: String) -> Place? {
    let shard = Shard(ofName: name, among: shards.count).number
    return shards[shard].place(named: name).map { Place(shard: shard, place: $0) }
  }

  subscript(_ place: Place) -> DormantNav { shards[place.shard][place.place] }

  func history(_ place: Place) -> DormantHistory { shards[place.shard].history(place.place) }

  mutating func insert(_ nav: DormantNav, _ history: DormantHistory) {
    shards[Shard(ofNav: nav.number).number].insert(nav, history)
    count += 1
  }

  mutating func extend(_ place: Place, by row: borrowing RowHeader) throws(StoredDataError) {
    try shards[place.shard].extend(place.place, by: row)
  }

  /// Gives a nav a new epoch; `row` is the number of the row that records the epoch, nil if
  /// `extend` has taken that row.
  mutating func renew(_ place: Place, _ epoch: Epoch, row: UInt64? = nil) {
    shards[place.shard].renew(place.place, epoch, row: row)
  }

  mutating func setFloor(_ place: Place, _ floor: Revision) {
    shards[place.shard].setFloor(place.place, floor)
  }

  mutating func remove(_ place: Place) {
    shards[place.shard].remove(place.place)
    count -= 1
  }

  /// Takes over the navs of `other`, which has other shards.
  mutating func absorb(_ other: DormantNavs) {
    for shard in other.shards.indices where !other.shards[shard].isEmpty {
      precondition(shards[shard].isEmpty, "shard \(shard) has navs")
      shards[shard] = other.shards[shard]
    }
    count += other.count
  }

  /// Removes the navs of shards, because another daemon serves them.
  mutating func drop(_ leaving: Set<Shard>) {
    for shard in leaving {
      count -= shards[shard.number].count
      shards[shard.number] = DormantShard()
    }
  }
}
