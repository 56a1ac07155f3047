package import NavigationHub
package import ZeroMQ

// Peers that ask for admission, and keys that are revoked.

extension GuardedRouter {
  /// Answers the peers that ask for admission.
  ///
  /// It answers only as many as there is room for what they may send; the others wait.
  package mutating func admit(_ authority: some PeerAuthority) throws(ZeroMQError) {
    var room = gate.roomForConnections
    while true {
      guard room > 0 else {
        hasWaitingAdmissions = true
        return
      }
      guard let request = try admission.next() else { break }
      room -= 1
      // A request comes behind the acceptance of its connection.
      takeConnectionEvents()
      try admission.answer(request, answer(to: request, authority))
    }
    hasWaitingAdmissions = false
  }

  private mutating func answer(
    to request: ZAPRequest, _ authority: some PeerAuthority
  ) -> ZAPAnswer {
    switch authority.admit(request) {
    case .failure(let refusal):
      incidents.append(refusal.incident)
      return .refuse(reason: refusal.reason)
    case .success(let (peer, userID)):
      guard gate.isInPlace(isSealed: !Connection.Origin(peer).isLocal) else {
        let text = "navd refuses everybody: libzmq does not call its recv"
        incidents.append(Incident(.error, .refused, text))
        return .fail(reason: "the daemon cannot see what its peers send")
      }
      let number = gate.nextAdmission()
      switch connections.admit(peer, as: number, connectionLimits) {
      case .admitted: return .allow(userID: "\(number) \(userID)")
      case .ended: return .fail(reason: "the connection has ended")
      case .tooMany(let ofPrincipal):
        let whose = ofPrincipal ? " of \(peer.principal)" : ": \(peer.principal) is refused"
        incidents.append(Incident(.warning, .limited, "too many connections\(whose)"))
        // Not a refusal of the peer, which may find room the next time.
        return .fail(reason: "too many connections\(ofPrincipal ? " of one user or key" : "")")
      }
    }
  }

  var connectionLimits: Connections.Limits {
    Connections.Limits(all: limits.connections, principal: limits.connectionsPerPrincipal)
  }

  /// Reads back what `answer` wrote: ZAP's user id comes with every message of the connection.
  static func readUserID(_ text: String) -> (admission: UInt64, userID: String)? {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let number = UInt64(parts[0]) else { return nil }
    return (number, String(parts[1]))
  }

  /// Revokes the connections whose keys are not authorised under the same name any more.
  ///
  /// The router ignores everything that they send from now on.
  ///
  /// - Returns: the connections whose sessions the hub has to end.
  package mutating func revoke(_ authority: some PeerAuthority) -> [ConnectionID] {
    var revoked: [ConnectionID] = []
    for (id, slot) in connections.speaking {
      guard !connections[slot].isRevoked, let key = connections[slot].key,
        case .key(let name, _) = connections[slot].peer, authority.name(of: key) != name
      else { continue }
      connections[slot].isRevoked = true
      revoked.append(id)
    }
    return revoked
  }
}
