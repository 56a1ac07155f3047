import CLinux

/// A failed system call: the operation, its path and `errno`.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The operation as a verb phrase, such as "read" or "make directory".
  package var operation: String
  /// The path that the operation used; empty if it used none.
  package var path: String
  package var code: Int32

  package init(_ operation: String, _ path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// The error in one line: "cannot read /x: No such file or directory".
  package var description: String {
    let object = path.isEmpty ? "" : " \(path)"
    return "cannot \(operation)\(object): \(SystemError.text(of: code))"
  }

  /// The error in one line without the path: "cannot read: No such file or directory".
  package var reason: String { SystemError(operation, "", code: code).description }

  /// Whether the disk failed (EIO or ENXIO), so that the same call can succeed later.
  package var isDiskFailure: Bool { code == EIO || code == ENXIO }

  /// The text of the C library for an error number, by strerror(3).
  package static func text(of code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }

  /// Makes an error from `errno`; callers must make no other system call after the failed one.
  static func last(_ operation: String, _ path: String) -> SystemError {
    SystemError(operation, path, code: navd_errno())
  }
}

/// Repeats a system call while a signal interrupts it.
func retryingOnInterrupt<Result: SignedInteger>(_ call: () -> Result) -> Result {
  while true {
    let result = call()
    if result != -1 || navd_errno() != EINTR { return result }
  }
}

/// The reason why a socket, a runtime directory or a state directory cannot be used.
package enum PathError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Other users can use a directory that must belong to this user alone.
  case notPrivate(path: String, reason: String)
  /// The path of a socket is longer than the kernel accepts.
  case socketPathTooLong(path: String, byteCount: Int)
  /// No variable gives the state directory: `STATE_DIRECTORY`, `XDG_STATE_HOME` or `HOME`.
  case noStateDirectory
  /// There is no usable socket of a daemon at any of these paths.
  case noEndpoint(tried: [Tried])
  case system(SystemError)

  /// One path that a client tried without success.
  package struct Tried: Hashable, Sendable {
    package var path: String
    /// The reason why the client cannot use the socket at this path, such as "not there".
    package var reason: String
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
        + tried.map { "\n  \($0.path): \($0.reason)" }.joined()
    case .system(let error):
      error.description
    }
  }
}
