import Glibc

/// A file outside of the journal's directory with the number of the newest acknowledged row.
///
/// A journal that was put back to an older copy has fewer rows than the file says. The file is
/// written after each commit and before its answers, and synced when it is closed: after a power
/// failure it may name too low a number, never one too high. One thread at a time uses it.
package final class JournalWitness {
  package let path: String
  /// The number in the file; 0 in a new file.
  package private(set) var acknowledgedSequence: UInt64 = 0
  private let descriptor: Int32

  /// Opens the file, or makes it with mode 0600; its directory must exist.
  ///
  /// If the journal `isFrozen`, and takes no row, the file system of this file may be read-only
  /// too; a missing file then counts as a new one.
  ///
  /// - Throws: `unwritable` if that is impossible, `damaged` if the file holds anything but a number.
  package init(path: String, isFrozen: Bool = false) throws(JournalError) {
    self.path = path
    var opened = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if opened < 0, errno == EROFS, isFrozen {
      opened = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
      if opened < 0, errno == ENOENT {
        descriptor = -1
        return
      }
    }
    guard opened >= 0 else { throw DirectoryLock.writeError(path) }
    descriptor = opened
    let bytes = try readBytes(Self.fileBytes + 1, at: 0, from: descriptor, path)
    // The first write of a new file can be cut short.
    let isNew = bytes.count < Self.fileBytes && bytes.allSatisfy { 0x30...0x39 ~= $0 }
    let text = String(decoding: bytes, as: UTF8.self)
    guard isNew || bytes.count == Self.fileBytes && text.hasSuffix("\n"),
      let number = isNew ? 0 : UInt64(text.dropLast())
    else {
      throw .damaged(path: path, what: "it is no number of a row; remove it if it is not navd's")
    }
    acknowledgedSequence = number
  }

  deinit {
    _ = fdatasync(descriptor)
    _ = close(descriptor)
  }

  /// Writes the number of the newest committed row.
  ///
  /// The number has a fixed width, so that the write is one block of the file.
  func acknowledge(_ sequence: UInt64) {
    guard sequence != acknowledgedSequence else { return }
    acknowledgedSequence = sequence
    let digits = String(sequence)
    let line = Array(
      (String(repeating: "0", count: Self.fileBytes - 1 - digits.utf8.count) + digits + "\n").utf8)
    // A failure leaves a lower number: then less is noticed, and nothing false is reported.
    _ = unsafe line.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  /// The digits of the greatest number, and a line feed.
  private static let fileBytes = 21
}
