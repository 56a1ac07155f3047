import NavigationCore

/// Reads a recording line by line, while its bytes arrive.
///
/// It keeps the line at hand and 64 KiB before and behind it, however long the recording is.
package struct RecordingReader: ~Copyable {
  /// A line behind the header.
  package enum Line: Hashable, Sendable {
    /// An entry, as JSON.
    case entry([UInt8])
    case end(RecordingEnd)
  }

  /// The longest line that a reader accepts.
  ///
  /// A daemon holds 16 MiB of a nav at most by default; escapes can double a text.
  package static let maximumLineBytes = 64 << 20

  private var gzip = GzipReader()
  private var buffer: [UInt8] = []
  /// Where the next line begins in `buffer`, and up to where no line feed was found.
  private var start = 0
  private var searched = 0
  /// The first line; nil until it was read.
  package private(set) var header: RecordingHeader?
  /// The number of the line that was read last.
  package private(set) var number = 0
  private var isEnded = false

  package init() {}

  /// Adds bytes of the file; call it when `next` has returned nil.
  package mutating func append(_ bytes: [UInt8]) { gzip.append(bytes) }

  /// The first line; nil if more of the file is needed.
  package mutating func readHeader() throws(RecordingFault) -> RecordingHeader? {
    if header == nil, let line = try nextLine() {
      number += 1
      header = try RecordingHeader(line: line)
    }
    return header
  }

  /// The next line behind the header; nil if more of the file is needed.
  package mutating func next() throws(RecordingFault) -> Line? {
    guard try readHeader() != nil, let line = try nextLine() else { return nil }
    number += 1
    guard !isEnded else { throw .broken(line: number, what: "it stands behind the last line") }
    guard line.starts(with: RecordingEnd.prefix) else { return .entry(line) }
    isEnded = true
    return .end(try RecordingEnd(line: line, number: number))
  }

  /// Reports that the file has no more bytes; throws what is missing.
  package func finish() throws(RecordingFault) {
    guard !gzip.isEmpty else { throw .notRecording }
    guard isEnded, gzip.isAtEnd, start == buffer.count else { throw .truncated }
    guard !gzip.hasMore else { throw .damaged(line: number, what: "bytes stand behind its end") }
  }

  private mutating func nextLine() throws(RecordingFault) -> [UInt8]? {
    while true {
      if let end = lineEnd() {
        let line = Array(buffer[start..<end])
        start = end + 1
        searched = start
        return line
      }
      searched = buffer.count
      guard buffer.count - start <= Self.maximumLineBytes else {
        throw .broken(line: number + 1, what: "it has more than 64 MiB")
      }
      let more: [UInt8]?
      do throws(GzipError) { more = try gzip.next() } catch {
        throw number == 0 && buffer.isEmpty
          ? .notRecording : .damaged(line: number, what: error.what)
      }
      guard let more else { return nil }
      if start > 0 {
        buffer.removeFirst(start)
        (start, searched) = (0, searched - start)
      }
      buffer.append(contentsOf: more)
    }
  }

  /// The place of the next line feed; nil if there is none yet.
  private func lineEnd() -> Int? {
    let bytes = buffer.span
    var index = searched
    while index < bytes.count {
      if bytes[index] == 0x0A { return index }
      index += 1
    }
    return nil
  }
}
