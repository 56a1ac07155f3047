/// The `actor` of a `hello`: the user or program for which a gateway opens the session, as the
/// gateway authenticated it.
package struct SessionActor: Hashable, Sendable {
  /// The name, unique for the gateway: 1 to 64 letters, digits, `.`, `_` and `-`.
  package let name: String
  /// The role; the session has at most the rights of this role.
  package let role: Role
  /// The patterns of the navs that the actor may use, 1 to 64.
  package let navs: [NavGlob]

  /// Makes an actor; nil if the name is malformed, or the number of patterns is not 1 to 64.
  package init?(name: String, role: Role, navs: [NavGlob]) {
    let isName = name.utf8.allSatisfy { Grammar.isAlphanumeric($0) || Grammar.isPunctuation($0) }
    guard isName, (1...64).contains(name.utf8.count), (1...64).contains(navs.count) else {
      return nil
    }
    (self.name, self.role, self.navs) = (name, role, navs)
  }
}

/// A named role of peers, to which the configuration grants rights.
package struct Role: Hashable, Sendable {
  /// The name in the configuration and in the protocol.
  package let name: String

  package init(_ name: String) { self.name = name }

  /// All rights on all navs.
  package static let admin = Role("admin")
  /// Rights to read, push and pop on all navs, and all rights on own navs; grants can change these.
  package static let ui = Role("ui")
  /// The right to read all navs; grants can change it.
  package static let read = Role("read")
  /// No role: the peer has only the rights that grants in the configuration give it by name.
  package static let none = Role("none")
}

/// A pattern for the names of navs: `*` matches any octets, `?` matches one octet.
///
/// Only a pattern that begins with `$` matches a name that begins with `$`.
package struct NavGlob: Hashable, Sendable {
  package let text: String
  private let pattern: [UInt8]

  /// The maximum number of octets of a pattern.
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

  /// The loop backtracks only to the last star: O(octets of the pattern · octets of the name).
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
