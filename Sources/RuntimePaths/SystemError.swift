import CLinux

/// A failed system call: the operation, its path and `errno`.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The operation as a verb phrase, such as "read" or "make directory".
  package var operation: String
  /// The path of the operation; empty if there is none.
  package var path: String
  /// The value of `errno`.
  package var code: Int32

  /// Makes an error from an operation, its path and a value of `errno`.
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

  /// The error without the path, for a message that has it: "cannot read: No such file or
  /// directory".
  package var reason: String { SystemError(operation, "", code: code).description }

  /// The text of the C library for an error number, by strerror(3).
  package static func text(of code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }

  /// Makes the error of the last failed call from `errno`; no other call must come in between.
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
