import Glibc
package import NavigationCore
package import NavigationHub
import RuntimePaths

/// An error of the journal, with the details that a caller needs to act on it.
package enum JournalError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Another process holds the lock; `by` is the text of its lock file.
  case locked(path: String, by: String)
  /// The contents differ from what was written; nothing of it may be served.
  case damaged(path: String, what: String)
  /// The contents are what was written, but the state of a nav does not follow from this row.
  case notReplayed(path: String, row: UInt64, what: String)
  /// A later version of navd wrote the file; this version must not touch it.
  case newer(path: String, found: Int, supported: Int)
  /// An earlier version of navd wrote the file, and no step leads from its format to the present one.
  ///
  /// `supported` is the oldest format that this version reads; it must not touch the file.
  case older(path: String, found: Int, supported: Int)
  /// The file or directory cannot be read.
  case unreadable(path: String, reason: String)
  /// The disk has failed to read the file: this says nothing about the contents, and the same read may
  /// be tried again.
  case readFailed(path: String, reason: String)
  /// The file or directory cannot be created or written.
  case unwritable(path: String, reason: String)
  /// The file system is mounted read-only, or was when this process opened the journal.
  case readOnly(path: String)
  /// Other users could change what is made in the directory; nothing is written to it.
  case unusable(path: String, reason: String, remedy: String)
  /// The disk is full: nothing of the batch is stored, and the same batch may be tried again.
  case full(path: String)
  /// A write failed: nothing of the batch is stored, and the same batch may be tried again.
  case writeFailed(path: String, reason: String)
  /// A sync failed: it is unknown what is on the disk.
  ///
  /// Every later commit fails in the same way. The process must exit, so that the next one starts
  /// from what can be read.
  case syncFailed(path: String, reason: String)
  /// Another process has taken over `shards`, or the whole database if `shards` is empty: nothing
  /// of the batch is stored, and this process can store nothing more there.
  case fenced(path: String, shards: [Shard] = [])

  /// The error of a file that cannot be read, by the errno of the last call.
  static func unreadable(_ path: String) -> JournalError {
    .unreadable(path: path, reason: SystemError.text(of: errno))
  }

  package init(_ error: HubReplayError, in path: String) {
    self = .notReplayed(path: path, row: error.sequence, what: error.what)
  }

  /// Whether the disk is full or read-only, so that the journal can be read but not written.
  package var isFullOrReadOnly: Bool {
    switch self {
    case .full, .readOnly: true
    default: false
    }
  }

  /// Whether nothing of the batch is stored and a retry can succeed; after `fenced`, without the
  /// lost shards.
  package var isRetryable: Bool {
    switch self {
    case .full, .readOnly, .writeFailed, .readFailed: true
    case .fenced(_, let shards): !shards.isEmpty
    default: false
    }
  }

  /// Appends advice about files, unless the journal is on a server.
  private func withAdvice(_ path: String, _ text: String, _ advice: String) -> String {
    path.hasPrefix("/") ? "\(text); \(advice)" : text
  }

  /// The action, the file, the error, and what the administrator can do about it.
  package var description: String {
    switch self {
    case .locked(let path, let holder):
      "cannot lock \(path): held by \(holder); stop that process or use another state directory"
    case .damaged(let path, let what):
      withAdvice(
        path, "the journal \(path) is damaged: \(what)",
        "move it away and restore a backup or start empty")
    case .notReplayed(_, let row, let what):
      "the journal cannot be replayed: row \(row): \(what); restore a backup, or move the state "
        + "directory away to start empty"
    case .newer(let path, let found, let supported):
      "the journal \(path) has format \(found), this version reads up to \(supported); upgrade navd"
    case .older(let path, let found, let supported):
      "the journal \(path) has format \(found), this version reads from \(supported) on; use the navd "
        + "that wrote it, or begin in an empty place"
    case .unreadable(let path, let reason):
      withAdvice(
        path, "cannot read \(path): \(reason)",
        "check that it exists and its owner and permissions")
    case .readFailed(let path, let reason):
      "cannot read \(path): \(reason); the disk failed to read; the journal itself may be sound. See the "
        + "kernel's log, and check the disk"
    case .unwritable(let path, let reason):
      withAdvice(
        path, "cannot write \(path): \(reason)",
        "check owner, permissions, mount options and free space")
    case .readOnly(let path):
      "cannot write \(path): its file system is read-only; see the kernel's log and mount it writable, "
        + "or name it in ReadWritePaths= of the unit, then restart navd"
    case .unusable(let path, let reason, let remedy):
      "cannot use \(path): \(reason); \(remedy)"
    case .full(let path):
      "cannot append to \(path): no space left, or no inode; nothing was stored, free some space and try again"
    case .writeFailed(let path, let reason):
      "cannot append to \(path): \(reason); nothing was stored, it may be tried again"
    case .syncFailed(let path, let reason):
      withAdvice(
        path, "cannot sync \(path): \(reason)", "check the disk before the next start")
    case .fenced(let path, let shards) where !shards.isEmpty:
      "\(shards.count) shards of \(path) have gone to another navd or were restored; this one serves them no more"
    case .fenced(let path, _):
      "another navd has taken over \(path); this one stores nothing more and must exit"
    }
  }
}

/// Runs a step of a replay; converts its error into one that names the journal.
package func replayStep(
  in path: String, _ body: () throws(HubReplayError) -> Void
) throws(JournalError) {
  do throws(HubReplayError) { try body() } catch { throw JournalError(error, in: path) }
}
