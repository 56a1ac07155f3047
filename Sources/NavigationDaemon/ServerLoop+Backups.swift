import CommandLineOptions
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths

// Backups: those that clients ask for, and those that the configuration asks for.

extension ServerLoop {
  /// The directory of the daemon's own backups; nil if a database server keeps the journal.
  private var backupFolder: String? {
    writer.journal.place.directory.map { directory in
      configuration.current.backup.directory ?? JournalBackup.folder(of: directory.path)
    }
  }

  /// Plans backups by the rules of the configuration and the newest backup; at the start and after a
  /// reload.
  mutating func scheduleBackups(at now: Instant = Instant.now()) {
    let rules = configuration.current.backup
    var newest: UInt64?
    if rules.intervalMilliseconds > 0, let backupFolder {
      do throws(JournalError) {
        newest = try BackupFolder.newestSeconds(in: backupFolder, upTo: Int(now.wall / 1000)).map {
          UInt64(max($0, 0)) * 1000
        }
      } catch {
        log(.error, "no backup is found: \(error)", kind: .backedUp)
      }
    }
    backupSchedule.apply(rules, newest: newest, at: now)
  }

  mutating func startDueBackup(at now: Instant) {
    // A copy of whatever is in the journal's place would count as the newest.
    guard backupSchedule.timeUntilDue(at: now) == 0, maintenance.problem == nil, let backupFolder
    else { return }
    backupSchedule.noteStarted()
    backups.start(
      .scheduled(
        seconds: Int(now.wall / 1000), folder: backupFolder, keep: backupSchedule.rules.keptCount))
  }

  /// Passes the progress and results of backups to the hub, for the client that asked, and to the
  /// log.
  mutating func takeBackup(at now: Instant = Instant.now()) {
    for report in backups.reports.take() {
      switch report {
      case .progress(let job, let progress):
        if job == .requestedByClient { batches.append(.backupProgress(progress)) }
        show(.backup, progress.done, of: progress.total, at: now.boot)
      case .result(let result):
        end(.backup)
        log(result)
        switch result.job {
        case .requestedByClient: batches.append(.backup(result.answer))
        case .scheduled(let seconds, let folder, _):
          note(result, seconds, at: now)
          // A reload named another directory meanwhile, which may have no backup yet.
          if folder != backupFolder { scheduleBackups(at: now) }
        }
      }
    }
  }

  private mutating func note(_ result: BackupResult, _ seconds: Int, at now: Instant) {
    switch result.answer {
    case .made:
      backupSchedule.noteMade(
        UInt64(max(seconds, 0)) * 1000, at: now, retentionFailed: result.removalProblem != nil)
    case .failed:
      let pause = backupSchedule.scheduleRetry(at: now)
      log(
        .notice, "no older backup was removed; the next attempt is in \(pause / 1000) s",
        kind: .backedUp)
    }
  }

  private func log(_ result: BackupResult) {
    switch result.answer {
    case .made(let path, let bytes, let navs, let sequence):
      var text =
        "backed up \(counted(navs, "nav")) to \(path): \(bytes) bytes, up to row \(sequence)"
      let removed = result.removedNames.joined(separator: ", ")
      if !removed.isEmpty { text += "; removed \(removed)" }
      log(.notice, text, kind: .backedUp)
    case .failed(let reason):
      log(.error, "backup failed: \(reason)", kind: .backedUp)
    }
    guard let problem = result.removalProblem else { return }
    log(.warning, "not every older backup was removed: \(problem)", kind: .backedUp)
  }

  /// Gives the hub the figures of backups and of pruning.
  mutating func measureBackups(at now: Instant) {
    hub.measurements[.backupInterval] = backupSchedule.rules.intervalMilliseconds
    hub.measurements[.backupAge] = backupSchedule.ageOfNewest(at: now).map { $0 + 1 } ?? 0
    hub.measurements[.backupOverdue] = backupSchedule.isOverdue(at: now) ? 1 : 0
    hub.measurements[.backupRetentionFailed] = backupSchedule.retentionFailed ? 1 : 0
    hub.measurements[.backupsMade] = backupSchedule.madeCount
    hub.measurements[.backupsFailed] = backupSchedule.failedCount
    let backup = workStatus[.backup]
    hub.measurements[.backupDone] = backup?.done ?? 0
    hub.measurements[.backupTotal] = backup?.total ?? 0
    let pruning = workStatus[.prune]
    hub.measurements[.prunedRows] = pruning?.done ?? 0
    hub.measurements[.rowsToPrune] = pruning?.total ?? 0
  }
}
