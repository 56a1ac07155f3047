import NavigationCore

/// The body of a `changed` row: what the diff, the answer to the op and the entry in the log have
/// beyond the row's header.
///
/// Numbers are in base 128, or 8 bytes where it says so; a text has its size ahead:
///
/// 1. the version of this form, and the flags
/// 2. the cause, and the name of the nav; its epoch, 8 bytes
/// 3. the digest before and after the revision: checksum, and chain of 8 bytes
/// 4. with `hasMessage`: the name of the client that asked, and the id of its message
/// 5. the value of `ch`, as JSON
/// 6. the number of events, and the events (`StoredEvent`)
/// 7. with `hasOp`: the kinds of the operations, as a text; the hash of the op, 8 bytes; the client's
///    process, or 0; the outputs, as JSON
/// 8. if any, the members of the row's other facts, as a JSON object
///
/// Raw values of causes, kinds and relations are stored, so new cases of these go behind the others.
///
/// One push of a short screen takes 180 bytes, and 466 as JSON, which LZ4 packed to 107. Without JSON
/// and LZ4 the op takes 2,900 instructions less.
enum ChangedBody {
  private static let version: UInt64 = 1

  /// What is in a body; the relation of the top is above the bits.
  private enum Flag {
    static let isAnimated: UInt64 = 1
    static let hasMessage: UInt64 = 2
    static let hasOp: UInt64 = 4
    static let relation: UInt64 = 8
  }

  /// The values of a revision that bodies of all authors have.
  struct Change: ~Copyable {
    var envelope: DiffEnvelope
    var digestBefore: Digest
    var digest: Digest
    var diff: EncodedDiff
    /// The byte range of the value of `ch` in the diff.
    var changes: Range<Int>
  }

  /// Writes the body of a change by navd itself; `origin` writes the members about its author.
  ///
  /// Afterwards `json` has nothing but the body.
  static func write(
    _ change: borrowing Change, _ commit: Commit, top: ScreenID?, _ json: inout JSONWriter,
    origin: (inout JSONWriter) -> Void
  ) {
    begin(change, commit, top, hasOp: 0, &json)
    end(commit, &json, origin)
  }

  /// Writes the body of a change that an op caused; `ok` is the answer to the op.
  // Never inlined, so that its instructions can be counted by its name.
  @inline(never)
  static func write(
    _ change: borrowing Change, _ commit: Commit, top: ScreenID?, by op: OpContext,
    answeredBy ok: EncodedOk, _ json: inout JSONWriter
  ) {
    begin(change, commit, top, hasOp: Flag.hasOp, &json)
    assert(!op.request.kinds.isEmpty)
    json.binary(UInt64(op.request.kinds.count))
    for kind in op.request.kinds { json.binary(UInt64(kind.rawValue)) }
    json.binary(word: op.octets.bits)
    json.binary(UInt64(op.client.author.pid ?? 0))
    json.binary(ok.bytes.span.extracting(ok.outputsRange))
    end(commit, &json) { $0.flags(of: op) }
  }

  @inline(__always)
  private static func begin(
    _ change: borrowing Change, _ commit: Commit, _ top: ScreenID?, hasOp: UInt64,
    _ json: inout JSONWriter
  ) {
    json.removeAll()
    var flags = hasOp | (commit.isAnimated ? Flag.isAnimated : 0)
    if change.envelope.by != nil { flags |= Flag.hasMessage }
    if let relation = commit.topRelation {
      flags |= Flag.relation * (UInt64(relation.rawValue) + 1)
    }
    json.binary(version)
    json.binary(flags)
    json.binary(UInt64(change.envelope.cause.rawValue))
    json.binary(change.envelope.nav.utf8.span)
    json.binary(word: change.envelope.epoch.bits)
    for digest in [change.digestBefore, change.digest] {
      json.binary(UInt64(digest.checksum))
      json.binary(word: digest.chain)
    }
    if let by = change.envelope.by {
      json.binary(by.name.utf8.span)
      json.binary(by.op)
    }
    json.binary(change.diff.bytes.span.extracting(change.changes))
    json.binary(UInt64(commit.events.count))
    var former: ScreenID?
    for event in commit.events { StoredEvent.write(event, top, &former, &json) }
  }

  @inline(__always)
  private static func end(
    _ commit: Commit, _ json: inout JSONWriter, _ origin: (inout JSONWriter) -> Void
  ) {
    let start = json.position
    json.beginObject()
    origin(&json)
    if commit.parts.contains(.transition), !commit.completionEvents.isEmpty {
      json.name("ends")
      json.events(commit.completionEvents)
    }
    if !commit.changedDetached.isEmpty {
      json.name("det")
      json.detached(commit.changedDetached)
    }
    json.released(commit.released)
    let isEmpty = json.position == start + 1
    json.endObject()
    if isEmpty { json.remove(from: start) }
  }

  /// Returns the contents of a body as JSON: `diff` as it was sent without the resolved bar, and the
  /// other facts as members beside it.
  ///
  /// Throws if the body has another version or cannot be read.
  fileprivate static func json(_ row: RowHeader, _ body: Span<UInt8>) throws(StoredDataError) -> [UInt8] {
    var reader = ByteReader()
    let version = reader.number(in: body)
    guard version == self.version else {
      throw StoredDataError(what: "a body of version \(version), not \(self.version)")
    }
    let flags = reader.number(in: body)
    let relation = flags / Flag.relation
    guard let cause = Cause(stored: reader.number(in: body)),
      let top = relation == 0 ? .some(nil) : TopRelation(stored: relation - 1).map(Optional.some)
    else { throw StoredDataError(what: "a cause or relation that this version does not know") }
    let nav = String(copying: reader.text(in: body))
    guard NavName(nav) != nil || nav == NavName.appearance.text else {
      throw StoredDataError(what: "a change of no nav")
    }
    let epoch = Epoch(bits: reader.word(in: body))
    let (before, digest) = (reader.digest(in: body), reader.digest(in: body))
    var by: (name: String, op: UInt64)?
    if flags & Flag.hasMessage != 0 {
      by = (String(copying: reader.text(in: body)), reader.number(in: body))
    }
    let envelope = DiffEnvelope(
      nav: nav, epoch: epoch, base: Revision(row.revision &- 1), revision: Revision(row.revision),
      sequence: row.sequence, cause: cause, by: by)
    var json = JSONWriter(reserving: 1024)
    json.beginObject()
    json.name("diff")
    envelope.begin(&json)
    json.memberIfTrue("animated", flags & Flag.isAnimated != 0)
    if let top { json.member("relation", word: top.word) }
    json.name("ch")
    json.raw(reader.text(in: body))
    json.name("ev")
    json.beginArray()
    var former: ScreenID?
    for _ in 0..<reader.number(in: body) where !reader.isBroken {
      StoredEvent.copy(&reader, body, row.top, &former, &json)
    }
    json.endArray()
    envelope.end(&json, depth: row.depth, digest)
    json.member("before", before)
    if flags & Flag.hasOp != 0 {
      guard let author = row.author, let by else {
        throw StoredDataError(what: "an op without its author")
      }
      try json.origin(by.name, author, &reader, body)
    }
    guard !reader.isBroken else { throw StoredDataError(what: "a body that ends too early") }
    let rest = body.extracting(droppingFirst: reader.offset)
    // The members of the object, without its braces.
    if rest.count > 2 { json.raw(rest.extracting(1..<rest.count - 1)) }
    json.endObject()
    return json.bytes
  }
}

extension JournalRow {
  /// The body as JSON.
  package func json() throws(StoredDataError) -> [UInt8] {
    header.kind == .changed ? try ChangedBody.json(header, body.span) : body
  }
}

/// An event in the body of a row: a number, and for a kind with its own number the screen.
///
/// The number is 0 for an event as JSON, and else twice the place of its kind, plus one if it is
/// animated. The screen is 0 for the top after the revision, 1 for the screen spelled out last, and
/// else its size plus two, and its bytes.
private enum StoredEvent {
  static func write(
    _ event: NavigationEvent, _ top: ScreenID?, _ former: inout ScreenID?, _ json: inout JSONWriter
  ) {
    switch event {
    case .willShow(let screen, let animated): write(2, animated, screen, top, &former, &json)
    case .didShow(let screen, let animated): write(4, animated, screen, top, &former, &json)
    case .willHide(let screen, let animated): write(6, animated, screen, top, &former, &json)
    case .didHide(let screen, let animated): write(8, animated, screen, top, &former, &json)
    case .didPush(let screen): write(10, false, screen, top, &former, &json)
    case .didPop(let screen, nil): write(12, false, screen, top, &former, &json)
    case .didPop, .didPresent, .didDismiss, .transitionBegan, .transitionEnded, .barChange,
      .barsVisibilityChanged:
      json.binary(0)
      json.binary(JSONWriter.value { $0.event(event) }.span)
    }
  }

  @inline(__always)
  private static func write(
    _ kind: UInt64, _ animated: Bool, _ screen: ScreenID, _ top: ScreenID?,
    _ former: inout ScreenID?, _ json: inout JSONWriter
  ) {
    json.binary(kind | (animated ? 1 : 0))
    if screen == top { return json.binary(0) }
    if screen == former { return json.binary(1) }
    json.binary(UInt64(screen.text.utf8.count) + 2)
    json.literal(screen.text.utf8.span)
    former = screen
  }

  /// Reads an event, and writes it as JSON; marks the reader as broken if there is none.
  static func copy(
    _ reader: inout ByteReader, _ body: Span<UInt8>, _ top: ScreenID?, _ former: inout ScreenID?,
    _ json: inout JSONWriter
  ) {
    let number = reader.number(in: body)
    if number == 0 { return json.raw(reader.text(in: body)) }
    let size = reader.number(in: body)
    if size > 1 { former = ScreenID(reader.text(of: size - 2, in: body)) }
    guard let screen = size == 0 ? top : former, let event = event(number, screen) else {
      return reader.isBroken = true
    }
    json.event(event)
  }

  private static func event(_ number: UInt64, _ screen: ScreenID) -> NavigationEvent? {
    let animated = number & 1 == 1
    return switch number & ~1 {
    case 2: .willShow(screen, animated: animated)
    case 4: .didShow(screen, animated: animated)
    case 6: .willHide(screen, animated: animated)
    case 8: .didHide(screen, animated: animated)
    case 10: .didPush(screen)
    case 12: .didPop(screen)
    default: nil
    }
  }
}

extension JSONWriter {
  /// Writes the members about the op of a row: `ops`, `octets`, `by` and `out`.
  fileprivate mutating func origin(
    _ name: String, _ author: RowAuthor, _ reader: inout ByteReader, _ body: Span<UInt8>
  ) throws(StoredDataError) {
    self.name("ops")
    beginArray()
    for _ in 0..<min(reader.number(in: body), 16) {
      guard let kind = OperationKind(stored: reader.number(in: body)) else {
        throw StoredDataError(what: "an operation that this version does not know")
      }
      word(kind.name)
    }
    endArray()
    member("octets", hex: reader.word(in: body))
    let process = reader.number(in: body)
    let pid = process == 0 ? nil : Int32(exactly: process)
    self.author(Author(name: name, principal: author.principal, pid: pid), op: author.op)
    self.name("out")
    raw(reader.text(in: body))
  }
}

extension ByteReader {
  fileprivate mutating func digest(in bytes: Span<UInt8>) -> Digest {
    Digest(
      checksum: UInt32(truncatingIfNeeded: number(in: bytes)), chain: word(in: bytes))
  }
}

extension RawRepresentable<UInt8> {
  /// The value with a stored number; nil if this version knows none.
  fileprivate init?(stored number: UInt64) {
    guard let rawValue = UInt8(exactly: number) else { return nil }
    self.init(rawValue: rawValue)
  }
}

extension String {
  fileprivate init(copying bytes: Span<UInt8>) {
    self = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
  }
}
