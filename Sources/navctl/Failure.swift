import NavigationClient
import NavigationCore
import RuntimePaths

/// An `err` reply of the daemon, with the context that its explanation needs.
struct Refusal: Error {
  var error: ErrReply
  var nav: String?
  /// The state that the guards of the command came from; nil if the user typed them.
  var seen: Seen?
  var operation: OperationKind?
  /// The rights that all operations of the request need together; nil if it had none.
  var rights: Rights?
}

/// An error that is not a reply of the daemon, with its text and its exit status.
struct PlainFailure: Error {
  var lines: [String]
  var status: Int32
}

extension PlainFailure {
  init(_ lines: String...) { self.init(lines: lines, status: 1) }

  /// Makes a failure with the status that a refusal with this code has.
  init(_ code: ErrorCode, _ lines: String...) { self.init(code, lines) }

  init(_ code: ErrorCode, _ lines: [String]) {
    self.init(lines: lines, status: code.exitStatus)
  }
}

/// The exit status of a command that has printed all there is to say.
struct ExitStatus: Error {
  var status: Int32

  /// Ends a command with a status; goes on for 0.
  static func end(_ status: Int32) throws(ExitStatus) {
    if status != 0 { throw ExitStatus(status: status) }
  }
}

enum Failure {
  static func report(_ error: any Error, command: String, words: [String]) -> Int32 {
    let (lines, status) = describe(error, command: command, words: words)
    for (index, line) in lines.enumerated() {
      let text = TerminalText.visible(line)
      Output.error(index == 0 ? "navctl: \(text)" : "  \(text)")
    }
    return status
  }

  private static func describe(
    _ error: any Error, command: String, words: [String]
  ) -> (lines: [String], status: Int32) {
    switch error {
    case let error as Refusal:
      (
        ErrorText.lines(
          error.error, nav: error.nav, seen: error.seen,
          of: Attempt(
            command: command, words: words, operation: error.operation, rights: error.rights,
            leasedNav: ProcessEnvironment.current()[Lease.variable])),
        ErrorText.exitStatus(error.error)
      )
    case let error as UsageError:
      (["usage: \(error.message)", "try: \(error.remedy ?? "navctl \(command) --help")"], 2)
    case let error as PlainFailure where error.lines.count == 1 && error.status == 2:
      (error.lines + ["try: navctl \(command) --help"], 2)
    case let error as PlainFailure: (error.lines, error.status)
    case let error as ConnectionError: describe(error)
    case PathError.noEndpoint(let tried):
      (ConnectionText.notFound(tried), ConnectionText.noDaemonStatus)
    default: (["failed: \(error)"], ConnectionText.noDaemonStatus)
    }
  }

  private static func describe(_ error: ConnectionError) -> (lines: [String], status: Int32) {
    switch error {
    case .unreachable(let endpoint):
      (
        ConnectionText.unreachable(
          endpoint,
          findings: endpoint.split(separator: ",").map { address in
            let path = address.hasPrefix("ipc://") ? String(address.dropFirst(6)) : nil
            return (String(address), path.map { FileStatus.probe($0)?.kind })
          }), ConnectionText.noDaemonStatus
      )
    case .refused(let endpoint, .unauthorised(let key)):
      (ConnectionText.unauthorised(endpoint, key: key), ErrorCode.forbidden.exitStatus)
    case .refused(_, .noPermission(let denial)):
      (ConnectionText.closed(denial), ErrorCode.forbidden.exitStatus)
    case .refused(let endpoint, .full):
      (ConnectionText.full(endpoint), ErrorCode.forbidden.exitStatus)
    case .refused(let endpoint, .handshake(let serverKey)):
      (
        ConnectionText.brokenHandshake(endpoint, serverKey: serverKey),
        serverKey == nil ? ConnectionText.noDaemonStatus : ErrorCode.forbidden.exitStatus
      )
    case .closed(.refused(let refusal)):
      (
        ErrorText.lines(refusal, nav: nil, seen: nil), ErrorText.exitStatus(refusal)
      )
    case .closed(.dismissed(let why)):
      (ConnectionText.dismissed(why), ErrorCode.fenced.exitStatus)
    case .noAnswer(let endpoint, let isChange):
      (ConnectionText.timeout(endpoint, isChange: isChange), ErrorCode.busy.exitStatus)
    case .unreadable, .system:
      (["protocol: \(error.description)", "try: navctl status"], ConnectionText.noDaemonStatus)
    }
  }
}
