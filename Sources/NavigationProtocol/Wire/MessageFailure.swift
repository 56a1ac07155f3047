/// A message from a client that cannot be read, as the error that answers it.
package struct MessageFailure: Error, Hashable, Sendable {
  /// The code of the error, such as `bad-json`.
  package var code: ErrorCode
  /// The verb of the message; nil if it has none that the daemon knows.
  package var verb: ClientVerb?
  /// The id of the message, if it could be read.
  package var id: UInt64?
  /// What is wrong, for people.
  package var text: String

  /// Makes a failure; the reader adds the verb.
  init(_ code: ErrorCode, id: UInt64? = nil, _ text: String) {
    self.code = code
    self.id = id
    self.text = text
  }

  /// A message with another number of frames than two.
  package static let frameCount = MessageFailure(
    .badFrame, "a message has two frames: verb and body")
}
