import CZeroMQ

/// A failed call of a libzmq function: its name, the endpoint or option that it got, and `errno`.
///
/// Expected results are not errors: a full queue and an absent peer are cases of ``SendResult``. An
/// error code that only a bug of this process can cause ends the process at once.
package struct ZeroMQError: Error, Hashable, Sendable {
  /// The value of `errno` after the call.
  package let code: Int32
  package let function: String
  /// The endpoint or the name of the option that the function got; empty without one.
  package let subject: String

  package init(_ function: String, subject: String = "", code: Int32) {
    self.function = function
    self.subject = subject
    self.code = code
  }
}

extension ZeroMQError: CustomStringConvertible {
  /// One line such as `zmq_bind ipc:///x: Address already in use (EADDRINUSE)`.
  package var description: String {
    let attempted = subject.isEmpty ? function : "\(function) \(subject)"
    let text = unsafe String(cString: zmq_strerror(code))
    return "\(attempted): \(text) (\(Self.name(of: code)))"
  }

  private static func name(of code: Int32) -> String {
    switch code {
    case ENOCOMPATPROTO: return "ENOCOMPATPROTO"
    case EFSM: return "EFSM"
    case ETERM: return "ETERM"
    case EMTHREAD: return "EMTHREAD"
    default:
      guard let name = unsafe strerrorname_np(code) else { return "errno \(code)" }
      return unsafe String(cString: name)
    }
  }
}

/// The return value of a libzmq call, or its `errno`.
enum CallOutcome {
  case value(Int32)
  case failure(code: Int32)
}

/// Calls libzmq again as long as signals interrupt it.
///
/// It reads `errno` before anything else can change it. ``Poller/wait(milliseconds:)`` does not use
/// it, because an interruption ends a wait.
@inline(__always)
func attempt(_ function: String, _ call: () -> Int32) -> CallOutcome {
  while true {
    let result = call()
    guard result == -1 else { return .value(result) }
    let code = zmq_errno()
    guard code == EINTR else {
      requireNotOurBug(function, code)
      return .failure(code: code)
    }
  }
}

/// Calls libzmq again as long as signals interrupt it, and throws its error.
@inline(__always)
func check(
  _ function: String, _ subject: @autoclosure () -> String = "",
  _ call: () -> Int32
) throws(ZeroMQError) {
  if case .failure(let code) = attempt(function, call) {
    throw ZeroMQError(function, subject: subject(), code: code)
  }
}

/// Ends the process for an error code that only a bug of this process can cause.
///
/// `ETERM` is such a code, because a socket keeps its context from terminating.
func requireNotOurBug(_ function: String, _ code: Int32) {
  switch code {
  case EFAULT, EBADF, ENOTSOCK, EFSM, ETERM, EMTHREAD:
    preconditionFailure("\(ZeroMQError(function, code: code))")
  default: return
  }
}
