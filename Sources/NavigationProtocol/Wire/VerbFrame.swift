/// The first frame of a message: protocol version and verb.
package enum VerbFrame: Hashable, Sendable {
  /// This version of the protocol.
  case current(String)
  /// Another version: `nspN.` with another N.
  case otherVersion(String)
  /// Nothing of the kind.
  case malformed

  /// Makes a value from its members.
  package init(_ frame: [UInt8]) {
    // The usual frame first; it costs no search.
    if frame.count <= 24, frame.starts(with: Self.prefix) {
      let verb = frame[Self.prefix.count...]
      guard !verb.isEmpty, verb.allSatisfy({ $0 >= 0x61 && $0 <= 0x7A }) else {
        self = .malformed
        return
      }
      self = .current(String(decoding: verb, as: UTF8.self))
      return
    }
    let text = String(decoding: frame.prefix(32), as: UTF8.self)
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].hasPrefix("nsp"), UInt64(parts[0].dropFirst(3)) != nil,
      frame.count <= 24
    else {
      self = .malformed
      return
    }
    self = .otherVersion(String(parts[1]))
  }

  private static let prefix: [UInt8] = Array("nsp1.".utf8)
}

extension ClientVerb {
  /// The verb that a frame announces in this version of the protocol; nil for any other frame.
  init?(_ frame: Span<UInt8>) {
    if ShortName(frame, from: 0, to: frame.count) == "nsp1.op", frame.count == 7 {
      self = .op
      return
    }
    // All names are short, and a byte of 0 behind one would be overlooked.
    guard frame.count > 5, frame.count <= 13, frame[frame.count - 1] != 0,
      ShortName(frame, from: 0, to: 5) == "nsp1."
    else { return nil }
    switch ShortName(frame, from: 5, to: frame.count) {
    case "op": self = .op
    case "credit": self = .credit
    case "answer": self = .answer
    case "ping": self = .ping
    case "watch": self = .watch
    case "unwatch": self = .unwatch
    case "get": self = .get
    case "delegate": self = .delegate
    case "lease": self = .lease
    case "hello": self = .hello
    case "bye": self = .bye
    default: return nil
    }
  }
}
