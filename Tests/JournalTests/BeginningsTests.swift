import Foundation
import NavigationCore
import NavigationHub
import Testing

@testable import Journal

/// What a replay hands out that needs only what a start needs.
@Suite struct BeginningsTests {
  /// What such a replay hands out, and what it must.
  private struct Replayed: Equatable {
    var snapshots: [SnapshotRow] = []
    var headers: [RowHeader] = []
    var bodies: [[UInt8]] = []
  }

  private func beginnings(_ journal: Journal) throws(JournalError) -> Replayed {
    var replayed = Replayed()
    try journal.replay(
      snapshots: { replayed.snapshots.append($0) },
      rows: { header, body in
        replayed.headers.append(header)
        replayed.bodies.append([UInt8](copying: body))
      })
    return replayed
  }

  /// The first and the last sequence of each stored group.
  private func groups(_ directory: TemporaryDirectory) throws -> [ClosedRange<UInt64>] {
    let database = try Database(path: directory.file, readOnly: true)
    let select = try database.prepare("SELECT seq, last FROM log ORDER BY seq")
    var groups: [ClosedRange<UInt64>] = []
    while try select.step(.reading) {
      groups.append(try #require(select.unsigned(0))...(try #require(select.unsigned(1))))
    }
    select.reset()
    database.close()
    return groups
  }

  /// A start hands out what all of a journal's rows are, and only the bodies that a start needs.
  ///
  /// Returns how many groups were read with their bodies, and without.
  @discardableResult
  private func check(_ directory: TemporaryDirectory) throws -> (read: Int, unread: Int) {
    // A replay puts the log away, so that each has a copy of its own.
    let copies = try (0..<2).map { _ in try directory.copy() }
    let all = try Journal.open(copies[0].path).contents()
    let groups = try groups(copies[0])
    let replayed = try beginnings(Journal.open(copies[1].path))
    #expect(replayed.snapshots == all.snapshots)
    #expect(replayed.headers == all.rows.map(\.header))
    var counts = (read: 0, unread: 0)
    for group in groups {
      let rows = zip(all.rows, replayed.bodies).filter { group.contains($0.0.sequence) }
      let isNeeded = rows.contains { $0.0.kind == .created || $0.0.kind == .epoch }
      // A group may begin a nav that is being deleted.
      let isRead = rows.contains { !$0.1.isEmpty }
      #expect(isRead || !isNeeded)
      if isRead { counts.read += 1 } else { counts.unread += 1 }
      for (row, body) in rows { #expect(body == (isRead ? row.body : []), "row \(row.sequence)") }
    }
    return counts
  }

  /// Rows whose bodies are alike, so that groups of them are packed.
  private func alike(_ rows: [JournalRow]) -> [JournalRecord] {
    rows.map { row in
      var row = row
      row.body = Array(String(repeating: "row \(row.sequence) of \(row.nav); ", count: 20).utf8)
      return .row(row)
    }
  }

  @Test(arguments: UInt64(1)...4)
  func `it hands out the same headers, and the bodies of groups in which something begins`(
    seed: UInt64
  ) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: seed)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    for step in 0..<30 {
      let nav = UInt64(step / 6 + 1)
      var rows = (0..<step % 5 + 1).map { _ in writer.row(nav: nav) }
      if step % 7 == 3 {
        var epoch = writer.row(nav: nav, kind: .epoch)
        epoch.revision -= 1
        epoch.needsRecovery = step % 2 == 0
        epoch.author = RowAuthor(principal: "uid:1", client: ClientID(high: 1, low: 2), op: 3)
        rows.append(epoch)
      }
      try journal.commit(step % 2 == 0 ? alike(rows) : rows.map { .row($0) })
      if step % 10 == 9 { try journal.commit([.snapshot(writer.snapshot(nav: nav))]) }
    }
    let counts = try check(directory)
    #expect(counts.read >= 8 && counts.unread > 10)
    try journal.close()
    try check(directory)
  }

  @Test func `it works after pruning`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 7)
    let journal = try Journal.open(directory.path, retention: Retention(revisions: 20))
    _ = try journal.contents()
    for _ in 0..<20 { try journal.commit(writer.batch(10)) }
    try journal.commit((1...5).map { .snapshot(writer.snapshot(nav: $0)) })
    try journal.commit(writer.batch(200))
    for _ in 0..<30 {
      _ = try journal.maintain(now: 2_000, budget: 20)
      try check(directory)
    }
    // What is left begins nothing.
    #expect(try check(directory).read == 0)
    try journal.commit([.row(writer.row(nav: 6))])
    #expect(try check(directory).read == 1)
    #expect(journal.statistics.rows < 250)
  }

  @Test func `it leaves out navs that are being deleted, and their bodies are not missed`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(alike((0..<60).map { _ in writer.row(nav: 2) }))
    try journal.commit(alike((0..<20).flatMap { _ in [1, 2, 3].map { writer.row(nav: $0) } }))
    try journal.commit([.snapshot(writer.snapshot(nav: 2))])
    try journal.commit([.row(writer.row(nav: 2, kind: .closed, time: 1_000))])
    journal.countTime(until: 1_000)
    var rows: [Int] = []
    for _ in 0..<24 {
      _ = try journal.maintain(now: 601_000, budget: 10)
      try check(directory)
      let copy = try directory.copy()
      let replayed = try beginnings(Journal.open(copy.path))
      #expect(replayed.snapshots.isEmpty)
      #expect(!replayed.headers.contains { $0.nav == 2 })
      #expect(replayed.headers.count == 40)
      rows.append(Int(journal.statistics.rows))
    }
    // Some of them were found half deleted.
    #expect(rows.contains { $0 > 40 && $0 < 120 })
    #expect(rows.last == 40)
  }

  @Test func `bodies that cannot be unpacked are found when they are, and not before`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 4)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    try journal.commit(alike([writer.row(nav: 1), writer.row(nav: 2)]))
    try journal.commit(alike((0..<8).map { _ in writer.row(nav: 1) }))
    try journal.commit([.snapshot(writer.snapshot(nav: 1))])
    try journal.close()
    try Self.damageBodies(of: 3, in: directory)

    let replayed = try beginnings(Journal.open(directory.path))
    #expect(replayed.headers == writer.rows.map(\.header))
    let what = "rows 3 to 10 cannot be unpacked"
    let damage = JournalError.damaged(path: directory.file, what: what)
    let reader = try JournalReader.open(directory: directory.path)
    #expect(try reader.row(at: 1)?.nav == 1)
    #expect(throws: damage) { try reader.row(at: 7) }
    #expect(throws: damage) { _ = try reader.chain(of: ReloadRequest(nav: 1, newestRow: 10)) }
    #expect(throws: damage) { _ = try reader.rows(at: [1, 10]) }
    let copy = try directory.copy()
    #expect(throws: JournalError.damaged(path: copy.file, what: what)) {
      try Journal.open(copy.path).contents()
    }
  }

  /// Puts nonsense where the packed bodies of a group are, under a checksum that is right.
  private static func damageBodies(of first: UInt64, in directory: TemporaryDirectory) throws {
    let database = try Database(path: directory.file)
    let select = try database.prepare(
      "SELECT \(StoredGroup.columns) FROM log WHERE seq = \(first)")
    #expect(try select.step(.reading))
    let (last, size) = (try #require(select.unsigned(1)), try #require(select.unsigned(2)))
    let old = UInt64(bitPattern: try #require(select.integer(3)))
    let heads = try #require(select.bytes(4))
    var bodies = try #require(select.bytes(5))
    select.reset()
    #expect(size > 0, "not packed")
    for index in bodies.indices { bodies[index] = 0xFF }
    let new = RowGroup.checksum(
      first: first, last: last, size: size, heads: heads.span, bodies.span)
    let sql = "UPDATE log SET sum = \(Int64(bitPattern: new)), bodies = ?1 WHERE seq = \(first)"
    try database.prepare(sql).run(1, bodies.span)
    let metadata = try Metadata(database)
    var census = try metadata.census()
    census.discount(rows: 8, checksum: old)
    census.count(rows: 8, checksum: new)
    try metadata.write(census)
    database.close()
  }

  @Test(arguments: UInt64(1)...3)
  func `a reader's chain is the newest snapshot and what is behind it, the oldest first`(
    seed: UInt64
  ) throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: seed)
    let journal = try Journal.open(directory.path)
    _ = try journal.contents()
    let reader = try JournalReader.open(directory: directory.path)
    var snapshots: [UInt64: SnapshotRow] = [:]
    for step in 0..<12 {
      try journal.commit(writer.batch(9, navs: 3))
      if step % 4 == 3 {
        for nav in UInt64(1)...2 {
          let snapshot = writer.snapshot(nav: nav)
          snapshots[nav] = snapshot
          try journal.commit([.snapshot(snapshot)])
        }
      }
      for (nav, head) in writer.heads {
        let chain = try reader.chain(of: ReloadRequest(nav: nav, newestRow: head.sequence))
        #expect(chain.snapshot == snapshots[nav])
        let covered = snapshots[nav]?.revision ?? 0
        #expect(chain.rows == writer.rows.filter { $0.nav == nav && $0.revision >= covered })
      }
    }
    #expect(throws: JournalError.self) {
      _ = try reader.chain(of: ReloadRequest(nav: 9, newestRow: writer.sequence))
    }
  }

  @Test func `a reader gives the rows that are wanted and still there`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 2)
    let journal = try Journal.open(directory.path, retention: Retention(revisions: 1))
    _ = try journal.contents()
    for _ in 0..<10 { try journal.commit(writer.batch(10, navs: 2)) }
    let reader = try JournalReader.open(directory: directory.path)
    func expect(_ sequences: [UInt64], _ expected: [UInt64], line: Int = #line) throws {
      let rows = try reader.rows(at: sequences)
      #expect(rows == expected.map { writer.rows[Int($0) - 1] }, "line \(line)")
    }
    try expect([], [])
    try expect(Array(1...100), Array(1...100))
    try expect([1, 3, 50, 100, 101, .max], [1, 3, 50, 100])
    try expect([0, 7], [7])
    for nav in UInt64(1)...2 { try journal.commit([.snapshot(writer.snapshot(nav: nav))]) }
    for nav in UInt64(1)...2 { try journal.commit([.row(writer.row(nav: nav))]) }
    while try journal.maintain(now: 2_000, budget: 500).hasMore {}
    let left = (1...writer.sequence).filter { (try? reader.row(at: $0)) != .some(nil) }
    #expect(left.count < 20)
    try expect(Array(1...writer.sequence), left)
  }
}
