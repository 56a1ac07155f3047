package import NavigationSync
package import ZeroMQ

/// Why a connection could not do what was asked; an answer of the daemon's is no error here.
package enum ConnectionError: Error, Sendable, CustomStringConvertible {
  /// Nobody answered at the endpoint in time.
  case unreachable(endpoint: String)
  /// The daemon does not let this process in.
  case refused(endpoint: String)
  /// The request was sent and not answered in time; what became of it is not known.
  case noAnswer(endpoint: String)
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
    case .refused(let endpoint): "navd at \(endpoint) refuses the connection"
    case .noAnswer(let endpoint):
      "navd at \(endpoint) did not answer in time; the request may have been performed"
    case .closed(.refused(let refusal)): "session refused: \(refusal.code): \(refusal.message)"
    case .closed(.dismissed(let why)): "session ended by navd: \(why)"
    case .unreadable(let text): "unreadable answer: \(text)"
    case .system(let error): error.description
    }
  }
}
