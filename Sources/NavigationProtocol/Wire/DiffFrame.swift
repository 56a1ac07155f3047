package import Navigation

/// A diff as it is sent, and where in it stands what the bar shows.
package struct EncodedDiff: Sendable {
  /// The message.
  package private(set) var bytes: [UInt8]
  // A ring keeps hundreds of these.
  private let start: Int32
  private let end: Int32

  /// Takes a diff that is encoded, and the place of the value of `resolved` in it.
  package init(bytes: [UInt8], resolved: Range<Int>? = nil) {
    self.bytes = bytes
    start = Int32(resolved?.lowerBound ?? 0)
    end = Int32(resolved?.upperBound ?? 0)
  }

  /// The value of `resolved`, if the diff has one.
  package var resolved: Range<Int>? { end > 0 ? Int(start)..<Int(end) : nil }

  /// The member, with the comma before it, which is never the first.
  private var member: Range<Int>? {
    resolved.map { ($0.lowerBound - Self.name.utf8CodeUnitCount)..<$0.upperBound }
  }

  private static let name: StaticString = ",\"resolved\":"

  /// How many bytes it has.
  package func count(hasResolved: Bool) -> Int {
    hasResolved ? bytes.count : bytes.count - (member?.count ?? 0)
  }

  /// What is before and behind the member; all, if there is none.
  func parts(hasResolved: Bool) -> (head: Range<Int>, tail: Range<Int>) {
    guard !hasResolved, let member else { return (0..<bytes.count, bytes.count..<bytes.count) }
    return (0..<member.lowerBound, member.upperBound..<bytes.count)
  }

  /// The diff as somebody gets it.
  package func body(hasResolved: Bool) -> [UInt8] {
    guard !hasResolved, let member else { return bytes }
    return Array(bytes[..<member.lowerBound]) + bytes[member.upperBound...]
  }

  /// Forgets the bytes.
  package mutating func clear() { bytes = [] }
}

extension JSONWriter {
  mutating func diff(_ diff: EncodedDiff, hasResolved: Bool) {
    let parts = diff.parts(hasResolved: hasResolved)
    let bytes = diff.bytes.span
    raw(bytes.extracting(parts.head), and: bytes.extracting(parts.tail))
  }
}

/// One revision as everybody sees it.
package struct DiffFrame {
  var nav: String
  var epoch: Epoch
  var base: Revision
  var revision: Revision
  var sequence: UInt64
  var cause: Cause
  var by: (name: String, op: UInt64)?

  /// Makes a value from its members.
  package init(
    nav: String, epoch: Epoch, base: Revision, revision: Revision, sequence: UInt64,
    cause: Cause, by: (name: String, op: UInt64)? = nil
  ) {
    self.nav = nav
    self.epoch = epoch
    self.base = base
    self.revision = revision
    self.sequence = sequence
    self.cause = cause
    self.by = by
  }

  /// Encodes the diff in the memory of `json`; what the bar shows is given if it changed.
  ///
  /// Never inlined, so that its instructions can be counted by its name.
  @inline(never)
  package func encode(
    _ commit: Commit, of controller: borrowing NavigationController, shown: ShownBar?,
    digest: Digest, _ json: inout JSONWriter
  ) -> EncodedDiff {
    json.removeAll()
    var place: Range<Int>?
    begin(&json)
    json.flag("animated", commit.isAnimated)
    if let relation = commit.relation {
      json.member("relation", plain: relation.wireName)
    }
    json.name("ch")
    json.changes(commit, of: controller)
    if let shown {
      json.name("resolved")
      let start = json.count
      json.shown(shown)
      place = start..<json.count
    }
    json.name("ev")
    json.events(commit.events)
    end(&json, depth: controller.stack.count, digest)
    return EncodedDiff(bytes: json.bytes, resolved: place)
  }

  /// Writes the members before the changes.
  package func begin(_ json: inout JSONWriter) {
    json.beginObject()
    json.member("nav", word: nav)
    json.member("epoch", hex: epoch.bits)
    json.member("base", base.number)
    json.member("rev", revision.number)
    json.member("seq", sequence)
    json.member("cause", plain: cause.wireName)
    if let by {
      json.name("by")
      json.beginObject()
      json.member("name", by.name)
      json.member("op", by.op)
      json.endObject()
    }
  }

  /// Writes the members behind the changes.
  package func end(_ json: inout JSONWriter, depth: Int, _ digest: Digest) {
    json.member("depth", UInt64(depth))
    json.member("dig", hex: digest.bits)
    json.endObject()
  }
}
