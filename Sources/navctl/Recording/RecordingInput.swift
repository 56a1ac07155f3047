import CLinux
import Glibc
import NavigationCore
import RuntimePaths

/// A recording that is being read, from its first line on; the path `-` is stdin.
struct RecordingInput: ~Copyable {
  private let path: String
  private let descriptor: Int32
  private var reader = RecordingReader()
  private var isAtEnd = false
  let byteCount: UInt64
  private(set) var done: UInt64 = 0

  init(_ path: String) throws {
    self.path = path
    let descriptor =
      path == RecordingFile.standardStream
      ? navd_duplicate(0) : unsafe navd_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      throw PlainFailure("file: cannot open \(path): \(SystemError.text(of: navd_errno()))")
    }
    self.descriptor = descriptor
    var status = stat()
    byteCount = unsafe fstat(descriptor, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
  }

  deinit { close(descriptor) }

  var number: Int { reader.number }

  mutating func header() throws -> RecordingHeader {
    while true {
      if let header = try reader.readHeader() { return header }
      try readMore()
    }
  }

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
    guard let bytes = readOnce(descriptor) else {
      throw PlainFailure("file: cannot read \(path): \(SystemError.text(of: navd_errno()))")
    }
    isAtEnd = bytes.isEmpty
    done += UInt64(bytes.count)
    reader.append(bytes)
  }
}
