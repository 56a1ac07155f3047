import NavigationCore

/// The number of a slot of `Slots`.
///
/// Each kind of value has a type of its own, so that the slot of one is never taken for another's.
struct Slot<Value>: Hashable, Comparable, Sendable {
  let number: Int

  init(_ number: Int) { self.number = number }

  static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

typealias NavSlot = Slot<NavEntry>
typealias SessionSlot = Slot<Session>
typealias WatchSlot = Slot<Watch>

/// Values in numbered slots; a number is reused once its value is gone.
struct Slots<Value: Sendable>: Sendable {
  private var values: [Value] = []
  private var live: [Bool] = []
  private var free: [Int] = []

  var count: Int { values.count - free.count }

  mutating func insert(_ value: Value) -> Slot<Value> {
    guard let number = free.popLast() else {
      values.append(value)
      live.append(true)
      assert(values.count == live.count)
      return Slot(values.count - 1)
    }
    assert(!live[number], "slot \(number) is in use")
    values[number] = value
    live[number] = true
    return Slot(number)
  }

  /// Frees a slot; `vacant` replaces the value, so that nothing of it stays in memory.
  mutating func remove(_ slot: Slot<Value>, leaving vacant: Value) {
    precondition(live[slot.number], "slot \(slot.number) is vacant")
    values[slot.number] = vacant
    live[slot.number] = false
    free.append(slot.number)
  }

  /// The number of slots, in use or not.
  var slotCount: Int { live.count }

  func isLive(_ slot: Slot<Value>) -> Bool { slot.number < live.count && live[slot.number] }

  /// The slots in use, ascending; O(n).
  var indices: [Slot<Value>] { live.indices.compactMap { live[$0] ? Slot($0) : nil } }

  /// The first slot in use from a number on, going round at the end; there must be one.
  ///
  /// Callers visit a few slots at a time with this function, where `indices` would be O(slots).
  func next(from number: Int) -> Slot<Value> {
    precondition(count > 0, "no slot is in use")
    var number = number < live.count ? number : 0
    while !live[number] { number = number + 1 < live.count ? number + 1 : 0 }
    return Slot(number)
  }

  /// The value in a slot that is in use.
  subscript(_ slot: Slot<Value>) -> Value {
    unsafeAddress { unsafe address(of: slot) }
    unsafeMutableAddress { unsafe mutableAddress(of: slot) }
  }

  /// The address of a value, valid until `Slots` changes; to copy a nav would retain each member.
  ///
  /// Callers must not use `_read` and `_modify` instead: if Swift 6.3.1 does not inline such a
  /// coroutine, the value is read after the coroutine has ended.
  func address(of slot: Slot<Value>) -> UnsafePointer<Value> {
    assert(live[slot.number], "slot \(slot.number) is vacant")
    return unsafe values.withUnsafeBufferPointer { values in
      precondition(values.indices.contains(slot.number))
      return unsafe values.baseAddress.unsafelyUnwrapped + slot.number
    }
  }

  /// The address of a value that the caller changes in place.
  mutating func mutableAddress(of slot: Slot<Value>) -> UnsafeMutablePointer<Value> {
    assert(live[slot.number], "slot \(slot.number) is vacant")
    return unsafe values.withUnsafeMutableBufferPointer { values in
      precondition(values.indices.contains(slot.number))
      return unsafe values.baseAddress.unsafelyUnwrapped + slot.number
    }
  }
}
