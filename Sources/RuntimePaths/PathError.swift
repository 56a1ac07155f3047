/// The reason why a socket, a runtime directory or a state directory cannot be used.
package enum PathError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A directory that only this user should be able to use is open to others.
  case notPrivate(path: String, reason: String)
  /// The path of a socket is longer than the kernel accepts.
  case socketPathTooLong(path: String, byteCount: Int)
  /// No variable gives the state directory: `STATE_DIRECTORY`, `XDG_STATE_HOME` or `HOME`.
  case noStateDirectory
  /// There is no usable socket of a daemon at any of these paths.
  case noEndpoint(tried: [Tried])
  /// A system call failed.
  case system(SystemError)

  /// One path that a client tried without success.
  package struct Tried: Hashable, Sendable {
    /// The path of the socket.
    package var path: String
    /// Why it is not usable, such as "not there".
    package var finding: String

    /// Makes an entry for one tried path.
    package init(path: String, finding: String) {
      self.path = path
      self.finding = finding
    }
  }

  /// The error as text; `noEndpoint` has one line for each path.
  package var description: String {
    switch self {
    case .notPrivate(let path, let reason):
      "refusing to use \(path): \(reason)"
    case .socketPathTooLong(let path, let byteCount):
      "socket path \(path) is \(byteCount) bytes long; the kernel accepts at most "
        + "\(PathRules.maximumSocketPathBytes)"
    case .noStateDirectory:
      "no state directory: none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set to an "
        + "absolute path"
    case .noEndpoint(let tried):
      "no running navd found; tried:"
        + tried.map { "\n  \($0.path): \($0.finding)" }.joined()
    case .system(let error):
      error.description
    }
  }
}
