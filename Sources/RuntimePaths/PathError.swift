/// Why a path of ours cannot be used.
package enum PathError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A directory that must be ours alone is not.
  case notPrivate(path: String, reason: String)
  /// The path of a socket is longer than the kernel accepts.
  case socketPathTooLong(path: String, byteCount: Int)
  /// Neither `STATE_DIRECTORY`, `XDG_STATE_HOME` nor `HOME` says where state may be kept.
  case noStateDirectory
  /// No daemon's socket was found at any of these paths; each comes with what was found there.
  case noEndpoint(tried: [Tried])
  /// The file system refused.
  case system(SystemError)

  /// One path a client looked at in vain.
  package struct Tried: Hashable, Sendable {
    /// The path of the socket that was looked for.
    package var path: String
    /// What was found there instead.
    package var finding: String

    /// Makes an entry from its members.
    package init(path: String, finding: String) {
      self.path = path
      self.finding = finding
    }
  }

  /// The error for people; `noEndpoint` takes one line for each path.
  package var description: String {
    switch self {
    case .notPrivate(let path, let reason):
      "refusing to use \(path): \(reason)"
    case .socketPathTooLong(let path, let byteCount):
      "socket path \(path) is \(byteCount) bytes long; the kernel accepts at most "
        + "\(PathRules.maximumSocketPathBytes)"
    case .noStateDirectory:
      "no place for state: none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set to an "
        + "absolute path"
    case .noEndpoint(let tried):
      "no running navd found; looked at:"
        + tried.map { "\n  \($0.path): \($0.finding)" }.joined()
    case .system(let error):
      error.description
    }
  }
}
