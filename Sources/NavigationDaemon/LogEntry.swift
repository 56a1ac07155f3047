/// One message of the log, with what it is about.
package struct LogEntry: Hashable, Sendable {
  /// The journal's name for a kind of message, so that a person can find its explanation.
  package enum Kind: String, CaseIterable, Sendable {
    /// The daemon serves.
    case started = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c01"
    /// The daemon stops.
    case stopped = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c02"
    /// The journal cannot be used.
    case journalFailed = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c03"
    /// A client reported that its mirror differs.
    case diverged = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c04"
    /// A client was refused or cut off.
    case refused = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c05"
    /// A limit was reached.
    case limited = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c06"
    /// A client passed over guards or delegates, as it may.
    case overridden = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c07"
    /// A nav, or its history, cannot be used.
    case faulty = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c08"
    /// The configuration was read again, or what was read was refused.
    case reloaded = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c10"
    /// The journal was backed up or restored, or could not be.
    case backedUp = "5b0c1f8e7a3d4e0a9d0f2a6f0f6f4c11"
  }

  /// How important it is.
  package var level: LogLevel
  /// The text; it may quote what a client sent.
  package var message: String
  /// The kind of message, `nil` for one without an explanation.
  package var kind: Kind?
  /// The nav it is about.
  package var nav: String?
  /// The revision it is about.
  package var revision: UInt64?
  /// The client it is about.
  package var client: String?
  /// Who the transport says it is.
  package var principal: String?
  /// The code of an error, or a word for what was done.
  package var code: String?

  /// Makes an entry.
  package init(
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

  /// The journal's fields, each "NAME=value".
  package var journalFields: [String] {
    var fields = ["PRIORITY=\(level.priority)", "MESSAGE=\(message)", "SYSLOG_IDENTIFIER=navd"]
    if let kind { fields.append("MESSAGE_ID=\(kind.rawValue)") }
    if let nav { fields.append("NAVD_NAV=\(nav)") }
    if let revision { fields.append("NAVD_REV=\(revision)") }
    if let client { fields.append("NAVD_CLIENT=\(client)") }
    if let principal { fields.append("NAVD_PRINCIPAL=\(principal)") }
    if let code { fields.append("NAVD_CODE=\(code)") }
    return fields
  }

  /// The line for stderr without a newline; control characters are spelled out, so that a text a
  /// client sent can neither begin another line nor steer a terminal.
  package var line: String {
    var line = "navd: "
    if level <= .warning { line += "\(level.rawValue): " }
    line += message
    var about: [String] = []
    if let nav { about.append("nav \(nav)") }
    if let revision { about.append("rev \(revision)") }
    if let client { about.append("client \(client)") }
    if let principal { about.append("principal \(principal)") }
    if let code { about.append("code \(code)") }
    if !about.isEmpty { line += " (\(about.joined(separator: ", ")))" }
    return Self.spellingOutControls(line)
  }

  private static func spellingOutControls(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar.properties.generalCategory == .control {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
