/// The user or program for which a gateway opens a session, as the gateway authenticated it.
package struct SessionActor: Hashable, Sendable {
  /// The name, unique for the gateway: 1 to 64 letters, digits, `.`, `_` and `-`.
  package let name: String
  /// The role, which bounds the rights.
  package let role: Role
  /// The patterns of the navs that the actor may use, 1 to 64.
  package let navs: [NavGlob]

  /// Makes an actor; nil if the name has another form, or the number of patterns is out of range.
  package init?(name: String, role: Role, navs: [NavGlob]) {
    let isName = name.utf8.allSatisfy { Grammar.isAlphanumeric($0) || Grammar.isMark($0) }
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

  /// All rights everywhere.
  package static let admin = Role("admin")
  /// Reads, pushes and pops everywhere, and administers what it owns, unless grants say otherwise.
  package static let ui = Role("ui")
  /// Reads everywhere, unless grants say otherwise: what an actor may without more.
  package static let read = Role("read")
  /// No role: the peer has only the rights that are granted to it by name.
  package static let none = Role("none")
}
