/// A pattern for the names of navs: `*` stands for any octets, `?` for one.
///
/// A name that begins with `$` is matched only by a pattern that does.
package struct NavGlob: Hashable, Sendable {
  package let text: String
  private let pattern: [UInt8]

  /// The most octets of a pattern.
  package static let maximumBytes = 256

  /// Makes a pattern; nil if it is empty or too long.
  package init?(_ text: String) {
    guard (1...Self.maximumBytes).contains(text.utf8.count) else { return nil }
    self.text = text
    pattern = [UInt8](text.utf8)
    assert(!pattern.isEmpty)
  }

  package func matches(_ name: String) -> Bool {
    var name = name
    return name.withUTF8 { unsafe matches(Span(_unsafeElements: $0)) }
  }

  /// Backtracks to the last star only, so the time is O(octets of the pattern · octets of the
  /// name).
  private func matches(_ name: Span<UInt8>) -> Bool {
    let (any, one, virtual) = (UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "$"))
    precondition(!pattern.isEmpty, "no pattern")
    if name.count > 0, name[0] == virtual, pattern[0] != virtual { return false }
    var (at, place) = (0, 0)
    var star: (place: Int, at: Int)?
    while at < name.count {
      if place < pattern.count, pattern[place] == any {
        star = (place, at)
        place += 1
      } else if place < pattern.count, pattern[place] == one || pattern[place] == name[at] {
        place += 1
        at += 1
      } else if let back = star {
        star = (back.place, back.at + 1)
        place = back.place + 1
        at = back.at + 1
      } else {
        return false
      }
    }
    assert(at == name.count)
    assert(place <= pattern.count)
    return pattern[place...].allSatisfy { $0 == any }
  }
}
