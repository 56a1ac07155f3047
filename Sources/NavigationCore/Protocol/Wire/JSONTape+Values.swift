/// An error in a member of a message, with a text that lists the valid values.
package struct ReadFailure: Error, Hashable, Sendable {
  package var code: ErrorCode
  /// The error message for users and developers.
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

/// Returns the value; throws `invalid-argument` with the text `otherwise` if the value is nil.
@inline(__always)
package func need<Value>(
  _ value: Value?, _ otherwise: @autoclosure () -> String
) throws(ReadFailure) -> Value {
  guard let value else { throw ReadFailure(otherwise()) }
  return value
}

/// Throws `invalid-argument` with the text `otherwise` if the condition is false.
@inline(__always)
package func need(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws(ReadFailure) {
  guard condition else { throw ReadFailure(otherwise()) }
}

// Readers of values at an index, which errors call `name`. A record may have known members only,
// because a misspelt one would have no effect.

extension JSONTape {
  package func unknownMember(_ name: String, of what: String) -> ReadFailure {
    if Self.readonly.contains(Text(name)) {
      return ReadFailure(.readonly, "\(name) is derived or fixed and cannot be set")
    }
    return ReadFailure("\(what) has no member \(name)")
  }

  /// Members that are derived or fixed, in UIKit or in navd, so that clients cannot set them.
  package static let readonly: Set<Text> = [
    "root", "top", "visible", "class", "item", "items", "frame", "bounds", "alpha", "subviews",
    "ver", "kind", "attached", "fullInteractivePopGestureRecognizer", "topItem", "backItem",
    "viewControllers", "navigationItem",
  ]

  package func string(_ at: Int, _ name: String) throws(ReadFailure) -> String {
    try need(string(at), "\(name) is a text or null")
  }

  /// Reads a string; returns nil for null.
  package func optionalString(_ at: Int, _ name: String) throws(ReadFailure) -> String? {
    kind(at) == .null ? nil : try string(at, name)
  }

  /// Reads a language tag of BCP 47.
  package func language(_ at: Int, _ name: String) throws(ReadFailure) -> Text? {
    let text = try string(at, name)
    try need(
      Grammar.isLanguageTag(text),
      "\(name) is a tag of BCP 47, such as zh-Hans, of at most 64 bytes")
    return Text(text)
  }

  package func bool(_ at: Int, _ name: String) throws(ReadFailure) -> Bool {
    try need(bool(at), "\(name) is true or false")
  }

  /// Reads a Boolean; returns false for null.
  package func boolOrNullAsFalse(_ at: Int, _ name: String) throws(ReadFailure) -> Bool {
    kind(at) == .null ? false : try bool(at, name)
  }

  package func integer(
    _ at: Int, _ name: String,
    in range: ClosedRange<UInt64> = 0...9_007_199_254_740_991
  ) throws(ReadFailure) -> UInt64 {
    try need(
      integer(at).flatMap { range.contains($0) ? $0 : nil },
      "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
  }

  /// Reads the JSON of any value, at most 64 KiB.
  package func opaque(_ at: Int, _ name: String) throws(ReadFailure) -> OpaqueJSON {
    guard rawByteCount(at) <= 65536 else {
      throw ReadFailure(.limit, "\(name) is larger than 65536 bytes", reason: "size")
    }
    return OpaqueJSON(validated: raw(at))
  }

  /// Reads the word of an enumeration's case; returns nil for null.
  package func optionalWord<Choice: WireNamed>(
    _ at: Int, _ name: String
  ) throws(ReadFailure) -> Choice? {
    kind(at) == .null ? nil : try word(at, name)
  }

  /// Reads the word of an enumeration's case.
  package func word<Choice: WireNamed>(_ at: Int, _ name: String) throws(ReadFailure) -> Choice {
    try need(
      string(at).flatMap { Choice(word: $0) }, "\(name) is one of \(Choice.choices)")
  }

  /// Throws `invalid-argument` with the text `otherwise` if the value is not an object.
  package func needObject(_ at: Int, _ otherwise: @autoclosure () -> String) throws(ReadFailure) {
    try need(kind(at) == .object, otherwise())
  }
}
