import NavigationCore
import NavigationHub

// The limits of connections, and the connections of each user and key.

extension Connections {
  /// The result of a request for admission.
  enum Verdict: Hashable {
    case admitted
    /// The limit of all connections is reached, or that of the principal.
    case tooMany(ofPrincipal: Bool)
    case ended
  }

  /// The number of connections beyond a limit to which navd still answers that it is full.
  ///
  /// navd shuts further ones down at once. Otherwise libzmq would wait 3 s for the greeting of
  /// each.
  static let toleratedExcess = 64

  /// Admits a peer if the limits allow it.
  ///
  /// A ZAP request names the origin of a connection, not its descriptor. So the table notes the
  /// admission at any silent connection of that origin.
  /// ``noteFirstMessage(_:_:from:key:admission:descriptor:)`` corrects that.
  ///
  /// Law: the number of silent connections with an admission noted is, for each origin, at least
  /// the number of those that were admitted.
  ///
  /// `number` is greater than that of each earlier admission.
  mutating func admit(_ peer: Peer, as number: UInt64, _ limits: GuardedRouter.Limits) -> Verdict {
    let origin = Connection.Origin(peer)
    let silent = silentSlots(of: origin)
    // If each of them has an admission, one of these admissions belongs to a connection that has
    // ended.
    guard let candidate = silent.first(where: { self[$0].admission == 0 }) ?? silent.first else {
      return .ended
    }
    var (all, own) = (0, 0)
    for slot in usedSlots
    where slot != candidate && self[slot].isOpen && self[slot].admission != 0 {
      if self[slot].acceptance.origin.isLocal == origin.isLocal { all += 1 }
      if self[slot].peer.isOfSamePrincipal(as: peer) { own += 1 }
    }
    guard all < limits.connections else { return .tooMany(ofPrincipal: false) }
    guard own < limits.connectionsPerPrincipal else { return .tooMany(ofPrincipal: true) }
    self[candidate].admission = number
    self[candidate].peer = peer
    return .admitted
  }

  /// Moves the admission of a closed silent connection to another one of its origin.
  ///
  /// The admission may have been that other connection's, and then it still counts.
  mutating func moveAdmissionToSilent(from slot: Int) {
    guard self[slot].admission != 0 else { return }
    let silent = silentSlots(of: self[slot].acceptance.origin)
    guard let heir = silent.first(where: { self[$0].admission == 0 }) else { return }
    (self[heir].admission, self[heir].peer) = (self[slot].admission, self[slot].peer)
    self[slot].admission = 0
  }

  /// The slots of the open connections of an origin that have sent no message.
  private func silentSlots(of origin: Connection.Origin) -> [Int] {
    usedSlots.filter {
      self[$0].isOpen && self[$0].id == nil && self[$0].acceptance.origin == origin
    }
  }

  /// Returns by how many connections a new one is beyond the limits and the tolerance.
  ///
  /// It counts all open connections in O(1), also those that wait for admission. `isOfUser` is true
  /// if the limit of its user is exceeded most.
  func excess(of slot: Int, _ limits: GuardedRouter.Limits) -> (count: Int, isOfUser: Bool) {
    let overNetworks = openCounts[nil, default: 0]
    guard let user = self[slot].acceptance.origin.user else {
      return (overNetworks - limits.connections - Self.toleratedExcess, false)
    }
    let excess = openCount - overNetworks - limits.connections - Self.toleratedExcess
    let own = openCounts[user, default: 0]
    let ownExcess = own - limits.connectionsPerPrincipal - Self.toleratedExcess
    return ownExcess > excess ? (ownExcess, true) : (excess, false)
  }

  /// The principal of the open connection with a descriptor; nil while its admission is not known.
  ///
  /// A request for admission names no descriptor. So before its first message, a connection has a
  /// principal if all silent ones of its origin are admitted, and have the same.
  func principal(behind descriptor: Int32) -> String? {
    guard let slot = slot(behind: descriptor) else { return nil }
    let peer = self[slot].peer
    let isCertain = silentSlots(of: self[slot].acceptance.origin).allSatisfy {
      self[$0].admission != 0 && self[$0].peer.isOfSamePrincipal(as: peer)
    }
    return self[slot].id != nil || isCertain ? peer.principal : nil
  }

  /// The number of admitted connections of each user and key, in descending order.
  var principals: [(name: String, connections: Int)] {
    var counts: [String: Int] = [:]
    for slot in usedSlots where self[slot].isOpen && self[slot].admission != 0 {
      counts[self[slot].peer.principal, default: 0] += 1
    }
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
  }

  /// The kernel's socket numbers of all open connections.
  var openCookies: [UInt64] {
    usedSlots.filter { self[$0].isOpen }.map { self[$0].acceptance.cookie }
  }
}

extension Connection.Origin {
  /// The user of a process on this machine; nil for a network.
  var user: UInt32? { if case .process(let user, _) = self { user } else { nil } }

  var isLocal: Bool { user != nil }
}
