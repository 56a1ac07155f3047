// Accessors for texts that this program wrote: known short names, and numbers in hex.

extension JSONTape {
  /// The index of the value of a member with a name of at most eight bytes; nil if there is none;
  /// O(members).
  package func member(short name: ShortName, of index: Int) -> Int? {
    guard kind(index) == .object else { return nil }
    let end = next(index)
    var key = index + 1
    while key < end {
      if shortName(key) == name { return key + 1 }
      key = next(key + 1)
    }
    return nil
  }

  /// The number written as 8 lower-case hex digits; nil for anything else.
  package func hex32(_ index: Int) -> UInt32? { hex(index, digits: 8).map { UInt32($0) } }

  /// The number written as 16 lower-case hex digits; nil for anything else.
  package func hex64(_ index: Int) -> UInt64? { hex(index, digits: 16) }

  private func hex(_ index: Int, digits count: Int) -> UInt64? {
    guard isPlain(index) else { return nil }
    let text = text(index)
    guard text.count == count else { return nil }
    var value: UInt64 = 0
    for place in 0..<count {
      let byte = text[place]
      guard Grammar.isLowerHex(byte) else { return nil }
      value = value << 4 | UInt64(byte <= 0x39 ? byte - 0x30 : byte - 0x57)
    }
    return value
  }
}
