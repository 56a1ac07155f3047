import Glibc
import RuntimePaths

/// Replaces a directory's journal with a copy, while no daemon uses the directory.
///
/// The caller makes the value, which takes the lock, then calls `copy`. It opens the draft with
/// `Journal.open`, reads it whole, calls `renewEpochsAtNextStart`, closes it, and calls `finish`.
/// Until `finish` has renamed the draft, the old journal is unchanged. After that, the next process
/// that opens the journal completes the replacement.
package struct JournalRestoration: ~Copyable {
  /// The directory of the copy until `finish`.
  package var draft: String { Self.draftPath(in: directory) }
  private let directory: String
  private let lock: DirectoryLock

  /// Takes the lock of the directory.
  package init(in directory: String, holder: String) throws(JournalError) {
    lock = try DirectoryLock(directory: directory, holder: holder)
    self.directory = directory
  }

  /// Copies a journal file, and the write-ahead log beside it if there is one.
  ///
  /// `progress` gets the number of bytes copied, and of all bytes. After an error, the directory's
  /// journal is unchanged.
  package func copy(
    _ file: String, progress: (_ bytesDone: Int, _ totalBytes: Int) -> Void
  ) throws(JournalError) {
    guard let size = try fileSize(file) else {
      throw .unreadable(path: file, reason: "there is no such file")
    }
    let log = try fileSize(file + "-wal") ?? 0
    try checkFreeSpace(for: size + log, beside: directory)
    try JournalDraft.make(draft)
    let target = draft + "/" + Journal.fileName
    progress(0, size + log)
    try copyFile(file, target) { progress($0, size + log) }
    if log > 0 {
      try copyFile(file + "-wal", target + "-wal") { progress(size + $0, size + log) }
    } else {
      // The administrator chose this file; every nav gets a new epoch.
      let copy = try Database(path: target)
      try Metadata(FactTable(copy)).write(minimumLogPages: nil)
      copy.close(removingLog: true)
    }
  }

  /// Replaces the journal with the draft, which the caller has read whole and closed; returns the
  /// new path of the former journal, nil if there was none.
  package func finish() throws(JournalError) -> String? {
    let file = draft + "/" + Journal.fileName
    try syncFile(file)
    // From here on, the next start uses the copy.
    try renameFile(file, Self.readyPath(in: directory))
    try syncFile(directory)
    discard()
    return try Self.completeReplacement(in: directory)
  }

  /// Whether the copy has replaced the journal: if a later step fails, the next start completes it.
  package var nextStartCompletes: Bool { unsafe access(Self.readyPath(in: directory), F_OK) == 0 }

  package func discard() { JournalDraft.discard(draft) }

  private static func draftPath(in directory: String) -> String { directory + "/restore.new" }

  private static func readyPath(in directory: String) -> String {
    directory + "/" + Journal.fileName + ".restored"
  }

  /// Completes a replacement that `finish` began, if there is one; the caller holds the lock.
  ///
  /// Each step leaves a state from which this function can be called again with the same result.
  static func completeReplacement(in directory: String) throws(JournalError) -> String? {
    // A killed process may have left a draft. The lock excludes that one is being made now.
    JournalDraft.discard(draftPath(in: directory))
    let ready = readyPath(in: directory)
    guard try exists(ready) else { return nil }
    let path = directory + "/" + Journal.fileName
    var former: String?
    var information = stat()
    if unsafe stat(ready, &information) == 0, try exists(path) {
      let name = try formerJournalPath(in: directory, Int(information.st_mtim.tv_sec), of: path)
      guard unsafe link(path, name) == 0 || errno == EEXIST else {
        throw DirectoryLock.writeError(name)
      }
      // The former journal keeps its own log, which SQLite must not apply to the copy.
      if try exists(path + "-wal") { try renameFile(path + "-wal", name + "-wal") }
      former = name
    } else {
      try unlinkFile(path + "-wal")
    }
    try syncFile(directory)
    try renameFile(ready, path)
    try syncFile(directory)
    return former
  }

  /// Returns a name that is free, or that is already a link to the journal.
  private static func formerJournalPath(
    in directory: String, _ unixSeconds: Int, of path: String
  ) throws(JournalError) -> String {
    let stamp = Timestamp.fileName(ofSeconds: unixSeconds)
    for number in 1...1000 {
      let suffix = number == 1 ? "" : "-\(number)"
      let name = "\(directory)/journal-\(stamp)\(suffix).sqlite"
      if try !exists(name) || fileIdentity(name) == fileIdentity(path) { return name }
    }
    throw .unwritable(path: directory, reason: "there are too many former journals")
  }
}

/// Copies a file; `progress` gets the number of copied bytes.
private func copyFile(
  _ source: String, _ target: String, progress: (Int) -> Void
) throws(JournalError) {
  let input = unsafe open(source, O_RDONLY | O_CLOEXEC)
  guard input >= 0 else { throw .unreadable(source) }
  defer { close(input) }
  try createPrivateFile(target)
  let output = unsafe open(target, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
  guard output >= 0 else { throw DirectoryLock.writeError(target) }
  defer { close(output) }
  var piece = [UInt8](repeating: 0, count: 1 << 20)
  var done = 0
  while true {
    // The source can be a pipe, which has no places to read at.
    let count = unsafe piece.withUnsafeMutableBytes {
      unsafe read(input, $0.baseAddress, $0.count)
    }
    if count < 0, errno == EINTR { continue }
    guard count >= 0 else { throw .readFailed(path: source, reason: SystemError.text(of: errno)) }
    if count == 0 { return }
    do throws(SystemError) {
      try writeAll(Array(piece.prefix(count)), to: output, path: target)
    } catch {
      throw DirectoryLock.writeErrorOrFull(target, error.code)
    }
    done += count
    progress(done)
  }
}
