/// The access rules: the roles of peers, the rights granted to peers, and the authorised keys.
///
/// A pure value. It forbids everything that no rule allows.
package struct Access: Hashable, Sendable {
  /// The peers to which a `role` or `grant` line of section `[access]` applies.
  package enum Subject: Hashable, Sendable {
    /// Local processes of this user.
    case user(UInt32)
    /// Local processes with this primary group.
    case group(UInt32)
    /// Clients with the secret key of the authorised key of this name.
    case key(String)
    /// All peers with this role.
    case role(Role)
  }

  /// A role, and the peers that have it.
  package struct RoleRule: Hashable, Sendable {
    /// The role.
    package var role: Role
    /// The peers that have the role.
    package var members: [Subject]

    /// Makes a rule.
    package init(_ role: Role, _ members: [Subject]) {
      self.role = role
      self.members = members
    }
  }

  /// The rights of some peers on some navs.
  package struct Grant: Hashable, Sendable {
    /// The peers that have the rights.
    package var subject: Subject
    /// The navs, by a pattern for their names.
    package var navs: NavGlob
    /// The rights.
    package var rights: Rights

    /// Makes a grant.
    package init(_ subject: Subject, _ navs: NavGlob, _ rights: Rights) {
      self.subject = subject
      self.navs = navs
      self.rights = rights
    }
  }

  /// The user id of the daemon; this user and root have the role `admin`.
  package var daemonUser: UInt32
  /// The roles; the first rule that names a peer decides the peer's role.
  package var roles: [RoleRule] = []
  /// The grants; a peer has the rights of all grants that apply to it.
  package var grants: [Grant] = []
  /// The authorised keys by name, each with the role that its file names; nil for none.
  package var keys: [String: Role?] = [:]

  /// Makes the rules of a daemon without configuration.
  ///
  /// Root and the daemon's own user may do everything, other local users have the role `ui`, and no
  /// key is authorised.
  package init(daemonUser: UInt32 = 0) { self.daemonUser = daemonUser }

  /// The names of the built-in roles and of all roles in `role` and `grant` lines, sorted.
  package var knownRoles: [String] {
    var names: Set = [Role.admin.name, Role.ui.name]
    for rule in roles { names.insert(rule.role.name) }
    for grant in grants {
      if case .role(let role) = grant.subject { names.insert(role.name) }
    }
    return names.sorted()
  }

  /// The role of a peer.
  package func role(of peer: Peer) -> Role {
    switch peer {
    case .local(let user, _, _):
      if user == 0 || user == daemonUser { return .admin }
    case .key(let name, _):
      guard let own = keys[name] else { return .none }
      if let own { return own }
    }
    if let rule = roles.first(where: { $0.members.contains { $0.names(peer) } }) {
      return rule.role
    }
    if case .local = peer, grants.isEmpty { return .ui }
    return .none
  }

  /// The rights of a peer on a nav of this name.
  ///
  /// `owner` is the principal that created the nav; nil if there is no such nav. The owner has all
  /// rights as long as it may push there.
  package func rights(of peer: Peer, on nav: String, owner: String?) -> Rights {
    // Every op asks for its rights, so root and the daemon's user need no look-up of a role.
    if grantsAll(to: peer) { return .all }
    switch peer {
    case .key(let name, _) where keys[name] == nil: return []
    case .local, .key: break
    }
    let role = role(of: peer)
    if role == .admin { return .all }
    var rights: Rights = []
    var isUIGranted = false
    for grant in grants {
      switch grant.subject {
      case .role(let granted):
        if granted == .ui { isUIGranted = true }
        guard granted == role else { continue }
      case .user, .group, .key: guard grant.subject.names(peer) else { continue }
      }
      if grant.navs.matches(nav) { rights.formUnion(grant.rights) }
    }
    if role == .ui, !isUIGranted { rights.formUnion(Self.builtIn(on: nav)) }
    guard let owner, owner == peer.principal, rights.contains(.push) else { return rights }
    return .all
  }

  /// Whether a peer has all rights on every nav: root and the daemon's user have.
  @inline(__always)
  func grantsAll(to peer: Peer) -> Bool {
    guard case .local(let user, _, _) = peer else { return false }
    return user == 0 || user == daemonUser
  }

  /// The rights of the role `ui` on a nav, unless a grant names this role.
  private static func builtIn(on nav: String) -> Rights {
    if nav == NavName.navs.text { return .read }
    return nav.utf8.first == UInt8(ascii: "$") ? [] : [.read, .push, .pop]
  }

  /// Whether a peer has any right at all.
  ///
  /// navd accepts no connection of other peers.
  package func admits(_ peer: Peer) -> Bool {
    if case .key(let name, _) = peer, keys[name] == nil { return false }
    let role = role(of: peer)
    if role == .admin { return true }
    if role == .ui, !grants.contains(where: { $0.subject == .role(.ui) }) { return true }
    return grants.contains { grant in
      guard !grant.rights.isEmpty else { return false }
      if case .role(let granted) = grant.subject { return granted == role }
      return grant.subject.names(peer)
    }
  }
}

extension Access.Subject {
  /// Whether a peer has this user, group or key, as the transport proved it; false for roles.
  func names(_ peer: Peer) -> Bool {
    switch (self, peer) {
    case (.user(let user), .local(let own, _, _)): user == own
    case (.group(let group), .local(_, let own, _)): group == own
    case (.key(let name), .key(let own, _)): name == own
    case (.user, _), (.group, _), (.key, _), (.role, _): false
    }
  }
}

/// A pattern for the names of navs: `*` stands for any octets, `?` for one.
///
/// A name that begins with `$` is matched only by a pattern that does.
package struct NavGlob: Hashable, Sendable {
  /// The pattern as it was written.
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

  /// Whether the pattern matches the name of a nav.
  ///
  /// `*` stands for any octets, `?` for one. For a virtual nav, the pattern must begin with `$`.
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

/// The identity of the client behind a connection, as the transport proved it.
package enum Peer: Hashable, Sendable {
  /// A process on this machine, identified by the kernel.
  case local(user: UInt32, group: UInt32, process: Int32)
  /// A client on a network with the secret key of an authorised public key.
  ///
  /// `name` is the name of the public key. `address` is numeric and for people; no decision depends
  /// on it.
  case key(name: String, address: String)

  /// The name to which rights, ownership and remembered ops belong.
  package var principal: String {
    switch self {
    case .local(let user, _, _): "uid:\(user)"
    // Never equal to the principal of a user, because the name of a key contains no colon.
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
