/// Reads the value at an index of a tape; the string is the name of the value in error messages.
package typealias ReadValue<Value> = (Int, String) throws(ReadFailure) -> Value

/// A type of member values, with the functions that read and write their JSON.
package protocol WireValue: Sendable, SendableMetatype {
  /// Returns the function that reads a value other than null.
  static func read(_ tape: JSONTape) -> ReadValue<Self>
  func write(_ json: inout JSONWriter)
  func equals(_ other: Self) -> Bool
}

extension WireValue where Self: Equatable {
  package func equals(_ other: Self) -> Bool { self == other }
}

extension Optional: WireValue where Wrapped: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<Wrapped?> {
    { at, name throws(ReadFailure) in try Wrapped.read(tape)(at, name) }
  }
  package func write(_ json: inout JSONWriter) {
    if let self { self.write(&json) } else { json.null() }
  }
  package func equals(_ other: Wrapped?) -> Bool {
    switch (self, other) {
    case (let left?, let right?): left.equals(right)
    case (nil, nil): true
    case (_?, nil), (nil, _?): false
    }
  }
}

extension WireValue where Self: WireNamed {
  package static func read(_ tape: JSONTape) -> ReadValue<Self> { tape.word }
  package func write(_ json: inout JSONWriter) { json.word(word) }
}

extension Bool: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<Bool> { tape.bool }
  package func write(_ json: inout JSONWriter) { json.bool(self) }
}

extension UInt64: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<UInt64> {
    { at, name throws(ReadFailure) in try tape.integer(at, name) }
  }
  package func write(_ json: inout JSONWriter) { json.integer(self) }
}

extension String: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<String> { tape.string }
  package func write(_ json: inout JSONWriter) { json.string(self) }
  // Not generic, so that octets are compared.
  package func equals(_ other: String) -> Bool { self == other }
}

extension Text: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<Text> {
    { at, name throws(ReadFailure) in Text(try tape.string(at, name)) }
  }
  package func write(_ json: inout JSONWriter) { json.string(string) }
}

extension OpaqueJSON: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<OpaqueJSON> { tape.opaque }
  package func write(_ json: inout JSONWriter) { json.raw(bytes) }
}

/// An enumeration with a word on the wire for each case; its raw values count from 0.
package protocol WireNamed: CaseIterable, RawRepresentable<UInt8>, WireValue {
  /// The words on the wire, in the order of the cases.
  static var words: [String] { get }
}

extension WireNamed {
  /// The names of the cases, which most enumerations use as their `words`.
  package static var names: [String] { allCases.map { "\($0)" } }

  package var word: String { Self.words[Int(rawValue)] }

  /// Finds the case with this word; nil if there is none.
  package init?(word: String) {
    guard let index = Self.words.firstIndex(where: { $0 == word }) else { return nil }
    self.init(rawValue: UInt8(index))
  }

  /// All words with commas between them, for error messages.
  package static var choices: String { words.joined(separator: ", ") }
}

extension PartName: WireNamed {
  package static let words = names
  package var text: String { word }
}

/// The cause of a revision.
package enum Cause: UInt8, CaseIterable, Sendable, WireNamed {
  /// A program sent the operation.
  case api
  /// A program performed a segue.
  case segue
  /// A person used the back button, its menu, or a button that pops.
  case backButton
  /// A person popped or dismissed a screen by a swipe.
  case gesture
  /// The display reported the end of a transition.
  case complete
  /// A client cancelled an interactive transition.
  case cancel
  /// The daemon ended a transition or gesture at its deadline.
  case timeout
  /// A client restored a saved stack, by ``NavigationOperation/restore(_:root:)``.
  case restore
  /// A client went back to an earlier revision, by ``NavigationOperation/revert(to:)``.
  case revert
  /// A client opened a route, by ``NavigationOperation/open(_:dismissing:)``.
  case open
  /// A client took or released the display, or the orientations of a delegate changed.
  case lease
  /// The daemon ended, at its start, a transition that was open when it stopped.
  case recovery
  /// The nav adopted a change of the appearance of all bars of a class (UIKit's appearance proxy).
  case appearance
  /// An operation with `onBusy` `interrupt` ended the transition before it.
  case interrupt

  package static let words = names
}
