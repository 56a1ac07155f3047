package import NavigationCore

/// Reads a recording line by line, while its bytes arrive.
///
/// The reader keeps one line and 64 KiB around it in memory, however long the recording is.
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
  /// The offset in `buffer` at which the next line begins.
  private var lineStart = 0
  /// The offset in `buffer` up to which the next line has no line feed.
  private var searchedEnd = 0
  /// The first line; nil until it was read.
  package private(set) var header: RecordingHeader?
  package private(set) var lineNumber = 0
  private var isEnded = false

  package init() {}

  /// Adds bytes of the file; call it when `next` has returned nil.
  package mutating func append(_ bytes: [UInt8]) { gzip.append(bytes) }

  /// The first line; nil if more of the file is needed.
  package mutating func readHeader() throws(RecordingFault) -> RecordingHeader? {
    if header == nil, let line = try nextLine() {
      lineNumber += 1
      header = try RecordingHeader(line: line)
    }
    return header
  }

  /// The next line behind the header; nil if more of the file is needed.
  package mutating func next() throws(RecordingFault) -> Line? {
    guard try readHeader() != nil, let line = try nextLine() else { return nil }
    lineNumber += 1
    guard !isEnded else {
      throw .unreadable(line: lineNumber, what: "it stands behind the last line")
    }
    guard line.starts(with: RecordingEnd.prefix) else { return .entry(line) }
    isEnded = true
    return .end(try RecordingEnd(line: line, number: lineNumber))
  }

  /// Ends the reading; throws if the bytes appended so far are no complete recording.
  package func finish() throws(RecordingFault) {
    guard !gzip.hasNoInput else { throw .notRecording }
    guard isEnded, gzip.isAtEnd, lineStart == buffer.count else { throw .truncated }
    guard !gzip.hasSurplus else {
      throw .damagedGzip(line: lineNumber, what: "bytes stand behind its end")
    }
  }

  private mutating func nextLine() throws(RecordingFault) -> [UInt8]? {
    while true {
      if let end = buffer[searchedEnd...].firstIndex(of: 0x0A) {
        let line = Array(buffer[lineStart..<end])
        lineStart = end + 1
        searchedEnd = lineStart
        return line
      }
      searchedEnd = buffer.count
      guard buffer.count - lineStart <= Self.maximumLineBytes else {
        throw .unreadable(line: lineNumber + 1, what: "it has more than 64 MiB")
      }
      let more: [UInt8]?
      do throws(GzipError) { more = try gzip.next() } catch {
        throw lineNumber == 0 && buffer.isEmpty
          ? .notRecording : .damagedGzip(line: lineNumber, what: error.reason)
      }
      guard let more else { return nil }
      if lineStart > 0 {
        buffer.removeFirst(lineStart)
        (lineStart, searchedEnd) = (0, searchedEnd - lineStart)
      }
      buffer.append(contentsOf: more)
    }
  }
}

/// The first thing that is wrong with a recording.
package enum RecordingFault: Error, Hashable, Sendable {
  /// The file is no recording.
  case notRecording
  /// The file is of a later version of the format.
  case newer(UInt64)
  /// The file ends before its last line.
  case truncated
  /// The compressed file is damaged, behind this many whole lines.
  case damagedGzip(line: Int, what: String)
  /// A line cannot be read.
  case unreadable(line: Int, what: String)
  /// A revision is not the one that follows the revision before.
  case wrongOrder(line: Int, revision: UInt64, after: UInt64)
  /// The state after a revision has another digest than the recording names.
  case differentDigest(line: Int, revision: UInt64, computed: Digest, recorded: Digest?)
  /// A change does not apply to the state before it.
  case inapplicableChange(line: Int, revision: UInt64, what: String)
  /// The resolved bar after a revision is not the one that the rules compute.
  case differentBar(line: Int, revision: UInt64)
  /// The last line names another number of entries, revision or digest.
  case wrongEnd(what: String)
}

extension RecordingFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notRecording: "this is no recording of navd"
    case .newer(let version): "the recording has version \(version); this navctl reads version 1"
    case .truncated: "the recording is truncated: its last line is missing"
    case .damagedGzip(let line, let what): "the file is damaged behind line \(line): \(what)"
    case .unreadable(let line, let what): "line \(line) cannot be read: \(what)"
    case .wrongOrder(let line, let revision, let after):
      "line \(line): revision \(revision) follows revision \(after)"
    case .differentDigest(let line, let revision, let computed, let recorded):
      "line \(line): revision \(revision) has digest \(computed.text), "
        + "not \(recorded.map(\.text) ?? "the one that is missing")"
    case .inapplicableChange(let line, let revision, let what):
      "line \(line): revision \(revision) does not apply: \(what)"
    case .differentBar(let line, let revision):
      "line \(line): the bar of revision \(revision) is not what its state shows"
    case .wrongEnd(let what): "the last line \(what)"
    }
  }

  /// The number of the wrong revision; nil if the fault concerns no revision.
  package var revision: UInt64? {
    switch self {
    case .wrongOrder(_, let revision, _), .differentDigest(_, let revision, _, _),
      .inapplicableChange(_, let revision, _), .differentBar(_, let revision):
      revision
    case .notRecording, .newer, .truncated, .damagedGzip, .unreadable, .wrongEnd: nil
    }
  }
}
