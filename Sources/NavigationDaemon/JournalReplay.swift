import Journal
import NavigationCore
import NavigationHub
import RuntimePaths

/// Replays journals into hubs: at the start, for a check, and for the shards of a cluster.
enum JournalReplay {
  /// After a start, the hub remembers the ops of this number of newest rows, whatever their age.
  private static let rememberedRows: UInt64 = 10_000

  /// The number of snapshots or rows between two reports of progress; about 1 ms.
  private static let recordsPerReport = 1024

  /// Replays the open journal of a daemon outside of a cluster, which its hub then serves.
  ///
  /// `progress` gets the number of rows that are replayed, and of all, from time to time. `report`
  /// gets what follows the rows, in long starts. On a full disk, the hub serves reads, unless navs need
  /// new epochs. Returns why all navs got new epochs; nil if they did not.
  static func serve(
    _ journal: Journal, by hub: inout Hub, progress: (_ done: UInt64, _ total: UInt64) -> Void,
    report: (String) -> Void
  ) throws(DaemonError) -> EpochLoss? {
    let now = now()
    try index(journal, into: &hub, at: now, progress: progress)
    try complete(&hub, [journal], report)
    let loss = journal.loss
    hub.finishReplay(
      renewsEpochs: loss != nil, because: loss ?? .crash,
      lastSequence: journal.lastSequence, at: now)
    do throws(JournalError) {
      let records = hub.takeRecords()
      if let shortage = journal.shortage { throw shortage }
      if !records.isEmpty { try journal.commit(records) }
      if journal.mustRenewEpochs { try journal.epochsRenewed() }
    } catch {
      guard error.isShortage, loss == nil else { throw .journal(error) }
      journal.shortage = error
      let reader = try openReader(of: journal.place)
      for request in hub.rollBack() {
        try read(request, from: reader) { (snapshot, rows) throws(HubReplayError) in
          try hub.reload(request, snapshot: snapshot, rows: rows)
        }
      }
      hub.recoverNavs()
    }
    _ = hub.committed(at: now)
    return loss
  }

  /// Replays an open journal to check it, without serving it; returns the number of navs.
  ///
  /// It throws the error with which a start on this journal would end.
  static func check(
    _ journal: Journal, progress: (_ done: UInt64, _ total: UInt64) -> Void
  ) throws(DaemonError) -> Int {
    let now = now()
    var hub = Hub(configuration: HubConfiguration(), seed: 0)
    try index(journal, into: &hub, at: now, progress: progress)
    try complete(&hub, [journal])
    return hub.finishReplay(renewsEpochs: false, lastSequence: journal.lastSequence, at: now)
  }

  static func now() -> Instant {
    Instant(boot: SystemClock.bootMilliseconds(), wall: SystemClock.wallMilliseconds())
  }

  /// Notes the navs and ops of a journal that is not replayed yet; `complete` has to follow.
  ///
  /// The ops of the newest `rememberedRows` are remembered, whatever their age.
  static func index(
    _ journal: Journal, into hub: inout Hub, at now: Instant,
    rememberingRows rememberedRows: UInt64 = rememberedRows,
    progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
  ) throws(DaemonError) {
    let newest: UInt64
    do throws(JournalError) {
      newest = try journal.newestSequence()
      hub.remembersBehind = newest > rememberedRows ? newest - rememberedRows : 0
    } catch {
      throw .journal(error)
    }
    progress(0, newest)
    var (records, first): (Int, UInt64?) = (0, nil)
    do throws(ReplayError<HubReplayError>) {
      try journal.replay(
        bodies: .beginnings,
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
    } catch {
      switch error {
      case .journal(let error): throw .journal(error)
      case .refused(let error): throw .replay("row \(error.sequence): \(error.what)")
      }
    }
  }

  /// Notes the oldest revisions of the navs, loads the rows of remembered ops, and the navs that
  /// cannot stay dormant.
  ///
  /// These navs have something open, such as a transition.
  static func complete(
    _ hub: inout Hub, _ journals: [Journal], _ report: (String) -> Void = { _ in }
  ) throws(DaemonError) {
    let byShard = Dictionary(uniqueKeysWithValues: journals.map { ($0.shard, $0) })
    hub.takeFloors { byShard[Shard(ofNav: $0)]?.floor(of: $0) ?? 0 }
    let (open, rows) = (hub.openNavs, hub.rememberedRows)
    guard !open.isEmpty || !rows.isEmpty, let place = journals.first?.place else { return }
    let reader = try openReader(of: place)
    do throws(JournalError) {
      for (shard, rows) in rows.sorted(by: { $0.key < $1.key }) {
        hub.remember(try reader.rows(at: rows, in: shard), of: shard)
      }
    } catch {
      throw .journal(error)
    }
    // One nav at a time, because the rows of all of them together could take much memory.
    for (index, request) in open.enumerated() {
      if index % 100 == 99 { report("reviving navs: \(index) of \(open.count)") }
      try read(request, from: reader) { (snapshot, rows) throws(HubReplayError) in
        try hub.revive(request, snapshot: snapshot, rows: rows)
      }
    }
  }

  private static func openReader(of place: any JournalPlace) throws(DaemonError) -> JournalReader {
    do throws(JournalError) { return try place.openReader() } catch { throw .journal(error) }
  }

  /// Reads the rows of a nav, and passes them on.
  private static func read(
    _ request: ReloadRequest, from reader: JournalReader,
    _ consume: (SnapshotRow?, [JournalRow]) throws(HubReplayError) -> Void
  ) throws(DaemonError) {
    let chain: (snapshot: SnapshotRow?, rows: [JournalRow])
    do throws(JournalError) {
      chain = try reader.chain(of: request)
    } catch {
      throw .journal(error)
    }
    do throws(HubReplayError) {
      try consume(chain.snapshot, chain.rows)
    } catch {
      throw .replay("row \(error.sequence): \(error.what)")
    }
  }
}

/// Shards that were taken and replayed, for the loop to serve.
///
/// `@unchecked Sendable`: one thread makes it and passes it on, with its journals.
struct LoadedShards: @unchecked Sendable {
  private(set) var hub: Hub
  private(set) var shards: [TakenShard] = []
  /// How long it took.
  var milliseconds: UInt64 = 0

  /// After a start, the hub remembers the ops of this number of newest rows of a shard, whatever
  /// their age: of all shards as many as of a journal in a directory.
  private static let rememberedRows: UInt64 = 10

  /// Begins with a hub of `Hub.makeReplayingHub`.
  init(hub: Hub) { self.hub = hub }

  /// Notes the navs and ops of a shard; if its rows cannot be served, nothing of it stays here.
  mutating func add(_ taken: TakenShard) throws(DaemonError) {
    let now = JournalReplay.now()
    do throws(DaemonError) {
      try JournalReplay.index(
        taken.journal, into: &hub, at: now, rememberingRows: Self.rememberedRows)
    } catch {
      hub.release([taken.shard], to: nil, at: now)
      throw error
    }
    shards.append(taken)
  }

  /// Reads what the hub needs besides; after the last shard.
  mutating func complete() throws(DaemonError) {
    try JournalReplay.complete(&hub, shards.map(\.journal))
  }
}
