internal import CNavd
import NavigationClient
import NavigationCore
import RuntimePaths

/// Why a function of the library failed, or why a client, a watch, roles or a lease ended.
struct Failure: Error, Sendable {
  var status: navd_status
  var code: String
  var message: String
  var advice: String
  var retry: navd_retry
  /// The wait before a repetition in milliseconds; 0 if the daemon named none.
  var retryAfter: UInt64 = 0
  var mayHaveHappened = false
  /// The message of the daemon; an empty object if there is none.
  var errorReplyJSON = Array("{}".utf8)

  init(
    _ status: navd_status, _ code: String, _ message: String, retry: navd_retry = NAVD_RETRY_NEVER,
    advice: String
  ) {
    self.status = status
    self.code = code
    self.message = message
    self.retry = retry
    self.advice = advice
  }

  /// An error in the arguments, which only a change of the program can remove.
  static func misuse(_ message: String) -> Failure {
    Failure(NAVD_MISUSE, "misuse", message, advice: "correct the call; navd.h has its rules")
  }

  static let forked = Failure(
    NAVD_MISUSE, "forked", "a parent of this process has made the client",
    advice: "free it, and make another client in this process")

  init(_ refusal: ErrReply) {
    let statuses = ["expired": NAVD_TIMEOUT, "unreachable": NAVD_UNREACHABLE]
    self.init(
      statuses[refusal.code] ?? NAVD_REFUSED, refusal.code, refusal.message,
      retry: refusal.retryPolicy.forC.value,
      advice: refusal.knownCode?.row.developerAdvice ?? refusal.retryPolicy.forC.advice)
    mayHaveHappened = refusal.effect != "none"
    retryAfter = refusal.after ?? 0
    errorReplyJSON = refusal.body.bytes
  }

  init(_ error: ConnectionError) {
    switch error {
    case .unreachable:
      self.init(
        NAVD_UNREACHABLE, "unreachable", "\(error)", retry: NAVD_RETRY_LATER,
        advice: "start navd, or set the endpoint; navctl status shows whether navd is running")
    case .refused(_, .unauthorised):
      self.init(
        NAVD_UNREACHABLE, "forbidden", "\(error)",
        advice: "add this user to the group navd, or authorise its key in navd.conf(5)")
    case .refused(_, .noPermission(let denial)):
      self.init(NAVD_UNREACHABLE, "forbidden", denial.reason, advice: denial.remedy)
    case .refused(_, .tooManyConnections):
      self.init(
        NAVD_UNREACHABLE, "busy", "\(error)", retry: NAVD_RETRY_LATER,
        advice: "close other clients of this user, or raise a limit of connections in navd.conf(5)")
    case .refused(_, .handshake):
      self.init(
        NAVD_UNREACHABLE, "handshake", "\(error)",
        advice: "set the key of this daemon in NAVD_SERVER_KEY; navctl key shows keys")
    case .noAnswer(_, let isChange):
      self.init(
        NAVD_TIMEOUT, "expired", "\(error)",
        retry: isChange ? NAVD_RETRY_RESYNCHRONISED : NAVD_RETRY_LATER,
        advice: isChange
          ? "read the newest state before you decide again, because the change may have happened"
          : "try again, or wait longer")
      mayHaveHappened = isChange
    case .closed(SessionEnd.refused(let refusal)):
      self.init(refusal)
      status = NAVD_CLOSED
    case .closed(SessionEnd.dismissed(let why)):
      self.init(
        NAVD_CLOSED, why, "\(error)",
        advice: "free this client; make another one if the rights of this program allow it")
    case .unreadable:
      self.init(
        NAVD_SYSTEM, "unreadable", "\(error)", advice: "check that navd listens at this address")
    case .system:
      self.init(
        NAVD_SYSTEM, "system", "\(error)",
        advice: "check the address, and the limits of this process; then make another client")
    }
  }
}

extension Retry {
  /// The value in navd.h, and the advice for an error code that this library does not know.
  fileprivate var forC: (value: navd_retry, advice: String) {
    switch self {
    case .no: (NAVD_RETRY_NEVER, "do not repeat it as it is")
    case .sameAfterCorrection: (NAVD_RETRY_UNCHANGED, "repeat it later")
    case .resync:
      (NAVD_RETRY_RESYNCHRONISED, "show the newest state and let the user decide again")
    case .later: (NAVD_RETRY_LATER, "repeat it later")
    }
  }
}

/// The texts of an error for C.
final class ErrorText: Sendable {
  let failure: Failure
  let code: CText
  let message: CText
  let advice: CText
  let json: CText

  init(_ failure: Failure) {
    self.failure = failure
    code = CText(failure.code)
    message = CText(failure.message)
    advice = CText(failure.advice)
    json = CText(failure.errorReplyJSON)
  }
}
