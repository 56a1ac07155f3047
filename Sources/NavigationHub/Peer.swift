/// The identity of the client behind a connection, as the transport proved it.
package enum Peer: Hashable, Sendable {
  /// A process on this machine, identified by the kernel.
  case local(user: UInt32, group: UInt32, process: Int32)
  /// A client on a network with the secret key of an authorised public key.
  ///
  /// `name` is the name of the public key. `address` is numeric and for people; no decision depends on it.
  case key(name: String, address: String)

  /// The name to which rights, ownership and remembered ops belong.
  package var principal: String {
    switch self {
    case .local(let user, _, _): "uid:\(user)"
    // Never like the one above: the name of a key holds no colon.
    case .key(let name, _): name
    }
  }

  /// The process id from the kernel, nil for a key.
  ///
  /// It is for the log only, because the kernel can reuse the number.
  var process: Int32? {
    switch self {
    case .local(_, _, let process): process
    case .key: nil
    }
  }
}

/// A named role of peers, to which the configuration grants rights.
package struct Role: Hashable, Sendable {
  /// The name in the configuration and in the protocol.
  package let name: String

  /// Makes the role of a name.
  package init(_ name: String) { self.name = name }

  /// All rights everywhere.
  package static let admin = Role("admin")
  /// Reads, pushes and pops everywhere, and administers what it owns, unless grants say otherwise.
  package static let ui = Role("ui")
  /// No role: the peer has only the rights that are granted to it by name.
  package static let none = Role("none")
}
