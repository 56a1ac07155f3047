/// Why the journal could not do what was asked, with what a caller needs to act on it.
package enum JournalError: Error, Hashable, Sendable {
  /// Another process holds the journal; `by` is what it wrote into the lock file.
  case locked(path: String, by: String)
  /// The content is not what was written; nothing of it may be served.
  case damaged(path: String, what: String)
  /// The file was written by a later version, which this one must not touch.
  case newer(path: String, found: Int, supported: Int)
  /// The file or directory cannot be read.
  case unreadable(path: String, reason: String)
  /// The file or directory cannot be created or written.
  case unwritable(path: String, reason: String)
  /// No space is left: nothing of the batch is stored, the same batch may be tried again.
  case full(path: String)
  /// Writing failed: nothing of the batch is stored, the same batch may be tried again.
  case writeFailed(path: String, reason: String)
  /// A sync failed: what is on the disk is unknown, every later commit fails the same way, and the
  /// process must exit so that the next one starts from what can be read back.
  case syncFailed(path: String, reason: String)
}

extension JournalError: CustomStringConvertible {
  /// What was attempted, on which file, what came back, and what to do about it.
  package var description: String {
    switch self {
    case .locked(let path, let holder):
      "cannot lock \(path): held by \(holder); stop that process or use another state directory"
    case .damaged(let path, let what):
      "the journal \(path) is damaged: \(what); move it away and restore a backup or start empty"
    case .newer(let path, let found, let supported):
      "the journal \(path) has format \(found), this version reads up to \(supported); upgrade navd"
    case .unreadable(let path, let reason):
      "cannot read \(path): \(reason); check that it exists and its owner and permissions"
    case .unwritable(let path, let reason):
      "cannot write \(path): \(reason); check owner, permissions, mount options and free space"
    case .full(let path):
      "cannot append to \(path): no space left; nothing was stored, free some space and try again"
    case .writeFailed(let path, let reason):
      "cannot append to \(path): \(reason); nothing was stored, it may be tried again"
    case .syncFailed(let path, let reason):
      "cannot sync \(path): \(reason); the process must exit, check the disk before restarting"
    }
  }
}
