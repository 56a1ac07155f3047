import Glibc

/// Keeps zeros behind the end of SQLite's write-ahead log, where the next frames will be.
///
/// A sync stores the new length of a file that a write has lengthened, which costs the file system
/// a commit of its own. Overwriting takes less time (docs/decisions/008). SQLite ends its log at a
/// frame of zeros, because the salts and the checksum of that frame are wrong.
struct LogReserve: ~Copyable {
  /// The frames that are reserved at a time; SQLite writes at least one for each commit.
  private static let framesPerExtension = 64

  private let path: String
  private var descriptor: Int32 = -1
  /// The length in bytes up to which the log is known to be extended.
  private var extendedBytes = 0

  /// Makes the reserve of the log at `path`; SQLite makes the file with the first commit.
  init(path: String) { self.path = path }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Lengthens the log if the next commit would lengthen it; it has `pages` frames, at least 1.
  ///
  /// If the disk is full, it does nothing: the commits that need the space report that.
  mutating func extend(pages: Int) {
    let used = LogScan.headerBytes + pages * LogScan.frameBytes
    guard used + LogScan.frameBytes > extendedBytes else { return }
    let wanted = used + Self.framesPerExtension * LogScan.frameBytes
    // SQLite holds no locks on this file, so closing the descriptor later releases none.
    if descriptor < 0 { descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC) }
    var information = stat()
    guard unsafe fstat(descriptor, &information) == 0 else { return }
    let missing = max(0, wanted - information.st_size)
    // Only behind the end: what SQLite has written stays. After an error, the next commit tries
    // again.
    if missing == 0 || write(zeros: missing, at: information.st_size) { extendedBytes = wanted }
  }

  /// Writes zeros by one pwritev(2) that repeats one block; returns whether it wrote all.
  ///
  /// A buffer for all, 264 KB, would have to be zeroed for each call.
  private func write(zeros count: Int, at offset: Int) -> Bool {
    var block = [UInt8](repeating: 0, count: LogScan.frameBytes)
    return unsafe block.withUnsafeMutableBytes { bytes in
      // The call only reads the block.
      let pieces = unsafe stride(from: 0, to: count, by: bytes.count).map { place in
        unsafe iovec(iov_base: bytes.baseAddress, iov_len: min(bytes.count, count - place))
      }
      return unsafe pwritev(descriptor, pieces, Int32(pieces.count), offset) == count
    }
  }

  /// Forgets what was reserved, after SQLite has truncated the log.
  mutating func noteTruncation() { extendedBytes = 0 }
}
