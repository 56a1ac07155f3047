import NavigationCore

/// One nav of the device, and what the receiver has of it.
struct CarriedNav {
  /// What the receiver has.
  enum Position: Hashable {
    /// It was not asked yet.
    case unknown
    /// It does not have the nav.
    case nothing
    /// It has the nav up to here.
    case at(NavPosition)
  }

  /// The name on the device, and at the receiver.
  let name: String
  let remoteName: String
  var position = Position.unknown
  /// The position that the device was last informed of.
  var acknowledged: NavPosition?
  /// Whether the device may have rows that the receiver lacks.
  var isDue = true
  /// Whether the device has closed the nav.
  var isClosed = false
  /// The address of the daemon that serves the nav, if it is not the configured one.
  var endpoint: String?
  /// When to go on after a refusal.
  var backoff = Backoff()
  /// The last refusal, so that it is logged once.
  var refusal: String?

  init(_ name: String, of device: String) {
    self.name = name
    remoteName = "\(device)/\(name)"
  }
}

/// A list of rows as the device returned it, which may be a piece of one row.
struct CarriedRows {
  let json: [UInt8]
  /// Whether there are no rows.
  private(set) var isEmpty = true
  /// Where the next piece of the row begins; nil if this is the last one, or the rows are whole.
  private(set) var nextOffset: UInt64?

  /// Reads the list; throws if it is none.
  init(_ json: [UInt8]) throws(JSONError) {
    self.json = json
    var tape = JSONTape()
    try tape.read(json, maximumDepth: 40)
    guard tape.kind(tape.root) == .array, tape.count(tape.root) > 0 else { return }
    isEmpty = false
    let first = tape.root + 1
    guard let size = tape.member("size", of: first).flatMap({ tape.integer($0) }),
      let at = tape.member("at", of: first).flatMap({ tape.integer($0) }),
      let text = tape.member("text", of: first).flatMap({ tape.string($0) })
    else { return }
    let end = at + UInt64(text.utf8.count)
    nextOffset = end < size && !text.isEmpty ? end : nil
  }
}
