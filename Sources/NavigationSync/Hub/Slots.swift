/// Values in numbered slots; a number is reused once its value is gone.
package struct Slots<Value: Sendable>: Sendable {
  /// Makes an empty table.
  package init() {}

  private var values: [Value] = []
  private var live: [Bool] = []
  private var free: [Int] = []

  /// The number of values.
  package var count: Int { values.count - free.count }

  /// Puts a value into a free slot.
  package mutating func insert(_ value: Value) -> Int {
    guard let slot = free.popLast() else {
      values.append(value)
      live.append(true)
      return values.count - 1
    }
    values[slot] = value
    live[slot] = true
    return slot
  }

  /// Gives a slot up; `vacant` takes the value's place, so that nothing of it is kept.
  package mutating func remove(_ slot: Int, leaving vacant: Value) {
    precondition(live[slot], "slot \(slot) is vacant")
    values[slot] = vacant
    live[slot] = false
    free.append(slot)
  }

  /// Whether a slot is in use.
  package func isLive(_ slot: Int) -> Bool { slot < live.count && live[slot] }

  /// The slots in use, ascending.
  ///
  /// O(n).
  package var indices: [Int] { live.indices.filter { live[$0] } }

  /// The first slot in use from `slot` on, around the end; there must be one.
  ///
  /// For going round bit by bit, where `indices` would cost as much as there are slots.
  func next(from slot: Int) -> Int {
    precondition(count > 0, "no slot is in use")
    var slot = slot < live.count ? slot : 0
    while !live[slot] { slot = slot + 1 < live.count ? slot + 1 : 0 }
    return slot
  }

  /// The value in a slot that is in use.
  package subscript(_ slot: Int) -> Value {
    // Lent, not copied: a copy of a nav costs a retain for each of its members.
    _read {
      assert(live[slot], "slot \(slot) is vacant")
      yield values.span[slot]
    }
    _modify {
      assert(live[slot], "slot \(slot) is vacant")
      yield &values[slot]
    }
  }
}

/// Slots by what they stand for.
///
/// Who speaks once speaks again: the last answer is kept, and costs no hash the next time.
package struct SlotIndex<Key: Hashable & Sendable>: Sendable {
  private var slots: [Key: Int] = [:]
  private var recent: (key: Key, slot: Int)?

  /// Makes an empty index.
  package init() {}

  /// All keys and their slots.
  var all: [Key: Int] { slots }

  /// The slot of a key, and a note of it for the next time.
  package mutating func find(_ key: Key) -> Int? {
    if let recent, recent.key == key { return recent.slot }
    guard let slot = slots[key] else { return nil }
    recent = (key, slot)
    return slot
  }

  /// The slot of a key, nil for none.
  package subscript(key: Key) -> Int? {
    get { slots[key] }
    set {
      recent = nil
      slots[key] = newValue
    }
  }
}
