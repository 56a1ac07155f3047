import Glibc
import RuntimePaths

/// The exclusive right to open the journal of a directory, for as long as the value lives.
///
/// It is a lock of the kernel (`flock`), which ends with the process in any case. The lock file
/// names the holder, for the message of a process that finds it locked.
struct DirectoryLock: ~Copyable {
  private let descriptor: Int32

  /// Makes the directory if there is none, and takes its lock.
  init(directory: String, holder: String) throws(JournalError) {
    if try makePrivateDirectory(directory) {
      // The directory's name must survive a power failure, like the files in it.
      try syncFile(parentDirectory(of: directory))
    } else {
      try checkPrivateDirectory(directory)
    }
    descriptor = try Self.openLocked(directory + "/lock", "\(holder) (pid \(getpid()))\n")
  }

  deinit {
    // Closing alone would release the lock with the last copy of the descriptor. A child process
    // has a copy until it runs its program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func openLocked(_ path: String, _ holder: String) throws(JournalError) -> Int32 {
    var opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    let isReadOnly = opened < 0 && errno == EROFS
    if isReadOnly { opened = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard opened >= 0 else { throw writeError(path, isReadOnly ? EROFS : errno) }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      let error = errno
      let holder = readHolder(from: opened)
      close(opened)
      guard error == EWOULDBLOCK else { throw writeError(path, error) }
      throw .locked(path: path, by: holder)
    }
    if isReadOnly { return opened }
    let bytes = Array(holder.utf8)
    let written = unsafe bytes.withUnsafeBytes {
      unsafe pwrite(opened, $0.baseAddress, $0.count, 0)
    }
    let error = written < 0 ? errno : 0
    // A full disk has no room for the text, or for a part of it, but the lock needs none.
    guard [0, ENOSPC, EDQUOT].contains(error), ftruncate(opened, max(0, written)) == 0 else {
      let error = error == 0 ? errno : error
      close(opened)
      throw writeError(path, error)
    }
    return opened
  }

  private static func readHolder(from descriptor: Int32) -> String {
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, $0.count, 0)
    }
    let text = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self)
    return text.isEmpty ? "a process that has not said who it is" : text
  }

  /// The holder of a directory's lock, by its lock file; nil if nobody holds it.
  ///
  /// It takes no lock, not even for a moment, because a daemon that starts then would find it taken.
  static func holder(of directory: String) -> String? {
    let opened = unsafe open(directory + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard opened >= 0 else { return nil }
    defer { close(opened) }
    var information = stat()
    guard unsafe fstat(opened, &information) == 0, let locks = try? readSmallText("/proc/locks")
    else { return nil }
    // For example: 1: FLOCK  ADVISORY  WRITE 4711 fe:01:131090 0 EOF
    let isHeld = locks.split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      return words.count >= 6 && words[1] == "FLOCK"
        && words[5].split(separator: ":").last == "\(information.st_ino)"
    }
    return isHeld ? readHolder(from: opened) : nil
  }

  static func writeError(_ path: String, _ error: Int32 = errno) -> JournalError {
    error == EROFS
      ? .readOnly(path: path) : .unwritable(path: path, reason: SystemError.text(of: error))
  }

  /// The error of a call that needs space on the disk: `.full` if there is none.
  static func writeErrorOrFull(_ path: String, _ error: Int32) -> JournalError {
    error == ENOSPC || error == EDQUOT ? .full(path: path) : writeError(path, error)
  }
}
