import Glibc

/// A copy of a journal that is being written to, made beside it.
///
/// `copy`, then open the draft with `Journal.open` and read it whole, then `finish`; or `discard`
/// what there is of it. One at a time of each directory; any thread.
package struct JournalBackup: Sendable {
  /// Where the copies of a journal's directory are.
  package static func folder(of directory: String) -> String { directory + "/backups" }

  /// The directory of the copy until it is finished.
  package let draft: String
  private let directory: String
  private let folder: String

  /// Makes a backup of the journal in `directory`, which a `Journal` has open.
  package init(of directory: String) {
    self.directory = directory
    folder = Self.folder(of: directory)
    draft = folder + "/.new"
  }

  /// Copies what the journal holds now; what is committed meanwhile is not in the copy.
  ///
  /// - Parameter progress: told how many pages are done, and of how many.
  /// - Throws: `.full` also when the copy would leave too little for the journal itself.
  package func copy(
    progress: (_ done: Int, _ total: Int) -> Void
  ) throws(JournalError) {
    let path = directory + "/" + Journal.fileName
    try checkRoom(for: try fileSize(path) ?? 0, beside: path)
    try makePrivateDirectory(folder)
    try JournalDraft.make(draft)
    let target = draft + "/" + Journal.fileName
    try createPrivateFile(target)
    let source = try Database(path: path, readOnly: true)
    try Schema.verify(source)
    // Held open, so that a commit meanwhile does not make the copy begin again.
    try source.execute("BEGIN; SELECT key FROM meta LIMIT 1", .reading)
    let copy = try Database(path: target)
    // A copy that is not finished is worth nothing, and `finish` syncs it.
    try copy.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", .writing)
    try copy.copy(of: source, progress: progress)
    copy.close()
    source.rollBack()
    source.close()
  }

  /// Gives the draft, which was read whole and closed, its name.
  ///
  /// - Returns: its path and its size in bytes.
  package func finish(as name: String) throws(JournalError) -> (path: String, bytes: Int) {
    let path = folder + "/" + name
    let file = draft + "/" + Journal.fileName
    let bytes = try fileSize(file) ?? 0
    try syncFile(file)
    try renameFile(file, path)
    discard()
    try DirectoryLock.sync(directory: folder)
    try DirectoryLock.sync(directory: directory)
    return (path, bytes)
  }

  /// Removes what there is of the draft.
  package func discard() { JournalDraft.discard(draft) }
}
