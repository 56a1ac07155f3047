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

  /// The number written as 16 lower-case hex digits; nil for anything else.
  package func hex64(_ index: Int) -> UInt64? { hex(index, 0..<16, of: 16) }

  /// The two numbers written as 8 and 16 lower-case hex digits; nil for anything else.
  package func hex96(_ index: Int) -> (high: UInt32, low: UInt64)? {
    guard let high = hex(index, 0..<8, of: 24), let low = hex(index, 8..<24, of: 24) else {
      return nil
    }
    return (UInt32(high), low)
  }

  /// The number that some of the `count` characters of a text make.
  private func hex(_ index: Int, _ places: Range<Int>, of count: Int) -> UInt64? {
    guard isPlain(index) else { return nil }
    let text = text(index)
    guard text.count == count else { return nil }
    var value: UInt64 = 0
    for place in places {
      let byte = text[place]
      guard Grammar.isLowerHex(byte) else { return nil }
      value = value << 4 | UInt64(byte <= 0x39 ? byte - 0x30 : byte - 0x57)
    }
    return value
  }

  /// The elements of a list of texts; nil for another value.
  package func strings(_ list: Int) -> [String]? {
    guard kind(list) == .array else { return nil }
    var texts: [String] = []
    var element = list + 1
    while element < next(list) {
      guard let text = string(element) else { return nil }
      texts.append(text)
      element = next(element)
    }
    return texts
  }
}
