/// The reason why a session ended.
package enum SessionEndReason: String, CaseIterable, Sendable {
  /// The client sent `bye`.
  case bye
  /// Its connection was lost.
  case lost
  /// The client began a new session on the same connection.
  case renewed
  /// Another process connected with the same client id.
  case fenced
  /// The client sent three malformed messages.
  case `protocol`
  /// The client was out of credit and silent for `stall-seconds`.
  case stalled
  /// The daemon stopped.
  case shuttingDown = "shutting-down"
  /// The client is no longer admitted, for example because its key was revoked.
  case revoked

  /// Its index among the reasons, from 0.
  package var place: Int { Self.inOrder.firstIndex(of: self) ?? 0 }

  private static let inOrder = allCases
}
