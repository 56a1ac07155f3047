/// Slots by connection.
///
/// It is asked for every message that is sent, so it is no dictionary: a hash that withstands chosen
/// keys costs more than the rest of a delivery. Peers that choose their keys so that all meet in one
/// place make a look as long as there are connections, of which there are few.
package struct ConnectionSlots: Sendable {
  private struct Place: Sendable {
    var key: UInt64
    /// -1 where there is none.
    var slot: Int

    static let vacant = Place(key: 0, slot: -1)
  }

  // Law: a power of two, at most half of it taken; from the place that a key's hash names to where
  // the key is, no place is vacant.
  private var places = [Place](repeating: .vacant, count: 16)
  /// The number of connections.
  package private(set) var count = 0

  /// Makes an empty table.
  package init() {}

  /// The slot of a connection, nil for none.
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
    let mask = places.count - 1
    var place = home(of: key)
    while places[place].slot >= 0, places[place].key != key { place = (place + 1) & mask }
    return place
  }

  /// Where the search for a key begins; neighbouring numbers are spread.
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
  }

  private mutating func remove(_ key: UInt64) {
    let mask = places.count - 1
    var gap = place(of: key)
    guard places[gap].slot >= 0 else { return }
    count -= 1
    // Whatever was pushed beyond the gap moves back into it, so that it is found without it.
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
