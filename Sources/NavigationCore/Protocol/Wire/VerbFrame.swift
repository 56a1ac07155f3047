/// The first frame of a message, which has the protocol version and the verb.
package enum VerbFrame: Hashable, Sendable {
  /// The verb of a message in this version of the protocol, NSP/1.
  case current(String)
  /// The verb of a message in another version: `nspN.` with another N.
  case otherVersion(String, version: UInt64)
  /// A frame of any other form.
  case malformed

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
    let parts = frame.split(separator: 0x2E, maxSplits: 1, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard frame.count <= 24, parts.count == 2, parts[0].utf8.starts(with: "nsp".utf8),
      let version = UInt64(parts[0].dropFirst(3)), parts[0] == "nsp\(version)"
    else {
      self = .malformed
      return
    }
    self = .otherVersion(parts[1], version: version)
  }

  private static let prefix: [UInt8] = Array("nsp1.".utf8)
}
