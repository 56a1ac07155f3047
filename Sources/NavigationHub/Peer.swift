/// Who stands behind a connection, as the transport proved it.
package enum Peer: Hashable, Sendable {
  /// A process on this machine, identified by the kernel.
  case local(user: UInt32, group: UInt32, process: Int32)
  /// Somebody on a network who has the secret key of an authorised one: the name of the key, and the
  /// numeric address, which is for people only.
  case key(name: String, address: String)

  /// What rights, ownership and remembered ops are bound to.
  package var principal: String {
    switch self {
    case .local(let user, _, _): "uid:\(user)"
    // Never like the one above: the name of a key holds no colon.
    case .key(let name, _): name
    }
  }

  /// The process, where the kernel told it; for logs, its number may be in use again.
  var process: Int32? {
    switch self {
    case .local(_, _, let process): process
    case .key: nil
    }
  }
}

/// What a peer is to the daemon; rights come with it.
package struct Role: Hashable, Sendable {
  /// The word for it, as configuration and protocol have it.
  package let name: String

  /// Makes the role of a name.
  package init(_ name: String) { self.name = name }

  /// All rights everywhere.
  package static let admin = Role("admin")
  /// Reads, pushes and pops everywhere, and administers what it owns, unless grants say otherwise.
  package static let ui = Role("ui")
  /// Nobody gave it a role; it has what is granted to it by name.
  package static let none = Role("none")
}
