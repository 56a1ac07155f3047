import NavigationCore

/// Values in numbered slots; a number is reused once its value is gone.
package struct Slots<Value: Sendable>: Sendable {
  private var values: [Value] = []
  private var live: [Bool] = []
  private var free: [Int] = []

  package var count: Int { values.count - free.count }

  package mutating func insert(_ value: Value) -> Int {
    guard let slot = free.popLast() else {
      values.append(value)
      live.append(true)
      assert(values.count == live.count)
      return values.count - 1
    }
    assert(!live[slot], "slot \(slot) is in use")
    values[slot] = value
    live[slot] = true
    return slot
  }

  /// Frees a slot; `vacant` replaces the value, so that nothing of it stays in memory.
  package mutating func remove(_ slot: Int, leaving vacant: Value) {
    precondition(live[slot], "slot \(slot) is vacant")
    values[slot] = vacant
    live[slot] = false
    free.append(slot)
  }

  /// The number of slots, in use or not.
  var end: Int { live.count }

  package func isLive(_ slot: Int) -> Bool { slot < live.count && live[slot] }

  /// The slots in use, ascending; O(n).
  package var indices: [Int] { live.indices.filter { live[$0] } }

  /// The first slot in use from `slot` on, going round at the end; there must be one.
  ///
  /// It serves to visit a few slots at a time, where `indices` would be O(slots).
  func next(from slot: Int) -> Int {
    precondition(count > 0, "no slot is in use")
    var slot = slot < live.count ? slot : 0
    while !live[slot] { slot = slot + 1 < live.count ? slot + 1 : 0 }
    return slot
  }

  /// The value in a slot that is in use.
  package subscript(_ slot: Int) -> Value {
    // The accessor lends the value: a copy of a nav costs a retain for each of its members.
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
