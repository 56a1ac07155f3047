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

  /// Whether a slot is in use.
  package func isLive(_ slot: Int) -> Bool { slot < live.count && live[slot] }

  /// The slots in use, ascending.
  ///
  /// O(n).
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

/// An index of slots by name.
package struct SlotIndex: Sendable {
  private var index = PlaceIndex()
  /// The name of each slot; nil for a slot without one.
  private var names: [String?] = []

  /// Makes an empty index.
  package init() {}

  /// All names and their slots.
  var all: [String: Int] {
    var all: [String: Int] = [:]
    for (slot, name) in names.enumerated() { if let name { all[name] = slot } }
    return all
  }

  /// The slot of a name; nil if no slot has it.
  package func find(_ name: String) -> Int? { find(name, NameHash(name)) }

  private func find(_ name: String, _ hash: NameHash) -> Int? {
    index.find(hash) { names[$0] == name }
  }

  /// The slot of a name; nil if no slot has it.
  ///
  /// A slot has at most one name.
  package subscript(name: String) -> Int? {
    get { find(name) }
    set {
      let hash = NameHash(name)
      if let former = find(name, hash) {
        index.remove(former, hash)
        names[former] = nil
      }
      assert(find(name, hash) == nil, "\(name) has two slots")
      guard let slot = newValue else { return }
      while names.count <= slot { names.append(nil) }
      precondition(names[slot] == nil, "slot \(slot) has a name")
      names[slot] = name
      index.insert(slot, hash)
    }
  }
}

/// A table from the numbers of navs to places; each number is higher than those assigned before.
///
/// A look-up reads two words and hashes nothing. A start makes two look-ups for each row of the
/// journal.
package struct NumberIndex: Sendable {
  private static let pageBits: UInt64 = 10
  private static let pageSize = 1 << Int(pageBits)
  /// Numbers from here on are in `others`: no device reaches them, and a table up to them would be
  /// huge.
  private static let most: UInt64 = 1 << 32

  /// For each 1024 numbers, the index in `places` where theirs begin; -1 if no page exists.
  private var pages: [Int] = []
  /// The number of places on each page.
  private var counts: [Int] = []
  /// The places of the numbers, plus one; 0 for none.
  private var places: [Int32] = []
  /// The indexes of pages that have become empty, for reuse.
  private var free: [Int] = []
  private var others: [UInt64: Int] = [:]

  /// How many numbers are there.
  package private(set) var count = 0

  /// Makes an empty index.
  package init() {}

  /// Whether no number is there.
  package var isEmpty: Bool { count == 0 }

  /// The place of a number, from 0 to 2³¹ − 2; nil if it is not there.
  package subscript(number: UInt64) -> Int? {
    get {
      guard number < Self.most else { return others[number] }
      let page = Int(number >> Self.pageBits)
      guard page < pages.count, pages[page] >= 0 else { return nil }
      let place = places[pages[page] + Self.index(number)]
      return place > 0 ? Int(place) - 1 : nil
    }
    set {
      precondition(newValue ?? 0 >= 0 && newValue ?? 0 < Int32.max, "place=\(newValue ?? 0)")
      let change = (newValue == nil ? 0 : 1) - (self[number] == nil ? 0 : 1)
      count += change
      assert(count >= 0)
      guard number < Self.most else { return others[number] = newValue }
      let page = Int(number >> Self.pageBits)
      guard newValue != nil || page < pages.count && pages[page] >= 0 else { return }
      if page >= pages.count {
        counts += Array(repeating: 0, count: page + 1 - pages.count)
        pages += Array(repeating: -1, count: page + 1 - pages.count)
      }
      if pages[page] < 0 { pages[page] = addPage() }
      places[pages[page] + Self.index(number)] = newValue.map { Int32($0 + 1) } ?? 0
      counts[page] += change
      assert(counts[page] >= 0 && counts[page] <= Self.pageSize)
      guard counts[page] == 0 else { return }
      free.append(pages[page])
      pages[page] = -1
    }
  }

  private static func index(_ number: UInt64) -> Int { Int(number & UInt64(pageSize - 1)) }

  /// Returns the index of an empty page.
  private mutating func addPage() -> Int {
    if let page = free.popLast() { return page }
    places += Array(repeating: 0, count: Self.pageSize)
    assert(places.count % Self.pageSize == 0)
    return places.count - Self.pageSize
  }
}

/// A hash table from connections to slots.
///
/// The hub looks up the connection of every message that it sends. A `Dictionary`, whose hash
/// resists chosen keys, would cost more than the rest of a delivery. Here keys that collide make a
/// look-up O(connections), of which there are few.
package struct ConnectionSlots: Sendable {
  private struct Place: Sendable {
    var key: UInt64
    /// The slot; -1 in a vacant place.
    var slot: Int

    static let vacant = Place(key: 0, slot: -1)
  }

  // Laws: the number of places is a power of two, and at most half of them are taken. No place is
  // vacant between the one that a key's hash names and the place of the key.
  private var places = [Place](repeating: .vacant, count: 16)
  /// The number of connections.
  package private(set) var count = 0

  /// Makes an empty table.
  package init() {}

  /// The slot of a connection; nil if it has none.
  package subscript(_ connection: ConnectionID) -> Int? {
    get {
      let slot = places[place(of: connection.number)].slot
      return slot < 0 ? nil : slot
    }
    set {
      if let newValue {
        precondition(newValue >= 0, "slot=\(newValue)")
        insert(connection.number, newValue)
      } else {
        remove(connection.number)
      }
    }
  }

  /// Where a key is, or would be put.
  private func place(of key: UInt64) -> Int {
    assert(count < places.count, "a search without an end")
    let mask = places.count - 1
    var place = home(of: key)
    while places[place].slot >= 0, places[place].key != key { place = (place + 1) & mask }
    return place
  }

  /// The place where the search for a key begins; the multiplication spreads neighbouring numbers.
  private func home(of key: UInt64) -> Int {
    Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & (places.count - 1)
  }

  private mutating func insert(_ key: UInt64, _ slot: Int) {
    var place = place(of: key)
    if places[place].slot < 0 {
      if (count + 1) * 2 > places.count {
        grow()
        place = self.place(of: key)
      }
      count += 1
    }
    places[place] = Place(key: key, slot: slot)
    assert(count * 2 <= places.count, "\(count) of \(places.count) places are taken")
  }

  private mutating func grow() {
    let old = places
    places = [Place](repeating: .vacant, count: old.count * 2)
    for entry in old where entry.slot >= 0 { places[place(of: entry.key)] = entry }
    assert(places.count & (places.count - 1) == 0, "\(places.count) places are no power of two")
  }

  private mutating func remove(_ key: UInt64) {
    let mask = places.count - 1
    var gap = place(of: key)
    guard places[gap].slot >= 0 else { return }
    count -= 1
    // An entry behind the gap moves into it if a search for the entry would stop at the gap.
    var next = (gap + 1) & mask
    while places[next].slot >= 0 {
      let distance = (next - home(of: places[next].key)) & mask
      if distance >= (next - gap) & mask {
        places[gap] = places[next]
        gap = next
      }
      next = (next + 1) & mask
    }
    places[gap] = .vacant
    assert(count >= 0 && places[place(of: key)].slot < 0, "the connection is still there")
  }
}
