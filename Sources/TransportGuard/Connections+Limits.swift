import NavigationHub

// The limits of connections, and the connections of each user and key.

extension Connections {
  /// The limits of connections.
  struct Limits: Hashable {
    /// The most of this machine, and the most over networks.
    var all: Int
    /// The most of one user or key.
    var principal: Int
  }

  /// What becomes of a request for admission.
  enum Verdict: Hashable {
    case admitted
    /// There are too many connections, of this principal if the argument says so.
    case tooMany(ofPrincipal: Bool)
    /// The connection has ended.
    case ended
  }

  /// How many connections beyond a limit still get an answer.
  ///
  /// navd shuts further ones down at once, because libzmq waits 3 s for a greeting.
  static let tolerance = 64

  /// Admits a peer, if the limits allow it.
  ///
  /// A ZAP request names the origin of a connection, not its descriptor. So the admission is noted of any
  /// silent connection of that origin; ``noteFirstMessage(_:_:from:key:admission:descriptor:)`` corrects that.
  ///
  /// Law: of the silent connections of an origin at least as many have an admission noted as were
  /// admitted, and no more than there are.
  ///
  /// - Parameters:
  ///   - peer: as the kernel or a key identifies it.
  ///   - number: of the admission; it grows from one to the next.
  ///   - limits: on the connections that are admitted.
  /// - Returns: what the peer is to be answered.
  mutating func admit(_ peer: Peer, as number: UInt64, _ limits: Limits) -> Verdict {
    let origin = Connection.Origin(peer)
    let silent = indices.filter {
      self[$0].isOpen && self[$0].id == nil && self[$0].acceptance.origin == origin
    }
    // If all have an admission, one of those admissions belongs to a connection that has ended.
    guard let candidate = silent.first(where: { self[$0].admission == 0 }) ?? silent.first else {
      return .ended
    }
    var (all, own) = (0, 0)
    for slot in indices where slot != candidate && self[slot].isOpen && self[slot].admission != 0 {
      if self[slot].acceptance.origin.isLocal == origin.isLocal { all += 1 }
      if self[slot].peer.isOfSamePrincipal(as: peer) { own += 1 }
    }
    guard all < limits.all else { return .tooMany(ofPrincipal: false) }
    guard own < limits.principal else { return .tooMany(ofPrincipal: true) }
    self[candidate].admission = number
    self[candidate].peer = peer
    return .admitted
  }

  /// Leaves the admission of a silent connection that was closed to another one of its origin: it may
  /// have been that one's, and then it still counts.
  mutating func passOnAdmission(of slot: Int) {
    guard self[slot].admission != 0 else { return }
    let origin = self[slot].acceptance.origin
    let heir = indices.first {
      self[$0].isOpen && self[$0].id == nil && self[$0].admission == 0
        && self[$0].acceptance.origin == origin
    }
    guard let heir else { return }
    (self[heir].admission, self[heir].peer) = (self[slot].admission, self[slot].peer)
    self[slot].admission = 0
  }

  /// How far a connection that was just accepted is beyond the limits and the tolerance, those
  /// included that wait for admission; and whether the limit is the one of its user.
  ///
  /// O(1).
  func excess(of slot: Int, _ limits: Limits) -> (count: Int, isOfUser: Bool) {
    let overNetworks = openCounts[nil, default: 0]
    guard let user = self[slot].acceptance.origin.user else {
      return (overNetworks - limits.all - Self.tolerance, false)
    }
    let excess = openCount - overNetworks - limits.all - Self.tolerance
    let ownExcess = openCounts[user, default: 0] - limits.principal - Self.tolerance
    return ownExcess > excess ? (ownExcess, true) : (excess, false)
  }

  /// The admitted connections of each user and key, the most first.
  var principals: [(name: String, connections: Int)] {
    var counts: [String: Int] = [:]
    for slot in indices where self[slot].isOpen && self[slot].admission != 0 {
      counts[self[slot].peer.principal, default: 0] += 1
    }
    return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
  }

  /// The kernel's numbers of the sockets of all open connections.
  var cookies: [UInt64] {
    indices.filter { self[$0].isOpen }.map { self[$0].acceptance.cookie }
  }
}

extension Connection.Origin {
  /// The user, for a process of this machine.
  var user: UInt32? { if case .process(let user, _) = self { user } else { nil } }

  /// Whether it is on this machine.
  var isLocal: Bool { user != nil }
}
