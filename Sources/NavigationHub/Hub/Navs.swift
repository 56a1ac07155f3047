import NavigationCore

/// All navs: the loaded ones by slot, name and number, and notes of the dormant ones.
///
/// Laws:
/// - A name leads to the nav with this name. A nav that is being closed has no name, but keeps its
///   slot and number until the closing is durable.
/// - While the journal has a row or snapshot of a nav, no other nav gets its number. A number
///   leads to at most one nav, loaded or dormant.
/// - `ringBytes` is the sum of the bytes of all rings.
///
/// Only the methods of this value change which slots are in use, and the rings of entries.
struct Navs: Sendable {
  /// The slots of the virtual navs `$navs`, `$clients` and `$heads`.
  static var navsSlot: NavSlot { NavSlot(0) }
  static var clientsSlot: NavSlot { NavSlot(1) }
  static var headsSlot: NavSlot { NavSlot(2) }
  static let virtualSlots = [navsSlot, clientsSlot, headsSlot]

  /// The epoch that identifies this run of the daemon.
  let boot: Epoch
  /// The virtual navs in the first three slots, then the loaded navs.
  private var slots = Slots<NavEntry>()
  /// The navs that are in the journal only.
  var dormants: DormantNavs
  /// The bytes of the diffs in all rings.
  private(set) var ringBytes = 0
  /// Reads bodies of rows; kept because it reuses its buffers.
  var reader = JournalBodyReader()
  private var names = HashIndex()
  private var numbers = NumberIndex()
  /// The navs created so far in each shard.
  private(set) var createdCounts: [UInt64]
  /// The slot at which `trimRings` continues.
  private var nextSlotToTrim = 0
  /// Whether a client has shown that an older copy of the journal was put back.
  var isOlderJournalReported = false
  private var random: SeededGenerator

  /// Makes the virtual navs; `seed` determines all epochs.
  init(shards: Int = 1, seed: UInt64) {
    createdCounts = Array(repeating: 0, count: shards)
    dormants = DormantNavs(shards: shards)
    random = SeededGenerator(seed: seed)
    boot = Epoch(bits: random.next())
    for name in NavName.virtualNames {
      var entry = NavEntry(
        name: name.text, number: 0, owner: "", epoch: boot,
        controller: NavigationController(revision: Revision(1)))
      entry.directory = VirtualNavRecords()
      entry.updateVirtualDigest()
      entry.ring = DiffRing(base: Revision(1), digest: entry.digest)
      names.insert(slots.insert(entry).number, KeyHash(name.text))
    }
  }

  subscript(_ slot: NavSlot) -> NavEntry {
    @inline(__always) unsafeAddress { unsafe slots.address(of: slot) }
    @inline(__always) unsafeMutableAddress { unsafe slots.mutableAddress(of: slot) }
  }

  /// The number of navs, without the virtual ones.
  var count: Int { loadedCount + dormants.count }

  /// The number of navs that are in memory, without the virtual ones.
  var loadedCount: Int { slots.count - Self.virtualSlots.count }

  /// The number of slots, in use or not.
  var slotCount: Int { slots.slotCount }

  /// The slots in use, ascending; O(n).
  var indices: [NavSlot] { slots.indices }

  /// The slots of the navs that are loaded, ascending, without the virtual ones; O(n).
  var loaded: ArraySlice<NavSlot> { indices.dropFirst(Self.virtualSlots.count) }

  /// Whether a virtual nav keeps its records, for a watch or a read.
  func keepsRecords(_ slot: NavSlot) -> Bool { slots[slot].directory?.areKept == true }

  func isLive(_ slot: NavSlot) -> Bool { slots.isLive(slot) }

  /// The slot of a nav by name; nil if no loaded nav has this name.
  ///
  /// Inlined, because Swift would copy the 264 bytes of this value for the call.
  @inline(__always)
  func slot(of name: String) -> NavSlot? {
    names.find(KeyHash(name)) { slots[NavSlot($0)].name == name }.map { NavSlot($0) }
  }

  /// The slot of a nav by its number in the journal; nil if no loaded nav has this number.
  func slot(numbered number: UInt64) -> NavSlot? {
    let slot = numbers.find(number).map { NavSlot($0) }
    assert(slot.map { slots[$0].number == number } ?? true, "\(number) leads to another nav")
    return slot
  }

  /// Whether a nav still has its name; a nav that is being closed has none.
  func hasName(_ slot: NavSlot) -> Bool { self.slot(of: slots[slot].name) == slot }

  // Creating and closing.

  /// Creates a nav, whose name is free; returns its slot.
  mutating func create(
    _ name: String, ownedBy owner: String, _ controller: NavigationController
  ) -> NavSlot {
    precondition(slot(of: name) == nil, "\(name) exists")
    let shard = Shard(ofName: name, among: createdCounts.count)
    createdCounts[shard.number] += 1
    return insert(
      NavEntry(
        name: name, number: shard.navNumber(ofNth: createdCounts[shard.number]), owner: owner,
        epoch: makeEpoch(), controller: controller))
  }

  /// Removes a nav whose creation was rolled back, and frees its number.
  mutating func removeCreated(_ slot: NavSlot) {
    if hasName(slot) { releaseName(of: slot) }
    let shard = slots[slot].shard
    remove(slot)
    createdCounts[shard.number] -= 1
  }

  /// Notes that the journal has a nav with a number, so that no new nav gets it.
  private mutating func noteNumber(_ number: UInt64) throws(StoredDataError) {
    let shard = Shard(ofNav: number)
    guard shard.number < createdCounts.count else {
      throw StoredDataError(what: "nav \(number) is of a shard that there is not")
    }
    createdCounts[shard.number] = max(createdCounts[shard.number], Shard.ordinal(ofNav: number))
  }

  mutating func releaseName(of slot: NavSlot) {
    assert(hasName(slot), "\(slots[slot].name) was closed before")
    names.remove(slot.number, KeyHash(slots[slot].name))
  }

  /// Gives a nav its name back, because its closing was rolled back.
  mutating func restoreName(of slot: NavSlot) {
    assert(self.slot(of: slots[slot].name) == nil, "\(slots[slot].name) is taken")
    names.insert(slot.number, KeyHash(slots[slot].name))
  }

  /// Removes a nav that has lost its name: its closing is durable, or it leaves memory.
  mutating func remove(_ slot: NavSlot) {
    assert(!hasName(slot), "\(slots[slot].name) is not closed")
    ringBytes -= slots[slot].ring.byteCount
    numbers.remove(slots[slot].number)
    slots.remove(slot, leaving: .vacant)
    assert(ringBytes >= 0, "\(ringBytes) bytes in all rings")
  }

  private mutating func insert(_ entry: NavEntry) -> NavSlot {
    assert(self.slot(numbered: entry.number) == nil, "nav \(entry.number) is loaded")
    let other = slot(of: entry.name)
    let slot = slots.insert(entry)
    numbers.insert(slot.number, entry.number)
    // If a damaged journal has two navs with one name, the later nav has it, as when it was
    // created.
    if other.map({ slots[$0].number < entry.number }) ?? true {
      if let other { releaseName(of: other) }
      names.insert(slot.number, KeyHash(entry.name))
    }
    ringBytes += entry.ring.byteCount
    return slot
  }

  mutating func makeEpoch() -> Epoch { Epoch(bits: random.next()) }

  // Rings.

  /// Appends a diff to a nav's ring; `trimRing` later drops old diffs.
  mutating func appendToRing(_ diff: consuming EncodedDiff, _ slot: NavSlot) {
    ringBytes += diff.bytes.count
    slots[slot].ring.append(diff, digest: slots[slot].digest)
    assert(slots[slot].ring.byteCount <= ringBytes, "a ring larger than all")
  }

  /// Notes the present bar of a nav, so that the next diff has the bar only if it changes.
  mutating func followBar(of slot: NavSlot) {
    slots[slot].followedBar.follow(slots[slot].controller)
  }

  /// Notes that a watch gets the bar from the present revision on.
  mutating func beginFollowingBar(of slot: NavSlot) {
    slots[slot].barsSince = slots[slot].revision
    followBar(of: slot)
  }

  /// Inserts the present resolved bar into the newest diff of a nav's ring, unless the diff has it.
  mutating func addBarToNewestDiff(_ slot: NavSlot) {
    guard !slots[slot].ring.diff(of: slots[slot].revision).hasResolved else { return }
    let bar = slots[slot].controller.encodedBar
    ringBytes += slots[slot].ring.addBarToNewest(bar)
  }

  /// Drops the oldest durable diffs of a nav that exceed the limits.
  mutating func trimRing(_ slot: NavSlot, revisions: Int, bytes: Int) {
    ringBytes -= slots[slot].ring.trim(
      revisions: revisions, bytes: bytes, through: slots[slot].durable)
    assert(ringBytes >= 0, "\(ringBytes) bytes in all rings")
  }

  /// Drops the oldest diffs of one nav after the other, while all rings together exceed `total`.
  mutating func trimRings(to total: Int, bytes: Int) {
    guard ringBytes > total else { return }
    var visited = 0
    while ringBytes > total, visited < slots.count {
      let slot = slots.next(from: nextSlotToTrim)
      nextSlotToTrim = slot.number + 1
      visited += 1
      trimRing(slot, revisions: slots[slot].ring.count / 2, bytes: bytes)
    }
    assert(
      ringBytes <= total || visited == slots.count, "\(ringBytes) bytes after \(visited) rings")
  }

  /// Empties the diff ring of a virtual nav, which then begins at the current revision.
  ///
  /// Watches at older revisions get a snapshot.
  mutating func restartVirtualNav(_ slot: NavSlot) {
    guard let directory = slots[slot].directory else {
      preconditionFailure("\(slots[slot].name) is not virtual")
    }
    ringBytes -= slots[slot].ring.byteCount
    slots[slot].updateVirtualDigest()
    slots[slot].ring = DiffRing(base: directory.revision, digest: slots[slot].digest)
    slots[slot].durable = directory.revision
  }

  /// Notes that the changes of a batch to these navs are durable.
  mutating func markDurable(_ changes: [Batch.ChangedNav]) {
    for change in changes where isLive(change.slot) {
      slots[change.slot].durable = change.finalRevision ?? slots[change.slot].controller.revision
      assert(slots[change.slot].durable <= slots[change.slot].revision)
    }
  }

  /// Restores a nav from `fresh`, which was read from the journal up to its row `head`.
  mutating func reload(_ slot: NavSlot, _ fresh: NavEntry, head: UInt64) {
    precondition(fresh.number == slots[slot].number, "nav \(fresh.number) for another")
    assert(fresh.epoch == slots[slot].epoch, "another life of \(fresh.name)")
    assert(fresh.lastSequence <= head, "rows behind the last durable one")
    let revision = fresh.controller.revision
    ringBytes -= slots[slot].ring.removeDiffs(after: revision, digest: fresh.digest)
    slots[slot].controller = fresh.controller
    slots[slot].running = fresh.running
    slots[slot].digest = fresh.digest
    slots[slot].followedBar = fresh.followedBar
    slots[slot].barsSince = min(slots[slot].barsSince, revision)
    slots[slot].topChange = fresh.topChange
    slots[slot].lastSequence = head
    slots[slot].changedAt = fresh.changedAt
    slots[slot].durable = revision
    slots[slot].snapshotRevision = fresh.snapshotRevision
    assert(ringBytes >= 0, "\(ringBytes) bytes in all rings")
  }

  /// Gives a loaded nav a new epoch, which row `row` records.
  mutating func renew(_ slot: NavSlot, _ epoch: Epoch, row: UInt64) {
    assert(row > slots[slot].lastSequence)
    ringBytes -= slots[slot].ring.byteCount
    slots[slot].lastSequence = row
    slots[slot].renew(epoch)
    assert(slots[slot].ring.byteCount == 0, "diffs of a former life")
  }

  // Dormant navs.

  /// Notes the newest snapshot of a nav.
  mutating func index(_ snapshot: SnapshotRow) throws(StoredDataError) {
    let head = try reader.head(of: snapshot.body, number: snapshot.nav)
    try noteNumber(snapshot.nav)
    dormants.insert(
      head.nav,
      DormantHistory(
        NavHead(
          revision: Revision(snapshot.revision), depth: head.depth, top: head.top,
          time: snapshot.time), sequence: snapshot.sequence, needsRecovery: head.needsRecovery))
  }

  /// Adds a row to the history of its nav, which the row must continue.
  mutating func index(_ row: borrowing RowHeader, _ body: Span<UInt8>) throws(StoredDataError) {
    try noteNumber(row.nav)
    guard let place = dormants.place(of: row.nav) else {
      // Retention may have pruned all rows of a closed nav except the one that closed it.
      if row.kind == .closed { return }
      guard row.kind == .created else {
        throw StoredDataError(what: "row of nav \(row.nav), which was never created")
      }
      return dormants.insert(
        try reader.head(of: [UInt8](copying: body), number: row.nav).nav,
        DormantHistory(NavHead(row), sequence: row.sequence, needsRecovery: row.needsRecovery))
    }
    try dormants.extend(place, by: row)
    switch row.kind {
    case .closed: dormants.remove(place)
    case .epoch:
      // The snapshot has the epoch of an earlier row already.
      guard dormants.history(place).lastSequence == row.sequence else { return }
      try reader.load([UInt8](copying: body))
      dormants.renew(place, try reader.epoch())
    case .created, .changed, .report: break
    }
  }

  /// Sets the oldest revision of a nav that the journal can read.
  mutating func setFloor(of number: UInt64, _ floor: Revision) {
    if let slot = slot(numbered: number) {
      slots[slot].floor = floor
    } else if let place = dormants.place(of: number) {
      dormants.setFloor(place, floor)
    }
  }

  /// Makes a loaded nav dormant; its newest revision must be durable.
  mutating func unload(_ slot: NavSlot) {
    let (nav, history) = (DormantNav(slots[slot]), DormantHistory(slots[slot]))
    releaseName(of: slot)
    remove(slot)
    dormants.insert(nav, history)
  }

  /// Takes over the navs of `other`, which has other shards; returns the slots of the loaded ones.
  mutating func absorb(_ other: Navs) -> [NavSlot] {
    for shard in other.createdCounts.indices {
      createdCounts[shard] = max(createdCounts[shard], other.createdCounts[shard])
    }
    dormants.absorb(other.dormants)
    return other.loaded.map { insert(other.slots[$0]) }
  }

  /// Makes a dormant nav a loaded one, and returns its slot; throws if `entry` contradicts the
  /// notes of the nav.
  mutating func revive(_ place: DormantNavs.Place, as entry: NavEntry) throws(StoredDataError)
    -> NavSlot
  {
    let (nav, history) = (dormants[place], dormants.history(place))
    guard entry.name == nav.name, entry.owner == nav.owner, entry.epoch == nav.epoch,
      entry.controller.isStandalone == nav.isStandalone
    else { throw StoredDataError(what: "the rows are of another nav than \(nav.name)") }
    var head = NavHead(entry)
    // A snapshot of a later time than the last change does not change the time that readers saw.
    head.time = history.head.time
    guard entry.lastSequence == history.lastSequence, head == history.head else {
      throw StoredDataError(
        what: "\(nav.name) ends with row \(entry.lastSequence) and \(head.depth) screens, "
          + "not \(history.lastSequence) and \(history.head.depth)")
    }
    dormants.remove(place)
    let slot = insert(entry)
    slots[slot].floor = history.floor
    slots[slot].changedAt = head.time
    assert(dormants.place(of: entry.number) == nil, "nav \(entry.number) is loaded and dormant")
    return slot
  }
}

extension NavEntry {
  /// Rebuilds a nav from a snapshot and rows of the journal, with the buffers of a reader.
  static func rebuilt(
    _ snapshot: SnapshotRow?, _ rows: [JournalRow], _ limits: HubConfiguration,
    _ reader: JournalBodyReader
  ) throws(StoredDataError) -> NavEntry {
    var reader = reader
    var rows = rows[...]
    var entry: NavEntry
    if let snapshot {
      try reader.load(snapshot.body)
      entry = try NavEntry(try reader.state(), number: snapshot.nav)
      entry.lastSequence = snapshot.sequence
      entry.changedAt = snapshot.time
      rows = rows.drop { $0.sequence <= snapshot.sequence }
    } else {
      guard let first = rows.popFirst(), first.kind == .created else {
        throw StoredDataError(what: "neither a snapshot nor the creation is there")
      }
      try reader.load(first)
      entry = try NavEntry(try reader.state(), number: first.nav)
      entry.lastSequence = first.sequence
      entry.changedAt = first.time
      entry.topChange = .creation(at: first.time, by: reader.author())
    }
    for row in rows {
      try reader.load(row)
      try entry.replay(row, &reader, limits)
    }
    return entry
  }
}
