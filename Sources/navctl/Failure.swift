import NavigationClient
import NavigationCore
import RuntimePaths

/// An `err` reply of the daemon, with the context that its explanation needs.
struct Refusal: Error {
  var error: ErrReply
  var nav: String?
  /// The state that the guards of the command came from; nil if the user typed them.
  var seen: SeenState?
  var attempt = RefusedCommand()
}

/// An error that is not a reply of the daemon, with its text and its exit status.
struct PlainFailure: Error {
  var lines: [String]
  var status: Int32
}

extension PlainFailure {
  init(_ lines: String...) { self.init(lines: lines, status: 1) }

  init(_ code: ErrorCode, _ lines: String...) { self.init(code, lines) }

  init(_ code: ErrorCode, _ lines: [String]) {
    self.init(lines: lines, status: code.exitStatus)
  }

  static func noDaemon(_ lines: [String]) -> PlainFailure {
    PlainFailure(lines: lines, status: ConnectionErrorText.noDaemonStatus)
  }
}

/// Ends a command with this exit status and without a message.
struct ExitStatus: Error {
  var status: Int32

  /// Throws a status other than 0, which ends the command without a message.
  static func throwIfNonzero(_ status: Int32) throws(ExitStatus) {
    if status != 0 { throw ExitStatus(status: status) }
  }
}

enum FailureReport {
  static func report(_ error: any Error, command: String, words: [String]) -> Int32 {
    let failure = plainFailure(error, command, words)
    for (index, line) in failure.lines.enumerated() {
      let text = TerminalText.visible(line)
      Output.error(index == 0 ? "navctl: \(text)" : "  \(text)")
    }
    return failure.status
  }

  private static func plainFailure(
    _ error: any Error, _ command: String, _ words: [String]
  ) -> PlainFailure {
    switch error {
    case let error as Refusal:
      var attempt = error.attempt
      (attempt.command, attempt.words) = (command, words)
      attempt.leasedNav = ProcessEnvironment.current()[LeaseCommand.environmentVariable]
      return ErrorText.failure(error.error, nav: error.nav, seen: error.seen, of: attempt)
    case let error as UsageError:
      let remedy = error.remedy ?? "navctl \(command) --help"
      return PlainFailure(lines: ["usage: \(error.message)", "try: \(remedy)"], status: 2)
    case var failure as PlainFailure:
      if failure.lines.count == 1, failure.status == 2 {
        failure.lines.append("try: navctl \(command) --help")
      }
      return failure
    case let error as ConnectionError: return plainFailure(error)
    case PathError.noEndpoint(let tried): return .noDaemon(ConnectionErrorText.noDaemonFound(tried))
    default: return .noDaemon(["failed: \(error)"])
    }
  }

  private static func plainFailure(_ error: ConnectionError) -> PlainFailure {
    switch error {
    case .unreachable(let endpoint):
      return .noDaemon(
        ConnectionErrorText.unreachable(
          endpoint,
          findings: endpoint.split(separator: ",").map { address in
            let path = address.hasPrefix("ipc://") ? String(address.dropFirst(6)) : nil
            return (String(address), path.map { FileStatus.probe($0)?.kind })
          }))
    case .refused(let endpoint, .unauthorised(let key)):
      return PlainFailure(.forbidden, ConnectionErrorText.unauthorised(endpoint, key: key))
    case .refused(_, .noPermission(let denial)):
      return PlainFailure(.forbidden, ConnectionErrorText.noPermission(denial))
    case .refused(let endpoint, .tooManyConnections):
      return PlainFailure(.forbidden, ConnectionErrorText.tooManyConnections(endpoint))
    case .refused(let endpoint, .handshake(let serverKey)):
      let lines = ConnectionErrorText.brokenHandshake(endpoint, serverKey: serverKey)
      return serverKey == nil ? .noDaemon(lines) : PlainFailure(.forbidden, lines)
    case .closed(.refused(let refusal)): return ErrorText.failure(refusal)
    case .closed(.dismissed(let why)):
      return PlainFailure(.fenced, ConnectionErrorText.sessionEnded(why))
    case .noAnswer(let endpoint, let isChange):
      return PlainFailure(.busy, ConnectionErrorText.timeout(endpoint, isChange: isChange))
    case .unreadable, .system:
      return .noDaemon(["protocol: \(error.description)", "try: navctl status"])
    }
  }
}
