import CLinux

/// A system call that failed: what was attempted, on what, and what came back.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The attempt, as a verb phrase: "read", "make directory".
  package var operation: String
  /// The path it was attempted on, empty where there is none.
  package var path: String
  /// The value of `errno`.
  package var code: Int32

  /// Makes an error from its members.
  package init(_ operation: String, _ path: String, code: Int32) {
    self.operation = operation
    self.path = path
    self.code = code
  }

  /// The error as one line for people: "cannot read /x: No such file or directory".
  package var description: String {
    let object = path.isEmpty ? "" : " \(path)"
    return "cannot \(operation)\(object): \(SystemError.text(of: code))"
  }

  /// The error for a message that names the path already: "cannot read: No such file or directory".
  package var reason: String { SystemError(operation, "", code: code).description }

  /// The C library's text for an error number.
  package static func text(of code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }

  /// The error of the call that has just failed; call it before anything else can fail.
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
