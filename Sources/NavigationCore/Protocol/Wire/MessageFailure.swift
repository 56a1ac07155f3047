/// The error with which the daemon answers an unreadable message.
package struct MessageFailure: Error, Hashable, Sendable {
  /// The code of the error, such as `bad-json`.
  package var code: ErrorCode
  /// The verb of the message; nil if it has none that the daemon knows.
  package var verb: ClientVerb?
  /// The id of the message; nil if it could not be read.
  package var id: UInt64?
  /// What is wrong, for people.
  package var text: String

  /// Makes a failure without a verb; the reader adds it.
  init(_ code: ErrorCode, id: UInt64? = nil, _ text: String) {
    self.code = code
    self.id = id
    self.text = text
  }

  /// The failure of a message that does not have exactly two frames.
  package static let frameCount = MessageFailure(
    .badFrame, "a message has two frames: verb and body")
}
