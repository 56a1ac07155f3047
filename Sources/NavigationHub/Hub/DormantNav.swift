import NavigationCore

/// The members of a dormant nav that the hub keeps in memory; the state is in the journal only.
///
/// The records of `$navs` show the same members of loaded navs.
struct DormantNav: Sendable {
  let number: UInt64
  let name: String
  fileprivate(set) var owner: String
  let isStandalone: Bool
  fileprivate(set) var epoch: Epoch

  /// The kind of the nav on the wire.
  var kindName: String { NavigationController.kindName(isStandalone: isStandalone) }
}

extension DormantNav {
  init(_ entry: NavEntry) {
    self.init(
      number: entry.number, name: entry.name, owner: entry.owner,
      isStandalone: entry.controller.isStandalone, epoch: entry.epoch)
  }
}

/// The revisions and rows that the journal has of a dormant nav.
struct DormantHistory: Sendable {
  /// The newest revision, with depth, top and time.
  fileprivate(set) var head: NavHead
  /// The oldest revision that the journal can still read.
  fileprivate(set) var floor: Revision
  fileprivate(set) var lastSequence: UInt64
  /// The newest row that the snapshot includes; without a snapshot, the row of the creation.
  private let lastRowInSnapshot: UInt64
  /// Whether the newest state is open (`NavigationController.needsRecovery`), so that a start must revive
  /// it.
  fileprivate(set) var needsRecovery: Bool

  /// Begins at the nav's newest snapshot, or at its creation.
  init(_ head: NavHead, sequence: UInt64, needsRecovery: Bool) {
    self.head = head
    floor = head.revision
    lastSequence = sequence
    lastRowInSnapshot = sequence
    self.needsRecovery = needsRecovery
  }

  /// Notes a loaded nav, of which everything is durable.
  init(_ entry: NavEntry) {
    assert(entry.durable == entry.revision && !entry.controller.needsRecovery)
    self.init(NavHead(entry), sequence: entry.lastSequence, needsRecovery: false)
    floor = entry.floor
  }

  /// Takes the nav's next row; throws if the row does not continue the history.
  fileprivate mutating func extend(by row: borrowing RowHeader) throws(StoredDataError) {
    guard row.sequence > lastRowInSnapshot else {
      // A row that the snapshot includes is only needed to read history: it can lower the floor.
      floor = min(floor, Revision(row.revision))
      return
    }
    guard row.kind != .created else {
      throw StoredDataError(what: "nav \(row.nav) is created twice")
    }
    guard row.previous == lastSequence else {
      throw StoredDataError(
        what: "follows row \(row.previous), but the nav's last is \(lastSequence)")
    }
    // The addition wraps, because a damaged row can hold any number.
    let next =
      switch row.kind {
      case .changed: head.revision.number &+ 1
      case .created, .closed, .epoch, .report: head.revision.number
      }
    guard row.revision == next else {
      throw StoredDataError(
        what: "revision \(row.revision), where \(next) of nav \(row.nav) is next")
    }
    if row.kind == .changed { head = NavHead(row) }
    lastSequence = row.sequence
    needsRecovery = row.needsRecovery
  }
}

/// The dormant navs of one shard, by number and by name.
///
/// A start updates `histories` for each row of the journal; apart from the names, they fit into
/// less memory.
struct DormantShard: Sendable {
  typealias Place = Slot<DormantHistory>

  private var histories = Slots<DormantHistory>()
  private var navs: [DormantNav] = []
  private var numbers = NumberIndex()
  private var names = HashIndex()

  var isEmpty: Bool { count == 0 }
  var count: Int { numbers.count }

  var places: [Place] { histories.indices }

  func request(_ place: Place) -> ReloadRequest {
    ReloadRequest(nav: navs[place.number].number, newestRow: histories[place].lastSequence)
  }

  func place(of number: UInt64) -> Place? {
    let place = numbers.find(number).map { Place($0) }
    assert(place.map { navs[$0.number].number == number } ?? true, "\(number) leads to another nav")
    return place
  }

  func place(named name: String) -> Place? {
    names.find(KeyHash(name)) { navs[$0].name == name }.map { Place($0) }
  }

  subscript(_ place: Place) -> DormantNav { navs[place.number] }

  func history(_ place: Place) -> DormantHistory { histories[place] }

  mutating func insert(_ nav: DormantNav, _ history: DormantHistory) {
    assert(place(of: nav.number) == nil, "nav \(nav.number) is there")
    let other = place(named: nav.name)
    var nav = nav
    // Neighbours mostly have one owner. Its name takes 48 bytes if it is longer than 15.
    if let last = navs.last, last.owner == nav.owner { nav.owner = last.owner }
    let place = histories.insert(history)
    if place.number == navs.count { navs.append(nav) } else { navs[place.number] = nav }
    assert(navs.count > place.number)
    numbers.insert(place.number, nav.number)
    // A later nav may have taken the name already, because snapshots are read before the rows.
    if other.map({ navs[$0.number].number < nav.number }) ?? true {
      if let other { names.remove(other.number, KeyHash(nav.name)) }
      names.insert(place.number, KeyHash(nav.name))
    }
  }

  mutating func extend(_ place: Place, by row: borrowing RowHeader) throws(StoredDataError) {
    try histories[place].extend(by: row)
  }

  /// Gives a nav a new epoch; `row` is the number of the row that records the epoch, nil if
  /// `extend` has taken that row.
  mutating func renew(_ place: Place, _ epoch: Epoch, row: UInt64? = nil) {
    assert(row ?? .max > histories[place].lastSequence, "a row before the nav's last")
    navs[place.number].epoch = epoch
    if let row { histories[place].lastSequence = row }
  }

  mutating func setFloor(_ place: Place, _ floor: Revision) { histories[place].floor = floor }

  mutating func remove(_ place: Place) {
    let nav = navs[place.number]
    assert(self.place(of: nav.number) == place, "nav \(nav.number) is not there")
    if self.place(named: nav.name) == place { names.remove(place.number, KeyHash(nav.name)) }
    numbers.remove(nav.number)
    histories.remove(
      place,
      leaving: DormantHistory(
        NavHead(revision: Revision(0), depth: 0, top: nil, time: 0), sequence: 0,
        needsRecovery: false))
    assert(numbers.count == histories.count, "\(numbers.count) numbers of \(histories.count) navs")
    if isEmpty {
      // An empty table frees its memory.
      self = DormantShard()
    }
  }
}
