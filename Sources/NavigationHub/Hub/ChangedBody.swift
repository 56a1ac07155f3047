import NavigationCore

/// The body of a `changed` row: what the diff, the answer to the op and the entry in the log have
/// beyond the row's header.
///
/// Numbers are in base 128, or of 8 bytes where it says so; a text has its size ahead:
///
/// 1. the version of this form, the flags, and the cause
/// 2. the name of the nav, and its epoch, 8 bytes
/// 3. the chain of the digest before the revision, 8 bytes, and the checksums before and after it
/// 4. the change, see `Flag`, and the number of events, and the events (`StoredEvent`)
/// 5. of a change by an op: the kinds of the operations, as a text; the hash of the op, 8 bytes; the
///    outputs, as JSON, unless they are plain
/// 6. if any, the row's other facts, as a JSON object
///
/// Raw values of causes, kinds and relations are stored, so new cases of these go behind the others.
/// Reading repeats what the writers of diffs and events wrote, and computes the digest from it: a
/// change of theirs needs another version of this form.
enum ChangedBody {
  private static let version: UInt64 = 1

  /// The flags of a body, and the relation of the top.
  private enum Flag {
    static let isAnimated: UInt64 = 1
    /// An op caused the change, which the header names.
    static let hasOp: UInt64 = 2
    /// The change only pushed one screen, and the text is the members behind its id.
    static let isPush: UInt64 = 4
    /// The change only popped one screen, and the text is its id.
    ///
    /// Without this flag and `isPush`, the text is the value of `ch`.
    static let isPop: UInt64 = 8
    /// The only output is the id of the screen that was pushed or popped.
    static let hasPlainOutput: UInt64 = 16
    /// A message asked navd for the change: in front of the change are the name of its client and its id.
    static let hasMessage: UInt64 = 32
    /// The factor of the relation plus 1, or of 0 for none.
    static let relation: UInt64 = 64
  }

  /// The values of a revision that bodies of all authors have.
  struct Change: ~Copyable {
    var envelope: DiffEnvelope
    var digestBefore: Digest
    var digest: Digest
    var diff: EncodedDiff
    /// The byte range of the value of `ch` in the diff.
    var changes: Range<Int>
    var depth: Int
    var top: ScreenID?
  }

  /// Writes the body of a change by navd itself; `origin` writes the members about its author.
  ///
  /// Afterwards `json.writtenWithComma` is the body.
  static func write(
    _ change: borrowing Change, _ commit: Commit, _ json: inout JSONWriter,
    origin: (inout JSONWriter) -> Void
  ) {
    let screen = screenOfChange(change, commit)
    begin(
      change, commit, screen, flags: change.envelope.by == nil ? 0 : Flag.hasMessage, &json)
    end(commit, &json, origin)
  }

  /// Writes the body of a change that an op caused; `ok` is the answer to the op.
  // Never inlined, so that its instructions can be counted by its name.
  @inline(never)
  static func write(
    _ change: borrowing Change, _ commit: Commit, by op: OpContext,
    _ outputs: ShortList<OperationOutput>, answeredBy ok: EncodedOk, _ json: inout JSONWriter
  ) {
    assert(!op.request.kinds.isEmpty)
    let screen = screenOfChange(change, commit)
    let isPlain = outputs.count == 1 && isPlain(outputs[0], screen)
    begin(change, commit, screen, flags: Flag.hasOp | (isPlain ? Flag.hasPlainOutput : 0), &json)
    json.binary(UInt64(op.request.kinds.count))
    for kind in op.request.kinds { json.binary(UInt64(kind.rawValue)) }
    json.binary(word: op.octets.bits)
    if !isPlain { json.binary(ok.bytes.span.extracting(ok.outputsRange)) }
    end(commit, &json) { $0.flags(of: op) }
  }

  /// The screen of a change that only pushes or pops one screen.
  private enum ScreenOfChange {
    case pushed(ScreenID)
    case popped(ScreenID)
  }

  private static func screenOfChange(
    _ change: borrowing Change, _ commit: Commit
  ) -> ScreenOfChange? {
    guard commit.changedScreenIndexes.isEmpty, commit.parts.isEmpty else { return nil }
    switch commit.splice {
    case .some(let splice):
      switch (splice.removed.count, splice.insertedCount, change.depth - splice.at) {
      case (0, 1, 1): return change.top.map { .pushed($0) }
      case (1, 0, 0): return .popped(splice.removed[0])
      default: return nil
      }
    case .none: return nil
    }
  }

  private static func isPlain(_ output: OperationOutput, _ screen: ScreenOfChange?) -> Bool {
    switch (output, screen) {
    case (.screen(let id), .pushed(let screen)): id == screen
    case (.popped(let id), .popped(let screen)): id == screen
    default: false
    }
  }

  @inline(__always)
  private static func begin(
    _ change: borrowing Change, _ commit: Commit, _ screen: ScreenOfChange?, flags: UInt64,
    _ json: inout JSONWriter
  ) {
    json.removeAll()
    json.binary(version)
    var flags = flags | (commit.isAnimated ? Flag.isAnimated : 0)
    if let relation = commit.topRelation {
      flags |= Flag.relation * (UInt64(relation.rawValue) + 1)
    }
    switch screen {
    case .pushed: flags |= Flag.isPush
    case .popped: flags |= Flag.isPop
    case nil: break
    }
    json.binary(flags)
    json.binary(UInt64(change.envelope.cause.rawValue))
    json.binary(change.envelope.nav.utf8.span)
    json.binary(word: change.envelope.epoch.bits)
    json.binary(word: change.digestBefore.chain)
    json.binary(UInt64(change.digestBefore.checksum))
    json.binary(UInt64(change.digest.checksum))
    if flags & Flag.hasMessage != 0, let by = change.envelope.by {
      json.binary(by.name.utf8.span)
      json.binary(by.op)
    }
    let changes = change.diff.bytes.span.extracting(change.changes)
    switch screen {
    case .pushed(let screen):
      json.binary(changes.extracting(membersOfPush(at: change.depth - 1, screen, changes.count)))
    case .popped(let screen): screen.withBytes { json.binary($0) }
    case nil: json.binary(changes)
    }
    json.binary(UInt64(commit.events.count))
    var former: ScreenID?
    for event in commit.events { StoredEvent.write(event, change.top, &former, &json) }
  }

  /// The range of the members behind the id of the screen, in the value of `ch` for a push.
  private static func membersOfPush(at index: Int, _ top: ScreenID, _ count: Int) -> Range<Int> {
    let text: StaticString = #"[{"at":,"del":[],"ins":[{"id":"","#
    let end: StaticString = "}]}]"
    var digits = 1
    var rest = index
    while rest > 9 { (rest, digits) = (rest / 10, digits + 1) }
    return text.utf8CodeUnitCount + digits + top.byteCount..<count - end.utf8CodeUnitCount
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
    json.remove(from: isEmpty ? start : json.count)
  }

  /// Returns the contents of a body as JSON: `diff` as it was sent without the resolved bar, and the
  /// other facts as members beside it.
  ///
  /// Throws if the body has another version or cannot be read.
  fileprivate static func json(
    _ row: RowHeader, _ body: Span<UInt8>
  ) throws(StoredDataError) -> [UInt8] {
    var reader = ByteReader()
    let version = reader.number(in: body)
    guard version == self.version else {
      throw StoredDataError(what: "a body of version \(version), not \(self.version)")
    }
    let flags = reader.number(in: body)
    let relation = flags / Flag.relation
    guard let cause = Cause(stored: reader.number(in: body)),
      let relation = relation == 0
        ? .some(nil) : TopRelation(stored: relation - 1).map(Optional.some)
    else { throw StoredDataError(what: "a cause or relation that this version does not know") }
    let nav = String(copying: reader.text(in: body))
    guard NavName(nav) != nil || nav == NavName.appearance.text else {
      throw StoredDataError(what: "a change of no nav")
    }
    var envelope = DiffEnvelope(
      nav: nav, epoch: Epoch(bits: reader.word(in: body)), base: Revision(row.revision &- 1),
      revision: Revision(row.revision), sequence: row.sequence, cause: cause,
      by: row.author.map { ($0.author.name, $0.op) })
    let chain = reader.word(in: body)
    let before = Digest(
      checksum: UInt32(truncatingIfNeeded: reader.number(in: body)), chain: chain)
    let checksum = UInt32(truncatingIfNeeded: reader.number(in: body))
    if flags & Flag.hasMessage != 0 {
      envelope.by = (String(copying: reader.text(in: body)), reader.number(in: body))
    }
    let change = reader.text(in: body)
    let screen = flags & Flag.isPop == 0 ? row.top : ScreenID(change)
    var json = JSONWriter(reserving: 1024)
    json.beginObject()
    json.name("diff")
    let start = json.position
    envelope.begin(&json)
    json.memberIfTrue("animated", flags & Flag.isAnimated != 0)
    if let relation { json.member("relation", word: relation.word) }
    json.name("ch")
    if flags & (Flag.isPush | Flag.isPop) == 0 {
      json.raw(change)
    } else if let screen {
      json.splice(of: screen, row.depth, pushing: flags & Flag.isPop == 0 ? change : nil)
    }
    let digest = before.next(
      checksum: checksum, diff: json.written.extracting(droppingFirst: start))
    json.name("ev")
    StoredEvent.copyList(&reader, body, row.top, &json)
    envelope.end(&json, depth: row.depth, digest)
    json.member("before", before)
    if flags & Flag.hasOp != 0 {
      guard let author = row.author else { throw StoredDataError(what: "an op without its author") }
      let plain = flags & Flag.hasPlainOutput == 0 ? nil : screen
      try json.origin(author, plain, isPop: flags & Flag.isPop != 0, &reader, body)
    }
    let rest = body.extracting(droppingFirst: reader.offset)
    guard !reader.isBroken, screen != nil || flags & (Flag.isPush | Flag.isPop) == 0,
      rest.isEmpty || rest.count > 2
    else {
      throw StoredDataError(what: "a body that cannot be read")
    }
    // The members of the object, without its braces.
    if !rest.isEmpty { json.raw(rest.extracting(1..<rest.count - 1)) }
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
    json.binary(UInt64(screen.byteCount) + 2)
    screen.withBytes { json.literal($0) }
    former = screen
  }

  /// Reads the number of events and the events, and writes them as a JSON array.
  static func copyList(
    _ reader: inout ByteReader, _ body: Span<UInt8>, _ top: ScreenID?, _ json: inout JSONWriter
  ) {
    json.beginArray()
    var former: ScreenID?
    var left = reader.number(in: body)
    while left > 0, !reader.isBroken {
      copy(&reader, body, top, &former, &json)
      left -= 1
    }
    json.endArray()
  }

  /// Reads an event, and writes it as JSON; marks the reader as broken if there is none.
  private static func copy(
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
  /// Writes the value of `ch` for a push of one screen or, if `members` is nil, a pop.
  ///
  /// The text has the members of the screen behind its id.
  fileprivate mutating func splice(
    of screen: ScreenID, _ depth: Int, pushing members: Span<UInt8>?
  ) {
    beginArray()
    beginObject()
    member("at", UInt64(members == nil ? depth : depth - 1))
    array("del", members == nil ? [screen] : []) { $0.word($1) }
    name("ins")
    beginArray()
    if let members {
      beginObject()
      member("id", screen)
      raw(members)
      endObject()
    }
    endArray()
    endObject()
    endArray()
  }

  /// Writes the members about the op of a row: `ops`, `by`, `octets` and `out`.
  ///
  /// A plain output has the id of `screen` only.
  fileprivate mutating func origin(
    _ author: RowAuthor, _ screen: ScreenID?, isPop: Bool, _ reader: inout ByteReader,
    _ body: Span<UInt8>
  ) throws(StoredDataError) {
    name("ops")
    beginArray()
    let count = reader.number(in: body)
    for _ in 0..<min(count, 16) {
      guard count <= 16, let kind = OperationKind(stored: reader.number(in: body)) else {
        throw StoredDataError(what: "an operation that this version does not know")
      }
      word(kind.name)
    }
    endArray()
    self.author(author.author, op: author.op)
    member("octets", hex: reader.word(in: body))
    name("out")
    guard let screen else { return raw(reader.text(in: body)) }
    array([screen]) { json, screen in
      json.object { $0.member(isPop ? "popped" : "id", screen) }
    }
  }
}

extension RawRepresentable<UInt8> {
  /// The value with a stored number; nil if this version knows none.
  fileprivate init?(stored number: UInt64) {
    guard let rawValue = UInt8(exactly: number) else { return nil }
    self.init(rawValue: rawValue)
  }
}
