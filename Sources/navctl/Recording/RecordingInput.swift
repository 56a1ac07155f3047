import CLinux
import Glibc
import NavigationCore
import NavigationHub
import RuntimePaths

/// A recording that is being read, from its first line on; the path `-` is stdin.
struct RecordingInput: ~Copyable {
  private let path: String
  private let descriptor: Int32
  private var reader = RecordingReader()
  private var isAtEnd = false
  /// The size of the file, and how much of it was read.
  let byteCount: UInt64
  private(set) var done: UInt64 = 0

  init(_ path: String) throws {
    self.path = path
    let descriptor =
      path == RecordingFile.standardStream
      ? navd_duplicate(0) : unsafe navd_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      throw PlainFailure(
        lines: ["file: cannot open \(path): \(SystemError.text(of: navd_errno()))"], status: 1)
    }
    self.descriptor = descriptor
    var status = stat()
    byteCount = unsafe fstat(descriptor, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
  }

  deinit { close(descriptor) }

  /// The number of the line that was read last.
  var number: Int { reader.number }

  mutating func header() throws -> RecordingHeader {
    while true {
      if let header = try reader.readHeader() { return header }
      try readMore()
    }
  }

  /// The next line behind the header; nil at the end of the file.
  mutating func next() throws -> RecordingReader.Line? {
    while true {
      if let line = try reader.next() { return line }
      if isAtEnd {
        try reader.finish()
        return nil
      }
      try readMore()
    }
  }

  private mutating func readMore() throws {
    guard !isAtEnd else {
      try reader.finish()
      throw RecordingFault.truncated
    }
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe chunk.withUnsafeMutableBytes {
      unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
    }
    if count < 0, navd_errno() == EINTR { return }
    guard count >= 0 else {
      throw PlainFailure(
        lines: ["file: cannot read \(path): \(SystemError.text(of: navd_errno()))"], status: 1)
    }
    isAtEnd = count == 0
    done += UInt64(count)
    reader.append(Array(chunk[..<count]))
  }
}
