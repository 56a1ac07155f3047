package import NavigationCore

/// The access rules: the roles of peers, the rights granted to peers, and the authorised keys.
///
/// A peer may do only what a rule allows.
package struct Access: Hashable, Sendable {
  /// The peers to which a `role` or `grant` line of section `[access]` applies.
  package enum Subject: Hashable, Sendable {
    /// The processes of this user on this machine.
    case user(UInt32)
    /// The processes on this machine with this primary group.
    case group(UInt32)
    /// The clients on a network that prove the authorised key of this name.
    case key(String)
    case role(Role)
  }

  /// A role, and the peers that have it.
  package struct RoleRule: Hashable, Sendable {
    package var role: Role
    package var members: [Subject]

    package init(_ role: Role, _ members: [Subject]) {
      self.role = role
      self.members = members
    }
  }

  /// The rights of some peers on some navs.
  package struct Grant: Hashable, Sendable {
    package var subject: Subject
    package var navs: NavGlob
    package var rights: Rights

    package init(_ subject: Subject, _ navs: NavGlob, _ rights: Rights) {
      self.subject = subject
      self.navs = navs
      self.rights = rights
    }
  }

  /// The user id of the daemon; this user and root have the role `admin`.
  package var daemonUser: UInt32
  /// The user id that the kernel reports for all users outside the daemon's namespace; nil for
  /// none.
  ///
  /// As several users share this id, a peer with it owns no nav, and has a role only by a line in
  /// `[access]`.
  package var unmappedUser: UInt32?
  /// The roles; the first rule that names a peer decides the peer's role.
  package var roles: [RoleRule] = []
  /// The grants; a peer has the rights of all grants that apply to it.
  package var grants: [Grant] = []
  /// The role of each authorised key by the key's name; nil if the key's file names no role.
  package var keys: [String: Role?] = [:]
  /// The peers that may speak for actors only, such as the gateway of web pages.
  package var gateways: [Subject] = []

  /// Makes the rules of a daemon without configuration.
  ///
  /// Root and the daemon's own user may do everything, other local users have the role `ui`, and no
  /// key is authorised.
  package init(daemonUser: UInt32 = 0, unmappedUser: UInt32? = nil) {
    (self.daemonUser, self.unmappedUser) = (daemonUser, unmappedUser)
  }

  /// The names of the built-in roles and of all roles in `role` and `grant` lines, sorted.
  package var knownRoles: [String] {
    var names: Set = [Role.admin.name, Role.ui.name, Role.read.name]
    for rule in roles { names.insert(rule.role.name) }
    for grant in grants {
      if case .role(let role) = grant.subject { names.insert(role.name) }
    }
    return names.sorted()
  }

  package func role(of peer: Peer) -> Role {
    switch peer {
    case .local:
      if grantsAll(to: peer) { return .admin }
    case .key(let name, _):
      guard let own = keys[name] else { return .none }
      if let own { return own }
    case .actor(let actor, of: _): return actor.role
    }
    if let rule = roles.first(where: { $0.members.contains { $0.applies(to: peer) } }) {
      return rule.role
    }
    if case .local = peer, grants.isEmpty, !isUnknown(peer) { return .ui }
    return .none
  }

  /// The rights of a peer on a nav of this name.
  ///
  /// `owner` is the principal that created the nav; nil if there is no such nav. The owner has all
  /// rights if a rule gives it the right `push` there. An actor has the rights that both its role
  /// and its gateway have, and only on navs that match one of its patterns.
  package func rights(of peer: Peer, on nav: String, owner: String?) -> Rights {
    // Every op asks for its rights, so root and the daemon's user need no look-up of a role.
    if grantsAll(to: peer) { return .all }
    let role = role(of: peer)
    var rights: Rights
    switch peer {
    case .key(let name, _) where keys[name] == nil: return []
    case .local, .key: rights = granted(to: role, peer, on: nav)
    case .actor(let actor, _):
      let readsAll = nav == NavName.heads.text && actor.navs.contains { $0.text == "*" }
      guard readsAll || actor.navs.contains(where: { $0.matches(nav) }) else { return [] }
      rights = granted(to: role, peer, on: nav)
    }
    if let owner, owner == self.owner(createdBy: peer), rights.contains(.push) { rights = .all }
    if case .actor(_, let gateway) = peer {
      rights.formIntersection(self.rights(of: gateway, on: nav, owner: owner))
    }
    return rights
  }

  /// The principal recorded as owner of a nav that a peer creates; nil for unmapped users.
  package func owner(createdBy peer: Peer) -> String? { isUnknown(peer) ? nil : peer.principal }

  /// Whether a peer is a user that the user namespace does not map, or an actor of one.
  private func isUnknown(_ peer: Peer) -> Bool {
    guard let unmappedUser else { return false }
    switch peer {
    case .local(let user, _, _, _): return user == unmappedUser
    case .key: return false
    case .actor(_, let gateway): return isUnknown(gateway)
    }
  }

  /// The rights that grants give to the role and to the peer itself.
  private func granted(to role: Role, _ peer: Peer, on nav: String) -> Rights {
    if role == .admin { return .all }
    var rights: Rights = []
    var isRoleGranted = false
    for grant in grants {
      if case .role(let granted) = grant.subject {
        guard granted == role else { continue }
        isRoleGranted = true
      } else if !grant.subject.applies(to: peer) {
        continue
      }
      if grant.navs.matches(nav) { rights.formUnion(grant.rights) }
      // `$heads` shows the names and the tops of all navs, no more than a reader of all navs sees.
      if grant.navs.text == "*", grant.rights.contains(.read), nav == NavName.heads.text {
        rights.insert(.read)
      }
    }
    return isRoleGranted ? rights : rights.union(Self.builtInRights(role, on: nav))
  }

  /// Whether a peer is an administrator, who may back up the daemon and see the busiest sessions.
  ///
  /// An actor is one if its gateway is an administrator and one of its patterns is `*`, all navs.
  package func administers(_ peer: Peer) -> Bool {
    guard role(of: peer) == .admin else { return false }
    guard case .actor(let actor, let gateway) = peer else { return true }
    return actor.navs.contains { $0.text == "*" } && administers(gateway)
  }

  /// Whether a peer may speak for actors: gateways, root and the daemon's user.
  package func maySpeakForActors(_ peer: Peer) -> Bool { grantsAll(to: peer) || isGateway(peer) }

  /// Whether a peer may speak for actors only.
  ///
  /// Root and the daemon's user are never limited in this way, or a line of the configuration could
  /// lock the administrator out.
  package func speaksForActorsOnly(_ peer: Peer) -> Bool {
    !gateways.isEmpty && !grantsAll(to: peer) && isGateway(peer)
  }

  private func isGateway(_ peer: Peer) -> Bool {
    if case .key(let name, _) = peer, keys[name] == nil { return false }
    return gateways.contains { $0.applies(to: peer) }
  }

  /// Whether a peer has all rights on every nav: root and the daemon's user have.
  @inline(__always)
  func grantsAll(to peer: Peer) -> Bool {
    guard case .local(let user, _, _, _) = peer else { return false }
    return (user == 0 || user == daemonUser) && user != unmappedUser
  }

  /// The rights of the roles `ui` and `read` on a nav, unless a grant names the role.
  private static func builtInRights(_ role: Role, on nav: String) -> Rights {
    guard role == .ui || role == .read else { return [] }
    if nav == NavName.navs.text || nav == NavName.heads.text { return .read }
    if nav.utf8.first == UInt8(ascii: "$") { return [] }
    return role == .ui ? [.read, .push, .pop] : .read
  }

  /// Whether a peer has any right at all.
  ///
  /// navd accepts no connection of other peers.
  package func admits(_ peer: Peer) -> Bool {
    if case .key(let name, _) = peer, keys[name] == nil { return false }
    let role = role(of: peer)
    if role == .admin { return true }
    if role == .ui || role == .read, !grants.contains(where: { $0.subject == .role(role) }) {
      return true
    }
    return grants.contains { grant in
      guard !grant.rights.isEmpty else { return false }
      if case .role(let granted) = grant.subject { return granted == role }
      return grant.subject.applies(to: peer)
    }
  }
}

extension Access.Subject {
  /// Whether a peer has this user, group or key, as the transport proved it; false for roles.
  func applies(to peer: Peer) -> Bool {
    switch (self, peer) {
    case (.user(let user), .local(let own, _, _, _)): user == own
    case (.group(let group), .local(_, let own, _, _)): group == own
    case (.key(let name), .key(let own, _)): name == own
    case (.user, _), (.group, _), (.key, _), (.role, _): false
    }
  }
}

/// The identity of the client behind a connection, as the transport proved it.
///
/// Indirect, because a copy is then one reference: each op copies its peer six times.
package indirect enum Peer: Hashable, Sendable {
  /// A process on this machine, identified by the kernel.
  ///
  /// `host` is the name of this machine in a cluster, where the number of a user may be another
  /// person's on another machine; nil outside a cluster.
  case local(user: UInt32, group: UInt32, process: Int32, host: String? = nil)
  /// A client on a network with the secret key of an authorised public key.
  ///
  /// `name` is the name of the public key. `address` is the IP address, for the log only.
  case key(name: String, address: String)
  /// An actor, in a session that the gateway opened for it.
  ///
  /// The gateway is a `.local` or a `.key`. The transport never makes this case; the hub does.
  case actor(SessionActor, of: Peer)

  /// The name to which rights, ownership and remembered ops belong.
  package var principal: String {
    switch self {
    case .local(let user, _, _, nil): "uid:\(user)"
    case .local(let user, _, _, let host?): "uid:\(user)@\(host)"
    // Never equal to the principal of a user, because the name of a key contains no colon.
    case .key(let name, _): name
    // Never equal to another, because only this one contains a slash.
    case .actor(let actor, let gateway): "\(gateway.principal)/\(actor.name)"
    }
  }

  /// The process id from the kernel, nil for a key.
  ///
  /// Only the log shows it, because the kernel can reuse the number.
  var process: Int32? {
    switch self {
    case .local(_, _, let process, _): process
    case .key: nil
    case .actor(_, let gateway): gateway.process
    }
  }
}
