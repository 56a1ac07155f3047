/// The first frame of a message, which has the protocol version and the verb.
package enum VerbFrame: Hashable, Sendable {
  /// The verb of a message in this version of the protocol, NSP/1.
  case current(String)
  /// The verb of a message in another version: `nspN.` with another N.
  case otherVersion(String)
  /// A frame of any other form.
  case malformed

  /// Reads the first frame of a message.
  package init(_ frame: [UInt8]) {
    // Nearly all frames begin with this prefix, so no search is needed for them.
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
