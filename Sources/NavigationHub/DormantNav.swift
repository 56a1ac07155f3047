import Navigation

/// A nav of which the journal has everything and the hub only this, because nobody has asked for it
/// since the start.
struct DormantNav: Sendable {
  let number: UInt64
  let name: String
  let owner: String
  let isStandalone: Bool
  fileprivate(set) var epoch: Epoch

  init(number: UInt64, head: JournalBodyReader.Head) {
    self.number = number
    name = head.name
    owner = head.owner
    isStandalone = head.isStandalone
    epoch = head.epoch
  }

  /// The kind of the nav on the wire.
  var kindName: StaticString { NavigationController.kindName(isStandalone: isStandalone) }
}

/// How far the journal goes with a dormant nav.
struct DormantHistory: Sendable {
  /// The newest revision.
  fileprivate(set) var revision: Revision
  /// The oldest revision that the journal can still read.
  fileprivate(set) var floor: Revision
  /// The newest row.
  fileprivate(set) var lastSequence: UInt64
  /// The row that the newest snapshot stands for, or the creation.
  private let covered: UInt64
  /// Whether something is under way that the start must end.
  fileprivate(set) var isOpen: Bool

  /// A nav at its newest snapshot, or at its creation.
  init(revision: Revision, sequence: UInt64, isOpen: Bool) {
    self.revision = revision
    floor = revision
    lastSequence = sequence
    covered = sequence
    self.isOpen = isOpen
  }

  /// Goes on to the nav's next row.
  fileprivate mutating func extend(by row: borrowing RowHeader) throws(StoredDataError) {
    guard row.sequence > covered else {
      // Still needed to read history: the floor is the oldest row's revision.
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
    // A wrong row may have said any number.
    let next = row.kind == .changed ? revision.number &+ 1 : revision.number
    guard row.revision == next else {
      throw StoredDataError(
        what: "revision \(row.revision), where \(next) of nav \(row.nav) is next")
    }
    revision = Revision(next)
    lastSequence = row.sequence
    isOpen = row.isOpen
  }
}

/// The dormant navs, by number and by name.
///
/// What each row of the journal changes lies apart from what it does not, close together.
struct DormantNavs: Sendable {
  private var histories = Slots<DormantHistory>()
  private var navs: [DormantNav] = []
  private var numbers = NumberIndex()
  private var names: [String: Int] = [:]
  private var cursor = 0

  var isEmpty: Bool { numbers.isEmpty }
  var count: Int { numbers.count }

  /// Where they are, in no order that means anything.
  var places: [Int] { histories.indices }

  /// Those that have a name, not having lost it to a later nav.
  var named: [DormantNav] { names.values.map { navs[$0] } }

  /// Some of them, others the next time.
  mutating func next(atMost count: Int) -> [Int] {
    (0..<min(count, self.count)).map { _ in
      cursor = histories.next(from: cursor) + 1
      return cursor - 1
    }
  }

  /// What to read to revive those in which something is open, the oldest first.
  var openNavs: [ReloadRequest] {
    places.filter { histories[$0].isOpen }.map(request).sorted { $0.nav < $1.nav }
  }

  /// What to read to revive one.
  func request(_ place: Int) -> ReloadRequest {
    ReloadRequest(nav: navs[place].number, head: histories[place].lastSequence)
  }

  func place(of number: UInt64) -> Int? {
    let place = numbers[number]
    assert(place.map { navs[$0].number == number } ?? true, "\(number) leads to another nav")
    return place
  }

  func place(named name: String) -> Int? {
    let place = names[name]
    assert(place.map { navs[$0].name == name } ?? true, "\(name) leads to another nav")
    return place
  }

  subscript(_ place: Int) -> DormantNav { navs[place] }

  func history(_ place: Int) -> DormantHistory { histories[place] }

  mutating func insert(_ nav: DormantNav, _ history: DormantHistory) {
    let place = histories.insert(history)
    if place == navs.count { navs.append(nav) } else { navs[place] = nav }
    numbers[nav.number] = place
    // A later nav may have taken the name already: snapshots are read before the rows.
    if let other = names.updateValue(place, forKey: nav.name), navs[other].number > nav.number {
      names[nav.name] = other
    }
  }

  mutating func extend(_ place: Int, by row: borrowing RowHeader) throws(StoredDataError) {
    try histories[place].extend(by: row)
  }

  /// Gives a nav a new epoch; `row`, if it is given, is the row that says so.
  mutating func renew(_ place: Int, _ epoch: Epoch, row: UInt64? = nil) {
    navs[place].epoch = epoch
    if let row { histories[place].lastSequence = row }
  }

  mutating func setFloor(_ place: Int, _ floor: Revision) { histories[place].floor = floor }

  mutating func remove(_ place: Int) {
    let nav = navs[place]
    assert(numbers[nav.number] == place, "nav \(nav.number) is not there")
    if names[nav.name] == place { names[nav.name] = nil }
    numbers[nav.number] = nil
    histories.remove(
      place, leaving: DormantHistory(revision: Revision(0), sequence: 0, isOpen: false))
    if isEmpty {
      // The last one takes all that was kept with it.
      self = DormantNavs()
    }
  }
}
