import Glibc
import NavigationCore

/// A copy of a journal, made while the journal is in use.
///
/// The caller calls `copy`, then opens the draft with `Journal.open` and reads it whole, then calls
/// `finish`; or `discard` at any point. Only one backup of a directory may run at a time. Any
/// thread may call.
package struct JournalBackup: Sendable {
  package static func folder(of directory: String) -> String { directory + "/backups" }

  /// The directory of the copy until `finish`.
  package var draft: String { folder + "/.new" }
  private let directory: String
  private let folder: String

  /// Prepares a backup of the journal in `directory`, which a `Journal` has open.
  ///
  /// `copy` makes `folder` if there is none; nil stands for the folder of the journal's directory.
  package init(of directory: String, into folder: String? = nil) {
    self.directory = directory
    self.folder = folder ?? Self.folder(of: directory)
  }

  /// Copies what the journal has now; later commits are not in the copy.
  ///
  /// `progress` gets the number of pages copied, and of all pages. Throws `.full` also if the copy
  /// would leave too little room for the journal itself; `.unusable` if another user owns the
  /// directory or may write it, or if its draft is not the daemon's.
  package func copy(
    progress: (_ pagesDone: Int, _ totalPages: Int) -> Void
  ) throws(JournalError) {
    let path = directory + "/" + Journal.fileName
    try makePrivateDirectory(folder)
    try checkPrivateDirectory(folder)
    // The file system of the copy can be another than that of the journal.
    try checkFreeSpace(for: try fileSize(path) ?? 0, beside: folder)
    try JournalDraft.make(draft)
    let target = draft + "/" + Journal.fileName
    try createPrivateFile(target)
    let source = try Database(path: path, readOnly: true)
    try Schema.verify(source)
    // The open transaction keeps a commit from restarting the copy.
    try source.execute("BEGIN; SELECT key FROM meta LIMIT 1", .reading)
    let copy = try Database(path: target)
    // An unfinished copy is discarded, so it needs no rollback journal, and `finish` syncs it.
    try copy.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF", .writing)
    try copy.copy(of: source, progress: progress)
    try Metadata(FactTable(copy)).write(minimumLogPages: nil)
    copy.close()
    source.rollBack()
    source.close()
  }

  /// Moves the draft, which the caller has read whole and closed, to its final name; returns the
  /// path of the backup and its size in bytes.
  package func finish(as name: String) throws(JournalError) -> (path: String, bytes: Int) {
    let path = folder + "/" + name
    let file = draft + "/" + Journal.fileName
    let bytes = try fileSize(file) ?? 0
    try syncFile(file)
    try renameFile(file, path)
    discard()
    try syncFile(folder)
    if folder == Self.folder(of: directory) { try syncFile(directory) }
    return (path, bytes)
  }

  package func discard() { JournalDraft.discard(draft) }
}
