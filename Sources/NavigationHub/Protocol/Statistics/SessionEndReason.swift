import NavigationCore

/// The reason why a session ended.
package enum SessionEndReason: String, CaseIterable, Sendable {
  /// The client sent `bye`.
  case bye
  /// The client lost its connection.
  case lost
  /// The client sent another `hello` on the same connection.
  case renewed
  /// Another process connected with the same client id.
  case fenced
  /// The client sent three malformed messages.
  case `protocol`
  /// The client was out of credit and silent for `stall-seconds`.
  case stalled
  /// The daemon stopped.
  case shuttingDown = "shutting-down"
  /// The daemon no longer admits the client, for example because its key was revoked.
  case revoked

  /// The index of the reason in the order of the cases, from 0.
  package var place: Int { Self.inOrder.firstIndex(of: self) ?? 0 }

  private static let inOrder = allCases
}
