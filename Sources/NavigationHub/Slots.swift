import Navigation

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

/// Slots by the names of what is in them.
package struct SlotIndex: Sendable {
  private var index = PlaceIndex()
  /// The name of each slot that is found by one.
  private var names: [String?] = []

  /// Makes an empty index.
  package init() {}

  /// All names and their slots.
  var all: [String: Int] {
    var all: [String: Int] = [:]
    for (slot, name) in names.enumerated() { if let name { all[name] = slot } }
    return all
  }

  /// The slot of a name, nil for none.
  package func find(_ name: String) -> Int? { find(name, NameHash(name)) }

  private func find(_ name: String, _ hash: NameHash) -> Int? {
    index.find(hash) { names[$0] == name }
  }

  /// The slot of a name, nil for none; a slot has one name at most.
  package subscript(name: String) -> Int? {
    get { find(name) }
    set {
      let hash = NameHash(name)
      if let former = find(name, hash) {
        index.remove(former, hash)
        names[former] = nil
      }
      guard let slot = newValue else { return }
      while names.count <= slot { names.append(nil) }
      precondition(names[slot] == nil, "slot \(slot) has a name")
      names[slot] = name
      index.insert(slot, hash)
    }
  }
}
