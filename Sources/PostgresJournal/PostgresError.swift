import CPostgreSQL

/// A failure of a connection or of a statement.
enum PostgresError: Error, Hashable {
  /// There is no connection, or it was lost: it is unknown whether the server ran what was sent.
  case unreachable(String)
  /// The server refused a statement; it ran none of the transaction.
  case refused(state: String, message: String)

  var text: String {
    switch self {
    case .unreachable(let text): text
    case .refused(let state, let message): "\(message) (SQLSTATE \(state))"
    }
  }

  /// Whether the server ends its connections, so that the statement may have run.
  ///
  /// Class 57P: the server stops, crashes or starts; class 08: the connection failed; 25006: it only
  /// reads from now on.
  static func meansUnreachable(state: String) -> Bool {
    state.hasPrefix("57P") || state.hasPrefix("08") || state == "25006"
  }

  /// The SQLSTATEs for a prepared statement that the session lacks, or already has.
  private static let lostStatementStates = ["26000", "42P05"]

  /// The message about a connection pooler that loses the settings of a session: the server could
  /// then confirm commits that it loses.
  static let poolerAdvice =
    "a pooler between gives each transaction another session of the server; connect without it, or "
    + "set it to pool sessions"

  /// The SQLSTATE of a statement that waited too long for a lock.
  static let lockTimeout = "55P03"

  init(result: OpaquePointer?) {
    let state = unsafe Self.field(result, 67)  // PG_DIAG_SQLSTATE, 'C'
    let message = unsafe Self.field(result, 77)  // PG_DIAG_MESSAGE_PRIMARY, 'M'
    if let state, Self.lostStatementStates.contains(state) {
      self = .unreachable("\(message ?? state): \(Self.poolerAdvice)")
    } else if let state, !Self.meansUnreachable(state: state) {
      self = .refused(state: state, message: message ?? "no message")
    } else {
      self = .unreachable(
        message ?? Self.singleLine(unsafe String(cString: PQresultErrorMessage(result))))
    }
  }

  private static func field(_ result: OpaquePointer?, _ code: Int32) -> String? {
    unsafe PQresultErrorField(result, code).map { unsafe String(cString: $0) }
  }

  static func singleLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { $0.drop { $0.isWhitespace } }
      .joined(separator: "; ")
  }
}
