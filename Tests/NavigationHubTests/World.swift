import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// A message that the hub sent.
struct Sent {
  var connection: ConnectionID
  var verb: ServerVerb
  var body: [UInt8]
  /// The decoded body.
  var json: [String: Any]

  var text: String { String(decoding: body, as: UTF8.self) }
  var code: String? { json["code"] as? String }
  var id: Int? { json["id"] as? Int }
  var revision: Int? { json["rev"] as? Int }
}

/// A journal in memory that can be told to fail.
struct MemoryJournal {
  var rows: [JournalRow] = []
  var snapshots: [SnapshotRow] = []
  /// How far back navs can be read whose first revisions are given up.
  var floors: [UInt64: UInt64] = [:]
  var isFailing = false

  mutating func commit(_ records: JournalRecords) {
    for record in records {
      switch record {
      case .row(let row): rows.append(row)
      case .snapshot(let snapshot): snapshots.append(snapshot)
      }
    }
  }

  func rows(of nav: UInt64, through head: UInt64) -> [JournalRow] {
    rows.filter { $0.nav == nav && $0.sequence <= head }
  }

  /// The newest snapshot up to a revision, and the rows behind it.
  func state(
    of nav: UInt64, head: UInt64, at revision: UInt64
  ) -> (snapshot: SnapshotRow?, rows: [JournalRow]) {
    let snapshot = snapshots.last {
      $0.nav == nav && $0.revision <= revision && $0.sequence <= head
    }
    let rows = rows(of: nav, through: head).filter {
      $0.revision <= revision && $0.sequence > (snapshot?.sequence ?? 0)
    }
    return (snapshot, rows)
  }

  func answer(_ request: HistoryRequest) -> HistoryAnswer {
    switch request.part {
    case .rows(let from, let through):
      let found = rows(of: request.nav, through: request.newestRow).filter {
        $0.revision >= from && $0.revision <= through
      }
      return HistoryAnswer(token: request.token, rows: found)
    case .state(let at):
      let (snapshot, rows) = state(of: request.nav, head: request.newestRow, at: at)
      return HistoryAnswer(token: request.token, snapshot: snapshot, rows: rows)
    }
  }
}

/// A hub with its journal, its clock and everything it has sent.
final class World {
  var configuration: HubConfiguration
  let inspections: Inspections
  var hub: Hub
  var journal = MemoryJournal()
  var now = Instant(boot: 1_000_000, wall: 1_732_147_200_000)
  var sent: [Sent] = []
  var dropped: [ConnectionID] = []
  var notices: [Notice] = []
  /// History requests wait for `answerHistory` while this is set.
  var holdsHistory = false
  var requests: [HistoryRequest] = []
  /// How many batches were decided again because an op broke an invariant.
  var unsoundBatches = 0
  /// Whether each batch is rolled back and decided again before it is committed.
  var decidesTwice = false
  private(set) var rollBacks = 0
  /// How many backups were begun.
  var backups = 0
  /// How many navs have left memory.
  var unloadedNavs = 0
  /// The navs that were revived because an event was about them.
  var revived: [UInt64] = []
  private var seed: UInt64 = 1

  init(
    inspections: Inspections = Inspections(),
    _ configure: (inout HubConfiguration) -> Void = { _ in }
  ) {
    configuration = HubConfiguration()
    configure(&configuration)
    self.inspections = inspections
    hub = Hub(configuration: configuration, seed: seed, inspections: inspections)
  }

  /// One turn of a shell; returns what was sent in it.
  @discardableResult
  func turn(_ events: [HubEvent]) throws -> [Sent] {
    let start = sent.count
    var events = events
    repeat {
      try decide(events)
      if decidesTwice {
        rollBacks += 1
        try reload(hub.rollBack(isStorageFailing: false))
        try decide(events)
      }
      let records = hub.takeRecords()
      if journal.isFailing, !records.isEmpty {
        try reload(hub.rollBack())
        for event in events { hub.handle(event, at: now) }
        #expect(hub.takeRecords().isEmpty)
      } else {
        journal.commit(records)
      }
      try take(hub.committed(at: now))
      events = holdsHistory ? [] : requests.map { .history(journal.answer($0)) }
      if !holdsHistory { requests = [] }
    } while !events.isEmpty
    return Array(sent[start...])
  }

  /// Hands events to the hub, again if an op breaks an invariant.
  private func decide(_ events: [HubEvent]) throws {
    for event in events {
      try handle(event)
      guard !hub.isUnsound else { return try decideAgain(events) }
    }
  }

  /// Takes the batch at hand back, whose events are given.
  private func decideAgain(_ events: [HubEvent]) throws {
    unsoundBatches += 1
    try reload(hub.rollBackUnsound())
    try decide(events)
  }

  private func reload(_ requests: [ReloadRequest]) throws {
    for request in requests {
      let rows = journal.rows(of: request.nav, through: request.newestRow)
      let snapshot = journal.snapshots.last {
        $0.nav == request.nav && $0.sequence <= request.newestRow
      }
      try hub.reload(request, snapshot: snapshot, rows: rows)
    }
  }

  /// Hands an event to the hub, which must know the nav that it is about.
  func handle(_ event: HubEvent) throws {
    while let request = hub.dormant(for: event) {
      revived.append(request.nav)
      try revive(request, in: &hub)
    }
    hub.handle(event, at: now)
  }

  /// Answers the history requests that were held back.
  @discardableResult
  func answerHistory() throws -> [Sent] {
    let answers = requests.map { HubEvent.history(journal.answer($0)) }
    requests = []
    return try turn(answers)
  }

  /// Two turns of a shell that overlaps them; returns what each of the two commits let go.
  ///
  /// `early` are ops that come while the batch of `first` is being committed.
  func overlap(
    _ first: [HubEvent], _ early: [HubEvent]
  ) throws -> (first: [Sent], second: [Sent]) {
    let start = sent.count
    for event in first { try handle(event) }
    let records = hub.takeRecords()
    #expect(hub.mayDecideDuringCommit)
    hub.seal()
    for event in early where !hub.isUnsound { try handle(event) }
    if journal.isFailing, !records.isEmpty {
      try reload(hub.rollBack())
      for event in first + early { hub.handle(event, at: now) }
      #expect(hub.takeRecords().isEmpty)
      try take(hub.committed(at: now))
      return (Array(sent[start...]), [])
    }
    journal.commit(records)
    try take(hub.committed(at: now))
    let middle = sent.count
    if hub.isUnsound { try decideAgain(early) }
    journal.commit(hub.takeRecords())
    try take(hub.committed(at: now))
    return (Array(sent[start..<middle]), Array(sent[middle...]))
  }

  func take(_ output: HubOutput) throws {
    for message in output.messages {
      let json = try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any]
      var reader = ServerMessageReader()
      // Everything that the hub says can be read back by a client.
      if case .unknown = try reader.read(verb: message.verb.frame, body: message.body),
        message.verb != .ask, message.verb != .settled
      {
        Issue.record("\(message.verb) is unknown to the reader")
      }
      #expect(message.body.count <= configuration.maximumReplyBytes)
      sent.append(
        Sent(
          connection: message.connection, verb: message.verb, body: message.body,
          json: try #require(json)))
    }
    dropped += output.endedConnections
    notices += output.notices
    requests += output.requests
    if output.startsBackup { backups += 1 }
    unloadedNavs += output.unloadedNavs
  }

  /// Ends this run of the daemon and starts the next one on the same journal.
  @discardableResult
  func restart(
    renewsEpochs: Bool = false, because loss: HistoryLoss = .crash, revives: Bool = true
  ) throws -> Hub {
    seed += 1
    hub = try replayed(renewsEpochs: renewsEpochs, because: loss, revives: revives)
    let records = hub.takeRecords()
    if journal.isFailing {
      try reload(hub.rollBack())
      hub.recoverNavs()
    } else {
      journal.commit(records)
    }
    try take(hub.committed(at: now))
    return hub
  }

  /// A hub that has replayed the journal, and ended what was open unless it is to be looked at
  /// before that.
  func replayed(
    renewsEpochs: Bool = false, because loss: HistoryLoss = .crash, finishes: Bool = true,
    revives: Bool = true
  ) throws -> Hub {
    var hub = Hub(configuration: configuration, seed: seed, inspections: inspections)
    let newest = Dictionary(grouping: journal.snapshots, by: \.nav).compactMapValues(\.last)
    for nav in newest.keys.sorted() { try hub.index(try #require(newest[nav])) }
    for row in journal.rows { try hub.index(row.header, body: row.body.span, at: now) }
    hub.setFloors { journal.floors[$0] ?? 0 }
    let wanted = Set(hub.opRowsToRead[.first] ?? [])
    hub.rememberOps(from: journal.rows.filter { wanted.contains($0.sequence) })
    // Most tests look into the hub, where dormant navs are not.
    for request in revives ? hub.dormantNavs : hub.navsToReviveAtStart {
      try revive(request, in: &hub)
    }
    guard finishes else { return hub }
    // A row that was pruned is not written again.
    let last = (journal.rows.map(\.sequence) + journal.snapshots.map(\.sequence)).max()
    hub.finishReplay(
      renewsEpochs: renewsEpochs, because: loss, lastSequence: last ?? 0, at: now)
    return hub
  }

  /// Reads a dormant nav from the journal.
  func revive(_ request: ReloadRequest, in hub: inout Hub) throws {
    try hub.revive(
      request,
      snapshot: journal.snapshots.last {
        $0.nav == request.nav && $0.sequence <= request.newestRow
      },
      rows: journal.rows(of: request.nav, through: request.newestRow))
  }

  func advance(_ milliseconds: UInt64) {
    now.boot += milliseconds
    now.wall += milliseconds
  }

  /// Lets time pass and the hub notice it; returns what was sent.
  @discardableResult
  func wait(_ milliseconds: UInt64) throws -> [Sent] {
    advance(milliseconds)
    return try turn([.wake])
  }

  /// A nav as the hub keeps it.
  func entry(_ nav: String) throws -> NavEntry {
    hub.navs[try #require(hub.navs.slot(of: nav))]
  }

  /// Everything that a refusal must leave alone.
  func standing(_ nav: String) throws -> Standing {
    let entry = try entry(nav)
    return Standing(
      controller: entry.controller, digest: entry.digest, ring: entry.ring.last,
      rows: journal.rows.count, sequence: hub.totalSequence)
  }
}

/// What SAME speaks of.
struct Standing: Equatable {
  var controller: NavigationController
  var digest: Digest
  var ring: Revision
  var rows: Int
  var sequence: UInt64
}

extension Navs {
  /// The slots of the navs that have a name.
  var byName: [String: NavSlot] {
    let named = indices.filter { hasName($0) }.map { (self[$0].name, $0) }
    return Dictionary(uniqueKeysWithValues: named)
  }
}
