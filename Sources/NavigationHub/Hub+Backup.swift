import NavigationProtocol

/// How far the copy of the journal has come.
package struct BackupProgress: Hashable, Sendable {
  /// The pages that are done, each once written and once read back.
  package var done: UInt64
  /// How many there are.
  package var total: UInt64

  /// Makes a value from its members.
  package init(done: UInt64, total: UInt64) {
    self.done = done
    self.total = total
  }
}

/// What became of the copy of the journal.
package enum BackupAnswer: Hashable, Sendable {
  /// It is there, and was read whole.
  case made(path: String, bytes: UInt64, navs: UInt64, sequence: UInt64)
  /// There is none, and why.
  case failed(String)
}

/// The copy of the journal that is being made.
struct PendingBackup: Sendable {
  /// Who asked for it.
  var connection: ConnectionID
  /// What the answer repeats.
  var id: UInt64
  var progress = BackupProgress(done: 0, total: 0)
}

// The shell makes the copy: this module knows no files.

extension Hub {
  /// Asks the shell for a copy, one at a time; the answer comes with its `BackupAnswer`.
  mutating func startBackup(_ request: GetRequest, for sender: Sender) {
    guard reads.beginBackup(PendingBackup(connection: sender.connection, id: request.id)) else {
      var error = OutgoingError(.busy, id: request.id, "a backup is being made already")
      error.after = 1000
      return refuse(sender, error)
    }
    batches.append(.backup)
  }

  mutating func finishBackup(_ answer: BackupAnswer) {
    guard let pending = reads.takeBackup() else { return }
    batches.current.finishedBackup = pending
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

extension JSONWriter {
  /// Writes how far a backup has come, as a member of the object at hand.
  mutating func progress(of backup: PendingBackup) {
    name("backup")
    beginObject()
    member("done", backup.progress.done)
    member("total", backup.progress.total)
    endObject()
  }
}
