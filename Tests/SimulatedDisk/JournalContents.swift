import Journal
import NavigationCore
import NavigationDaemon
import NavigationHub

/// What a start finds in the files of a journal: the answer to `get` for each nav.
package struct JournalContents: Equatable, Sendable {
  package var lastSequence: UInt64
  package var answers: [String: [UInt8]] = [:]
  /// Whether navd would renew all epochs, because rows may be missing.
  package var renewsEpochs: Bool

  /// Starts on the files of a disk, as a daemon that is killed afterwards.
  ///
  /// `newest` is the number in the file of the witness; there is none without it. Throws the error
  /// with which the start would end.
  package init(of disk: SimulatedDisk, navs: [String], newest: UInt64? = nil) throws {
    try disk.attach()
    defer {
      disk.kill()
      disk.detach()
    }
    let journal = try Journal.open(
      directory: disk.state, durability: .sync, bootID: "boot-1",
      retention: Retention.standard, holder: "simulation")
    let now = Instant(boot: 1_000_000, wall: 1_700_000_000_000)
    var hub = Hub(configuration: HubConfiguration(), seed: 1)
    try JournalReplay.index(journal, into: &hub, at: now)
    try JournalReplay.loadOpenNavs(&hub, [journal])
    let reader = try journal.place.openReader()
    for request in hub.dormantNavs {
      let (snapshot, rows) = try reader.chain(of: request)
      try hub.revive(request, snapshot: snapshot, rows: rows)
    }
    lastSequence = journal.lastSequence
    renewsEpochs = journal.rowLoss != nil || newest ?? 0 > journal.lastSequence
    var messages = hub.makeReader()
    for name in navs {
      let event = HubEvent(
        frame: "nsp1.get".utf8.span, body: "{\"id\":1,\"nav\":\"\(name)\"}".utf8.span,
        from: ConnectionID(1), .local(user: 0, group: 0, process: 0), reader: &messages)
      hub.handle(event, at: now)
      _ = hub.takeRecords()
      for message in hub.committed(at: now).messages { answers[name] = message.body }
    }
  }
}

/// One damage of the files of a journal.
package struct Damage: Sendable, CustomStringConvertible {
  package enum Kind: Sendable {
    case bit(Int)
    case truncation(Int)
    case swappedPages(Int, Int)
  }

  package var path: String
  package var kind: Kind
  package var description: String { "\(kind) of \(path)" }

  /// All damages of one file: every bit, every length, and every pair of pages.
  package static func all(of path: String, _ count: Int) -> [Damage] {
    let pages = Array(0..<count / 4096)
    return (0..<count * 8).map { Damage(path: path, kind: .bit($0)) }
      + (0..<count).map { Damage(path: path, kind: .truncation($0)) }
      + pages.flatMap { first in
        pages.dropFirst(first + 1).map { Damage(path: path, kind: .swappedPages(first, $0)) }
      }
  }

  package func apply(to files: inout [String: [UInt8]]) {
    guard var bytes = files[path] else { return }
    switch kind {
    case .bit(let bit): bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    case .truncation(let length): bytes.removeSubrange(length...)
    case .swappedPages(let first, let second):
      for index in 0..<4096 { bytes.swapAt(first * 4096 + index, second * 4096 + index) }
    }
    files[path] = bytes
  }

  /// What a start makes of it.
  package enum Effect: Hashable, Sendable {
    /// The start refuses.
    case refused
    /// Everything is as it was.
    case none
    /// Rows are missing, and the witness shows it.
    case witnessed
    /// The log ends before its last commit, as if a power failure had torn that one.
    case tornCommit
    /// Something else is served than what was stored.
    case wrong
  }

  /// Starts on damaged files; `whole` is what the whole ones hold.
  package func effect(
    on files: [String: [UInt8]], of whole: JournalContents, disk: SimulatedDisk,
    navs: [String]
  ) -> Effect {
    var damaged = files
    apply(to: &damaged)
    disk.replaceFiles(damaged)
    do {
      let found = try JournalContents(of: disk, navs: navs, newest: whole.lastSequence)
      if found == whole { return .none }
      guard found.lastSequence < whole.lastSequence, path.hasSuffix("-wal") else { return .wrong }
      return found.renewsEpochs ? .witnessed : .tornCommit
    } catch {
      return .refused
    }
  }
}
