package import NavigationCore

/// The outcome of a request, as the statistics count it.
///
/// An op is `ok`, `unchanged` (there was nothing to change), `repeated` (the hub had decided it
/// before) or refused with a code. Other messages count only if they are refused.
package struct Outcome: Hashable, Sendable {
  /// The index among all outcomes; `UInt8.max` for `none`.
  package let index: UInt8

  /// An outcome that is not counted.
  package static let none = Outcome(index: .max)
  /// An op that made a revision.
  package static let ok = Outcome(index: 0)
  /// An op that changed nothing.
  package static let unchanged = Outcome(index: 1)
  /// An op that the hub had decided before, and that got the recorded answer again.
  package static let repeated = Outcome(index: 2)

  package static func refused(_ code: ErrorCode) -> Outcome {
    Outcome(index: 3 + UInt8(code.tableIndex))
  }

  /// A message other than an op, refused with a code.
  package static func refusedMessage(_ code: ErrorCode) -> Outcome {
    Outcome(index: UInt8(3 + ErrorCode.inOrder.count + code.tableIndex))
  }

  /// The number of outcomes that are counted.
  package static let count = 3 + 2 * ErrorCode.inOrder.count

  /// All outcomes of ops, with their names in the statistics.
  package static var ofOperations: [(word: String, outcome: Outcome)] {
    [("ok", .ok), ("unchanged", .unchanged), ("repeated", .repeated)]
      + ErrorCode.inOrder.map { ($0.rawValue, .refused($0)) }
  }
}

/// The reason why a session ended.
package enum SessionEndReason: String, CaseIterable, Sendable {
  /// The client sent `bye`.
  case bye
  /// The client lost its connection.
  case connectionLost = "lost"
  /// The client sent another `hello` on the same connection.
  case repeatedHello = "renewed"
  /// Another process connected with the same client id.
  case replacedByProcess = "fenced"
  /// The client sent three malformed messages.
  case protocolViolation = "protocol"
  /// The client was out of credit and silent for `stall-seconds`.
  case stalled
  /// The daemon stopped.
  case shuttingDown = "shutting-down"
  /// The daemon no longer admits the client, for example because its key was revoked.
  case revoked

  /// The index of the reason in the order of the cases, from 0.
  package var index: Int { Self.inOrder.firstIndex(of: self) ?? 0 }

  private static let inOrder = allCases
}
