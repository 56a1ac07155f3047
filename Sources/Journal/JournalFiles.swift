import CLinux
import Glibc

/// The files of an open journal, to notice that somebody removed, moved or replaced them.
///
/// SQLite goes on writing to a file that has no name any more. Any thread may use it.
struct JournalFiles: Sendable {
  private let files: [(path: String, identity: [UInt])]

  /// Notes which files the paths name; SQLite keeps them open, so no other file gets their numbers.
  init(directory: String, database: String) {
    let paths = [directory, directory + "/lock", database, database + "-wal"]
    files = paths.map { ($0, Self.identity(of: $0)) }
  }

  /// Why a commit would be lost or fail; nil if the paths name the same files, which can be written.
  var problem: JournalError? {
    for (path, identity) in files where Self.identity(of: path) != identity {
      let isGone = Self.identity(of: path).isEmpty
      return .unusable(
        path: path, reason: isGone ? "it is gone" : "it is not the file that navd opened",
        remedy: "put it back, or restart navd, which begins with what is there")
    }
    var system = statvfs()
    guard unsafe statvfs(files[0].path, &system) == 0, system.f_flag & UInt(ST_RDONLY) != 0 else {
      return nil
    }
    return .unusable(
      path: files[0].path, reason: "its file system is read-only",
      remedy: "find the cause in the kernel's log, and mount it writable again")
  }

  private static func identity(of path: String) -> [UInt] {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? [status.st_dev, status.st_ino] : []
  }
}
