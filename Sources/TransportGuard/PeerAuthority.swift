import NavigationCore
package import NavigationHub
package import ZeroMQ

/// Decides which peers may connect; the daemon implements it.
package protocol PeerAuthority {
  /// Returns the name under which a key is authorised, nil if it is not.
  func name(of key: CurvePublicKey) -> String?
  /// The name of this machine in a cluster, which becomes part of its users' principals; else nil.
  var host: String? { get }
  /// Returns whether a peer has any right at all.
  func admits(_ peer: Peer) -> Bool
}

/// The refusal of a peer, with the reason.
struct AdmissionRefusal: Error {
  var reason: String
  var peer: Peer?
  var address: String?

  var notice: Notice {
    let who = peer?.principal ?? address ?? "a peer"
    var notice = Notice(.refused, .warning, "\(who) is refused: \(reason)")
    notice.principal = peer?.principal
    notice.code = "not-admitted"
    return notice
  }
}

extension PeerAuthority {
  /// Returns the peer and the user id that libzmq attaches to its messages, or the reason for a
  /// refusal.
  func admit(_ request: ZAPRequest) throws(AdmissionRefusal) -> (peer: Peer, userID: String) {
    let (peer, userID): (Peer, String)
    switch (LentSocket.Kind(rawValue: request.domain), request.mechanism, request.address) {
    case (.local, .null, .process(let user, let group, let process)):
      peer = .local(user: user, group: group, process: process, host: host)
      userID = "uid:\(user)"
    case (.network, .curve(let key), .network(let address)):
      guard let name = name(of: key) else {
        throw AdmissionRefusal(reason: "its key is not authorised: \(key)", address: address)
      }
      (peer, userID) = (.key(name: name, address: address), key.description)
    default: throw AdmissionRefusal(reason: "its address or mechanism is not the socket's")
    }
    guard admits(peer) else {
      throw AdmissionRefusal(reason: "nothing is granted to it", peer: peer)
    }
    return (peer, userID)
  }

  /// Returns the peer of a message and the key that it proved; nil if it may no longer connect.
  func peer(_ address: PeerAddress, userID: String?) -> (peer: Peer, key: CurvePublicKey?)? {
    switch address {
    case .process(let user, let group, let process):
      return (.local(user: user, group: group, process: process, host: host), nil)
    case .network(let address):
      guard let key = userID.flatMap({ CurvePublicKey(z85: $0) }), let name = name(of: key) else {
        return nil
      }
      return (.key(name: name, address: address), key)
    }
  }
}
