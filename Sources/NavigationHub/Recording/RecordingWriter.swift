package import NavigationCore

/// Makes the lines of a recording from the entries of `get` `diffs`, one at a time.
///
/// The caller takes `header.line` first, then a state, then entries in order, and `endLine` at last. Law: a
/// `RecordingVerifier` accepts the lines. The writer keeps one state, never lines.
package struct RecordingWriter {
  package let header: RecordingHeader
  private let redaction: RecordingRedaction?
  private var replay = HistoryReplay()
  package private(set) var entryCount: UInt64 = 0
  /// Whether the last entry lacked its contents, so that the state at `revision` must follow.
  package private(set) var needsState = false

  /// Begins a recording; `redactionRules` of `header` become those of the redaction.
  package init(_ header: RecordingHeader, redaction: RecordingRedaction? = nil) {
    var header = header
    header.redactionRules = redaction?.ruleNames ?? []
    self.header = header
    self.redaction = redaction
  }

  /// The revision of the last entry or state that became a line.
  package private(set) var revision = Revision(0)

  /// Makes the line of a complete state, as `get` `state` answers it, with `epoch` and `rev`.
  ///
  /// `origin` is the entry of `get` `diffs` that led to this state, for its time and author; nil if
  /// it is not known.
  package mutating func stateLine(
    _ state: [UInt8], origin: [UInt8]? = nil
  ) throws(StoredDataError) -> [UInt8] {
    let tape = try Self.tape(of: state)
    guard let epoch = tape.member(short: "epoch", of: 0).flatMap({ tape.hex64($0) }),
      let revision = tape.member(short: "rev", of: 0).flatMap({ tape.integer($0) })
    else { throw StoredDataError(what: "a state without epoch or rev") }
    let author = try origin.map { (bytes) throws(StoredDataError) in try Self.tape(of: bytes) }
    let entry = JSONWriter.object(reserving: state.count + 256) { json in
      json.member("kind", "state")
      json.member("rev", revision)
      if let author { Self.copyOrigin(author, &json) }
      json.member("epoch", hex: epoch)
      json.name("state")
      json.beginObject()
      json.copyStateMembers(of: tape)
      json.endObject()
    }
    return try entryLine(entry)
  }

  /// Makes the line of the next entry of `get` `diffs`.
  ///
  /// If `needsState` is true afterwards, the state at `revision` comes next.
  package mutating func entryLine(_ entry: [UInt8]) throws(StoredDataError) -> [UInt8] {
    var line =
      try redaction.map { (redaction) throws(StoredDataError) in
        try redaction.redacted(entry)
      } ?? entry
    // A client may have written line feeds between the values of its arguments.
    for index in line.indices where line[index] == 0x0A || line[index] == 0x0D {
      line[index] = 0x20
    }
    let step = try replay.take(line)
    guard !step.changesState || replay.digest == step.recordedDigest else {
      throw StoredDataError(
        what: "revision \(step.revision.number) has digest \(replay.digest.text)")
    }
    entryCount += 1
    revision = step.revision
    needsState = step.lacksContents
    guard let bar = step.bar else { return line }
    assert(line.last == UInt8(ascii: "}"))
    line.removeLast()
    line += Array(#","resolved":"#.utf8)
    line += bar
    line.append(UInt8(ascii: "}"))
    return line
  }

  package var endLine: [UInt8] {
    RecordingEnd(entryCount: entryCount, revision: replay.revision, digest: replay.digest).line
  }

  package var digest: Digest { replay.digest }

  /// The members that the line of a state repeats from the entry that led to the state.
  private static let originMembers = [
    "t", "cause", "by", "do", "ins", "del", "presented", "sender", "override", "vetoSkipped",
  ]

  private static func copyOrigin(_ tape: JSONTape, _ json: inout JSONWriter) {
    for name in originMembers {
      guard let value = tape.member(name, of: 0) else { continue }
      json.dynamicName(name)
      json.raw(tape.raw(value))
    }
  }

  static func tape(of value: [UInt8]) throws(StoredDataError) -> JSONTape {
    var tape = JSONTape()
    do throws(JSONError) { try tape.read(value, maximumDepth: 48) } catch {
      throw StoredDataError(what: error.reason.rawValue)
    }
    guard tape.kind(0) == .object else { throw StoredDataError(what: "not an object") }
    return tape
  }
}
