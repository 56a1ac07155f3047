/// The first member of an operation or record that cannot be read, and the values it may have.
package struct ReadFailure: Error, Hashable, Sendable {
  package var code: ErrorCode
  /// The error for people.
  package var text: String
  /// The `reason` of the error on the wire; nil for codes without one.
  package var reason: String?

  package init(_ code: ErrorCode, _ text: String, reason: String? = nil) {
    self.code = code
    self.text = text
    self.reason = reason
  }

  package init(_ text: String) { self.init(.invalidArgument, text) }
}

/// Reads records from a JSON tape.
///
/// A record may have known members only, because a misspelt one would have no effect.
package struct RecordReader {
  package init() {}
}

extension RecordReader {
  package func unknownMember(_ name: String, of what: String) -> ReadFailure {
    if Self.readonly.contains(Text(name)) {
      return ReadFailure(.readonly, "\(name) is derived or fixed and cannot be set")
    }
    return ReadFailure(.invalidArgument, "\(what) has no member \(name)")
  }

  /// Members that are derived or fixed, in UIKit or in navd, so that clients cannot set them.
  package static let readonly: Set<Text> = [
    "root", "top", "visible", "class", "item", "items", "frame", "bounds", "alpha", "subviews",
    "ver", "kind", "attached", "fullInteractivePopGestureRecognizer", "topItem", "backItem",
    "viewControllers", "navigationItem",
  ]

  package func string(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String {
    guard let text = tape.string(at) else { throw ReadFailure("\(name) is a text or null") }
    return text
  }

  package func text(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String? {
    tape.kind(at) == .null ? nil : try string(tape, at, name)
  }

  package func language(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Text? {
    let text = try string(tape, at, name)
    guard Grammar.isLanguageTag(text) else {
      throw ReadFailure("\(name) is a tag of BCP 47, such as zh-Hans, of at most 64 bytes")
    }
    return Text(text)
  }

  package func bool(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Bool {
    guard let value = tape.bool(at) else { throw ReadFailure("\(name) is true or false") }
    return value
  }

  /// Reads a flag, for which null stands for false.
  package func flag(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Bool {
    tape.kind(at) == .null ? false : try bool(tape, at, name)
  }

  package func integer(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String,
    in range: ClosedRange<UInt64> = 0...9_007_199_254_740_991
  ) throws(ReadFailure) -> UInt64 {
    guard let value = tape.integer(at), range.contains(value) else {
      throw ReadFailure(
        .invalidArgument,
        "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  package func opaque(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> OpaqueJSON {
    guard tape.rawCount(at) <= 65536 else {
      throw ReadFailure(.limit, "\(name) is larger than 65536 bytes", reason: "size")
    }
    return OpaqueJSON(validated: tape.raw(at))
  }

  /// Reads an alternative by its word; nil for null.
  package func choice<Choice: WireNamed>(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Choice? {
    tape.kind(at) == .null ? nil : try word(tape, at, name)
  }

  package func word<Choice: WireNamed>(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Choice {
    guard let word = tape.string(at), let choice = Choice(word: word) else {
      throw ReadFailure(.invalidArgument, "\(name) is one of \(Choice.choices)")
    }
    return choice
  }

  package func needObject(
    _ tape: borrowing JSONTape, _ at: Int, _ otherwise: @autoclosure () -> String
  ) throws(ReadFailure) {
    guard tape.kind(at) == .object else { throw ReadFailure(otherwise()) }
  }
}
