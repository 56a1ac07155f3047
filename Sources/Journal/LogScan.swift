import Glibc
import RuntimePaths

/// Finds damage in a write-ahead log that SQLite would ignore.
///
/// SQLite ignores its log from the first wrong frame on. That is right for a commit that a power
/// failure tore: navd has not acknowledged it. But navd begins a commit only after it has synced
/// the one before. So the log is damaged if it has a commit at or behind the first wrong frame, and
/// another frame continues the checksum of that commit.
///
/// A frame with other salts is from a former generation of the log and proves nothing: a torn
/// commit leaves such frames in place. If a disk loses exactly the last frame of the last commit
/// but one, the scan takes that for a torn commit.
struct LogScan: ~Copyable {
  static let headerBytes = 32
  /// The bytes of one frame: its header and a page.
  static let frameBytes = 24 + 4096

  private let descriptor: Int32
  private let path: String

  /// Returns a description of the damage in the log at `path`; nil if the log is sound, torn at the
  /// end, or absent.
  ///
  /// Call `damage` before SQLite opens the file. Its result is valid only if every commit in the log
  /// was synced. It syncs the log: a killed process may have left its writes in the kernel's memory,
  /// and they must be on the disk before navd serves them.
  static func damage(path: String) throws(JournalError) -> String? {
    let opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else {
      guard errno == ENOENT else { throw .unreadable(path) }
      return nil
    }
    let scan = LogScan(descriptor: opened, path: path)
    guard fdatasync(opened) == 0 else {
      throw .syncFailed(path: path, reason: SystemError.text(of: errno))
    }
    return try scan.damage()
  }

  deinit { close(descriptor) }

  private func damage() throws(JournalError) -> String? {
    guard let header = try read(Self.headerBytes, at: 0),
      let first = try read(Self.frameBytes, at: Self.headerBytes)
    else { return nil }
    var sound = Checksum(header, 24)
    let headerIsWrong = "the header of its write-ahead log is wrong"
    // A power failure can leave a new log without it.
    let hasHeader = !header.allSatisfy { $0 == 0 }
    let isSound = hasHeader && sound.before(header[..<24]) == Checksum()
    if hasHeader, !isSound, !first.allSatisfy({ $0 == 0 }) { return headerIsWrong }
    var broken: (index: Int, frame: [UInt8])?
    var commits: Set<Checksum> = []
    var continued: Set<Checksum> = []
    var last: Checksum?
    var index = 0
    while let frame = try read(Self.frameBytes, at: Self.headerBytes + index * Self.frameBytes) {
      defer { index += 1 }
      let end = Checksum(frame, 16)
      // Behind a lost header, the checksums alone join frames.
      let isCurrent =
        isSound ? frame[8..<16] == header[16..<24] : !frame[8..<16].allSatisfy { $0 == 0 }
      let start = isCurrent ? end.before(frame) : nil
      if broken == nil, start == sound {
        sound = end
        continue
      }
      defer { last = isCurrent ? end : nil }
      if broken == nil { broken = (index, frame) }
      guard let start, let broken else { continue }
      continued.insert(start)
      if Self.isCommit(frame), start == last || !Self.isHeaderSplit(index) { commits.insert(end) }
      // Only the salts or the checksum of the wrong frame are wrong, so that its mark counts.
      if index == broken.index + 1, Self.isCommit(broken.frame), start.before(broken.frame) == sound
      {
        commits.insert(start)
      }
    }
    guard let broken, !commits.isDisjoint(with: continued) else { return nil }
    return isSound ? "frame \(broken.index + 1) of its write-ahead log is wrong" : headerIsWrong
  }

  /// Reads `count` octets; returns nil if the file ends before them.
  private func read(_ count: Int, at offset: Int) throws(JournalError) -> [UInt8]? {
    let bytes = try readBytes(count, at: offset, from: descriptor, path)
    return bytes.count == count ? bytes : nil
  }

  /// Whether a frame is the last one of a commit: its header has the size of the database, not 0.
  private static func isCommit(_ frame: [UInt8]) -> Bool { !frame[4..<8].allSatisfy { $0 == 0 } }

  /// Whether a disk sector ends between the database size and the salts in a frame's header, so
  /// that the size can be from a former frame.
  private static func isHeaderSplit(_ frameIndex: Int) -> Bool {
    (headerBytes + frameIndex * frameBytes + 8).isMultiple(of: 512)
  }

  /// SQLite's running checksum of the log up to a frame or a part of one.
  private struct Checksum: Hashable {
    private var (first, second) = (UInt32(0), UInt32(0))

    init() {}

    /// Reads a stored checksum: two big-endian words.
    init(_ bytes: [UInt8], _ place: Int) {
      first = bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
      second = bytes[place + 4..<place + 8].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Computes the checksum before `frame` from this one, which covers the frame too.
    func before(_ frame: [UInt8]) -> Checksum { before(frame[24...]).before(frame[..<8]) }

    /// Computes the checksum before `bytes`, pairs of little-endian words, from this one behind
    /// them.
    func before(_ bytes: ArraySlice<UInt8>) -> Checksum {
      var sum = self
      unsafe bytes.withUnsafeBytes { raw in
        let words = unsafe raw.assumingMemoryBound(to: UInt32.self)
        var index = words.count
        while index > 0 {
          index -= 2
          sum.second = unsafe sum.second &- words[index + 1] &- sum.first
          sum.first = unsafe sum.first &- words[index] &- sum.second
        }
      }
      return sum
    }
  }
}
