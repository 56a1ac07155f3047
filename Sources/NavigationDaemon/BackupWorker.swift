import CLinux
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Synchronization

/// A backup to make.
enum BackupJob: Hashable, Sendable {
  /// One that a client asked for, into the directory of the journal; nothing removes it.
  case asked
  /// One of the daemon's own, begun at a time in seconds since 1970, of which `keep` are kept.
  case scheduled(seconds: Int, folder: String, keep: Int)
}

/// The result of a backup.
struct BackupResult: Sendable {
  var job: BackupJob
  /// The file, or the reason why there is none.
  var answer: BackupAnswer
  var removed: [String] = []
  /// The first reason why an older backup could not be removed; nil without a fault.
  var problem: String?
}

/// Copies the journal on a thread of its own, so that ops and reads of history continue meanwhile.
///
/// It makes one backup at a time; the next one waits.
final class BackupWorker: Sendable {
  private struct State {
    var waiting: [BackupJob] = []
    var isRunning = false
    var progress: (job: BackupJob, BackupProgress)?
    var results: [BackupResult] = []
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

  /// Starts a backup, after those that were started before.
  func start(_ job: BackupJob) {
    let mustBegin = state.withLock { state in
      state.waiting.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard mustBegin else { return }
    DetachedThread.start {
      while let job = self.next() {
        let result = self.make(job)
        self.state.withLock { $0.results.append(result) }
        eventfd_write(self.descriptor, 1)
      }
    }
  }

  /// Takes the newest progress and the results since the last call.
  func take() -> (progress: (job: BackupJob, BackupProgress)?, results: [BackupResult]) {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
    return state.withLock { state in
      defer { (state.progress, state.results) = (nil, []) }
      return (state.progress, state.results)
    }
  }

  private func next() -> BackupJob? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isRunning = false
        return nil
      }
      state.reportedAt = 0
      return state.waiting.removeFirst()
    }
  }

  private func make(_ job: BackupJob) -> BackupResult {
    guard let directory = place.directory else {
      let reason = "the database server keeps the journal: back it up with pg_basebackup or pg_dump"
      return BackupResult(job: job, answer: .failed(reason))
    }
    let backup: JournalBackup
    switch job {
    case .asked: backup = JournalBackup(of: directory.path)
    case .scheduled(_, let folder, _): backup = JournalBackup(of: directory.path, into: folder)
    }
    do {
      let answer = try make(job, backup, directory.bootID)
      return prune(BackupResult(job: job, answer: answer))
    } catch {
      backup.discard()
      return BackupResult(job: job, answer: .failed(DaemonFailure(error).text))
    }
  }

  /// Copies the journal and replays the whole copy; only then the copy gets its final name.
  private func make(
    _ job: BackupJob, _ backup: JournalBackup, _ bootID: String
  ) throws -> BackupAnswer {
    var pages = 0
    try backup.copy { done, total in
      pages = total
      report(job, done, of: 2 * total)
    }
    let journal = try Journal.open(
      directory: backup.draft, durability: .sync, bootID: bootID, retention: Retention(),
      holder: "navd checking a backup")
    let navs = try JournalReplay.check(journal) { done, total in
      report(job, pages + Int(UInt64(pages) * done / max(total, done, 1)), of: 2 * pages)
    }
    let sequence = journal.lastSequence
    try journal.close()
    let name: String
    switch job {
    case .asked:
      let time = Timestamp.text(ofSeconds: Int(SystemClock.wallMilliseconds() / 1000))
      name = "navd-\(time)-\(sequence).db"
    case .scheduled(let seconds, _, _): name = BackupName.name(ofSeconds: seconds)
    }
    let (path, bytes) = try backup.finish(as: name)
    return .made(
      path: path, bytes: UInt64(bytes), navs: UInt64(navs), sequence: sequence)
  }

  /// Removes older backups of the daemon's own, after a new one is complete and synced.
  private func prune(_ result: BackupResult) -> BackupResult {
    guard case .scheduled(let seconds, let folder, let keep) = result.job else { return result }
    var result = result
    let (removed, fault) = BackupFolder.prune(
      folder, keeping: keep, newest: BackupName.name(ofSeconds: seconds))
    (result.removed, result.problem) = (removed, fault?.description)
    return result
  }

  private func report(_ job: BackupJob, _ done: Int, of total: Int) {
    let now = SystemClock.monotonicMilliseconds()
    let isDue = state.withLock { state in
      guard now >= state.reportedAt + Self.interval else { return false }
      state.reportedAt = now
      state.progress = (job, BackupProgress(done: UInt64(done), total: UInt64(total)))
      return true
    }
    if isDue { eventfd_write(descriptor, 1) }
  }
}
