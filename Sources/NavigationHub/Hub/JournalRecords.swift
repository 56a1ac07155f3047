import NavigationCore

/// The rows and snapshots of a batch, or of a part of a batch, with the bodies of all rows in one
/// buffer.
///
/// The loop allocates a batch and the writer's thread frees it. With a buffer for each body, an op
/// would take 500 instructions more: an allocation and a deallocation that miss glibc's caches.
package struct JournalRecords: Hashable, Sendable {
  /// A row without its body.
  ///
  /// The body is in `bodies`, from the end of the previous row's body up to `bodyEnd`.
  package struct Row: Hashable, Sendable {
    package var header: RowHeader
    package var bodyEnd: Int
  }

  /// A snapshot, which follows the first `rowsBefore` rows of the batch.
  package struct Snapshot: Hashable, Sendable {
    package var rowsBefore: Int
    package var snapshot: SnapshotRow
  }

  /// The rows in the order of their sequence.
  package private(set) var rows: [Row] = []
  package private(set) var snapshots: [Snapshot] = []
  package private(set) var bodies: [UInt8] = []

  package init() {}

  /// Makes an empty value with the room of `other`, up to 64 rows and 32 KB.
  init(like other: borrowing JournalRecords) {
    rows.reserveCapacity(
      Self.reservedCapacity(other.rows.capacity, used: other.rows.count, most: 64))
    bodies.reserveCapacity(
      Self.reservedCapacity(other.bodies.capacity, used: other.bodies.count, most: 32 << 10))
  }

  /// The capacity to reserve next, which halves only if less than an eighth of the last one was
  /// used.
  ///
  /// The last part of a batch is often small, and the next one full again.
  private static func reservedCapacity(_ capacity: Int, used: Int, most: Int) -> Int {
    Swift.min(used < capacity / 8 ? capacity / 2 : capacity, most)
  }

  package var isEmpty: Bool { rows.isEmpty && snapshots.isEmpty }

  package var count: Int { rows.count + snapshots.count }

  package func body(of row: Int) -> Range<Int> {
    (row > 0 ? rows[row - 1].bodyEnd : 0)..<rows[row].bodyEnd
  }

  // Inlined into its callers, which moves the header where a call would copy it.
  @inline(__always)
  package mutating func append(_ header: consuming RowHeader, body: Span<UInt8>) {
    rows.append(Row(header: consume header, bodyEnd: bodies.count + body.count))
    // The bytes are copied before their memory can go.
    unsafe body.withUnsafeBufferPointer { unsafe bodies.append(contentsOf: $0) }
  }

  package mutating func append(_ snapshot: SnapshotRow) {
    snapshots.append(Snapshot(rowsBefore: rows.count, snapshot: snapshot))
  }
}

/// A record of `JournalRecords`, by itself.
package enum JournalRecord: Hashable, Sendable {
  case row(JournalRow)
  case snapshot(SnapshotRow)
}

extension JournalRecords: Sequence {
  package init(_ records: some Sequence<JournalRecord>) {
    for record in records {
      switch record {
      case .row(let row): append(row.header, body: row.body.span)
      case .snapshot(let snapshot): append(snapshot)
      }
    }
  }

  /// Makes an iterator over the records in order; each row is a copy.
  package func makeIterator() -> some IteratorProtocol<JournalRecord> {
    var (row, snapshot) = (0, 0)
    return AnyIterator { () -> JournalRecord? in
      if snapshot < snapshots.count, snapshots[snapshot].rowsBefore == row {
        snapshot += 1
        return .snapshot(snapshots[snapshot - 1].snapshot)
      }
      guard row < rows.count else { return nil }
      row += 1
      return .row(JournalRow(rows[row - 1].header, body: Array(bodies[body(of: row - 1)])))
    }
  }
}

/// The bodies of rows other than `changed`, and of snapshots: JSON.
enum JournalBody {
  /// The body of a `created` row, and of a snapshot.
  ///
  /// `origin` writes the members about the author of the row, or in a snapshot the last change of
  /// the top.
  static func state(of entry: NavEntry, origin: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
    let controller = entry.controller
    var json = JSONWriter(reserving: 1024)
    json.beginObject()
    json.optional("nav", entry.name)
    json.member("kind", word: controller.kindName)
    json.member("epoch", hex: entry.epoch.bits)
    json.optional("owner", entry.owner)
    json.memberIfTrue("open", controller.needsRecovery)
    // A start reads what is before `rev`.
    json.member("depth", UInt64(controller.stack.count))
    json.optional("top", controller.top?.id.text)
    json.member("rev", controller.revision.number)
    json.array("screens", controller.stack) { $0.screen($1) }
    for part in PartName.allCases {
      json.dynamicName(part.text)
      json.part(part, of: controller)
    }
    if let events = controller.transition.content.running?.completionEvents, !events.isEmpty {
      json.name("ends")
      json.events(events)
    }
    json.name("detached")
    json.detached(controller.detached.all)
    json.member("dig", entry.digest)
    origin(&json)
    json.endObject()
    return json.bytes
  }

  static func epoch(_ epoch: Epoch, because loss: HistoryLoss) -> [UInt8] {
    JSONWriter.object(reserving: 64) { json in
      json.member("epoch", hex: epoch.bits)
      json.optional("cause", loss.rawValue)
    }
  }

  static func report(
    _ bad: MirrorPosition, name: String, principal: String, process: Int32?, digest: Digest?
  ) -> [UInt8] {
    JSONWriter.object { json in
      json.object("bad") { json in
        json.member("rev", bad.revision.number)
        json.member("dig", bad.digest)
        if let digest { json.member("ours", digest) }
      }
      json.object("by") { json in
        json.optional("name", name)
        json.optional("principal", principal)
        if let process { json.member("pid", UInt64(process)) }
      }
    }
  }
}

/// The session for which navd makes a change, as the row names it.
struct ChangeOrigin {
  var author: Author
  /// The id of the message that asked for the change; nil if the end of the session caused it.
  var op: UInt64?
  /// Whether the change took the display from another session (`force` of a `lease`).
  ///
  /// Only the session that holds the display may report its environment, begin gestures and
  /// complete transitions.
  var isForced = false
}

extension JSONWriter {
  /// Writes the author of a row that no op caused.
  mutating func origin(_ doing: ChangeOrigin) {
    author(doing.author, op: doing.op)
    memberIfTrue("override", doing.isForced)
  }

  /// Writes which client caused a row with which op, and the whole answer to the op.
  mutating func origin(_ op: OpContext, answeredBy reply: [UInt8]) {
    array("ops", op.request.kinds) { $0.word($1.name) }
    author(op.client.author, op: op.request.id)
    member("octets", hex: op.octets.bits)
    member("reply", raw: reply)
    flags(of: op)
  }

  /// Writes what else the log tells about an op.
  mutating func flags(of op: OpContext) {
    memberIfTrue("override", op.request.guards.any)
    memberIfTrue("vetoSkipped", op.isVetoSkipped)
    if !op.request.areDecodedWithoutSender {
      optional("sender", op.request.operations.last { $0.sender != nil }?.sender)
    }
  }

  /// Writes the keys of detached records that are forgotten; nothing without any.
  mutating func released(_ keys: [DetachedRecords.Key]) {
    if keys.isEmpty { return }
    name("gone")
    beginArray()
    for key in keys {
      beginObject()
      switch key {
      case .screen(let id): optional("screen", id.text)
      case .button(let id): optional("button", id.text)
      }
      endObject()
    }
    endArray()
  }

  mutating func detached(_ records: [DetachedRecords.Record]) {
    beginArray()
    for record in records {
      beginObject()
      switch record {
      case .screen(let screen):
        name("screen")
        self.screen(screen)
      case .button(let button):
        name("button")
        self.button(button)
      }
      endObject()
    }
    endArray()
  }
}
