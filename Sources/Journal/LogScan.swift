import Glibc

/// Finds damage in a write-ahead log that SQLite would ignore.
///
/// SQLite ends its log at the first frame with a wrong checksum. That is right for a torn commit at
/// the end, which navd has not acknowledged. But a commit that another one follows was synced and
/// acknowledged. If the wrong frame is in such a commit or before it, SQLite would lose that commit
/// silently.
struct LogScan: ~Copyable {
  static let headerBytes = 32
  /// The bytes of one frame: its header and a page.
  static let frameBytes = 24 + 4096

  private let descriptor: Int32

  /// Returns a description of the damage in the log at `path`; nil if the log is sound, torn at the
  /// end, or absent.
  ///
  /// Call `damage` before SQLite opens the file. Its result is valid only if every commit in the log
  /// was synced.
  static func damage(path: String) throws(JournalError) -> String? {
    let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else {
      guard errno == ENOENT else {
        throw .unreadable(path: path, reason: unsafe String(cString: strerror(errno)))
      }
      return nil
    }
    return LogScan(descriptor: opened).damage()
  }

  deinit { close(descriptor) }

  private func damage() -> String? {
    guard let header = read(Self.headerBytes, at: 0), let first = read(Self.frameBytes, at: 32)
    else { return nil }
    var sum = (first: UInt32(0), second: UInt32(0))
    Self.add(header[..<24], to: &sum)
    guard Self.word(header, 24) == sum.first, Self.word(header, 28) == sum.second else {
      return first.allSatisfy { $0 == 0 } ? nil : "the header of its write-ahead log is wrong"
    }
    let salts = header[16..<24]
    var broken: Int?
    var hasLostCommit = false
    var index = 0
    while let frame = read(Self.frameBytes, at: Self.headerBytes + index * Self.frameBytes) {
      defer { index += 1 }
      let isCurrent = frame[8..<16] == salts
      if let broken {
        if isCurrent, hasLostCommit { return "frame \(broken + 1) of its write-ahead log is wrong" }
        if isCurrent, Self.word(frame, 4) != 0 { hasLostCommit = true }
        continue
      }
      Self.add(frame[..<8], to: &sum)
      Self.add(frame[24...], to: &sum)
      let isSound = Self.word(frame, 16) == sum.first && Self.word(frame, 20) == sum.second
      guard isCurrent, isSound else {
        broken = index
        // A damaged commit frame counts only if another frame follows it.
        hasLostCommit = Self.word(frame, 4) != 0
        continue
      }
    }
    return nil
  }

  private func read(_ count: Int, at offset: Int) -> [UInt8]? {
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      read = max(0, unsafe pread(descriptor, buffer.baseAddress, count, offset))
    }
    return bytes.count == count ? bytes : nil
  }

  /// Adds bytes to SQLite's checksum: pairs of little-endian words, as on this processor.
  private static func add(_ bytes: ArraySlice<UInt8>, to sum: inout (first: UInt32, second: UInt32))
  {
    var index = bytes.startIndex
    while index < bytes.endIndex {
      sum.first &+= word(little: bytes, index) &+ sum.second
      sum.second &+= word(little: bytes, index + 4) &+ sum.first
      index += 8
    }
  }

  private static func word(little bytes: ArraySlice<UInt8>, _ index: Int) -> UInt32 {
    UInt32(bytes[index]) | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]) << 16
      | UInt32(bytes[index + 3]) << 24
  }

  private static func word(_ bytes: [UInt8], _ index: Int) -> UInt32 {
    word(little: bytes[...], index).byteSwapped
  }
}
