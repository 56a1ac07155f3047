import CLinux
import Journal
import NavigationCore
import RuntimePaths
import Synchronization

/// Copies the journal on a thread of its own, so that ops and reads of history continue meanwhile.
final class BackupWorker: Sendable {
  private struct State {
    var progress: BackupProgress?
    var answer: BackupAnswer?
    var reportedAt: UInt64 = 0
  }

  /// Readable while there is progress or a result to take.
  let descriptor: Int32
  private let place: any JournalPlace
  private let state = Mutex(State())

  /// Milliseconds between two reports of progress.
  private static let interval: UInt64 = 100

  /// Makes a worker for the journal of a place; it has a thread only during a backup.
  init(_ place: any JournalPlace) {
    self.place = place
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    precondition(descriptor >= 0, "eventfd: errno=\(navd_errno())")
  }

  /// Starts a backup; none must be running.
  func start() {
    DetachedThread.start {
      let answer = self.make()
      self.state.withLock { $0.answer = answer }
      eventfd_write(self.descriptor, 1)
    }
  }

  /// Takes the progress and the result since the last call.
  func take() -> (progress: BackupProgress?, answer: BackupAnswer?) {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
    return state.withLock { state in
      defer { (state.progress, state.answer) = (nil, nil) }
      return (state.progress, state.answer)
    }
  }

  private func make() -> BackupAnswer {
    guard let directory = place.directory else {
      return .failed(
        "the database server keeps the journal: back it up with pg_basebackup or pg_dump")
    }
    let backup = JournalBackup(of: directory.path)
    do {
      return try make(backup, directory.bootID)
    } catch {
      backup.discard()
      return .failed(DaemonFailure(error).text)
    }
  }

  /// Copies the journal and replays the whole copy; only then the copy gets its final name.
  private func make(_ backup: JournalBackup, _ bootID: String) throws -> BackupAnswer {
    var pages = 0
    try backup.copy { done, total in
      pages = total
      report(done, of: 2 * total)
    }
    let journal = try Journal.open(
      directory: backup.draft, durability: .sync, bootID: bootID, retention: Retention(),
      holder: "navd checking a backup")
    let navs = try JournalReplay.check(journal) { row, newest in
      report(pages + Int(UInt64(pages) * row / max(newest, row, 1)), of: 2 * pages)
    }
    let sequence = journal.lastSequence
    try journal.close()
    let time = Timestamp.text(ofSeconds: Int(SystemClock.wallMilliseconds() / 1000))
    let (path, bytes) = try backup.finish(as: "navd-\(time)-\(sequence).db")
    return .made(
      path: path, bytes: UInt64(bytes), navs: UInt64(navs), sequence: sequence)
  }

  private func report(_ done: Int, of total: Int) {
    let now = SystemClock.monotonicMilliseconds()
    let isDue = state.withLock { state in
      guard now >= state.reportedAt + Self.interval else { return false }
      state.reportedAt = now
      state.progress = BackupProgress(done: UInt64(done), total: UInt64(total))
      return true
    }
    if isDue { eventfd_write(descriptor, 1) }
  }
}

extension ServerLoop {
  /// Passes progress and result of a backup to the hub, and logs the result.
  mutating func takeBackup() {
    let (progress, answer) = backups.take()
    if let progress { batches.append(.backupProgress(progress)) }
    guard let answer else { return }
    batches.append(.backup(answer))
    switch answer {
    case .made(let path, let bytes, let navs, let sequence):
      let text =
        "backed up \(counted(navs, "nav")) to \(path): \(bytes) bytes, up to row \(sequence)"
      log(LogEntry(.notice, text, kind: .backedUp))
    case .failed(let reason):
      log(LogEntry(.error, "backup failed: \(reason)", kind: .backedUp))
    }
  }
}
