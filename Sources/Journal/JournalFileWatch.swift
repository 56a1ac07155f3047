import Glibc

/// The files of an open journal, to notice that somebody removed, moved or replaced them.
///
/// SQLite goes on writing to a file that has no name any more. Any thread may use it.
struct JournalFileWatch: Sendable {
  private let files: [(path: String, identity: [UInt])]
  /// Whether the journal was opened on a read-only file system: SQLite then writes nothing to it any more.
  let isReadOnly: Bool

  /// Notes the inode numbers of the files; SQLite keeps them open, so no other file gets these.
  init(directory: String, database: String, isReadOnly: Bool) {
    self.isReadOnly = isReadOnly
    let paths = [directory, directory + "/lock", database, database + "-wal"]
    files = paths.map { ($0, fileIdentity($0)) }
  }

  /// Why a commit would be lost or fail; nil if the paths name the same files, which can be written.
  var problem: JournalError? {
    for (path, identity) in files {
      let found = fileIdentity(path)
      // After EIO nobody knows which file the path names.
      if found == identity || found.isEmpty && errno == EIO { continue }
      let isGone = found.isEmpty
      return .unusable(
        path: path, reason: isGone ? "it is gone" : "it is not the file that navd opened",
        remedy: "put it back, or restart navd, which begins with what is there")
    }
    return isReadOnly || isOnReadOnlySystem(files[0].path) ? .readOnly(path: files[0].path) : nil
  }
}
