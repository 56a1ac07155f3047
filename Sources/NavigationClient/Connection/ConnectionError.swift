import NavigationCore
package import RuntimePaths
package import ZeroMQ

/// The reason why a daemon refuses a connection.
package enum ConnectionRefusal: Hashable, Sendable {
  /// The client has no right at all; `key` is the client's key over a network.
  case unauthorised(key: String?)
  /// The permissions of files keep this user from the socket.
  case noPermission(AccessDenial)
  /// The daemon has reached its limit of connections, of all clients or of this user or key.
  case full
  /// The handshake failed: the daemon has another key than this one, or the program is not navd.
  case handshake(serverKey: String?)
}

/// The reason why a request got no reply; an `err` reply is not such an error.
package enum ConnectionError: Error, Sendable, CustomStringConvertible {
  /// No daemon answered at the endpoint in time.
  case unreachable(endpoint: String)
  case refused(endpoint: String, ConnectionRefusal)
  /// The reply did not arrive in time; navd may have made a change.
  case noAnswer(endpoint: String, isChange: Bool)
  /// The daemon refused or ended the session.
  case closed(SessionEnd)
  /// The daemon sent a message that cannot be read.
  case unreadable(String)
  case system(ZeroMQError)

  package var description: String {
    switch self {
    case .unreachable(let endpoint): "no navd answers at \(endpoint)"
    case .refused(let endpoint, .unauthorised):
      "navd at \(endpoint) refuses the connection: this client has no right"
    case .refused(let endpoint, .noPermission(let denial)):
      "\(denial.reason), for \(endpoint). Next: \(denial.remedy)"
    case .refused(let endpoint, .full): "navd at \(endpoint) has too many connections"
    case .refused(let endpoint, .handshake):
      "the handshake with \(endpoint) failed: it has another server key, or is not navd"
    case .noAnswer(let endpoint, let isChange):
      "navd at \(endpoint) did not answer in time"
        + (isChange ? "; it may have made the change" : "")
    case .closed(.refused(let refusal)): "session refused: \(refusal.code): \(refusal.message)"
    case .closed(.dismissed(let why)): "session ended by navd: \(why)"
    case .unreadable(let text): "unreadable answer: \(text)"
    case .system(let error): error.description
    }
  }
}
