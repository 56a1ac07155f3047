import CZeroMQ

/// A failed call of a libzmq function: its name, the endpoint or option that it got, and `errno`.
///
/// Expected results are not errors: a full queue and an absent peer are cases of ``SendResult``,
/// and an interrupted call is repeated. An error code that only a bug of this process can cause
/// ends the process at once.
package struct ZeroMQError: Error, Hashable, Sendable {
  /// The libzmq function that failed.
  package enum Operation: String, Sendable {
    case contextNew = "zmq_ctx_new"
    case contextSet = "zmq_ctx_set"
    case socket = "zmq_socket"
    case setOption = "zmq_setsockopt"
    case getOption = "zmq_getsockopt"
    case bind = "zmq_bind"
    case connect = "zmq_connect"
    case send = "zmq_msg_send"
    case receive = "zmq_msg_recv"
    case poll = "zmq_poll"
    case monitor = "zmq_socket_monitor"
    case curveKeyPair = "zmq_curve_keypair"
    case curvePublic = "zmq_curve_public"
  }

  /// The value of `errno` after the call.
  package let code: Int32
  package let operation: Operation
  /// The object of the call, an endpoint or the name of an option; empty if there is none.
  package let subject: String

  package init(_ operation: Operation, subject: String = "", code: Int32) {
    self.operation = operation
    self.subject = subject
    self.code = code
  }
}

extension ZeroMQError: CustomStringConvertible {
  /// One line such as `zmq_bind ipc:///x: Address already in use (EADDRINUSE)`.
  package var description: String {
    let attempted = subject.isEmpty ? operation.rawValue : "\(operation.rawValue) \(subject)"
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

/// The result of a libzmq call.
enum Outcome {
  case value(Int32)
  case failure(code: Int32)
}

/// Calls libzmq again as long as signals interrupt it.
///
/// It reads `errno` before anything else can change it. All calls that return −1 and set `errno`
/// use it, except waiting, where an interruption is a result.
@inline(__always)
func attempt(_ operation: ZeroMQError.Operation, _ call: () -> Int32) -> Outcome {
  while true {
    let result = call()
    guard result == -1 else { return .value(result) }
    let code = zmq_errno()
    guard code == EINTR else {
      requireNotOurBug(operation, code)
      return .failure(code: code)
    }
  }
}

/// Calls libzmq again as long as signals interrupt it, and throws its error.
@inline(__always)
func check(
  _ operation: ZeroMQError.Operation, _ subject: @autoclosure () -> String = "",
  _ call: () -> Int32
) throws(ZeroMQError) {
  switch attempt(operation, call) {
  case .value: return
  case .failure(let code): throw ZeroMQError(operation, subject: subject(), code: code)
  }
}

/// Ends the process for an error code that only a bug of this process can cause.
///
/// `ETERM` is such a code, because a socket keeps its context from terminating.
func requireNotOurBug(_ operation: ZeroMQError.Operation, _ code: Int32) {
  switch code {
  case EFAULT, EBADF, ENOTSOCK, EFSM, ETERM, EMTHREAD:
    preconditionFailure("\(ZeroMQError(operation, code: code))")
  default: return
  }
}
