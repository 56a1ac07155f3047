package import Journal
import NavigationCore
package import NavigationHub
import RuntimePaths

/// Replays journals into hubs: at the start, for a check, and for the shards of a cluster.
package enum JournalReplay {
  /// After a start, the hub remembers the ops of this number of newest rows, whatever their age.
  private static let rememberedRows: UInt64 = 10_000

  /// The number of snapshots or rows between two reports of progress; about 1 ms.
  private static let recordsPerReport = 1024

  /// Replays the open journal of a daemon outside of a cluster, which its hub then serves.
  ///
  /// `progress` gets the number of replayed rows, and of all rows, every 1024 rows. `reportStatus`
  /// gets a status text for every 100 navs loaded after the rows. On a full disk, the hub serves
  /// reads, unless navs need new epochs. Returns why all navs got new epochs; nil if they did not.
  static func replay(
    _ journal: Journal, into hub: inout Hub, progress: (_ done: UInt64, _ total: UInt64) -> Void,
    reportStatus: (String) -> Void
  ) throws(JournalError) -> HistoryLoss? {
    let now = Instant.now()
    try index(journal, into: &hub, at: now, progress: progress)
    try loadOpenNavs(&hub, [journal], reportStatus)
    let loss = journal.rowLoss
    hub.finishReplay(
      renewsEpochs: loss != nil, because: loss ?? .crash,
      lastSequence: journal.lastSequence, at: now)
    do throws(JournalError) {
      let records = hub.takeRecords()
      if let shortage = journal.shortageAtStart { throw shortage }
      if !records.isEmpty { try journal.commit(records) }
      if journal.mustRenewEpochs {
        try journal.epochsRenewed(before: hub.newestRow(of: .first))
      }
    } catch {
      guard error.isFullOrReadOnly, loss == nil else { throw error }
      journal.shortageAtStart = error
      let reader = try journal.place.openReader()
      for request in hub.rollBack() {
        try read(request, of: journal, from: reader) { (snapshot, rows) throws(HubReplayError) in
          try hub.reload(request, snapshot: snapshot, rows: rows)
        }
      }
      hub.recoverNavs()
    }
    _ = hub.committed(at: now)
    return loss
  }

  /// Replays a whole copy before it gets its name; with `renewingEpochs`, the next start renews the
  /// epochs.
  ///
  /// It throws the error with which a start on this journal would end.
  static func checkDraft(
    _ directory: String, bootID: String, renewingEpochs: Bool,
    progress: (_ done: UInt64, _ total: UInt64) -> Void
  ) throws(JournalError) -> (navs: Int, sequence: UInt64) {
    let journal = try Journal.open(
      directory: directory, durability: .sync, bootID: bootID, retention: Retention.standard,
      holder: "navd checking a backup")
    let now = Instant.now()
    var hub = Hub(configuration: HubConfiguration(), seed: 0)
    try index(journal, into: &hub, at: now, progress: progress)
    try loadOpenNavs(&hub, [journal])
    let navs = hub.finishReplay(
      renewsEpochs: false, lastSequence: journal.lastSequence, at: now)
    let sequence = journal.lastSequence
    if renewingEpochs { try journal.renewEpochsAtNextStart() }
    try journal.close()
    return (navs, sequence)
  }

  /// Notes the navs and ops of a journal that is not replayed yet; `loadOpenNavs` has to follow.
  package static func index(
    _ journal: Journal, into hub: inout Hub, at now: Instant,
    rememberingRows rememberedRows: UInt64 = rememberedRows,
    progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
  ) throws(JournalError) {
    let newest = try journal.engine.newestSequence()
    hub.remembersAllAfterRow = newest > rememberedRows ? newest - rememberedRows : 0
    progress(0, newest)
    var (records, first): (Int, UInt64?) = (0, nil)
    try journal.replay(
      snapshots: { snapshot throws(HubReplayError) in
        records += 1
        if records % recordsPerReport == 0 { progress(0, newest) }
        try hub.index(snapshot)
      },
      rows: { header, body throws(HubReplayError) in
        // Deleted history leaves no rows to replay.
        let before = first ?? header.sequence - 1
        first = before
        records += 1
        if records % recordsPerReport == 0 {
          progress(header.sequence - before, max(newest, header.sequence) - before)
        }
        try hub.index(header, body: body, at: now)
      })
  }

  /// Loads into the hub what `index` left out: the oldest revision of each nav, the rows of
  /// remembered ops, and the navs with something open, such as a transition.
  package static func loadOpenNavs(
    _ hub: inout Hub, _ journals: [Journal], _ reportStatus: (String) -> Void = { _ in }
  ) throws(JournalError) {
    let byShard = Dictionary(uniqueKeysWithValues: journals.map { ($0.shard, $0) })
    hub.setFloors { byShard[Shard(ofNav: $0)]?.floorRevision(of: $0) ?? 0 }
    let (open, rows) = (hub.navsToReviveAtStart, hub.opRowsToRead)
    guard !open.isEmpty || !rows.isEmpty, let journal = journals.first else { return }
    let reader = try journal.place.openReader()
    for (shard, rows) in rows.sorted(by: { $0.key < $1.key }) {
      hub.rememberOps(from: try reader.rows(at: rows, in: shard), of: shard)
    }
    // One nav at a time, because the rows of all of them together could take much memory.
    for (index, request) in open.enumerated() {
      if index % 100 == 99 { reportStatus("reviving navs: \(index) of \(open.count)") }
      try read(request, of: journal, from: reader) { (snapshot, rows) throws(HubReplayError) in
        try hub.revive(request, snapshot: snapshot, rows: rows)
      }
    }
  }

  private static func read(
    _ request: ReloadRequest, of journal: Journal, from reader: JournalReader,
    _ consume: (SnapshotRow?, [JournalRow]) throws(HubReplayError) -> Void
  ) throws(JournalError) {
    let (snapshot, rows) = try reader.chain(of: request)
    try replayStep(in: journal.name) { () throws(HubReplayError) in try consume(snapshot, rows) }
  }
}

/// Shards that were taken and replayed, for the loop to serve.
///
/// `@unchecked Sendable`: one thread makes it and passes it on, with its journals.
struct LoadedShards: @unchecked Sendable {
  private(set) var hub: Hub
  private(set) var journals: [Journal] = []
  var loadMilliseconds: UInt64 = 0

  /// After a start, the hub remembers the ops of this number of newest rows of each shard, whatever
  /// their age: 10 for 1,024 shards are as many as 10,000 for a journal in a directory.
  private static let rememberedRows: UInt64 = 10

  /// Replays the navs and ops of a shard into the hub; after an error, the hub has nothing of the
  /// shard.
  mutating func add(_ journal: Journal) throws(JournalError) {
    let now = Instant.now()
    do throws(JournalError) {
      try JournalReplay.index(journal, into: &hub, at: now, rememberingRows: Self.rememberedRows)
    } catch {
      hub.release([journal.shard], to: nil, at: now)
      throw error
    }
    journals.append(journal)
  }

  /// Loads the rows of remembered ops and the navs with something open, after the last shard.
  mutating func loadOpenNavs() throws(JournalError) {
    try JournalReplay.loadOpenNavs(&hub, journals)
  }
}
