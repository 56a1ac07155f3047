import FuzzSupport
@testable import Journal
import NavigationCore
@testable import NavigationHub

/// Reads what the journal and recordings store; the first octet selects which.
///
/// Laws:
/// - Damage is an error and no crash, and what is kept is bounded by what was stored.
/// - What was read of a group is written as a group that reads as the same.
/// - A nav that was replayed is written as a snapshot that reads as the same.
struct RowsTarget: FuzzTarget {
  private static let now = Instant(boot: 1_000_000, wall: 1_700_000_000_000)
  private let prepared: SnapshotRow

  init() {
    var stage = Stage()
    stage.send(
      .op, ConnectionID(1),
      Array(
        (#"{"id":1,"nav":"a","if":{"any":true},"do":[{"nav.create":{"root":{"id":"home"}}},"#
          + #"{"attach":{}},{"push":{"screen":{"id":"x1","title":"One"}}}]}"#).utf8))
    guard let body = stage.states["a"] else { fail("the nav was not created") }
    prepared = SnapshotRow(nav: 1, revision: 1, sequence: 1, time: 5, body: body)
  }

  mutating func run(_ input: Span<UInt8>) {
    guard input.count > 0 else { return }
    let rest = input.extracting(droppingFirst: 1).octets
    switch Character(Unicode.Scalar(input[0])) {
    case "g": checkGroup(rest)
    case "c": checkChange(rest)
    case "s": checkSnapshot(rest)
    case "r": checkRecording(Self.compressed(rest))
    case "z": checkRecording(rest)
    case "w": checkWritten(rest)
    default: break
    }
  }

  // Groups.

  /// Two octets with the size of the heads, the heads, and the bodies.
  private func checkGroup(_ octets: [UInt8]) {
    guard octets.count > 2 else { return }
    let size = min(Int(octets[0]) | Int(octets[1]) << 8, octets.count - 2)
    let heads = Array(octets[2..<(2 + size)])
    let bodies = Array(octets[(2 + size)...])
    let rows = Self.rows(heads, bodies)
    guard let rows else { return }
    var group = RowGroup()
    group.begin(1)
    for row in rows { _ = group.append(row.header, row.body.span) }
    let again = Self.rows(group.heads.octets, group.bodies.octets)
    demand(again == rows, "rows are written as other rows")
    var records = JournalRecords()
    for row in rows { records.append(row.header, body: row.body.span) }
    demand(
      Array(records) == rows.map { JournalRecord.row($0) }, "rows become other records")
    for row in rows { observe((try? row.json())?.count ?? 0) }
    start(nil, rows)
  }

  /// The rows of a group; nil if it cannot be separated.
  private static func rows(_ heads: [UInt8], _ bodies: [UInt8]) -> [JournalRow]? {
    var cursor = RecordCursor(first: 1)
    var count = 0
    while cursor.next(in: heads.span) {
      count += 1
      demand(cursor.header.previous < cursor.header.sequence, "a row before itself")
    }
    let last = cursor.header.sequence
    let hasEnded = cursor.hasEnded(heads.span, at: last, bodyBytes: bodies.count)
    let loaded = try? LoadedGroup(
      StoredGroup(first: 1, last: last, checksum: 0), heads.span, bodies.span, "journal")
    demand((loaded != nil) == hasEnded, "a group is read in two ways")
    guard let loaded else { return nil }
    var rows: [JournalRow] = []
    var second = RecordCursor(first: 1)
    while second.next(in: heads.span) {
      guard let row = loaded.row(at: second.header.sequence) else { fail("a row is missing") }
      demand(row.header == second.header, "another header")
      rows.append(row)
    }
    demand(rows.count == count, "\(rows.count) rows of \(count)")
    return rows
  }

  // Changes and snapshots.

  /// The depth, the size of the top's id, that id, and the body of a row behind the prepared nav.
  private func checkChange(_ octets: [UInt8]) {
    guard octets.count > 1 else { return }
    let (depth, size) = (Int(octets[0] & 15), Int(octets[1] & 15))
    let top = ScreenID(octets.dropFirst(2).prefix(size).map { $0 }.text)
    guard (depth == 0) == (top == nil) else { return }
    let header = RowHeader(
      sequence: 2, nav: 1, revision: 2, previous: 1, time: 6, kind: .changed, depth: depth,
      top: top,
      author: RowAuthor(
        Author(name: "n", principal: "uid:0", pid: 5), client: ClientID(high: 1, low: 2), op: 3))
    let row = JournalRow(header, body: Array(octets.dropFirst(2 + size)))
    guard let json = try? row.json() else { return }
    observe(json.count)
    start(prepared, [row])
  }

  /// The snapshot of a nav, and in further lines entries of its history as JSON.
  private func checkSnapshot(_ octets: [UInt8]) {
    let lines = octets.lines
    var tape = JSONTape()
    let revision =
      (try? tape.read(Array(lines[0]), maximumDepth: 48)).flatMap { tape.integer("rev", of: 0) }
      ?? 1
    start(
      SnapshotRow(nav: 1, revision: revision, sequence: 1, time: 5, body: Array(lines[0])), [])
    var replay = HistoryReplay()
    for line in lines.dropFirst() {
      guard (try? replay.take(Array(line))) != nil else { return }
      observe(replay.state(of: "a").count)
      observe(replay.resolvedBar.count)
    }
  }

  /// Starts a hub from rows, as a daemon does; any of them may be refused.
  private func start(_ snapshot: SnapshotRow?, _ rows: [JournalRow]) {
    var hub = Hub(configuration: Stage.configuration, seed: 1)
    do throws(HubReplayError) {
      if let snapshot { try hub.index(snapshot) }
      for row in rows { try hub.index(row.header, body: row.body.span, at: Self.now) }
      hub.setFloors { _ in 0 }
      for (shard, sequences) in hub.opRowsToRead {
        let wanted = Set(sequences)
        hub.rememberOps(from: rows.filter { wanted.contains($0.sequence) }, of: shard)
      }
      for request in hub.navsToReviveAtStart + hub.dormantNavs {
        let own = rows.filter { $0.nav == request.nav && $0.sequence <= request.newestRow }
        try hub.revive(
          request, snapshot: snapshot?.nav == request.nav ? snapshot : nil, rows: own)
      }
    } catch {
      return observe(error.what.utf8.count)
    }
    for slot in hub.navs.loaded where hub.navs.isLive(slot) { checkAgain(hub.navs[slot]) }
    hub.finishReplay(
      renewsEpochs: rows.count % 2 == 1, lastSequence: rows.last?.sequence ?? 1, at: Self.now)
    observe(hub.takeRecords().count)
    observe(hub.committed(at: Self.now).messages.count)
  }

  /// A nav that was replayed is written, read and written again.
  private func checkAgain(_ entry: NavEntry) {
    let body = JournalBody.state(of: entry)
    var reader = JournalBodyReader()
    do throws(StoredDataError) {
      try reader.load(body)
      let again = try NavEntry(try reader.state(), number: entry.number)
      demand(
        JournalBody.state(of: again) == body, "\(body.text) is read as another state")
      demand(
        again.controller.violatedInvariants().isEmpty
          == entry.controller.violatedInvariants().isEmpty,
        "what was read is sound, or what was written")
    } catch {
      fail("what was written cannot be read: \(error.what): \(body.text)")
    }
  }

  // Recordings.

  private static func compressed(_ text: [UInt8]) -> [UInt8] {
    var gzip = GzipWriter(level: 1)
    return gzip.append(text) + gzip.finish()
  }

  private func checkRecording(_ file: [UInt8]) {
    var reader = RecordingReader()
    reader.append(file)
    do throws(RecordingFault) {
      guard let header = try reader.readHeader() else { return }
      var verifier = RecordingVerifier(header)
      let redaction = RecordingRedaction()
      while let line = try reader.next() {
        switch line {
        case .entry(let entry):
          try verifier.check(entry, line: reader.lineNumber)
          observe(verifier.replay.state(of: header.nav).count)
          guard let redacted = try? redaction.redacted(entry) else { continue }
          var tape = JSONTape()
          demand(
            (try? tape.read(redacted, maximumDepth: 64)) != nil, "no JSON: \(redacted.text)")
        case .end(let end): try verifier.finish(end)
        }
      }
      try reader.finish()
    } catch {
      observe(error.description.utf8.count)
    }
  }

  // Binary values.

  /// Reads numbers and texts, and writes them again.
  private func checkWritten(_ octets: [UInt8]) {
    var reader = ByteReader()
    var json = JSONWriter(reserving: 16)
    while reader.offset < octets.count, !reader.isBroken {
      let number = reader.number(in: octets.span)
      let text = reader.text(in: octets.span).octets
      let word = reader.word(in: octets.span)
      if reader.isBroken { break }
      json.binary(number)
      json.binary(text.span)
      json.binary(word: word)
    }
    demand(reader.offset <= octets.count, "read behind the end")
    let written = json.writtenWithComma.octets
    var second = ByteReader()
    var again = JSONWriter(reserving: 16)
    while second.offset < written.count {
      again.binary(second.number(in: written.span))
      again.binary(second.text(in: written.span))
      again.binary(word: second.word(in: written.span))
      demand(!second.isBroken, "what was written cannot be read")
    }
    demand(again.writtenWithComma.octets == written, "values are written as others")
  }
}
