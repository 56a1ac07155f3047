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
    /// The last commits are missing, as if a power failure had torn them; the file of the witness
    /// shows it.
    case witnessed
    /// Something else is served than what was stored, or too little of the log.
    case wrong
  }
}

/// A sound journal with a log, and what a start finds after each commit of its log.
package struct SoundJournal {
  package let files: [String: [UInt8]]
  package let navs: [String]
  package let whole: JournalContents
  /// The number of frames at the end of each commit, oldest first, and what a start finds there.
  private let commits: [(end: Int, contents: JournalContents)]
  private let disk: SimulatedDisk
  private let logPath: String

  package init(files: [String: [UInt8]], navs: [String], logPath: String) throws {
    (self.files, self.navs, self.logPath) = (files, navs, logPath)
    disk = StoredJournal.makeDisk()
    disk.replaceFiles(files)
    whole = try JournalContents(of: disk, navs: navs)
    let log = files[logPath, default: []]
    commits = try (0...(log.count - 32) / 4120).compactMap { [disk] end in
      let header = 32 + (end - 1) * 4120
      guard end == 0 || log[header + 4..<header + 8] != [0, 0, 0, 0] else { return nil }
      var shorter = files
      shorter[logPath] = Array(log[..<(32 + end * 4120)])
      disk.replaceFiles(shorter)
      return (end, try JournalContents(of: disk, navs: navs))
    }
  }

  /// Starts on the files with a damage.
  package func effect(of damage: Damage) -> Damage.Effect {
    var damaged = files
    damage.apply(to: &damaged)
    do throws(any Error) {
      disk.replaceFiles(damaged)
      let found = try JournalContents(of: disk, navs: navs)
      if found == whole { return .none }
      guard !found.renewsEpochs, damage.path == logPath, mayLose(found, by: damage) else {
        return .wrong
      }
      disk.replaceFiles(damaged)
      let witnessed = try JournalContents(of: disk, navs: navs, newest: whole.lastSequence)
      return witnessed.renewsEpochs ? .witnessed : .wrong
    } catch {
      return error is JournalError ? .refused : .wrong
    }
  }

  /// Whether a damage may look like torn commits, and `found` is what is left without them.
  ///
  /// A log may be as short as it likes. Else `LogScan` must find each damage before the end of a commit
  /// that another frame follows, if both are sound; and one in the salts or in the checksum of such an end.
  private func mayLose(_ found: JournalContents, by damage: Damage) -> Bool {
    let frames: Set<Int>
    switch damage.kind {
    case .bit(let bit): frames = [Self.frame(bit / 8)]
    case .truncation(let length): frames = [Self.frame(length)]
    case .swappedPages(let first, let second):
      frames = Set(
        [first, second].flatMap { page in
          Self.frame(page * 4096)...Self.frame(page * 4096 + 4095)
        })
    }
    guard let first = frames.min(), let left = commits.last(where: { $0.end <= max(0, first) }),
      left.contents == found
    else { return false }
    if case .truncation = damage.kind { return true }
    let ends = commits.dropLast().map(\.end).filter { $0 > first }
    if case .bit(let bit) = damage.kind, ends.contains(first + 1),
      (8..<24).contains(bit / 8 - 32 - first * 4120)
    {
      return false
    }
    return first >= 0 && ends.allSatisfy { frames.contains($0 - 1) || frames.contains($0) }
  }

  /// The frame of the log with an octet; -1 for its header.
  private static func frame(_ octet: Int) -> Int { octet < 32 ? -1 : (octet - 32) / 4120 }
}
