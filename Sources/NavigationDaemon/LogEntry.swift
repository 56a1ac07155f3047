import NavigationCore
import NavigationHub

/// One message of the log, with the nav, the client and the code that it concerns.
struct LogEntry: Hashable, Sendable {
  /// The message ids of systemd's journal, which lead to the explanations in its catalog.
  enum Kind: String, CaseIterable, Sendable {
    case started = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c01"
    case stopped = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c02"
    /// navd cannot use its journal, can use it again, or ends because a system call failed, whichever it was.
    case journalFailed = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c03"
    /// A client reported that its mirror differs.
    case mirrorDiverged = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c04"
    /// navd refused or disconnected a client.
    case clientRefused = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c05"
    case limitExceeded = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c06"
    /// A client used `--any` or `--force`, or a veto was skipped; all of them are permitted.
    case checkOverridden = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c07"
    /// A nav or its history is damaged.
    case navDamaged = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c08"
    case reloaded = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c10"
    case backedUp = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c11"
  }

  var level: LogLevel
  /// The text; it can contain names that a client has chosen.
  var message: String
  /// The message id; nil for a message without an entry in the catalog.
  var kind: Kind?
  var nav: String?
  var revision: UInt64?
  var client: String?
  /// The authenticated user or key of the client.
  var principal: String?
  /// An error code, or the code of a note such as `override`.
  var code: String?

  init(
    _ level: LogLevel, _ message: String, kind: Kind? = nil, nav: String? = nil,
    revision: UInt64? = nil, client: String? = nil
  ) {
    self.level = level
    self.message = message
    self.kind = kind
    self.nav = nav
    self.revision = revision
    self.client = client
  }

  /// The fields for systemd's journal, each as "NAME=value".
  var journalFields: [String] {
    var fields = ["PRIORITY=\(level.priority)", "MESSAGE=\(message)", "SYSLOG_IDENTIFIER=navd"]
    if let kind { fields.append("MESSAGE_ID=\(kind.rawValue)") }
    if let nav { fields.append("NAVD_NAV=\(nav)") }
    if let revision { fields.append("NAVD_REV=\(revision)") }
    if let client { fields.append("NAVD_CLIENT=\(client)") }
    if let principal { fields.append("NAVD_PRINCIPAL=\(principal)") }
    if let code { fields.append("NAVD_CODE=\(code)") }
    return fields
  }

  /// The line for stderr, without a newline.
  ///
  /// Control characters are escaped, so that a name of a client can neither begin a line nor
  /// control a terminal.
  var line: String {
    var line = "navd: "
    if level <= .warning { line += "\(level.rawValue): " }
    line += message
    let subjects = [
      ("nav", nav), ("rev", revision.map { String($0) }), ("client", client),
      ("principal", principal), ("code", code),
    ]
    let about = subjects.compactMap { name, value in value.map { "\(name) \($0)" } }
    if !about.isEmpty { line += " (\(about.joined(separator: ", ")))" }
    return line.unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.properties.generalCategory == .control {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension LogEntry {
  init(_ notice: Notice) {
    let level: LogLevel =
      switch notice.level {
      case .error: .error
      case .warning: .warning
      case .notice: .notice
      case .info: .info
      }
    let kind: Kind? =
      switch notice.kind {
      case .diverged: .mirrorDiverged
      case .faulty: .navDamaged
      case .refused: .clientRefused
      case .overridden: .checkOverridden
      case .limitExceeded: .limitExceeded
      case .connectionsMiscounted: nil
      }
    self.init(
      level, notice.text, kind: kind, nav: notice.nav, revision: notice.revision,
      client: notice.client)
    principal = notice.principal
    code = notice.code
  }
}

/// The level of a message, with the names of syslog.
enum LogLevel: String, CaseIterable, Comparable, Sendable {
  /// The daemon, or one of its functions, cannot continue.
  case error
  /// A fault that the daemon handled.
  case warning
  /// A rare event that administrators should know.
  case notice
  case info
  /// Details for developers of navd.
  case debug

  /// The syslog priority, 3 to 7 in the order of the cases; a smaller number is more important.
  var priority: Int { 3 + (Self.allCases.firstIndex(of: self) ?? 0) }

  /// Orders by importance: `.error < .debug`.
  static func < (left: LogLevel, right: LogLevel) -> Bool {
    left.priority < right.priority
  }
}
