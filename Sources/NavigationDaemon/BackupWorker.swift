import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Synchronization

/// A backup to make.
enum BackupJob: Hashable, Sendable {
  /// A client asked for this backup. It goes beside the journal, and navd never removes it.
  case requestedByClient
  /// The schedule asked for this backup: it began at `seconds` since 1970, and navd keeps the
  /// newest `keep` backups in `folder`.
  case scheduled(seconds: Int, folder: String, keep: Int)
}

/// The result of a backup.
struct BackupResult: Sendable {
  var job: BackupJob
  /// The file, or the reason why there is none.
  var answer: BackupOutcome
  var removedNames: [String] = []
  /// The first reason why an older backup could not be removed; nil without a fault.
  var removalProblem: String?
}

/// Copies the journal on a thread of its own, so that ops and reads of history continue meanwhile.
///
/// It makes one backup at a time; the next one waits.
final class BackupWorker: Sendable {
  /// The progress or the result of a backup.
  enum Report: Sendable {
    case progress(BackupJob, BackupProgress)
    case result(BackupResult)
  }

  let reports = Mailbox<Report>()
  private let place: any JournalPlace
  /// The jobs that have not ended; the first one is running.
  private let jobs = Mutex<[BackupJob]>([])

  /// Milliseconds between two reports of progress.
  private static let reportInterval: UInt64 = 100

  /// Makes a worker, which has a thread only during a backup.
  init(_ place: any JournalPlace) { self.place = place }

  /// Starts a backup, after those that were started before.
  func start(_ job: BackupJob) {
    let isFirst = jobs.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    guard isFirst else { return }
    Thread.start {
      var next: BackupJob? = job
      while let job = next {
        self.reports.append(.result(self.make(job)))
        next = self.jobs.withLock { jobs in
          jobs.removeFirst()
          return jobs.first
        }
      }
    }
  }

  private func make(_ job: BackupJob) -> BackupResult {
    guard let directory = place.directory else {
      let reason = "the database server keeps the journal: back it up with pg_basebackup or pg_dump"
      return BackupResult(job: job, answer: .failed(reason))
    }
    var folder: String?
    if case .scheduled(_, let own, _) = job { folder = own }
    let backup = JournalBackup(of: directory.path, into: folder)
    do {
      var result = BackupResult(job: job, answer: try make(job, backup, directory.bootID))
      // After the new one is complete and synced.
      if case .scheduled(let seconds, let folder, let keep) = job {
        let (removed, fault) = BackupFolder.prune(
          folder, keeping: keep, newest: BackupFolder.name(ofSeconds: seconds))
        (result.removedNames, result.removalProblem) = (removed, fault?.description)
      }
      return result
    } catch {
      backup.discard()
      return BackupResult(job: job, answer: .failed(DaemonError(error).description))
    }
  }

  /// Copies the journal and replays the whole copy; only then the copy gets its final name.
  private func make(
    _ job: BackupJob, _ backup: JournalBackup, _ bootID: String
  ) throws -> BackupOutcome {
    var pages = 0
    var reportDue: UInt64 = 0
    func report(_ done: Int) {
      let now = SystemClock.monotonicMilliseconds()
      guard now >= reportDue else { return }
      reportDue = now + Self.reportInterval
      let progress = BackupProgress(done: UInt64(done), total: UInt64(2 * pages))
      reports.append(.progress(job, progress))
    }
    try backup.copy { done, total in
      pages = total
      report(done)
    }
    let (navs, sequence) = try JournalReplay.checkDraft(
      backup.draft, bootID: bootID, renewingEpochs: false
    ) { done, total in
      report(pages + Int(UInt64(pages) * done / max(total, done, 1)))
    }
    let name: String
    switch job {
    case .requestedByClient:
      let time = Timestamp.fileName(ofSeconds: Int(SystemClock.wallMilliseconds() / 1000))
      name = "navd-\(time)-\(sequence).db"
    case .scheduled(let seconds, _, _): name = BackupFolder.name(ofSeconds: seconds)
    }
    let (path, bytes) = try backup.finish(as: name)
    return .made(
      path: path, bytes: UInt64(bytes), navs: UInt64(navs), sequence: sequence)
  }
}
