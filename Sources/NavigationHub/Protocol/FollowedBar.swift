package import NavigationCore

/// The resolved bar that was encoded last for a nav's watches, kept as a hash.
///
/// Nothing is encoded while no watch wants the bar, and no bytes are kept: they would take about 500
/// bytes a nav. Templates of the bytes that depend on the parts only saved 7,400 instructions of a
/// push for a watch with the bar, and took 300 lines.
package struct FollowedBar: Sendable {
  /// The hash of the bytes.
  ///
  /// The factor of the hash is random in each process, so no client can choose a title that hides a
  /// change.
  package private(set) var hash = KeyHash(0)
  /// The revision of the bar; 0 if none was encoded.
  private var revision = Revision(0)

  package init() {}

  /// Writes the resolved bar of the next state as one JSON value; returns whether its bytes differ
  /// from those that were encoded last.
  @discardableResult
  package mutating func write(
    _ controller: borrowing NavigationController, _ json: inout JSONWriter
  ) -> Bool {
    let start = json.position
    json.resolved(controller.resolvedBar())
    let former = hash
    (hash, revision) = (json.hash(from: start), controller.revision)
    return hash != former
  }

  /// Encodes the bar of the present state, unless it was encoded last.
  package mutating func follow(_ controller: borrowing NavigationController) {
    guard revision != controller.revision else { return }
    var json = JSONWriter(reserving: 768)
    write(controller, &json)
  }

  /// Whether the hash is that of a state's bar.
  package func isRight(for controller: borrowing NavigationController) -> Bool {
    hash == KeyHash(controller.encodedBar.span)
  }
}

extension NavigationController {
  /// The resolved bar as JSON.
  package var encodedBar: [UInt8] {
    var json = JSONWriter(reserving: 768)
    json.resolved(resolvedBar())
    return json.bytes
  }
}

extension JSONWriter {
  /// The hash of the bytes written since the writer had this `position`, without a comma at the end.
  fileprivate func hash(from position: Int) -> KeyHash {
    KeyHash(written.extracting(position..<count))
  }
}
