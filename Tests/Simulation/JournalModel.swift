import NavigationCore
import NavigationHub

/// The journal as the hub may expect it: batches are stored whole or not at all.
struct JournalModel: Sendable {
  private struct Batch: Sendable {
    var records: JournalRecords
    /// The last sequence once it is stored.
    var lastSequence: UInt64
    /// After a loss, the number that the next row of a shard follows.
    var skip: (shard: Shard, last: UInt64)?
  }

  private var batches: [Batch] = []
  /// How many batches survive the loss of the machine.
  private var syncedCount = 0
  /// Rows up to these are deleted, by nav.
  private var prunedThrough: [UInt64: UInt64] = [:]
  /// The revision of the oldest snapshot kept, by nav.
  private var floors: [UInt64: UInt64] = [:]
  /// Whether what was acknowledged may be lost, so that every nav needs a new epoch.
  var mustRenewEpochs = false

  /// The shards of which rows may be lost: the numbers of the next ones leave a gap.
  var mayLackRows: Set<Shard> = []
  /// Whether the numbers of rows leave a gap somewhere.
  private(set) var hasGaps = false
  /// The newest row of each shard.
  private var newest: [Shard: UInt64] = [:]

  /// The newest row outside of a cluster.
  var lastSequence: UInt64 { lastSequence(of: .first) }
  var hasUnsynced: Bool { syncedCount < batches.count }

  /// Stores a batch; returns what is wrong with it.
  mutating func commit(_ records: JournalRecords, synced: Bool) -> String? {
    guard !records.isEmpty else { return nil }
    for record in records {
      switch record {
      case .row(let row):
        let shard = Shard(ofNav: row.nav)
        let next = lastSequence(of: shard) + 1
        let isNext = row.sequence == next || mayLackRows.contains(shard)
        if mayLackRows.remove(shard) != nil { hasGaps = true }
        if row.sequence < next || !isNext { return "row \(row.sequence) where \(next) is next" }
        if row.previous >= row.sequence { return "row \(row.sequence) follows \(row.previous)" }
        newest[shard] = row.sequence
      case .snapshot(let snapshot):
        let last = snapshots.last { $0.nav == snapshot.nav }?.revision ?? 0
        if snapshot.revision < last { return "snapshot \(snapshot.revision) after \(last)" }
      }
    }
    batches.append(Batch(records: records, lastSequence: lastSequence))
    if synced { sync() }
    return nil
  }

  func lastSequence(of shard: Shard) -> UInt64 { newest[shard] ?? 0 }

  /// After a loss, the next row of a shard follows this number.
  mutating func skip(to last: UInt64, of shard: Shard) {
    mayLackRows.remove(shard)
    guard last > lastSequence(of: shard) else { return }
    (newest[shard], hasGaps) = (last, true)
    batches.append(
      Batch(records: JournalRecords(), lastSequence: lastSequence, skip: (shard, last)))
    sync()
  }

  /// Finds the newest rows anew, because batches are gone.
  private mutating func recount() {
    newest = [:]
    for batch in batches {
      for case .row(let row) in batch.records { newest[Shard(ofNav: row.nav)] = row.sequence }
      if let skip = batch.skip { newest[skip.shard] = skip.last }
    }
  }

  /// Everything stored so far survives the loss of the machine.
  mutating func sync() { syncedCount = batches.count }

  /// Loses the machine, and some of what was not synced with it; returns the rows lost.
  mutating func loseUnsynced(_ random: inout Randomness) -> [JournalRow] {
    guard hasUnsynced else { return [] }
    let kept = syncedCount + random.below(batches.count - syncedCount + 1)
    let lost = batches[kept...].flatMap(\.records)
    batches.removeSubrange(kept...)
    mustRenewEpochs = true
    syncedCount = batches.count
    recount()
    return lost.compactMap { if case .row(let row) = $0 { row } else { nil } }
  }

  /// Goes back to an older copy of itself, in which a few batches are missing; returns their rows.
  mutating func goBack(_ random: inout Randomness) -> [JournalRow] {
    guard batches.count > 1 else { return [] }
    let kept = max(1, batches.count - 1 - random.below(4))
    let lost = batches[kept...].flatMap(\.records)
    batches.removeSubrange(kept...)
    // The copy is older than what retention has deleted since.
    (prunedThrough, floors) = ([:], [:])
    syncedCount = batches.count
    recount()
    return lost.compactMap { if case .row(let row) = $0 { row } else { nil } }
  }

  /// The newest row that survives the loss of the machine.
  var syncedSequence: UInt64 { syncedCount > 0 ? batches[syncedCount - 1].lastSequence : 0 }

  /// Goes back to a sequence; returns the rows lost, nil if it is within a batch.
  mutating func truncate(to last: UInt64) -> [JournalRow]? {
    guard last == 0 || batches.contains(where: { $0.lastSequence == last }) else { return nil }
    let lost = batches.filter { $0.lastSequence > last }.flatMap(\.records)
    batches.removeAll { $0.lastSequence > last }
    syncedCount = min(syncedCount, batches.count)
    recount()
    return lost.compactMap { if case .row(let row) = $0 { row } else { nil } }
  }

  /// A planted bug: forgets one row and everything behind it.
  mutating func dropLastBatch() {
    if batches.count > 1 { batches.removeLast() }
    syncedCount = min(syncedCount, batches.count)
    recount()
  }

  /// All rows that are kept, in order.
  var rows: [JournalRow] { allRows.filter { $0.sequence > prunedThrough[$0.nav] ?? 0 } }

  /// All rows in order, with those that retention has deleted since.
  var allRows: [JournalRow] {
    batches.flatMap(\.records).compactMap { if case .row(let row) = $0 { row } else { nil } }
  }

  /// All snapshots that are kept, one a nav and revision, in the order in which they were stored.
  private var snapshots: [SnapshotRow] {
    var kept: [SnapshotRow] = []
    for record in batches.flatMap(\.records) {
      guard case .snapshot(let snapshot) = record,
        snapshot.revision >= floors[snapshot.nav] ?? 0
      else { continue }
      kept.removeAll { $0.nav == snapshot.nav && $0.revision == snapshot.revision }
      kept.append(snapshot)
    }
    return kept
  }

  /// The newest snapshot of each nav, in the order of navs.
  var newestSnapshots: [SnapshotRow] {
    var newest: [UInt64: SnapshotRow] = [:]
    for snapshot in snapshots { newest[snapshot.nav] = snapshot }
    return newest.values.sorted { $0.nav < $1.nav }
  }

  /// What leads to a nav's row `head`: a snapshot and the rows after it, or all its rows.
  func chain(of nav: UInt64, to head: UInt64) -> (snapshot: SnapshotRow?, rows: [JournalRow]) {
    let snapshot = snapshots.last { $0.nav == nav && $0.sequence <= head }
    let first = snapshot?.sequence ?? 0
    return (
      snapshot, rows.filter { $0.nav == nav && $0.sequence > first && $0.sequence <= head }
    )
  }

  /// Gives a hub what it takes note of at its start, and what it needs besides.
  func replay(into hub: inout Hub, at now: Instant) throws(HubReplayError) {
    try replay(nil, into: &hub, at: now)
  }

  /// Gives a hub the rows of some shards, or with nil of all.
  func replay(
    _ shards: Set<Shard>?, into hub: inout Hub, at now: Instant
  ) throws(HubReplayError) {
    let rows = rows.filter { shards?.contains(Shard(ofNav: $0.nav)) != false }
    for snapshot in newestSnapshots
    where shards?.contains(Shard(ofNav: snapshot.nav)) != false { try hub.index(snapshot) }
    for row in rows { try hub.index(row.header, body: row.body.span, at: now) }
    hub.setFloors { floors[$0] ?? 0 }
    for (shard, sequences) in hub.opRowsToRead {
      let wanted = Set(sequences)
      hub.rememberOps(
        from: rows.filter { Shard(ofNav: $0.nav) == shard && wanted.contains($0.sequence) },
        of: shard)
    }
    for request in hub.navsToReviveAtStart {
      let (snapshot, rows) = chain(of: request.nav, to: request.newestRow)
      try hub.revive(request, snapshot: snapshot, rows: rows)
    }
  }

  func answer(_ request: HistoryRequest) -> HistoryAnswer {
    let mine = rows.filter { $0.nav == request.nav && $0.sequence <= request.newestRow }
    switch request.part {
    case .rows(let from, let through):
      return HistoryAnswer(
        token: request.token, rows: mine.filter { $0.revision >= from && $0.revision <= through })
    case .state(let at):
      let snapshot = snapshots.filter { $0.nav == request.nav && $0.revision <= at }
        .max { $0.revision < $1.revision }
      let first = snapshot?.sequence ?? 0
      return HistoryAnswer(
        token: request.token, snapshot: snapshot,
        rows: mine.filter { $0.revision <= at && $0.sequence > first })
    }
  }

  /// Gives up the history before one snapshot that is older than `time`; nil if there is none.
  mutating func prune(
    before time: UInt64, _ random: inout Randomness
  ) -> (nav: UInt64, floor: UInt64)? {
    let old = snapshots.filter { $0.time < time && $0.revision > floors[$0.nav] ?? 1 }
    guard let chosen = random.pick(old) else { return nil }
    floors[chosen.nav] = chosen.revision
    let doomed = rows.filter { $0.nav == chosen.nav && $0.sequence <= chosen.sequence }
    // Rows go slice by slice, the oldest first.
    if !doomed.isEmpty {
      prunedThrough[chosen.nav] = doomed[random.below(doomed.count)].sequence
    }
    return (chosen.nav, chosen.revision)
  }
}
