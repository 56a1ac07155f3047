package import Conformance

/// Says that something must hold.
///
/// - Throws: `ConformanceFailure` with the line of the claim if it does not.
func claim(
  _ holds: Bool, _ context: @autoclosure () -> String = "", file: StaticString = #fileID,
  line: Int = #line
) throws(ConformanceFailure) {
  guard !holds else { return }
  throw ConformanceFailure(file: "\(file)", line: line, text: "does not hold: \(context())")
}

/// Says that there must be something, and returns it.
///
/// - Throws: `ConformanceFailure` with the line of the claim if there is nothing.
func need<Value>(
  _ value: Value?, file: StaticString = #fileID, line: Int = #line
) throws(ConformanceFailure) -> Value {
  if let value { return value }
  throw ConformanceFailure(file: "\(file)", line: line, text: "there is nothing")
}

extension ConformanceDriver {
  /// Everything that was sent to a connection up to now.
  package mutating func drain(_ name: String) throws -> [ReceivedMessage] {
    // No client counts its own requests so far.
    let id = 1 << 50
    try send(name, verb: "ping", body: Array(#"{"id":\#(id)}"#.utf8))
    var messages: [ReceivedMessage] = []
    while let message = try receive(name) {
      if message.verb == "pong", try JSONTree(reading: message.body)["id"]?.integer == id {
        return messages
      }
      messages.append(message)
    }
    throw ConformanceFailure(file: #fileID, line: #line, text: "no pong for \(name)")
  }

  /// Sends a request, or hello, and returns all messages up to its answer, or its place in a queue.
  package mutating func request(
    _ name: String, _ verb: String, _ body: String
  ) throws -> [ReceivedMessage] {
    let id = try JSONTree(body)["id"]?.integer
    try send(name, verb: verb, body: Array(body.utf8))
    var messages: [ReceivedMessage] = []
    while let message = try receive(name) {
      messages.append(message)
      if message.verb == "welcome" { break }
      guard ["ok", "err", "queued"].contains(message.verb) else { continue }
      if try JSONTree(reading: message.body)["id"]?.integer == id { break }
    }
    return messages
  }
}
