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

/// Returns a value that must be there; throws `invalid-argument` with a text for people otherwise.
@inline(__always)
package func need<Value>(
  _ value: Value?, _ otherwise: @autoclosure () -> String
) throws(ReadFailure) -> Value {
  guard let value else { throw ReadFailure(otherwise()) }
  return value
}

/// Throws `invalid-argument` with a text for people unless the condition holds.
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

  /// Reads a text; nil for null.
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

  /// Reads a flag, for which null stands for false.
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

  /// Reads a value of any form as its bytes, at most 64 KiB.
  package func opaque(_ at: Int, _ name: String) throws(ReadFailure) -> OpaqueJSON {
    guard rawByteCount(at) <= 65536 else {
      throw ReadFailure(.limit, "\(name) is larger than 65536 bytes", reason: "size")
    }
    return OpaqueJSON(validated: raw(at))
  }

  /// Reads an alternative by its word; nil for null.
  package func optionalWord<Choice: WireNamed>(
    _ at: Int, _ name: String
  ) throws(ReadFailure) -> Choice? {
    kind(at) == .null ? nil : try word(at, name)
  }

  /// Reads an alternative by its word.
  package func word<Choice: WireNamed>(_ at: Int, _ name: String) throws(ReadFailure) -> Choice {
    try need(
      string(at).flatMap { Choice(word: $0) }, "\(name) is one of \(Choice.choices)")
  }

  /// Throws the text as an error unless the value is an object.
  package func needObject(_ at: Int, _ otherwise: @autoclosure () -> String) throws(ReadFailure) {
    try need(kind(at) == .object, otherwise())
  }
}
