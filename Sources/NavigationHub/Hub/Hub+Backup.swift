import NavigationCore

/// The progress of a backup.
package struct BackupProgress: Hashable, Sendable {
  /// The number of pages done; a page counts when it is written, and again when it is read back.
  package var done: UInt64
  /// The number at which the backup is complete.
  package var total: UInt64

  package init(done: UInt64, total: UInt64) {
    assert(done <= total, "\(done) pages of \(total)")
    self.done = done
    self.total = total
  }
}

/// The result of a backup.
package enum BackupOutcome: Hashable, Sendable {
  /// The backup was written, and reading it back found it whole.
  case made(path: String, bytes: UInt64, navs: UInt64, sequence: UInt64)
  /// The backup failed; the text says why.
  case failed(String)
}

/// The backup that is being made.
struct PendingBackup: Sendable {
  var connection: ConnectionID
  /// The id of the request, which the answer repeats.
  var id: UInt64
  var progress = BackupProgress(done: 0, total: 0)
}

// The shell makes the backup, because this module performs no I/O.

extension Hub {
  /// Asks the shell for a backup; refuses with `busy` if one is being made already.
  ///
  /// The client gets its answer when the shell's `BackupOutcome` arrives.
  mutating func startBackup(_ request: GetRequest, for sender: Sender) {
    guard reads.backup == nil else {
      return refuse(
        sender, OutgoingError(.busy, id: request.id, "a backup is being made already", after: 1000))
    }
    reads.backup = PendingBackup(connection: sender.connection, id: request.id)
    batches.note(.backup(before: nil))
    batches.append(.backup)
  }

  mutating func finishBackup(_ answer: BackupOutcome) {
    guard let pending = reads.backup.take() else { return }
    batches.note(.backup(before: pending))
    switch answer {
    case .made(let path, let bytes, let navs, let sequence):
      let body = JSONWriter.object(reserving: 256) { json in
        json.member("id", pending.id)
        json.optional("value", path)
        json.member("bytes", bytes)
        json.member("navs", navs)
        json.member("seq", sequence)
      }
      send(pending.connection, .ok, body)
    case .failed(let reason):
      let error = OutgoingError(.storage, id: pending.id, "no backup was made: \(reason)")
      send(pending.connection, .err, ServerMessageWriter.error(error))
    }
  }
}
