package import NavigationSync
package import ZeroMQ

/// Why a daemon does not serve a connection.
package enum ConnectionRefusal: Hashable, Sendable {
  /// The daemon authenticated the client and grants it nothing; over a network the client has this key.
  case unauthorised(key: String?)
  /// The daemon serves as many connections as it may, in all or of this user or key.
  case full
  /// The greeting failed: the daemon has another key than this one, or is no navd.
  case handshake(serverKey: String?)
}

/// Why a connection could not do what was asked; an answer of the daemon's is no error here.
package enum ConnectionError: Error, Sendable, CustomStringConvertible {
  /// Nobody answered at the endpoint in time.
  case unreachable(endpoint: String)
  /// The daemon does not serve this process.
  case refused(endpoint: String, ConnectionRefusal)
  /// The request was not answered in time; a change may have been made nevertheless.
  case noAnswer(endpoint: String, isChange: Bool)
  /// The daemon wants no session with this process.
  case closed(SessionEnd)
  /// The daemon said something that cannot be read.
  case unreadable(String)
  /// The library failed.
  case system(ZeroMQError)

  /// The error for people, in one line.
  package var description: String {
    switch self {
    case .unreachable(let endpoint): "no navd answers at \(endpoint)"
    case .refused(let endpoint, .unauthorised):
      "navd at \(endpoint) refuses the connection: nothing is granted to this client"
    case .refused(let endpoint, .full): "navd at \(endpoint) has too many connections"
    case .refused(let endpoint, .handshake):
      "the handshake with \(endpoint) failed: it has another server key, or is no navd"
    case .noAnswer(let endpoint, let isChange):
      "navd at \(endpoint) did not answer in time"
        + (isChange ? "; the change may have been made" : "")
    case .closed(.refused(let refusal)): "session refused: \(refusal.code): \(refusal.message)"
    case .closed(.dismissed(let why)): "session ended by navd: \(why)"
    case .unreadable(let text): "unreadable answer: \(text)"
    case .system(let error): error.description
    }
  }
}
