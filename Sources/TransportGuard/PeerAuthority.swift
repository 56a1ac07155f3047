import NavigationCore
package import NavigationHub
package import ZeroMQ

/// Decides which peers may connect; the daemon implements it.
package protocol PeerAuthority {
  /// Returns the name under which a key is authorised, nil if it is not.
  func name(of key: CurvePublicKey) -> String?
  /// The name of this machine in a cluster, which becomes part of what its users are called; nil
  /// outside a cluster.
  var host: String? { get }
  /// Returns whether a peer has any right at all.
  func admits(_ peer: Peer) -> Bool
}

/// The refusal of a peer, with the reason.
struct AdmissionRefusal: Error {
  var reason: String
  var peer: Peer?
  var address: String?

  init(_ reason: String, _ peer: Peer?, _ address: String? = nil) {
    (self.reason, self.peer, self.address) = (reason, peer, address)
  }

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
    typealias Domain = RouterPreparation.Domain
    switch (request.domain, request.mechanism, request.address) {
    case (Domain.local, .null, .process(let user, let group, let process)):
      let peer = Peer.local(user: user, group: group, process: process, host: host)
      guard admits(peer) else { throw AdmissionRefusal("nothing is granted to it", peer) }
      return (peer, "uid:\(user)")
    case (Domain.network, .curve(let key), .network(let address)):
      guard let name = name(of: key) else {
        throw AdmissionRefusal("its key is not authorised: \(key)", nil, address)
      }
      let peer = Peer.key(name: name, address: address)
      guard admits(peer) else { throw AdmissionRefusal("nothing is granted to it", peer) }
      return (peer, key.description)
    default: throw AdmissionRefusal("its address or mechanism is not the socket's", nil)
    }
  }

  /// Returns the peer of a message and the key that it proved; nil if the peer may no longer
  /// connect.
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
