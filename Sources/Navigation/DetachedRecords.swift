/// The records of a nav that stand in no list: popped or merely created screens, unused buttons.
///
/// They are kept in the order in which they were last touched, the oldest first, because the
/// oldest is released when there are too many. All operations are O(1), amortised.
package struct DetachedRecords: Sendable {
  /// The identity of a detached record.
  package enum Key: Hashable, Sendable {
    /// A screen's.
    case screen(ScreenID)
    /// A button's.
    case button(ButtonID)
  }

  /// A detached record.
  package enum Record: Equatable, Sendable {
    /// A screen.
    case screen(Screen)
    /// A button.
    case button(Button)

    /// The record's identity.
    package var key: Key {
      switch self {
      case .screen(let screen): .screen(screen.id)
      case .button(let button): .button(button.id)
      }
    }
  }

  /// A point in the order; what was touched later stands behind it.
  package struct Mark: Sendable {
    fileprivate let position: Int
  }

  private var slots: [Record?] = []
  private var head = 0
  private var base = 0
  private var positions: [Key: Int] = [:]

  /// The bytes of the buttons, roughly as encoded; screens are counted by their nav.
  private(set) var buttonBytes = 0

  /// Makes an empty set.
  package init() {}

  /// How many records there are.
  package var count: Int { positions.count }

  /// The mark behind everything so far.
  package var mark: Mark { Mark(position: base + slots.count) }

  /// Finds a screen.
  package func screen(_ id: ScreenID) -> Screen? {
    guard let position = positions[.screen(id)], case .screen(let screen)? = slots[position - base]
    else { return nil }
    return screen
  }

  /// Finds a button.
  package func button(_ id: ButtonID) -> Button? {
    guard let position = positions[.button(id)], case .button(let button)? = slots[position - base]
    else { return nil }
    return button
  }

  /// Puts a record at the young end, in place of the one with the same identity.
  package mutating func touch(_ record: Record) {
    if case .button(let button) = record { buttonBytes += button.byteCount }
    let former = positions.updateValue(base + slots.count, forKey: record.key)
    slots.append(record)
    if let former { empty(former) }
  }

  /// Takes a record out.
  @discardableResult
  package mutating func remove(_ key: Key) -> Record? {
    guard let position = positions.removeValue(forKey: key) else { return nil }
    return empty(position)
  }

  /// Takes the record out of its slot.
  @discardableResult
  private mutating func empty(_ position: Int) -> Record? {
    var record: Record?
    swap(&record, &slots[position - base])
    if case .button(let button)? = record { buttonBytes -= button.byteCount }
    trim()
    return record
  }

  /// Gives a screen another version and leaves it where it is.
  mutating func stamp(_ id: ScreenID, with version: Revision) {
    guard let position = positions[.screen(id)],
      case .screen(var screen)? = slots[position - base], screen.version != version
    else { return }
    screen.version = version
    slots[position - base] = .screen(screen)
  }

  /// The oldest record.
  package var oldest: Record? {
    for index in head..<slots.count {
      if let record = slots[index] { return record }
    }
    return nil
  }

  /// All records, oldest first.
  ///
  /// O(n).
  package var all: [Record] { slots[head...].compactMap { $0 } }

  /// The records touched since `mark`, oldest first.
  ///
  /// O(their number).
  package func records(since mark: Mark) -> [Record] {
    guard mark.position < base + slots.count else { return [] }
    return slots[max(mark.position - base, head)...].compactMap { $0 }
  }

  /// Puts the records touched since `mark` in the order of `keys`, which names them all.
  package mutating func reorder(since mark: Mark, as keys: [Key]) {
    let records = keys.compactMap { remove($0) }
    for record in records { touch(record) }
  }

  private mutating func trim() {
    while head < slots.count, slots[head] == nil { head += 1 }
    guard head > 32, head > slots.count / 2 else { return }
    slots.removeFirst(head)
    base += head
    head = 0
  }

  /// Closes the holes that records left, if they outnumber the records by far.
  ///
  /// Positions are renumbered, so marks made before do not survive: call it between messages only.
  package mutating func closeHoles() {
    guard slots.count > 4 * positions.count + 256 else { return }
    let records = all
    base += slots.count
    slots = records
    head = 0
    for (index, record) in records.enumerated() { positions[record.key] = base + index }
  }
}

extension DetachedRecords: Equatable {
  /// The same records in the same order.
  package static func == (left: DetachedRecords, right: DetachedRecords) -> Bool {
    left.all == right.all
  }
}
