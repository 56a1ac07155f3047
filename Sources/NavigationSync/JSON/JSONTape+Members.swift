import Navigation

// Reading what this program wrote itself: names that are known, identities in hex.

extension JSONTape {
  /// The index of the value of a member with a name of at most eight bytes, or nil.
  ///
  /// O(members).
  func member(short name: ShortName, of index: Int) -> Int? {
    guard kind(index) == .object else { return nil }
    let end = next(index)
    var key = index + 1
    while key < end {
      if shortName(key) == name { return key + 1 }
      key = next(key + 1)
    }
    return nil
  }

  /// The number that 8 lower-case hex digits stand for, nil for anything else.
  func hex32(_ index: Int) -> UInt32? { hex(index, 0..<8, of: 8).map { UInt32($0) } }

  /// The number that 16 lower-case hex digits stand for, nil for anything else.
  func hex64(_ index: Int) -> UInt64? { hex(index, 0..<16, of: 16) }

  /// The identity that 32 lower-case hex digits stand for, nil for anything else.
  func hex128(_ index: Int) -> ClientID? {
    guard let high = hex(index, 0..<16, of: 32), let low = hex(index, 16..<32, of: 32) else {
      return nil
    }
    return ClientID(high: high, low: low)
  }

  private func hex(_ index: Int, _ range: Range<Int>, of count: Int) -> UInt64? {
    guard isPlain(index) else { return nil }
    let text = text(index)
    guard text.count == count else { return nil }
    var value: UInt64 = 0
    for place in range {
      let byte = text[place]
      guard Grammar.isLowerHex(byte) else { return nil }
      value = value << 4 | UInt64(byte <= 0x39 ? byte - 0x30 : byte - 0x57)
    }
    return value
  }
}
