package import NavigationCore

/// The detached records of a nav: screens and buttons that no list holds.
///
/// The records are ordered by the time of their last change or use, the oldest first. When the nav
/// exceeds its limits, navd releases the oldest. Each method takes amortised O(1),
/// unless its comment says otherwise.
package struct DetachedRecords: Sendable {
  /// The identity of a detached record.
  package enum Key: Hashable, Sendable {
    case screen(ScreenID)
    case button(ButtonID)

    var hash: KeyHash {
      switch self {
      case .screen(let id): id.withBytes { KeyHash($0) }
      case .button(let id): KeyHash(id.text)
      }
    }
  }

  /// A detached record.
  package enum Record: Equatable, Sendable {
    case screen(Screen)
    case button(Button)

    package var key: Key {
      switch self {
      case .screen(let screen): .screen(screen.id)
      case .button(let button): .button(button.id)
      }
    }

    func has(_ key: Key) -> Bool {
      switch (self, key) {
      case (.screen(let screen), .screen(let id)): screen.hasID(id)
      case (.button(let button), .button(let id)): button.id == id
      default: false
      }
    }
  }

  /// A position in the order; records that are added or moved later stand behind the mark.
  package struct Mark: Sendable {
    fileprivate let position: Int
  }

  /// The records in their order; nil where one was removed or moved.
  private var slots: [Record?] = []
  /// The index of the first slot that is not empty.
  private var head = 0
  /// The position of `slots[0]`; it grows when `skipEmptyHeadSlots` removes slots, so positions stay valid.
  private var base = 0
  private var positions = HashIndex()

  /// The estimated encoded size of the detached buttons, in bytes.
  ///
  /// `NavigationController.recordBytes` counts all screens, the detached ones too.
  private(set) var buttonBytes = 0

  package var count: Int { positions.count }

  /// The mark after all present records.
  package var mark: Mark { Mark(position: base + slots.count) }

  package func screen(_ id: ScreenID) -> Screen? {
    guard let position = position(of: .screen(id)),
      case .screen(let screen)? = slots[position - base]
    else { return nil }
    return screen
  }

  func contains(_ key: Key) -> Bool { position(of: key) != nil }

  package func button(_ id: ButtonID) -> Button? {
    guard let position = position(of: .button(id)),
      case .button(let button)? = slots[position - base]
    else { return nil }
    return button
  }

  private func position(of key: Key) -> Int? { position(of: key, key.hash) }

  private func position(of key: Key, _ hash: KeyHash) -> Int? {
    assert(hash == key.hash, "the hash of another key")
    return positions.find(hash) { slots[$0 - base]?.has(key) == true }
  }

  /// Makes a record the youngest, and replaces an older one with the same identity.
  package mutating func makeYoungest(_ record: Record) {
    if case .button(let button) = record { buttonBytes += button.byteCount }
    let key = record.key
    let hash = key.hash
    if let former = position(of: key, hash) {
      positions.replace(former, hash, by: base + slots.count)
      slots.append(record)
      emptySlot(former)
    } else {
      positions.insert(base + slots.count, hash)
      slots.append(record)
    }
    assert(position(of: key, hash) == base + slots.count - 1, "not at the young end")
  }

  @discardableResult
  package mutating func remove(_ key: Key) -> Record? {
    let hash = key.hash
    guard let position = position(of: key, hash) else { return nil }
    positions.remove(position, hash)
    assert(self.position(of: key, hash) == nil, "a record with two places")
    return emptySlot(position)
  }

  /// Removes a screen and returns it; nil if it is not detached.
  mutating func removeScreen(_ id: ScreenID) -> Screen? {
    guard case .screen(let screen)? = remove(.screen(id)) else { return nil }
    return screen
  }

  /// Empties a slot and returns its record; the caller updates `positions`.
  @discardableResult
  private mutating func emptySlot(_ position: Int) -> Record? {
    precondition(position >= base + head && position < base + slots.count, "position=\(position)")
    var record: Record?
    swap(&record, &slots[position - base])
    assert(record != nil, "slot \(position) is empty already")
    if case .button(let button)? = record { buttonBytes -= button.byteCount }
    assert(buttonBytes >= 0, "\(buttonBytes) bytes of buttons")
    skipEmptyHeadSlots()
    return record
  }

  /// Sets the version of a screen without changing the screen's place in the order.
  mutating func setVersion(of id: ScreenID, to version: Revision) {
    guard let position = position(of: .screen(id)),
      case .screen(var screen)? = slots[position - base], screen.version != version
    else { return }
    screen.version = version
    slots[position - base] = .screen(screen)
  }

  /// The oldest record, which navd releases first; nil if there is none.
  package var oldest: Record? {
    for index in head..<slots.count {
      if let record = slots[index] { return record }
    }
    assert(count == 0, "\(count) records in no slot")
    return nil
  }

  /// All records, oldest first; O(n).
  package var all: [Record] {
    let all = slots[head...].compactMap { $0 }
    assert(all.count == count, "\(all.count) records, of which \(count) are found")
    return all
  }

  /// Whether a record was added or moved since `mark`.
  func hasRecords(since mark: Mark) -> Bool { mark.position < base + slots.count }

  /// The record added or moved since `mark`, if only one slot is behind the mark; else nil.
  func onlyRecord(since mark: Mark) -> Record? {
    assert(mark.position <= base + slots.count, "a mark of another order")
    return mark.position + 1 == base + slots.count ? slots.last ?? nil : nil
  }

  /// The records added or moved since `mark`, oldest first; O(their number).
  package func records(since mark: Mark) -> [Record] {
    guard hasRecords(since: mark) else { return [] }
    return slots[max(mark.position - base, head)...].compactMap { $0 }
  }

  /// Sorts the records added or moved since `mark` into the order of `keys`, which must name all of
  /// them; O(keys).
  package mutating func reorder(since mark: Mark, as keys: [Key]) {
    let count = count
    let records = keys.compactMap { remove($0) }
    for record in records { makeYoungest(record) }
    assert(self.count == count, "\(self.count) of \(count) records are left")
  }

  private mutating func skipEmptyHeadSlots() {
    while head < slots.count, slots[head] == nil { head += 1 }
    assert(slots.count - head >= count - 1, "too few slots for \(count) records")
    guard head > 32, head > slots.count / 2 else { return }
    slots.removeFirst(head)
    base += head
    head = 0
  }

  /// Removes empty slots if they exceed three a record plus 256.
  ///
  /// The method renumbers positions, so earlier marks become invalid: call it between messages
  /// only.
  package mutating func removeEmptySlots() {
    guard slots.count > 4 * positions.count + 256 else { return }
    let records = all
    assert(records.count == positions.count, "a hole is indexed")
    slots = records
    head = 0
    base = 0
    positions = HashIndex()
    for (index, record) in records.enumerated() { positions.insert(index, record.key.hash) }
  }
}

extension DetachedRecords: Equatable {
  /// Equality of the records and their order.
  package static func == (left: DetachedRecords, right: DetachedRecords) -> Bool {
    left.all == right.all
  }
}
