package import NavigationCore

extension OpaqueJSON {
  /// Whether both are the same JSON value.
  ///
  /// Members of an object may come in any order. Numbers are compared by value, texts by their
  /// characters and not by how they are escaped.
  package static func areEqual(_ left: OpaqueJSON, _ right: OpaqueJSON) -> Bool {
    if left.bytes == right.bytes { return true }
    var (one, other) = (JSONTape(), JSONTape())
    do throws(JSONError) {
      try one.read(left.bytes, maximumDepth: maximumDepth)
      try other.read(right.bytes, maximumDepth: maximumDepth)
    } catch {
      // A value that was read before is JSON.
      assertionFailure("\(error)")
      return false
    }
    return one.hasSameValue(one.root, as: other, other.root)
  }

  private static let maximumDepth = 64
}

extension JSONTape {
  fileprivate func hasSameValue(
    _ index: Int, as other: borrowing JSONTape, _ otherIndex: Int
  ) -> Bool {
    switch (kind(index), other.kind(otherIndex)) {
    case (.null, .null), (.no, .no), (.yes, .yes): return true
    case (.integer, .integer): return integer(index) == other.integer(otherIndex)
    // One of them has a sign, a fraction, an exponent, or more than 53 bits.
    case (.integer, .number), (.number, .integer), (.number, .number):
      let (text, its) = (raw(index), other.raw(otherIndex))
      // A double has not the room for all digits of a long integer.
      if max(text.count, its.count) > 15, text.allSatisfy(Self.isOfInteger),
        its.allSatisfy(Self.isOfInteger)
      {
        return text == its
      }
      return number(index) == other.number(otherIndex)
    case (.string, .string):
      return string(index) == other.string(otherIndex)
    case (.array, .array):
      guard count(index) == other.count(otherIndex) else { return false }
      var (element, its) = (index + 1, otherIndex + 1)
      while element < next(index) {
        guard hasSameValue(element, as: other, its) else { return false }
        (element, its) = (next(element), other.next(its))
      }
      return true
    case (.object, .object):
      guard count(index) == other.count(otherIndex) else { return false }
      return hasSameMembers(index, as: other, otherIndex)
    default: return false
    }
  }

  /// Compares two objects with equally many members; O(members).
  private func hasSameMembers(
    _ index: Int, as other: borrowing JSONTape, _ otherIndex: Int
  ) -> Bool {
    var (key, its) = (index + 1, otherIndex + 1)
    // Equal objects mostly have their members in the same order, which needs no table.
    while key < next(index), string(key) == other.string(its) {
      guard hasSameValue(key + 1, as: other, its + 1) else { return false }
      (key, its) = (next(key + 1), other.next(its + 1))
    }
    var rest: [Text: Int] = [:]
    while its < other.next(otherIndex) {
      rest[Text(other.string(its) ?? "")] = its + 1
      its = other.next(its + 1)
    }
    while key < next(index) {
      guard let value = rest[Text(string(key) ?? "")], hasSameValue(key + 1, as: other, value)
      else {
        return false
      }
      key = next(key + 1)
    }
    return true
  }

  /// Whether a byte of a number is a digit or a sign, and not of a fraction or an exponent.
  private static func isOfInteger(_ byte: UInt8) -> Bool {
    byte < 0x3A && byte != 0x2E && byte != 0x2B
  }
}
